// JPEG files whose decoding on a CUDA device shares launches.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/engine.h"
#include "core/jpeg_item.h"
#include "core/lanes.h"
#include "jpeg/parallel_decode.h"

namespace cudatransform::core {

class DecodeChunk final : public Chunk {
 public:
  // Quantized coefficients and planes of a chunk: launches for fewer bytes do not fill the device,
  // and memory for more is wasted.
  static constexpr size_t kMaxBytes = size_t{64} << 20;
  static constexpr size_t kMaxPictures = 128;

  // kNotFound: this build has no code for the device.
  static Status probe(Device& device);

  // `end` is called when all pictures are done.
  DecodeChunk(CtEngine& engine, const CtDecodeOptions& options, std::function<void()> end)
      : engine_(engine), options_(options), end_(std::move(end)) {}

  // Adds a sound picture. `block`: that takes its pixels (transferred), at `pixels`; null: a new
  // one. False: the chunk is full.
  bool add(JpegItem& item, CtBlock* block, uint8_t* pixels);

  size_t count() const override { return entries_.size(); }
  Status place(Lane& lane) override;
  void pack(Lane& lane, size_t i) override;
  Status submit(Lane& lane) override;
  void settle(Lane& lane, const Status& status) override;
  void end() override { end_(); }

 private:
  struct Entry {
    JpegItem* item;
    CtBlock* block;
    uint8_t* pixels;            // or quantized coefficients, if these are the result
    uint8_t* qcoefs = nullptr;  // on the device
    size_t pinned_at = 0, qcoefs_at = 0, planes_at = 0;
    bool by_device = false;
  };
  bool wants_qcoefs() const { return options_.output == CT_OUTPUT_COEFFICIENTS; }
  uint8_t* pinned(const Lane& lane) const { return static_cast<uint8_t*>(lane.pinned->data()); }
  JpegDecodeResult* results(const Lane& lane) const {
    return reinterpret_cast<JpegDecodeResult*>(pinned(lane) + pinned_bytes_);
  }
  Status take_memory(Lane& lane);
  PixelJobs pixel_jobs(const Lane& lane, const Entry& entry) const;
  Status upload(Lane& lane, const Entry& entry, const uint8_t* qcoefs) const;
  void settle_one(Lane& lane, size_t i, const Status& status);
  void decode_again(Lane& lane, Entry& entry) const;
  Status make_again(Lane& lane, const Entry& entry, const uint8_t* qcoefs) const;

  CtEngine& engine_;
  const CtDecodeOptions& options_;
  const std::function<void()> end_;
  std::vector<Entry> entries_;
  size_t bytes_ = 0, pinned_bytes_ = 0, qcoef_bytes_ = 0, plane_bytes_ = 0;
};

}  // namespace cudatransform::core
