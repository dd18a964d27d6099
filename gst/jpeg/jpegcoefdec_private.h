// The shared parts of jpegcoefdec: its instance, its debug category, and the vfuncs and properties
// that have files of their own. Include it last.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include "gst/jpeg/element.h"
#include "gst/jpeg/picture_bytes.h"
#include "gst/jpeg/pictures.h"
#include "jpeg/splitter.h"

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
  JpegSplitter splitter;   // has seen the bytes below and the base class's
  PictureBytes collected;  // the picture in progress, but for its last byte
  bool is_parsed = false;  // by the caps: each buffer is a file
  // Of the picture that the splitter has found: whether its index has been read, the other pictures
  // of its file that the element waits for, and whether it keeps the bytes behind them.
  bool has_looked = false;
  FilePlaces awaited;
  bool keeps_rest = false;
  // Where they end, counted from the picture's first byte, and the file as far as it has been
  // looked at; 0: not known.
  gsize pictures_end = 0, file_end = 0;

  // The next bytes do not continue the earlier ones.
  void begin_anew() {
    splitter.restart();
    collected.clear();
    has_looked = false;
    awaited.count = 0;
    keeps_rest = false;
    pictures_end = file_end = 0;
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

// The vfunc of jpegcoefdec_split.cpp, and the whole picture as the frame's input buffer. False if
// memory ran out.
GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                      GstAdapter* adapter, gboolean at_eos);
bool gst_jpeg_coef_dec_use_collected(GstVideoCodecFrame* frame);
// The properties of jpegcoefdec_properties.cpp.
void gst_jpeg_coef_dec_install_properties(GObjectClass* klass);
