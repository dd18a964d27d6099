// Element cudadiracdec: Dirac and VC-2 to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadiracdec
 * @title: cudadiracdec
 *
 * Decodes Dirac and VC-2 (SMPTE ST 2042): all samples as the specification says. Takes streams that
 * are parsed, that a container has cut up, or bytes. Several pictures are decoded at a time, see
 * #GstCudaDiracDec:n-threads.
 *
 * docs/elements/cudadiracdec.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.drc ! cudadiracdec ! videoconvert ! autovideosink
 * ]| Plays a raw stream.
 */

#include "gst/elements.h"

#include <string>

#include "gst/dirac/cudadiracdec_private.h"
#include "gst/dirac/video_format.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/property_types.h"

using cudatransform::DiracState;
using cudatransform::OnError;
using cudatransform::state_of;
using cudatransform::Status;

GST_DEBUG_CATEGORY_STATIC(cudadiracdec_debug);
#define GST_CAT_DEFAULT cudadiracdec_debug

namespace {

enum {
  PROP_0,
  PROP_ON_ERROR,
  PROP_MAX_SAMPLES,
  PROP_MAX_MEMORY,
  PROP_N_THREADS,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_STATS
};

constexpr cudatransform::PictureProperties kPictureProperties = {
    .on_error = PROP_ON_ERROR,
    .max_memory = PROP_MAX_MEMORY,
    .max_memory_blurb =
        "Bytes of memory, on host and device, that a stream may make the element "
        "hold (0 = no limit): fewer pictures at a time when they are large; one "
        "that needs more alone is an error",
};
constexpr cudatransform::EngineProperties kEngineProperties = {
    .backend = PROP_BACKEND,
    .active_backend = PROP_ACTIVE_BACKEND,
    .cuda_device_id = PROP_CUDA_DEVICE_ID,
    .n_threads = PROP_N_THREADS,
    .backend_blurb =
        "The engine that renders pictures, chosen when the element goes to READY; CUDA also reads "
        "the codes of slices, and the CPU reads all others",
    .n_threads_blurb =
        "How many pictures are decoded at a time, chosen at the first (0 = one per core, one for "
        "live sources)",
};

}  // namespace

#define gst_cuda_dirac_dec_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDiracDec, gst_cuda_dirac_dec, GST_TYPE_VIDEO_DECODER,
                        GST_DEBUG_CATEGORY_INIT(cudadiracdec_debug, "cudadiracdec", 0,
                                                "Dirac and VC-2 decoder"));
GST_ELEMENT_REGISTER_DEFINE(cudadiracdec, "cudadiracdec", GST_RANK_PRIMARY,
                            gst_cuda_dirac_dec_get_type());

// ---- Stream ----

static GstFlowReturn gst_cuda_dirac_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                              GstAdapter* adapter, gboolean at_eos) {
  return cudatransform::parse_dirac_stream(decoder, frame, adapter, at_eos != FALSE);
}

static GstFlowReturn gst_cuda_dirac_dec_handle_frame(GstVideoDecoder* decoder,
                                                     GstVideoCodecFrame* frame) {
  DiracState& state = state_of(decoder);
  if (state.failed != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder, frame);
    state.pusher.forget();
    return state.failed;
  }
  if (!state.pictures.is_started()) {
    GST_OBJECT_LOCK(decoder);
    cudatransform::DiracLimits limits;
    limits.max_samples = state.max_samples;
    const guint wanted = state.engine_settings.n_threads;
    GST_OBJECT_UNLOCK(decoder);
    state.pictures.start(
        limits, cudatransform::picture_threads(GST_VIDEO_DECODER_SINK_PAD(decoder), wanted));
  }
  const auto input =
      *static_cast<cudatransform::DiracInputPtr*>(gst_video_codec_frame_get_user_data(frame));
  if (!input->map(frame->input_buffer)) {
    gst_video_decoder_release_frame(decoder, frame);
    return cudatransform::push_dirac_frames(decoder, input->status, false);
  }
  Status problem;
  const Status status = state.pictures.take(frame, input, &problem);
  if (state.pictures.most_in_work() > 1) state.pusher.start();
  if (!problem.ok()) {
    GST_OBJECT_LOCK(decoder);
    const bool fails = state.settings.on_error == OnError::kFail;
    GST_OBJECT_UNLOCK(decoder);
    if (fails || (problem.code == cudatransform::StatusCode::kUnsupported && !state.output)) {
      // The error follows the pictures that came before it.
      const GstFlowReturn flow = cudatransform::push_dirac_frames(
          decoder, status.ok() ? state.pictures.finish() : status, true);
      if (cudatransform::is_fatal(flow)) return flow;
      cudatransform::post_error(GST_ELEMENT(decoder), problem);
      return cudatransform::fail_dirac(decoder, GST_FLOW_ERROR);
    }
    GST_WARNING_OBJECT(decoder, "dropped a unit: %s", problem.message.c_str());
  }
  return cudatransform::push_dirac_frames(decoder, status, false);
}

