// One JPEG file of a batch: its bytes, its parsed header, and its quantized coefficients by the
// CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/cudatransform.h"
#include "core/engine.h"
#include "core/jpeg_pixels.h"
#include "jpeg/parallel_decode.h"
#include "jpeg/reader.h"
#include "jpeg/scans.h"

namespace cudatransform::core {

// Used for one file after another; keeps its memory. One thread at a time.
class JpegItem {
 public:
  // Takes the bytes, reads the header, checks limits, and plans the result. Afterwards is_sound(),
  // or the result is an error.
  void open(const CtSource& source, const CtDecodeOptions& options, bool dense);
  bool is_sound() const { return is_sound_; }
  // Makes the result an error.
  void fail(const Status& why);
  void fail(CtCode code, const std::string& why);

  const PixelPlan& plan() const { return plan_; }
  const JpegTables& tables() const { return tables_; }
  CtPicture& picture() { return picture_; }

  // Decodes into `qcoefs`, of plan().qcoef_bytes. Not ok: the result is an error.
  bool decode(const CtDecodeOptions& options, uint8_t* qcoefs);

  // Decoding on a device: the bytes that pack() needs, 0 if only the CPU can decode the file.
  void measure() { measured_ = is_sound_ ? scan_reader_.measure(file_) : 0; }
  size_t measured() const { return measured_; }
  // Fills `block` for a job. False: the CPU has to decode the file.
  bool pack(uint8_t* block);
  const JpegScans& scans() const { return scans_; }
  // Takes the job's result. False: the CPU has to decode the file.
  bool settle(const JpegDecodeResult& result);

  // Describes a decoded picture, whose pixels or quantized coefficients are at `data` in `block`
  // (transferred).
  void finish(const CtDecodeOptions& options, CtBlock* block, uint8_t* data);

 private:
  Status take_bytes(const CtSource& source);
  Status read_file(const char* path);
  Status open_picture(const CtDecodeOptions& options, bool dense);
  Status parse_trailing(const CtDecodeOptions& options);
  Status read_rest(const CtDecodeOptions& options);
  void describe_qcoefs(uint8_t* data);

  std::unique_ptr<uint8_t[]> own_;  // the bytes of a file
  size_t own_bytes_ = 0;
  std::span<const uint8_t> whole_, file_;
  size_t trailing_size_ = 0;
  std::vector<CtPlace> places_;
  CtCrop crop_ = {};
  JpegReader reader_;
  JpegScanReader scan_reader_;
  JpegScans scans_;
  PixelPlan plan_;
  JpegTables tables_;
  uint32_t irregular_ = 0;
  size_t measured_ = 0;
  bool is_sound_ = false;
  CtPicture picture_ = {};
};

// Items between one picture and the next: their tables and memory are reused. Any thread.
class JpegItems {
 public:
  std::unique_ptr<JpegItem> take();
  void give(std::unique_ptr<JpegItem> item);

 private:
  static constexpr size_t kMax = 64;
  std::mutex mutex_;
  std::vector<std::unique_ptr<JpegItem>> idle_;
};

}  // namespace cudatransform::core
