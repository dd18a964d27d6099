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
 * ]| Plays a Motion-JPEG recording at a quarter of its size, without full-size frames.
 */

#include "gst/jpeg/jpegcoefdec.h"

#include <gst/video/gstvideodecoder.h>

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/jpegcoefdec_state.h"

using State = cudatransform::JpegCoefDecState;
using cudatransform::JpegSettings;
using cudatransform::Status;

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
  // Deactivating the pads waits for the picture that is being decoded.
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_jpeg_coef_dec_state(element)->frames.interrupt();
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
  state->frames.set_tables_in_caps(settings_of(decoder).tables_in_caps);
  state->splitter.restart();
  state->collected.clear();
  // Until caps say that somebody has done it already.
  gst_video_decoder_set_packetized(decoder, FALSE);
  state->gate.open();
  return TRUE;
}

static gboolean gst_jpeg_coef_dec_stop(GstVideoDecoder* decoder) {
  State* state = gst_jpeg_coef_dec_state(decoder);
  state->gate.close();
  state->frames.stop();
  state->collected.clear();
  return TRUE;
}

// ---- Queries ----

static gboolean gst_jpeg_coef_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  State* state = gst_jpeg_coef_dec_state(decoder);
  if (state->engine.handle_context_query(query)) return TRUE;
  if (state->gate.refuses(GST_VIDEO_DECODER_SINK_PAD(decoder), query)) return FALSE;
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
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) frames.interrupt();
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    // What was interrupted has been dropped by then.
    const gboolean taken =
        GST_VIDEO_DECODER_CLASS(gst_jpeg_coef_dec_parent_class)->sink_event(decoder, event);
    frames.resume();
    return taken;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    // Asked here, because the base class makes a TIME segment of every other.
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    GST_VIDEO_DECODER_STREAM_LOCK(decoder);
    frames.set_framed(segment->format == GST_FORMAT_TIME);
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_GAP) {
    // The base class passes it on at once, and its own caps would be those of raw video.
    GST_VIDEO_DECODER_STREAM_LOCK(decoder);
    const JpegSettings settings = settings_of(decoder);
    (void)frames.drain(settings);  // what has failed shows again with the next picture
    const bool negotiated = frames.negotiate_gap(settings);
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
    if (!negotiated) {
      GST_ELEMENT_ERROR(decoder, STREAM, FORMAT, ("There are no caps for a gap"),
                        ("what is behind the element takes no coefficients"));
      return gst_pad_push_event(GST_VIDEO_DECODER_SRC_PAD(decoder), event);
    }
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

// Pictures that have come before it are good.
static GstFlowReturn fail_without_memory(GstVideoDecoder* decoder, GstVideoCodecFrame* frame) {
  auto& frames = gst_jpeg_coef_dec_state(decoder)->frames;
  const GstFlowReturn flow = frames.drain(settings_of(decoder));
  gst_video_decoder_release_frame(decoder, frame);
  if (flow != GST_FLOW_OK) return flow;
  cudatransform::post_error(GST_ELEMENT(decoder),
                            Status::error(cudatransform::StatusCode::kOutOfMemory,
                                          "no memory to collect the bytes of a JPEG picture"));
  return frames.fail(GST_FLOW_ERROR);
}

static GstFlowReturn gst_jpeg_coef_dec_handle_frame(GstVideoDecoder* decoder,
                                                    GstVideoCodecFrame* frame) {
  if (!gst_jpeg_coef_dec_use_collected(frame)) return fail_without_memory(decoder, frame);
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
  const bool failed = gst_jpeg_coef_dec_state(decoder)->frames.failed();
  const GstFlowReturn flow = gst_jpeg_coef_dec_drain(decoder);
  if (failed) return flow;  // whoever pushed has been told
  // The base class passes EOS on, whatever has become of the last pictures. Who returns
  // GST_FLOW_ERROR has said why.
  const bool refused = flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS;
  if (refused && flow != GST_FLOW_ERROR) GST_ELEMENT_FLOW_ERROR(decoder, flow);
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
  state->collected.clear();
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
      element_class, "JPEG to DCT coefficients", "Codec/Parser/Image",
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