static GstFlowReturn gst_cuda_dirac_dec_drain(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  if (state.failed != GST_FLOW_OK) return state.pusher.told(state.failed);
  return cudatransform::push_dirac_frames(decoder, state.pictures.finish(), true);
}

// At the end of the stream, no push is left to return a refusal.
static GstFlowReturn gst_cuda_dirac_dec_finish(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  const GstFlowReturn flow = gst_cuda_dirac_dec_drain(decoder);
  if (!state.pusher.is_told()) cudatransform::post_refusal(GST_ELEMENT(decoder), flow);
  state.pusher.set_told();
  return flow;
}

static gboolean gst_cuda_dirac_dec_flush(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  state.pictures.flush();
  cudatransform::drop_dirac_frames(decoder);
  state.split.reset();
  state.failed = GST_FLOW_OK;
  state.pusher.forget();
  state.clock.flush();
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_take_event(GstVideoDecoder* decoder, GstEvent* event) {
  DiracState& state = state_of(decoder);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    const bool framed = segment->format == GST_FORMAT_TIME;
    // Read with either lock.
    GST_VIDEO_DECODER_STREAM_LOCK(decoder);
    GST_OBJECT_LOCK(decoder);
    state.framed = framed;
    GST_OBJECT_UNLOCK(decoder);
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
    if (!framed) event = cudatransform::dirac_segment_in_time(decoder, event, segment);
  }
  if (GST_EVENT_TYPE(event) != GST_EVENT_EOS)
    return GST_VIDEO_DECODER_CLASS(parent_class)->sink_event(decoder, event);
  GST_VIDEO_DECODER_STREAM_LOCK(decoder);
  state.ends_behind_seek = state.clock.is_behind_seek();
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
  const gboolean taken = GST_VIDEO_DECODER_CLASS(parent_class)->sink_event(decoder, event);
  state.ends_behind_seek = false;
  return taken;
}

static gboolean gst_cuda_dirac_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  DiracState& state = state_of(decoder);
  return state.pusher.take_event(event, state.failed,
                                 [&] { return gst_cuda_dirac_dec_take_event(decoder, event); });
}

static gboolean gst_cuda_dirac_dec_post_message(GstElement* element, GstMessage* message) {
  if (!cudatransform::is_end_behind_dirac_seek(element, message))
    return GST_ELEMENT_CLASS(parent_class)->post_message(element, message);
  gst_message_unref(message);
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_src_event(GstVideoDecoder* decoder, GstEvent* event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_SEEK)
    return GST_VIDEO_DECODER_CLASS(parent_class)->src_event(decoder, event);
  const gboolean done = cudatransform::dirac_seek(decoder, event);
  gst_event_unref(event);
  return done;
}

static gboolean gst_cuda_dirac_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  return state_of(decoder).engine.handle_context_query(query) ||
         GST_VIDEO_DECODER_CLASS(parent_class)->sink_query(decoder, query);
}

static gboolean gst_cuda_dirac_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  return state_of(decoder).engine.handle_context_query(query) ||
         cudatransform::dirac_raw_query(decoder, query) ||
         GST_VIDEO_DECODER_CLASS(parent_class)->src_query(decoder, query);
}

