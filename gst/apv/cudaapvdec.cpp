// Element cudaapvdec: APV to raw video, and the type finder of raw streams.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaapvdec
 * @title: cudaapvdec
 *
 * Decodes APV (Advanced Professional Video, RFC 9924): bit-exact with the specification. Takes
 * access units as containers have them, or the bytes of a raw stream. Several frames are decoded at
 * a time, see #GstCudaApvDec:n-threads.
 *
 * docs/elements/cudaapvdec.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! qtdemux ! cudaapvdec ! videoconvert ! autovideosink
 * ]| Plays the clip of a phone.
 */

#include "gst/elements.h"

#include <algorithm>
#include <span>

#include "apv/access_unit.h"
#include "gst/apv/metas.h"
#include "gst/apv/pictures.h"
#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/properties.h"
#include "gst/stream/codec_element.h"
#include "gst/stream/stream_gate.h"

GST_DEBUG_CATEGORY_STATIC(cudaapvdec_debug);
#define GST_CAT_DEFAULT cudaapvdec_debug

namespace cudatransform {

// The splitter of a raw stream and its progress.
struct ApvSplit {
  // The next bytes do not continue the earlier ones, which the base class has cleared.
  void reset() {
    bytes.clear();
    splitter = ApvSplitter();
  }

  ContiguousAdapter bytes;  // of the base class
  ApvSplitter splitter;
};

struct ApvState : CodecElementState {
  explicit ApvState(GstVideoDecoder* decoder)
      : CodecElementState(GST_ELEMENT(decoder), probe_apv_kernels),
        pictures(decoder, engine, settings) {}

  static ApvState& of(gpointer instance);
  static GstDebugCategory* category() { return cudaapvdec_debug; }
  static constexpr char kWithoutCuda[] = "frames are rendered by the CPU";
  static constexpr bool kEngineHasThreads = true;
  void interrupt() { pictures.loop().interrupt(); }
  void release() { pictures.stop(); }

  ApvSettings settings;  // guarded by the object lock
  ApvPictures pictures;
  ApvSplit split;
  StreamGate gate;
};

}  // namespace cudatransform

G_BEGIN_DECLS
G_DECLARE_FINAL_TYPE(GstCudaApvDec, gst_cuda_apv_dec, GST, CUDA_APV_DEC, GstVideoDecoder)
struct _GstCudaApvDec {
  GstVideoDecoder parent;
  cudatransform::ApvState* state;
};
G_END_DECLS

using cudatransform::ApvSettings;
using cudatransform::ApvState;
using cudatransform::locked;
using cudatransform::PictureSettings;
using cudatransform::SettingsOf;
using cudatransform::Status;

ApvState& ApvState::of(gpointer instance) {
  return *reinterpret_cast<GstCudaApvDec*>(instance)->state;
}
static ApvState& state_of(gpointer instance) { return ApvState::of(instance); }

#define gst_cuda_apv_dec_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaApvDec, gst_cuda_apv_dec, GST_TYPE_VIDEO_DECODER,
                        GST_DEBUG_CATEGORY_INIT(cudaapvdec_debug, "cudaapvdec", 0, "APV decoder"));
GST_ELEMENT_REGISTER_DEFINE(cudaapvdec, "cudaapvdec", GST_RANK_SECONDARY,
                            gst_cuda_apv_dec_get_type());

// ---- Type finder ----

static void find_apv_type(GstTypeFind* find, gpointer) {
  // au_size, "aPv1", pbu_size and the header of a PBU.
  constexpr guint kBytes = 16, kType = 12, kReserved = 15;
  const guint8* data = gst_type_find_peek(find, 0, kBytes);
  if (data == nullptr || !cudatransform::begins_with_apv_size({data, kBytes}) ||
      !cudatransform::is_known_apv_type(data[kType]) || data[kReserved] != 0)
    return;
  gst_type_find_suggest_empty_simple(find, GST_TYPE_FIND_NEARLY_CERTAIN, "video/x-apv");
}

// Static, as the registration takes no reference.
static GstStaticCaps raw_stream_caps = GST_STATIC_CAPS("video/x-apv");

