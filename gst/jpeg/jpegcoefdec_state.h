// What the files of element jpegcoefdec share: its instance and its properties.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/jpeg/jpegcoefdec_frames.h"
#include "gst/jpeg/picture_bytes.h"
#include "gst/stream/stream_gate.h"
#include "jpeg/splitter.h"

namespace cudatransform {

// The default of max-pixels: a camera of 100 megapixels passes.
inline constexpr guint64 kMaxJpegPixels = guint64{1} << 27;

// That of max-memory.
inline constexpr guint64 kMaxJpegMemory = guint64{1} << 30;

// Settings are guarded by the object lock.
struct JpegCoefDecState {
  explicit JpegCoefDecState(GstVideoDecoder* decoder)
      : engine(GST_ELEMENT(decoder), nullptr), frames(decoder, engine) {}

  JpegSettings settings = {OnError::kDrop, kMaxJpegPixels, kMaxJpegMemory, 0};  // but n_threads
  EngineSettings engine_settings;

  Engine engine;
  JpegFrames frames;
  StreamGate gate;
  JpegSplitter splitter;   // has seen the bytes below and those that the base class holds
  PictureBytes collected;  // of the picture that has begun, but for its last byte
};

}  // namespace cudatransform

struct GstJpegCoefDec {
  GstVideoDecoder parent;
  cudatransform::JpegCoefDecState* state;
};

struct GstJpegCoefDecClass {
  GstVideoDecoderClass parent_class;
};

GType gst_jpeg_coef_dec_get_type(void);
cudatransform::JpegCoefDecState* gst_jpeg_coef_dec_state(gpointer object);
// The vfunc of jpegcoefdec_split.cpp, and the whole picture as the frame's input buffer. False
// where there was no memory for it.
GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                      GstAdapter* adapter, gboolean at_eos);
bool gst_jpeg_coef_dec_use_collected(GstVideoCodecFrame* frame);
// The properties of jpegcoefdec_properties.cpp.
void gst_jpeg_coef_dec_install_properties(GObjectClass* klass);
