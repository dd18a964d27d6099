// Element jpegcoefdec: JPEG pictures and Motion-JPEG to their quantised DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-jpegcoefdec
 * @title: jpegcoefdec
 * @see_also: cudaidct8x8, jpegcoefenc
 *
 * Takes JPEG pictures apart as far as their quantised coefficients (video/x-dct) and quantisation
 * tables, which travel with every buffer: the entropy decoding of libjpeg-turbo, without the
 * transform. cudaidct8x8 makes pictures of them, in every sampling that JPEG files have;
 * jpegcoefenc makes JPEG pictures again, without any loss.
 *
 * Several pictures are decoded at a time, see #GstJpegCoefDec:n-threads.
 *
 * docs/elements/jpegcoefdec.md lists every property, caps field and statistics field.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudaidct8x8 ! videoconvert ! \
 *   imagefreeze ! autovideosink
 * ]| Shows a photograph.
 * |[
 * gst-launch-1.0 filesrc location=recording.avi ! avidemux ! jpegcoefdec ! cudaidct8x8 scale=1/4 \
 *   ! videoconvert ! autovideosink
 * ]| Plays a Motion-JPEG recording at a quarter of its size, for a fraction of the work.
 */

#include "gst/jpegcoefdec.h"

#include <gst/video/gstvideodecoder.h>

#include <algorithm>

#include "gst/debug.h"
#include "gst/element_errors.h"
#include "gst/jpeg_caps.h"
#include "gst/jpegcoefdec_state.h"

using State = cudatransform::JpegCoefDecState;
using cudatransform::JpegSettings;
using cudatransform::JpegSplitter;
using cudatransform::Status;

namespace {

constexpr gsize kPiece = 16384;               // of a stream, looked at in one go
constexpr gsize kMostBytes = gsize{1} << 28;  // of a picture

}  // namespace

G_DEFINE_TYPE(GstJpegCoefDec, gst_jpeg_coef_dec, GST_TYPE_VIDEO_DECODER);
GST_ELEMENT_REGISTER_DEFINE(jpegcoefdec, "jpegcoefdec", GST_RANK_NONE,
                            gst_jpeg_coef_dec_get_type());

State* gst_jpeg_coef_dec_state(gpointer object) {
  return G_TYPE_CHECK_INSTANCE_CAST(object, gst_jpeg_coef_dec_get_type(), GstJpegCoefDec)->state;
}

static JpegSettings settings_of(GstVideoDecoder* decoder) {
  GST_OBJECT_LOCK(decoder);
  const State* state = gst_jpeg_coef_dec_state(decoder);
  JpegSettings settings = state->settings;
  settings.n_threads = state->engine_settings.n_threads;
  GST_OBJECT_UNLOCK(decoder);
  return settings;
}

// ---- State ----

static bool open_engine(GstElement* element) {
  State* state = gst_jpeg_coef_dec_state(element);
  std::string fallback;
  if (!cudatransform::open_engine(element, state->engine, &state->engine_settings, 1, &fallback))
    return false;
  // Nothing is slower for it, so it is no message: the device would only be copied to.
  if (!fallback.empty())
    GST_INFO_OBJECT(element, "coefficients stay in system memory: %s", fallback.c_str());
  return true;
}

static void close_engine(GstElement* element) {
  State* state = gst_jpeg_coef_dec_state(element);
  state->frames.stop();
  cudatransform::close_engine(element, state->engine, &state->engine_settings);
}

static GstStateChangeReturn gst_jpeg_coef_dec_change_state(GstElement* element,
                                                           GstStateChange transition) {
  return cudatransform::change_engine_state(element,
                                            GST_ELEMENT_CLASS(gst_jpeg_coef_dec_parent_class),
                                            transition, open_engine, close_engine);
}

static void gst_jpeg_coef_dec_set_context(GstElement* element, GstContext* context) {
  State* state = gst_jpeg_coef_dec_state(element);
  cudatransform::set_engine_context(element, state->engine, state->engine_settings, context);
  GST_ELEMENT_CLASS(gst_jpeg_coef_dec_parent_class)->set_context(element, context);
}

static gboolean gst_jpeg_coef_dec_start(GstVideoDecoder* decoder) {
  State* state = gst_jpeg_coef_dec_state(decoder);
  state->frames.start();
  state->splitter.restart();
  // Until caps say that somebody has done it already.
  gst_video_decoder_set_packetized(decoder, FALSE);
  return TRUE;
}