GST_TYPE_FIND_REGISTER_DEFINE(apv, "video/x-apv", GST_RANK_SECONDARY, find_apv_type, "apv",
                              gst_static_caps_get(&raw_stream_caps), nullptr, nullptr);

// ---- Stream ----

// Larger access units are not believed.
static constexpr guint64 kMaxUnitBytes = guint64{1} << 28;

static GstFlowReturn gst_cuda_apv_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame*,
                                            GstAdapter* adapter, gboolean at_eos) {
  ApvState& state = state_of(decoder);
  cudatransform::ApvSplit& split = state.split;
  const auto discard = [&] {
    split.reset();
    split.bytes.discard(adapter, 0);
  };
  if (state.pictures.loop().has_failed()) {
    discard();
    return state.pictures.loop().failure();
  }
  if (const Status status = split.bytes.gather(adapter); !status.ok()) {
    discard();
    post_error(GST_ELEMENT(decoder), status);
    return state.pictures.loop().end_stream(GST_FLOW_ERROR);
  }
  for (;;) {
    if (GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder))) return GST_FLOW_FLUSHING;
    const cudatransform::ApvSpan span =
        split.splitter.next(split.bytes.bytes(), at_eos != FALSE, kMaxUnitBytes);
    if (span.skipped > 0) {
      state.pictures.note_skipped(span.skipped);
      split.bytes.flush(span.skipped);
    }
    if (span.size > 0) {
      split.bytes.add_to_frame(decoder, span.size);
      return gst_video_decoder_have_frame(decoder);
    }
    if (span.skipped == 0) break;
  }
  if (at_eos) discard();
  const GstFlowReturn flow = state.pictures.hold(split.splitter.wanted());
  return flow == GST_FLOW_OK ? GST_VIDEO_DECODER_FLOW_NEED_DATA : flow;
}

static GstFlowReturn gst_cuda_apv_dec_handle_frame(GstVideoDecoder* decoder,
                                                   GstVideoCodecFrame* frame) {
  ApvState& state = state_of(decoder);
  if (state.pictures.loop().has_failed()) {
    gst_video_decoder_release_frame(decoder, frame);
    return state.pictures.loop().failure();
  }
  state.pictures.start_decoder(locked(decoder, state.engine_settings.n_threads));
  return state.pictures.decode(frame);
}

static GstFlowReturn gst_cuda_apv_dec_drain(GstVideoDecoder* decoder) {
  return state_of(decoder).pictures.drain();
}

static GstFlowReturn gst_cuda_apv_dec_finish(GstVideoDecoder* decoder) {
  cudatransform::ApvPictures& pictures = state_of(decoder).pictures;
  return pictures.loop().finish([&] { return pictures.drain(); });
}

static gboolean gst_cuda_apv_dec_flush(GstVideoDecoder* decoder) {
  ApvState& state = state_of(decoder);
  state.pictures.flush();
  state.split.reset();
  return TRUE;
}

// Demuxers give whole access units; in caps without alignment=au the bytes are a raw stream.
static bool has_access_units(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const gchar* alignment = gst_structure_get_string(structure, "alignment");
  return !gst_structure_has_name(structure, "video/x-apv") || g_strcmp0(alignment, "au") == 0;
}

static gboolean gst_cuda_apv_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  ApvState& state = state_of(decoder);
  if (!state.pictures.loop().may_change_caps(state.pictures.drain())) return FALSE;
  gst_video_decoder_set_packetized(decoder, has_access_units(input->caps));
  // Raw streams: times, duration and seeks follow from bytes and the frame rate.
  gst_video_decoder_set_estimate_rate(decoder, TRUE);
  state.pictures.set_input(input);
  return TRUE;
}

// ---- Events, queries, states ----

