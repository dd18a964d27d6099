// One frame of coefficients, from its arrival to its JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoencoder.h>

#include <memory>
#include <span>
#include <string>

#include <gst/coef/dct.h>
#include "gst/dct8x8/coefficients.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/engine/frame_workers.h"
#include "gst/jpeg/device_scan.h"
#include "gst/stream/coef_input.h"
#include "jpeg/mpf.h"
#include "jpeg/writer.h"

namespace cudatransform {

// Used for one frame after another: the JPEG writer and the memory for downloads stay. The owner
// calls prepare() and finish() with the stream lock; any thread calls run() in between. If the
// device codes a frame, the thread that takes it runs it.
class EncodeJob : public FrameJob {
 public:
  ~EncodeJob() override { clear(); }

  // Takes `frame` (transfer full), failed or not. Coefficients in system memory are read in place.
  // If they are on the engine's device, the download begins here, and run() waits for it. The
  // buffer stays out of its pool until finish() or clear(). If `coder` takes the coefficients and
  // can code them, it codes them on the device instead; else run() codes them.
  Status prepare(Engine& engine, const GstDctInfo& info, const CapsTables& caps_tables,
                 const JpegOptions& options, DeviceCoder& coder, GstVideoCodecFrame* frame);
  void run() override;
  bool runs_when_taken() const override { return scan_.is_begun(); }
  bool is_ready() override { return scan_.is_ready(); }
  // After run(): whether the device has written the file.
  bool is_by_device() const { return is_by_device_; }
  // After run(): which lengths that the file's XMP data name are not true; mostly "".
  const std::string& invalid_lengths() const { return length_mismatch_; }
  // The frame with its output buffer; on failure the reason, and null.
  Status finish(GstVideoCodecFrame** frame);
  // Waits for the download and releases the frame.
  void clear();
  // The bytes of download memory that it keeps for the next frame.
  gsize staging_bytes() const { return (staging_ ? staging_->size() : 0) + scan_.staging_bytes(); }
  void free_staging() {
    staging_.reset();
    scan_.free_memory();
  }

 private:
  Status fetch(Engine& engine, Rects* rects);
  Status fetch_qcoefs();
  Status begin_scan(DeviceCoder& coder);
  Status code();
  Status append(std::span<const uint8_t> trailing, std::span<const FilePlace> attachments);
  void describe(const GstDctInfo& info, const GstDctMeta& meta, const Rects& rects);

  GstVideoCodecFrame* frame_ = nullptr;
  BufferPtr coefficients_;
  GstDctMeta stand_in_;  // for the meta of a buffer that has none: caps may change meanwhile
  CoefInput input_;
  std::unique_ptr<Memory> staging_;  // pinned if possible
  FencePtr downloaded_;              // null where nothing is downloaded
  DeviceScan scan_;
  BufferPtr file_;  // written by the device, or with trailing data
  bool is_by_device_ = false;
  Engine* engine_ = nullptr;
  GstDctInfo info_ = {};
  const GstDctMeta* meta_ = nullptr;
  JpegPicture picture_;
  JpegOptions options_;
  JpegWriter writer_;
  JpegBytes bytes_;
  std::string length_mismatch_;
  Status status_;
};

}  // namespace cudatransform
