// What the two halves of jpegcoefenc share: its instance, and the vfuncs about frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoencoder.h>

#include <memory>
#include <vector>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/frame_workers.h"
#include "gst/jpeg/encode_job.h"
#include "gst/stream/stream_gate.h"

struct GstJpegCoefEncState;

struct GstJpegCoefEnc {
  GstVideoEncoder parent;
  GstJpegCoefEncState* state;
};

struct GstJpegCoefEncClass {
  GstVideoEncoderClass parent_class;
};

struct GstJpegCoefEncState {
  explicit GstJpegCoefEncState(GstElement* element) : engine(element, nullptr) {}

  // Settings, guarded by the object lock.
  cudatransform::JpegOptions options;
  cudatransform::EngineSettings engine_settings;

  cudatransform::StreamGate gate;

  // Of the streaming thread.
  cudatransform::Engine engine;
  cudatransform::FrameWorkers workers;
  std::vector<std::unique_ptr<cudatransform::EncodeJob>> idle;  // to be used again
  GstDctInfo info = {};
  cudatransform::CapsTables caps_tables;
  bool warned_of_colorimetry = false;
  GstFlowReturn failed = GST_FLOW_OK;  // the error behind which nothing is pushed
};

#define GST_JPEG_COEF_ENC(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), gst_jpeg_coef_enc_get_type(), GstJpegCoefEnc))

// The vfuncs of jpegcoefenc_frames.cpp.
void gst_jpeg_coef_enc_install_frames(GstVideoEncoderClass* klass);

// After the base class has seen caps: it calls set_format() only where what it knows of raw video
// has changed, and levels of the same size may be of another sampling. With the stream lock.
bool gst_jpeg_coef_enc_take_caps(GstVideoEncoder* encoder, GstCaps* caps);