// The segment of a raw stream, which is in bytes, in time: the base class has the rate between the
// two that it estimates for seeks.
static GstEvent* apv_segment_in_time(GstVideoDecoder* decoder, GstEvent* event) {
  const GstSegment* from = nullptr;
  gst_event_parse_segment(event, &from);
  if (from->format == GST_FORMAT_TIME) return event;
  gint64 start = 0;
  if (from->format != GST_FORMAT_BYTES || from->start == 0 ||
      !gst_pad_query_convert(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_FORMAT_BYTES,
                             static_cast<gint64>(from->start), GST_FORMAT_TIME, &start))
    start = 0;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = from->rate;
  segment.start = segment.time = segment.position = static_cast<guint64>(start);
  GstEvent* in_time = gst_event_new_segment(&segment);
  gst_event_set_seqnum(in_time, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return in_time;
}

static gboolean gst_cuda_apv_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  return state_of(decoder).pictures.loop().take_event(event, [&] {
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) event = apv_segment_in_time(decoder, event);
    return GST_VIDEO_DECODER_CLASS(parent_class)->sink_event(decoder, event);
  });
}

// A seek in time to the end of a raw stream becomes one in bytes: to about the right place.
static bool seek_raw_apv(GstVideoDecoder* decoder, GstEvent* event) {
  gdouble rate = 0;
  GstFormat format = GST_FORMAT_UNDEFINED;
  GstSeekFlags flags = GST_SEEK_FLAG_NONE;
  GstSeekType start_type = GST_SEEK_TYPE_NONE, stop_type = GST_SEEK_TYPE_NONE;
  gint64 start = 0, stop = 0, byte = 0;
  gst_event_parse_seek(event, &rate, &format, &flags, &start_type, &start, &stop_type, &stop);
  const bool to_the_end = stop_type == GST_SEEK_TYPE_NONE || stop == -1;
  if (gst_video_decoder_get_packetized(decoder) || format != GST_FORMAT_TIME || rate <= 0 ||
      start_type != GST_SEEK_TYPE_SET || start < 0 || !to_the_end ||
      (flags & GST_SEEK_FLAG_ACCURATE))
    return false;
  GstPad* sink = GST_VIDEO_DECODER_SINK_PAD(decoder);
  if (start > 0 && !gst_pad_query_convert(sink, GST_FORMAT_TIME, start, GST_FORMAT_BYTES, &byte))
    return false;
  GstEvent* in_bytes = gst_event_new_seek(rate, GST_FORMAT_BYTES, flags, GST_SEEK_TYPE_SET, byte,
                                          GST_SEEK_TYPE_NONE, -1);
  gst_event_set_seqnum(in_bytes, gst_event_get_seqnum(event));
  return gst_pad_push_event(sink, in_bytes);
}

static gboolean gst_cuda_apv_dec_src_event(GstVideoDecoder* decoder, GstEvent* event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_SEEK)
    return GST_VIDEO_DECODER_CLASS(parent_class)->src_event(decoder, event);
  const bool done = gst_pad_push_event(GST_VIDEO_DECODER_SINK_PAD(decoder), gst_event_ref(event)) ||
                    seek_raw_apv(decoder, event);
  gst_event_unref(event);
  return done;
}

static gboolean gst_cuda_apv_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  ApvState& state = state_of(decoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_DECODER_SINK_PAD(decoder), query)) return FALSE;
  state.pictures.loop().take_query(query, [&] { return state.pictures.drain(); });
  return GST_VIDEO_DECODER_CLASS(parent_class)->sink_query(decoder, query);
}

static gboolean gst_cuda_apv_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  return state_of(decoder).engine.handle_context_query(query) ||
         GST_VIDEO_DECODER_CLASS(parent_class)->src_query(decoder, query);
}

static gboolean gst_cuda_apv_dec_decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  return state_of(decoder).pictures.decide_allocation(query);
}

static gboolean gst_cuda_apv_dec_start(GstVideoDecoder* decoder) {
  ApvState& state = state_of(decoder);
  state.split.reset();
  state.pictures.start();
  gst_video_decoder_set_packetized(decoder, FALSE);
  state.gate.open();
  return TRUE;
}

static gboolean gst_cuda_apv_dec_stop(GstVideoDecoder* decoder) {
  ApvState& state = state_of(decoder);
  state.gate.close();
  state.pictures.stop();
  return TRUE;
}

// ---- GObject ----

