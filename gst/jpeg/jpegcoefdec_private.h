// The shared parts of jpegcoefdec: its instance, its debug category, and the vfuncs and properties
// that have files of their own. Include it last.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <optional>

#include "gst/engine/contiguous_adapter.h"
#include "gst/jpeg/element.h"
#include "gst/jpeg/pictures.h"
#include "jpeg/file_splitter.h"

GST_DEBUG_CATEGORY_EXTERN(jpegcoefdec_debug);
#define GST_CAT_DEFAULT jpegcoefdec_debug

namespace cudatransform {

struct JpegCoefDecState : JpegElementState {
  explicit JpegCoefDecState(GstVideoDecoder* decoder)
      : JpegElementState(GST_ELEMENT(decoder)),
        pictures(decoder, engine, settings, engine_settings) {}

  static JpegCoefDecState& of(gpointer instance);
  static GstDebugCategory* category() { return jpegcoefdec_debug; }
  static constexpr char kWithoutCuda[] = "coefficients stay in system memory";
  void interrupt() { pictures.interrupt(); }
  void release() { pictures.stop(); }

  JpegDecodeSettings settings;  // guarded by the object lock
  JpegPictures pictures;
  ContiguousAdapter bytes;      // of the base class
  JpegFileSplitter splitter;    // of these
  gsize skipped = 0;            // of them, since the last frame
  bool is_parsed = false;       // by the caps: each buffer is a file
  std::optional<bool> is_file;  // whether the stream has an end that is known, once it matters
  Status refusal;               // what a frame without a picture is about

  // The next bytes do not continue the earlier ones, which the base class has cleared.
  void begin_anew() {
    bytes.clear();
    splitter.restart();
    skipped = 0;
    is_file.reset();
  }
};

}  // namespace cudatransform

G_DECLARE_FINAL_TYPE(GstJpegCoefDec, gst_jpeg_coef_dec, GST, JPEG_COEF_DEC, GstVideoDecoder)
struct _GstJpegCoefDec {
  GstVideoDecoder parent;
  cudatransform::JpegCoefDecState* state;
};

inline cudatransform::JpegCoefDecState& cudatransform::JpegCoefDecState::of(gpointer instance) {
  return *GST_JPEG_COEF_DEC(instance)->state;
}

// The vfuncs of jpegcoefdec_split.cpp.
GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                      GstAdapter* adapter, gboolean at_eos);
GstFlowReturn gst_jpeg_coef_dec_handle_frame(GstVideoDecoder* decoder, GstVideoCodecFrame* frame);
// The properties of jpegcoefdec_properties.cpp.
void gst_jpeg_coef_dec_install_properties(GObjectClass* klass);
