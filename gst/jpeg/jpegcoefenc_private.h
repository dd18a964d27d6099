// The shared parts of jpegcoefenc: its instance, its debug category, and the vfuncs about frames.
// Include it last.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoencoder.h>

#include <atomic>
#include <memory>
#include <vector>

#include "gst/dct8x8/caps_tables.h"
#include "gst/engine/frame_workers.h"
#include "gst/jpeg/element.h"
#include "gst/jpeg/encode_job.h"
#include "gst/jpeg/entropy.h"
#include "gst/stream/latency.h"
#include "gst/stream/push_thread.h"

GST_DEBUG_CATEGORY_EXTERN(jpegcoefenc_debug);
#define GST_CAT_DEFAULT jpegcoefenc_debug

namespace cudatransform {

struct JpegCoefEncState : JpegElementState {
  explicit JpegCoefEncState(GstVideoEncoder* encoder);

  static JpegCoefEncState& of(gpointer instance);
  static GstDebugCategory* category() { return jpegcoefenc_debug; }
  static constexpr char kWithoutCuda[] = "no CUDA memory";
  void interrupt() {}
  void release() { coder.close(); }

  JpegOptions options;                       // guarded by the object lock
  JpegEntropy entropy = JpegEntropy::kAuto;  // likewise
  // Files since PAUSED, how many of them the device coded, and how many have XMP data that name
  // untrue lengths.
  std::atomic<guint64> frames = 0, frames_by_device = 0, untrue_lengths = 0;

  // Guarded by the encoder's stream lock.
  FrameWorkers workers;
  PushThread pusher;
  DeviceCoder coder;                             // open where the device may code
  std::vector<std::unique_ptr<EncodeJob>> idle;  // idle jobs
  GstDctInfo info = {};
  CapsTables caps_tables;
  bool warned_of_colorimetry = false, warned_of_rtp = false, warned_of_lengths = false;
  GstFlowReturn failed = GST_FLOW_OK;  // the error that ended the stream
  MeasuredLatency latency;
};

}  // namespace cudatransform

G_DECLARE_FINAL_TYPE(GstJpegCoefEnc, gst_jpeg_coef_enc, GST, JPEG_COEF_ENC, GstVideoEncoder)
struct _GstJpegCoefEnc {
  GstVideoEncoder parent;
  cudatransform::JpegCoefEncState* state;
};

inline cudatransform::JpegCoefEncState& cudatransform::JpegCoefEncState::of(gpointer instance) {
  return *GST_JPEG_COEF_ENC(instance)->state;
}

// The vfuncs of jpegcoefenc_frames.cpp.
void gst_jpeg_coef_enc_install_frames(GstVideoEncoderClass* klass);

// Call it, with the stream lock, after the base class has seen caps. That calls set_format() only
// for changes of raw video, and coefficients of one size may differ in sampling.
bool gst_jpeg_coef_enc_take_caps(GstVideoEncoder* encoder, GstCaps* caps);
