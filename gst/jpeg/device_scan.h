// A picture's scan that is coded on the engine's device, from its coefficients there to a file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "gst/engine/engine.h"
#include "gst/jpeg/file_memory.h"
#include "jpeg/encode_file.h"

namespace cudatransform {

// What pictures of a stream have in common. With the stream lock.
class DeviceCoder {
 public:
  // kNotFound where the engine has no device, or the device no kernels.
  Status open(Engine& engine);
  void close();
  bool is_open() const { return ops_ != nullptr; }
  // Whether the device is to code the next picture. Not for a while after it has refused several in
  // a row: the thread that takes them then codes them alone, and several could.
  bool takes_next();

 private:
  friend class DeviceScan;
  static constexpr int kMostRefusals = 3, kLeftOut = 60;
  void note_picture(bool refused);

  Engine* engine_ = nullptr;
  const JpegEncodeOps* ops_ = nullptr;
  JpegHeaders headers_;
  JpegCodes standard_codes_;
  std::shared_ptr<FileMemory> files_;
  size_t last_size_ = 0;  // of a scan, 0: there was none
  int refusals_ = 0;      // in a row
  int left_out_ = 0;      // pictures to come that are not for the device
};

// Used for one picture after the other, with the stream lock; keeps its memory.
class DeviceScan {
 public:
  DeviceScan() = default;
  ~DeviceScan() { clear(); }
  DeviceScan(const DeviceScan&) = delete;
  DeviceScan& operator=(const DeviceScan&) = delete;

  // Enqueues the work; `*read` is done when it has read the coefficients, whose addresses are the
  // device's. The coefficients and `picture` must stay until finish() or clear(). An error: there
  // is nothing on its way, and others may try.
  Status begin(DeviceCoder& coder, const JpegPicture& picture, const JpegOptions& options,
               FencePtr* read);
  bool is_begun() const { return coder_ != nullptr; }
  // Whether finish() has little or nothing to wait for. Never blocks.
  bool is_ready();
  // Waits, and makes the file. Null and no error: the coefficients are no business of the device,
  // but of JpegWriter, which knows what is wrong with them or writes them all the same.
  Status finish(GstBuffer** file);
  // Waits for what is on its way.
  void clear();
  // Page-locked memory that it keeps.
  gsize staging_bytes() const { return staging_ ? staging_->size() : 0; }
  void free_memory();

 private:
  // Page-locked.
  struct Results {
    JpegEncodeResult result;
    JpegSymbolCounts counts;
  };
  const Results& results() const { return *static_cast<const Results*>(results_->data()); }
  Status encode(const JpegCodes& codes, size_t room);
  Status encode_optimised();
  Status fetch(size_t from, size_t bytes);
  Status wait_for_scan(bool* refused);
  Status make_file(GstBuffer** file);
  uint8_t* scan() const { return static_cast<uint8_t*>(staging_->data()) + header_room_; }

  DeviceCoder* coder_ = nullptr;  // of the picture on its way
  const JpegPicture* picture_ = nullptr;
  JpegOptions options_;
  JpegEncodeJob job_;
  JpegHuffmanTables tables_;  // optimised ones
  FencePtr counted_, coded_, downloaded_;
  size_t fetched_ = 0;      // bytes that are in staging_ after downloaded_,
  size_t header_room_ = 0;  // behind so many for the header
  std::unique_ptr<Memory> results_, output_, staging_;
};

}  // namespace cudatransform
