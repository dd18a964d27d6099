// One frame of coefficients on its way to a JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoencoder.h>

#include <memory>

#include <gst/coef/dct.h>
#include "gst/dct8x8/coefficients.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/engine/frame_workers.h"
#include "gst/stream/coef_sink.h"
#include "jpeg/writer.h"

namespace cudatransform {

// Used for one frame after the other: the JPEG writer and the memory for downloads stay. prepare()
// and finish() are called by the streaming thread, run() in between by any.
class EncodeJob : public FrameJob {
 public:
  ~EncodeJob() override { clear(); }

  // Takes `frame` (transfer full), failed or not. Levels in system memory are read where they are.
  // Of those on the engine's device the download begins here, and run() waits for it. The buffer
  // is kept from its pool until finish() or clear().
  Status prepare(Engine& engine, const GstDctInfo& info, const CapsTables& caps_tables,
                 const JpegOptions& options, GstVideoCodecFrame* frame);
  void run() override;
  // The frame with its output buffer, or why there is none (then null).
  Status finish(GstVideoCodecFrame** frame);
  // Waits for the download and gives up the frame.
  void clear();
  // Memory for downloads that it keeps for the next frame, in bytes.
  gsize staging_bytes() const { return staging_ ? staging_->size() : 0; }
  void free_staging() { staging_.reset(); }

 private:
  Status fetch(Engine& engine, Rects* rects);
  void describe(const GstDctInfo& info, const GstDctMeta& meta, const Rects& rects);

  GstVideoCodecFrame* frame_ = nullptr;
  BufferPtr coefficients_;
  GstDctMeta stand_in_;  // for the meta of a buffer that has none: caps may change meanwhile
  CoefSink sink_;
  std::unique_ptr<Memory> staging_;  // page-locked if possible
  FencePtr downloaded_;              // null where nothing is downloaded
  JpegPicture picture_;
  JpegOptions options_;
  JpegWriter writer_;
  JpegBytes bytes_;
  Status status_;
};

}  // namespace cudatransform
