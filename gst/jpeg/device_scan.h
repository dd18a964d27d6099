// Codes a picture's scan on the engine's device, from coefficients there to a file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <vector>

#include "gst/engine/engine.h"
#include "gst/engine/file_memory.h"
#include "jpeg/encode_file.h"

namespace cudatransform {

// The shared state of a stream's pictures. Guarded by the stream lock.
class DeviceCoder {
 public:
  // kNotFound if the engine has no device, or the device no kernels.
  Status open(Engine& engine);
  void close();
  bool is_open() const { return ops_ != nullptr; }
  // Whether the device shall code the next picture. False for a while after several refusals in a
  // row: one thread takes and codes refused pictures, several threads code the others.
  bool takes_next();

 private:
  friend class DeviceScan;
  static constexpr int kMaxRefusals = 3, kSkipped = 60;
  void note_picture(bool refused);

  Engine* engine_ = nullptr;
  const JpegEncodeOps* ops_ = nullptr;
  JpegHeaders headers_;
  JpegCodes standard_codes_;
  std::shared_ptr<FileMemory> files_;
  size_t last_size_ = 0;  // of a scan, 0: there was none
  int refusals_ = 0;      // in a row
  int skipped_ = 0;       // how many later pictures the device skips
};

// Used for one picture after another, with the stream lock; keeps its memory.
class DeviceScan {
 public:
  DeviceScan() = default;
  ~DeviceScan() { clear(); }
  DeviceScan(const DeviceScan&) = delete;
  DeviceScan& operator=(const DeviceScan&) = delete;

  // Enqueues the work; `*read` is done when it has read the coefficients, which have device
  // addresses. The coefficients and `picture` must stay until finish() or clear(). After an error
  // no work is in flight, and other coders may try.
  Status begin(DeviceCoder& coder, const JpegPicture& picture, const JpegOptions& options,
               FencePtr* read);
  bool is_begun() const { return coder_ != nullptr; }
  // Whether finish() has little or nothing to wait for. Never blocks.
  bool is_ready();
  // Waits, and writes the file. Null without an error: the device cannot code the coefficients.
  // JpegWriter then names the fault, or writes them all the same.
  Status finish(GstBuffer** file);
  // Waits for the work in flight.
  void clear();
  // The size of the pinned memory that it keeps.
  gsize staging_bytes() const { return staging_ ? staging_->size() : 0; }
  void free_memory();

 private:
  // Is in pinned memory.
  struct Results {
    JpegEncodeResult result;
    JpegSymbolCounts counts;
  };
  const Results& results() const { return *static_cast<const Results*>(results_->data()); }
  Status encode(const JpegCodes& codes, size_t room);
  Status encode_optimized();
  Status fetch(size_t from, size_t bytes);
  Status wait_for_scan(bool* refused);
  Status make_file(GstBuffer** file);
  uint8_t* scan() const { return static_cast<uint8_t*>(staging_->data()) + header_room_; }

  DeviceCoder* coder_ = nullptr;  // of the picture in flight
  const JpegPicture* picture_ = nullptr;
  JpegOptions options_;
  JpegEncodeJob job_;
  JpegHuffmanTables tables_;  // optimized ones
  FencePtr counted_, coded_, downloaded_;
  size_t fetched_ = 0;      // bytes in staging_ once downloaded_ is done,
  size_t header_room_ = 0;  // after this many for the header
  std::unique_ptr<Memory> results_, output_, staging_;
};

}  // namespace cudatransform