static GstStructure* make_stats(GObject* object) {
  const cudatransform::ApvStats stats = state_of(object).pictures.stats();
  return gst_structure_new(
      "application/x-cudaapvdec-stats", "frames", G_TYPE_UINT64, stats.frames, "cuda-frames",
      G_TYPE_UINT64, stats.on_cuda, "cuda-entropy-frames", G_TYPE_UINT64, stats.entropy_on_cuda,
      "bytes", G_TYPE_UINT64, stats.bytes, "damaged", G_TYPE_UINT64, stats.damaged,
      "damaged-chains", G_TYPE_UINT64, stats.damaged_chains, "dropped", G_TYPE_UINT64,
      stats.dropped, "late", G_TYPE_UINT64, stats.late, "skipped-bytes", G_TYPE_UINT64,
      stats.skipped_bytes, "skipped-frames", G_TYPE_UINT64, stats.skipped_frames, "unknown-units",
      G_TYPE_UINT64, stats.unknown_units, "t35-metadata", G_TYPE_UINT64, stats.t35, "user-metadata",
      G_TYPE_UINT64, stats.user, "unknown-metadata", G_TYPE_UINT64, stats.unknown_metadata,
      "entropy-time-sum", G_TYPE_UINT64, stats.entropy_time, nullptr);
}

static void gst_cuda_apv_dec_init(GstCudaApvDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->state = new ApvState(decoder);
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(decoder));
}

static GType entropy_type() {
  using cudatransform::ApvEntropy;
  static const GEnumValue kValues[] = {
      {int(ApvEntropy::kAuto), "CUDA for large frames in parallel, otherwise CPU", "auto"},
      {int(ApvEntropy::kCpu), "CPU", "cpu"},
      {int(ApvEntropy::kCuda), "CUDA if that is the backend", "cuda"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaApvDecEntropy", kValues);
  return type;
}

/**
 * GstCudaApvDec:max-samples:
 *
 * Maximum number of samples per frame, all components.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvDec:entropy-backend:
 *
 * Backend for entropy decoding.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const SettingsOf<cudatransform::EngineSettings> engine(
      [](gpointer element) -> auto& { return state_of(element).engine_settings; });
  const SettingsOf<PictureSettings> pictures(
      [](gpointer element) -> PictureSettings& { return state_of(element).settings; },
      ApvSettings());
  const SettingsOf<ApvSettings> apv(
      [](gpointer element) -> auto& { return state_of(element).settings; });
  cudatransform::install_properties(
      klass,
      {on_error_property(pictures),
       apv.row("max-samples", "Maximum Samples",
               "Maximum number of samples per frame, all components", &ApvSettings::max_samples,
               {.min = 1, .max = G_MAXUINT64, .flags = cudatransform::kUpToReady}),
       max_memory_property(pictures, "Maximum host and device memory in bytes (0 = unlimited)"),
       n_threads_property(engine, "Number of pictures to decode in parallel (0 = automatic)"),
       apv.row("entropy-backend", "Entropy Decoding", "Backend for entropy decoding",
               &ApvSettings::entropy, {.type = entropy_type()}),
       backend_property(engine, "Backend for the inverse transform and entropy decoding"),
       active_backend_property(engine), cuda_device_id_property(engine),
       cudatransform::stats_property(make_stats)});
}

static void gst_cuda_apv_dec_class_init(GstCudaApvDecClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));
  cudatransform::register_apv_metas();

  cudatransform::CodecElement<ApvState>::install(
      element_class, gst_caps_from_string("video/x-apv; video/x-gst-fourcc-apv1"),
      cudatransform::apv_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "CUDA APV Decoder", "Codec/Decoder/Video/Hardware",
      "Decodes APV video using CUDA or the CPU", "The cudatransform authors");

  decoder_class->start = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_start);
  decoder_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_stop);
  decoder_class->src_event = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_src_event);
  decoder_class->src_query = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_src_query);
  decoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_sink_query);
  decoder_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_decide_allocation);
  decoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_sink_event);
  decoder_class->set_format = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_set_format);
  decoder_class->parse = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_parse);
  decoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_handle_frame);
  decoder_class->drain = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_drain);
  decoder_class->finish = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_finish);
  decoder_class->flush = GST_DEBUG_FUNCPTR(gst_cuda_apv_dec_flush);
}