static gboolean gst_cuda_dirac_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  DiracState& state = state_of(decoder);
  state.input.reset(gst_video_codec_state_ref(input));
  state.output.reset();
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_start(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  GST_OBJECT_LOCK(decoder);
  state.stats = {};
  state.frames = state.dropped = state.outside = 0;
  state.picture_time = state.seek_byte = state.seek_time = 0;
  state.framed = false;
  GST_OBJECT_UNLOCK(decoder);
  state.split.reset();
  state.clock = {};
  state.damage.start();
  state.latency = {};
  state.pusher.forget();
  state.told_of_outside = false;
  state.failed = GST_FLOW_OK;
  gst_video_decoder_set_packetized(decoder, FALSE);
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_stop(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  cudatransform::drop_dirac_frames(decoder);
  state.pictures.stop();
  state.frame_output.stop();
  state.output.reset();
  state.input.reset();
  return TRUE;
}

// ---- States ----

static bool gst_cuda_dirac_dec_open(GstElement* element) {
  DiracState& state = state_of(element);
  std::string fallback;
  GST_OBJECT_LOCK(element);
  const auto threads = static_cast<int>(state.engine_settings.n_threads);
  GST_OBJECT_UNLOCK(element);
  if (!open_engine(element, state.engine, &state.engine_settings, threads, &fallback)) return false;
  if (!fallback.empty())
    GST_INFO_OBJECT(element, "pictures are rendered by the CPU: %s", fallback.c_str());
  return true;
}

static void gst_cuda_dirac_dec_close(GstElement* element) {
  DiracState& state = state_of(element);
  cudatransform::drop_dirac_frames(GST_VIDEO_DECODER(element));
  state.pictures.stop();
  state.frame_output.stop();
  close_engine(element, state.engine, &state.engine_settings);
}

static GstStateChangeReturn gst_cuda_dirac_dec_change_state(GstElement* element,
                                                            GstStateChange transition) {
  return cudatransform::change_engine_state(element, GST_ELEMENT_CLASS(parent_class), transition,
                                            gst_cuda_dirac_dec_open, gst_cuda_dirac_dec_close);
}

static void gst_cuda_dirac_dec_set_context(GstElement* element, GstContext* context) {
  DiracState& state = state_of(element);
  set_engine_context(element, state.engine, state.engine_settings, context);
  GST_ELEMENT_CLASS(parent_class)->set_context(element, context);
}

// ---- GObject ----

static void gst_cuda_dirac_dec_set_property(GObject* object, guint id, const GValue* value,
                                            GParamSpec* pspec) {
  DiracState& state = state_of(object);
  GST_OBJECT_LOCK(object);
  if (id == PROP_MAX_SAMPLES)
    state.max_samples = g_value_get_uint64(value);
  else if (!set_picture_property(kPictureProperties, &state.settings, id, value) &&
           !set_engine_property(kEngineProperties, &state.engine_settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  GST_OBJECT_UNLOCK(object);
}

static GstStructure* gst_cuda_dirac_dec_stats(const DiracState& state) {
  static constexpr const char* kStages[] = {"motion-decode", "residual-decode", "wavelet",
                                            "upsample", "motion-render"};
  static_assert(G_N_ELEMENTS(kStages) == cudatransform::kDiracStages);
  const cudatransform::DiracStats& stats = state.stats;
  GstStructure* to = gst_structure_new(
      "application/x-cudadiracdec-stats", "frames", G_TYPE_UINT64, state.frames, "pictures",
      G_TYPE_UINT64, stats.pictures, "cuda-pictures", G_TYPE_UINT64, stats.on_cuda, "bytes",
      G_TYPE_UINT64, stats.bytes, "damaged", G_TYPE_UINT64, stats.damaged, "dropped", G_TYPE_UINT64,
      state.dropped, "outside-segment", G_TYPE_UINT64, state.outside, "late", G_TYPE_UINT64,
      stats.late, "lost-units", G_TYPE_UINT64, stats.lost, nullptr);
  for (int i = 0; i < cudatransform::kDiracStages; ++i) {
    const auto& time = stats.times[i];
    const std::string name = std::string(kStages[i]) + "-time";
    const gint64 mean =
        time.last < 0 || stats.pictures == 0 ? -1 : static_cast<gint64>(time.sum / stats.pictures);
    gst_structure_set(to, name.c_str(), G_TYPE_INT64, time.last, (name + "-mean").c_str(),
                      G_TYPE_INT64, mean, (name + "-sum").c_str(), G_TYPE_UINT64, time.sum,
                      nullptr);
  }
  return to;
}

static void gst_cuda_dirac_dec_get_property(GObject* object, guint id, GValue* value,
                                            GParamSpec* pspec) {
  DiracState& state = state_of(object);
  GST_OBJECT_LOCK(object);
  if (id == PROP_STATS)
    g_value_take_boxed(value, gst_cuda_dirac_dec_stats(state));
  else if (id == PROP_MAX_SAMPLES)
    g_value_set_uint64(value, state.max_samples);
  else if (!get_picture_property(kPictureProperties, state.settings, id, value) &&
           !get_engine_property(kEngineProperties, state.engine_settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dirac_dec_finalize(GObject* object) {
  delete &state_of(object);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_cuda_dirac_dec_init(GstCudaDiracDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->state = new DiracState(decoder);
  self->state->pictures.drop_late([decoder](auto* frame, const auto& sequence,
                                            uint64_t sequence_count, uint32_t number) {
    return cudatransform::is_dirac_picture_late(decoder, frame, sequence, sequence_count, number);
  });
  self->state->pictures.push_when_full(
      [decoder] { return cudatransform::push_dirac_frames(decoder, {}, false); });
  cudatransform::count_dirac_frames(decoder);
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(decoder));
}

static void gst_cuda_dirac_dec_install_properties(GObjectClass* klass) {
  install_picture_properties(klass, kPictureProperties, cudatransform::kDiracDefaults);
  g_object_class_install_property(
      klass, PROP_MAX_SAMPLES,
      g_param_spec_uint64("max-samples", "Largest frame",
                          "Samples of all components of a frame above which a stream is refused; a "
                          "header of a few bytes can claim any size",
                          1, G_MAXUINT64, cudatransform::DiracLimits().max_samples,
                          cudatransform::kUpToReady));
  install_engine_properties(klass, kEngineProperties);
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What was decoded since PAUSED, as a structure; "
                         "docs/elements/cudadiracdec.md lists its fields",
                         GST_TYPE_STRUCTURE, cudatransform::kReadOnly));
}

static void gst_cuda_dirac_dec_class_init(GstCudaDiracDecClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  object_class->set_property = gst_cuda_dirac_dec_set_property;
  object_class->get_property = gst_cuda_dirac_dec_get_property;
  object_class->finalize = gst_cuda_dirac_dec_finalize;
  gst_cuda_dirac_dec_install_properties(object_class);

  GstCaps* sink = gst_caps_new_empty_simple("video/x-dirac");
  GstCaps* src = cudatransform::dirac_template_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
  gst_caps_unref(sink);
  gst_caps_unref(src);
  gst_element_class_set_static_metadata(
      element_class, "Dirac and VC-2 decoder", "Codec/Decoder/Video",
      "Decodes Dirac and VC-2 (SMPTE ST 2042) to raw video", "The cudatransform authors");

  element_class->change_state = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_set_context);
  element_class->post_message = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_post_message);
  decoder_class->start = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_start);
  decoder_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_stop);
  decoder_class->src_event = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_src_event);
  decoder_class->src_query = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_src_query);
  decoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_sink_query);
  decoder_class->decide_allocation = GST_DEBUG_FUNCPTR(cudatransform::decide_dirac_allocation);
  decoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_sink_event);
  decoder_class->set_format = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_set_format);
  decoder_class->parse = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_parse);
  decoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_handle_frame);
  decoder_class->drain = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_drain);
  decoder_class->finish = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_finish);
  decoder_class->flush = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_flush);
}
