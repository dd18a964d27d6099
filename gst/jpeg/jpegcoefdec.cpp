// Element jpegcoefdec: JPEG pictures and Motion-JPEG to their quantised DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-jpegcoefdec
 * @title: jpegcoefdec
 * @see_also: cudaidct8x8, jpegcoefenc
 *
 * Takes JPEG pictures apart as far as their quantised coefficients (video/x-dct) and quantisation
 * tables, which travel with every buffer: entropy decoding without the transform, on the CPU or,
 * see #GstJpegCoefDec:entropy, on the GPU. cudaidct8x8 makes pictures of them, in every
 * sampling that JPEG files have; jpegcoefenc makes JPEG pictures again, without any loss.
 *
 * Several pictures are decoded at a time, see #GstJpegCoefDec:n-threads.
 *
 * docs/elements/jpegcoefdec.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudaidct8x8 ! videoconvert ! \
 *   imagefreeze ! autovideosink
 * ]| Shows a photograph.
 * |[
 * gst-launch-1.0 filesrc location=recording.avi ! avidemux ! jpegcoefdec ! cudaidct8x8 scale=1/4 \
 *   ! videoconvert ! autovideosink
 * ]| Plays a Motion-JPEG recording at a quarter of its size, without full-size frames.
 */

#include "gst/elements.h"

#include <gst/video/gstvideodecoder.h>

#include "gst/engine/element_errors.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/jpegcoefdec_private.h"

using State = cudatransform::JpegCoefDecState;
using cudatransform::Status;

GST_DEBUG_CATEGORY(jpegcoefdec_debug);
#define gst_jpeg_coef_dec_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstJpegCoefDec, gst_jpeg_coef_dec, GST_TYPE_VIDEO_DECODER,
                        GST_DEBUG_CATEGORY_INIT(jpegcoefdec_debug, "jpegcoefdec", 0,
                                                "JPEG pictures to coefficients"));
GST_ELEMENT_REGISTER_DEFINE(jpegcoefdec, "jpegcoefdec", GST_RANK_NONE,
                            gst_jpeg_coef_dec_get_type());

static gboolean gst_jpeg_coef_dec_start(GstVideoDecoder* decoder) {
  State& state = State::of(decoder);
  if (const Status status = state.pictures.start(); !status.ok()) {
    cudatransform::post_error(GST_ELEMENT(decoder), status);
    return FALSE;
  }
  state.begin_anew();
  // Applies until caps say that upstream has split the stream already.
  state.is_parsed = false;
  gst_video_decoder_set_packetized(decoder, FALSE);
  state.gate.open();
  return TRUE;
}

static gboolean gst_jpeg_coef_dec_stop(GstVideoDecoder* decoder) {
  State& state = State::of(decoder);
  state.gate.close();
  state.pictures.stop();
  state.begin_anew();
  return TRUE;
}

// ---- Queries ----

static gboolean gst_jpeg_coef_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  State& state = State::of(decoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_DECODER_SINK_PAD(decoder), query)) return FALSE;
  return GST_VIDEO_DECODER_CLASS(parent_class)->sink_query(decoder, query);
}

static gboolean gst_jpeg_coef_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (State::of(decoder).engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_DECODER_CLASS(parent_class)->src_query(decoder, query);
}

// Not the default, which adds the sizes that downstream takes: sources without a size of their own
// (multifilesrc) would fix 1x1.
static GstCaps* gst_jpeg_coef_dec_getcaps(GstVideoDecoder* decoder, GstCaps* filter) {
  cudatransform::CapsPtr caps(gst_pad_get_pad_template_caps(GST_VIDEO_DECODER_SINK_PAD(decoder)));
  if (filter) caps.reset(gst_caps_intersect_full(filter, caps.get(), GST_CAPS_INTERSECT_FIRST));
  return caps.release();
}

static gboolean gst_jpeg_coef_dec_decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  return State::of(decoder).pictures.decide_allocation(query);
}

// ---- Stream ----

static gboolean gst_jpeg_coef_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  return State::of(decoder).pictures.sink_event(event, GST_VIDEO_DECODER_CLASS(parent_class));
}

static gboolean gst_jpeg_coef_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  if (!State::of(decoder).pictures.set_input(input)) return FALSE;
  gboolean parsed = FALSE;
  gst_structure_get_boolean(gst_caps_get_structure(input->caps, 0), "parsed", &parsed);
  State& state = State::of(decoder);
  state.is_parsed = parsed;
  GST_OBJECT_LOCK(decoder);
  const bool wants_all = state.settings.pictures == cudatransform::JpegFilePictures::kAll;
  GST_OBJECT_UNLOCK(decoder);
  // The base class makes one frame of a packet, so a file that shall give several is split.
  gst_video_decoder_set_packetized(decoder, parsed && !wants_all);
  return TRUE;
}

static GstFlowReturn gst_jpeg_coef_dec_drain(GstVideoDecoder* decoder) {
  return State::of(decoder).pictures.drain();
}

static GstFlowReturn gst_jpeg_coef_dec_finish(GstVideoDecoder* decoder) {
  return State::of(decoder).pictures.finish();
}

static gboolean gst_jpeg_coef_dec_flush(GstVideoDecoder* decoder) {
  State& state = State::of(decoder);
  state.pictures.flush();
  state.begin_anew();
  return TRUE;
}

static void gst_jpeg_coef_dec_init(GstJpegCoefDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->state = new State(decoder);
  // Pads answer ACCEPT_CAPS by their template, like those of GStreamer's own decoders.
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(decoder));
}

static void gst_jpeg_coef_dec_class_init(GstJpegCoefDecClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  cudatransform::JpegElement<State>::install(element_class, gst_caps_new_empty_simple("image/jpeg"),
                                             cudatransform::jpeg_coefs_template_caps(true));
  gst_jpeg_coef_dec_install_properties(G_OBJECT_CLASS(klass));
  gst_element_class_set_static_metadata(
      element_class, "JPEG to DCT coefficients", "Codec/Parser/Image",
      "Takes JPEG pictures and Motion-JPEG apart as far as their quantised DCT coefficients",
      "The cudatransform authors");

  decoder_class->start = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_start);
  decoder_class->stop = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_stop);
  decoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_sink_event);
  decoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_sink_query);
  decoder_class->src_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_src_query);
  decoder_class->getcaps = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_getcaps);
  decoder_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_decide_allocation);
  decoder_class->set_format = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_set_format);
  decoder_class->parse = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_parse);
  decoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_handle_frame);
  decoder_class->drain = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_drain);
  decoder_class->finish = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_finish);
  decoder_class->flush = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_flush);
}
