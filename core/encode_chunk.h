// Images whose encoding on a CUDA device shares launches.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/engine.h"
#include "core/jpeg_encode.h"
#include "core/lanes.h"
#include "jpeg/encode_file.h"
#include "jpeg/encode_scan.h"

namespace cudatransform::core {

class EncodeChunk final : public Chunk {
 public:
  // Quantized coefficients, planes and pixels of a chunk.
  static constexpr size_t kMaxBytes = size_t{64} << 20;
  static constexpr size_t kMaxPictures = 128;

  // kNotFound: this build has no code for the device.
  static Status probe(Device& device);
  // Whether the device codes files with these options.
  static bool takes(const CtEncodeOptions& options) {
    return is_parallel(file_options(options), 8) && options.optimize == 0 &&
           options.method == CT_METHOD_ISLOW && !has_size(options);
  }

  // `end` is called when all files are made.
  EncodeChunk(CtEngine& engine, const CtEncodeOptions& options, std::function<void()> end)
      : engine_(engine), options_(options), end_(std::move(end)) {}

  // False: the chunk is full. Images that cannot be encoded have an error in `file` immediately.
  bool add(const CtImage& image, CtFile* file);

  size_t count() const override { return entries_.size(); }
  Status place(Lane& lane) override;
  void pack(Lane& lane, size_t i) override;
  Status submit(Lane& lane) override;
  void settle(Lane& lane, const Status& status) override;
  void end() override { end_(); }

 private:
  struct Entry {
    const CtImage* image;
    CtFile* file;
    EncodePlan plan;
    size_t pinned_at = 0;  // of the host's pixels
    size_t qcoefs_at = 0, planes_at = 0, file_at = 0, capacity = 0;
    JpegEncodeJob job;
    bool is_coded = false;
  };
  size_t pixel_bytes(const Entry& entry) const;
  JpegEncodeResult* results(const Lane& lane) const;
  Status submit_pixels(Lane& lane);
  Status code(Lane& lane);
  bool fetch(Lane& lane, Entry& entry, const JpegEncodeResult& result);
  Status start_file(Lane& lane, Entry& entry, size_t scan_bytes);
  void code_on_host(Lane& lane, Entry& entry);

  CtEngine& engine_;
  const CtEncodeOptions& options_;
  const std::function<void()> end_;
  std::vector<Entry> entries_;
  size_t bytes_ = 0, pinned_bytes_ = 0, qcoef_bytes_ = 0, plane_bytes_ = 0, file_bytes_ = 0;
};

}  // namespace cudatransform::core