static gboolean gst_jpeg_coef_dec_stop(GstVideoDecoder* decoder) {
  gst_jpeg_coef_dec_state(decoder)->frames.stop();
  return TRUE;
}

// ---- Queries ----

static gboolean gst_jpeg_coef_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (gst_jpeg_coef_dec_state(decoder)->engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_DECODER_CLASS(gst_jpeg_coef_dec_parent_class)->sink_query(decoder, query);
}

static gboolean gst_jpeg_coef_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (gst_jpeg_coef_dec_state(decoder)->engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_DECODER_CLASS(gst_jpeg_coef_dec_parent_class)->src_query(decoder, query);
}

// Not the default, which puts in the sizes that downstream takes: sources without a size of their
// own (multifilesrc) would fix 1x1.
static GstCaps* gst_jpeg_coef_dec_getcaps(GstVideoDecoder* decoder, GstCaps* filter) {
  GstCaps* caps = gst_pad_get_pad_template_caps(GST_VIDEO_DECODER_SINK_PAD(decoder));
  if (!filter) return caps;
  GstCaps* filtered = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return filtered;
}

// Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
static gboolean gst_jpeg_coef_dec_decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  GstBufferPool* pool = nullptr;
  const Status status = gst_jpeg_coef_dec_state(decoder)->frames.allocate(query, &pool);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (!status.ok()) {
    cudatransform::post_error(GST_ELEMENT(decoder), status);
    return FALSE;
  }
  // The base class insists on having one, though the frames bring their buffers.
  gst_query_add_allocation_pool(query, pool, 0, 0, 0);
  return TRUE;
}

// ---- Stream ----

static gboolean gst_jpeg_coef_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  auto& frames = gst_jpeg_coef_dec_state(decoder)->frames;
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    // Asked here, because the base class makes a TIME segment of every other.
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    GST_VIDEO_DECODER_STREAM_LOCK(decoder);
    frames.set_framed(segment->format == GST_FORMAT_TIME);
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_GAP && !frames.negotiated()) {
    // The base class would make up caps for it. Nothing has been shown that could have a gap.
    GST_DEBUG_OBJECT(decoder, "a gap before the first picture");
    gst_event_unref(event);
    return TRUE;
  }
  return GST_VIDEO_DECODER_CLASS(gst_jpeg_coef_dec_parent_class)->sink_event(decoder, event);
}

static gboolean gst_jpeg_coef_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  State* state = gst_jpeg_coef_dec_state(decoder);
  const GstFlowReturn flow = state->frames.drain(settings_of(decoder));
  if (flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED) return FALSE;
  state->frames.set_input(input);
  gboolean parsed = FALSE;
  gst_structure_get_boolean(gst_caps_get_structure(input->caps, 0), "parsed", &parsed);
  gst_video_decoder_set_packetized(decoder, parsed);
  return TRUE;
}

// Feeds the splitter what it has not seen. What it has not seen began with a buffer of its own.
static void look_at_new_bytes(GstVideoDecoder* decoder, GstAdapter* adapter, gsize available) {
  JpegSplitter& splitter = gst_jpeg_coef_dec_state(decoder)->splitter;
  guint8 piece[kPiece];
  bool first = true;
  while (!splitter.found() && splitter.position() < available &&
         !(splitter.inside() && splitter.position() - splitter.begin() > kMostBytes)) {
    const gsize size = std::min(kPiece, available - splitter.position());
    gst_adapter_copy(adapter, piece, splitter.position(), size);
    // Where buffers have times, one that begins like a picture is one, and what came before it was
    // cut off.
    const bool framed = gst_jpeg_coef_dec_state(decoder)->frames.framed();
    if (first && framed && splitter.inside() && size >= 3 && piece[0] == 0xff && piece[1] == 0xd8 &&
        piece[2] == 0xff)
      splitter.cut();
    else
      splitter.feed(piece, size);
    first = false;
  }
}

static GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame*,
                                             GstAdapter* adapter, gboolean at_eos) {
  JpegSplitter& splitter = gst_jpeg_coef_dec_state(decoder)->splitter;
  const gsize available = gst_adapter_available(adapter);
  look_at_new_bytes(decoder, adapter, available);
  if (!splitter.found() && splitter.inside() &&
      (at_eos || splitter.position() - splitter.begin() > kMostBytes))
    splitter.cut();
  if (!splitter.found()) {
    // What is not part of a picture goes at once, all but an FF that may be the first half of SOI.
    if (!splitter.inside() && available > 1) {
      gst_adapter_flush(adapter, available - 1);
      const guint8* last = static_cast<const guint8*>(gst_adapter_map(adapter, 1));
      const guint8 byte = last[0];
      gst_adapter_unmap(adapter);
      splitter.restart();
      splitter.feed(&byte, 1);
    }
    return GST_VIDEO_DECODER_FLOW_NEED_DATA;
  }
  const gsize begin = splitter.begin(), size = splitter.end() - begin;
  splitter.restart();
  if (begin > 0) {
    GST_DEBUG_OBJECT(decoder, "%" G_GSIZE_FORMAT " bytes are between two pictures", begin);
    gst_adapter_flush(adapter, begin);
  }
  gst_video_decoder_add_to_frame(decoder, static_cast<int>(size));
  return gst_video_decoder_have_frame(decoder);
}

static GstFlowReturn gst_jpeg_coef_dec_handle_frame(GstVideoDecoder* decoder,
                                                    GstVideoCodecFrame* frame) {
  gboolean qos = FALSE;
  g_object_get(decoder, "qos", &qos, nullptr);
  const bool late = qos && gst_video_decoder_get_max_decode_time(decoder, frame) < 0;
  if (late) GST_DEBUG_OBJECT(decoder, "too late: skipped");
  return gst_jpeg_coef_dec_state(decoder)->frames.decode(frame, settings_of(decoder), late);
}

static GstFlowReturn gst_jpeg_coef_dec_drain(GstVideoDecoder* decoder) {
  return gst_jpeg_coef_dec_state(decoder)->frames.drain(settings_of(decoder));
}

// The end of the stream. A file of which nothing could be shown is an error, whatever on-error
// says.
static GstFlowReturn gst_jpeg_coef_dec_finish(GstVideoDecoder* decoder) {
  const GstFlowReturn flow = gst_jpeg_coef_dec_drain(decoder);
  // The base class passes EOS on, whatever has become of the last pictures.
  if (flow == GST_FLOW_NOT_NEGOTIATED) GST_ELEMENT_FLOW_ERROR(decoder, flow);
  const auto counts = gst_jpeg_coef_dec_state(decoder)->frames.counts();
  if (flow != GST_FLOW_OK || counts.frames > 0 || counts.damaged == 0) return flow;
  GST_ELEMENT_ERROR(
      decoder, STREAM, DECODE,
      ("None of %" G_GUINT64_FORMAT " JPEG pictures could be decoded", counts.damaged),
      ("on-error=conceal shows what there is of them"));
  return GST_FLOW_ERROR;
}

static gboolean gst_jpeg_coef_dec_flush(GstVideoDecoder* decoder) {
  State* state = gst_jpeg_coef_dec_state(decoder);
  state->frames.flush();
  state->splitter.restart();
  return TRUE;
}

static void gst_jpeg_coef_dec_finalize(GObject* object) {
  delete gst_jpeg_coef_dec_state(object);
  G_OBJECT_CLASS(gst_jpeg_coef_dec_parent_class)->finalize(object);
}

static void gst_jpeg_coef_dec_init(GstJpegCoefDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->state = new State(decoder);
  // Pads answer ACCEPT_CAPS by their template, as those of GStreamer's own decoders.
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(decoder));
}

static void gst_jpeg_coef_dec_class_init(GstJpegCoefDecClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  object_class->finalize = gst_jpeg_coef_dec_finalize;
  gst_jpeg_coef_dec_install_properties(object_class);

  GstCaps* jpeg = gst_caps_new_empty_simple("image/jpeg");
  GstCaps* dct = cudatransform::jpeg_levels_template_caps(true);
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, jpeg));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, dct));
  gst_caps_unref(jpeg);
  gst_caps_unref(dct);
  gst_element_class_set_static_metadata(
      element_class, "JPEG to DCT coefficients", "Codec/Decoder/Image",
      "Takes JPEG pictures and Motion-JPEG apart as far as their quantised DCT coefficients",
      "The cudatransform authors");

  element_class->change_state = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_set_context);
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
