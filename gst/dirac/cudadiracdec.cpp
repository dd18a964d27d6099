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
 * docs/elements/cudadiracdec.md lists every property and statistics field.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.drc ! cudadiracdec ! videoconvert ! autovideosink
 * ]| Plays a raw stream.
 */

#include "gst/dirac/cudadiracdec.h"

#include <gst/video/gstvideodecoder.h>

#include <algorithm>
#include <string>

#include "gst/dirac/pictures.h"
#include "gst/dirac/video_format.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/property_types.h"
#include "gst/stream/latency.h"
#include "gst/stream/picture_properties.h"

using cudatransform::DiracPictures;
using cudatransform::DiracShown;
using cudatransform::OnError;
using cudatransform::Status;

GST_DEBUG_CATEGORY_STATIC(cudadiracdec_debug);
#define GST_CAT_DEFAULT cudadiracdec_debug

namespace {

enum { PROP_0, PROP_ON_ERROR, PROP_MAX_SAMPLES, PROP_N_THREADS, PROP_STATS };

constexpr cudatransform::PictureProperties kPictureProperties = {.on_error = PROP_ON_ERROR,
                                                                 .max_memory = 0};
constexpr cudatransform::PictureSettings kDefaults = {OnError::kConceal, 0, 0};
constexpr guint kMaxThreads = 1024;

// When a picture is shown where nobody says so: its number counts from this one.
struct Anchor {
  bool is_set = false;
  uint64_t sequence_count = 0;
  uint32_t number = 0;
  GstClockTime time = 0;
};

struct State {
  explicit State(GstVideoDecoder* decoder) : pictures(decoder) {}

  // Guarded by the object lock.
  cudatransform::PictureSettings settings = kDefaults;
  guint64 max_samples = cudatransform::DiracLimits().max_samples;
  cudatransform::DiracStats stats;
  guint64 frames = 0, dropped = 0;

  DiracPictures pictures;
  GstVideoCodecState* input = nullptr;
  std::shared_ptr<const cudatransform::DiracSequence> output;  // that caps were made of
  bool in_step = false;
  bool framed = false;   // buffers have times
  bool resumes = false;  // after a flush
  Anchor anchor;
  GstClockTime next_time = 0;
  bool has_time = false;  // since the start or a flush
  gint bad_in_row = 0;
};

}  // namespace

G_DECLARE_FINAL_TYPE(GstCudaDiracDec, gst_cuda_dirac_dec, GST, CUDA_DIRAC_DEC, GstVideoDecoder)
struct _GstCudaDiracDec {
  GstVideoDecoder parent;
  State* state;
};

#define gst_cuda_dirac_dec_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDiracDec, gst_cuda_dirac_dec, GST_TYPE_VIDEO_DECODER,
                        GST_DEBUG_CATEGORY_INIT(cudadiracdec_debug, "cudadiracdec", 0,
                                                "Dirac and VC-2 decoder"));
GST_ELEMENT_REGISTER_DEFINE(cudadiracdec, "cudadiracdec", GST_RANK_NONE,
                            gst_cuda_dirac_dec_get_type());

static State& state_of(gpointer instance) { return *GST_CUDA_DIRAC_DEC(instance)->state; }

// ---- Frames on their way out ----

// Caps and pool for the frames of `sequence`.
static GstFlowReturn gst_cuda_dirac_dec_set_output(
    GstVideoDecoder* decoder, const std::shared_ptr<const cudatransform::DiracSequence>& sequence) {
  State& state = state_of(decoder);
  GstVideoInfo info;
  gst_video_info_init(&info);
  bool unspecified_matrix = false;
  const Status status = cudatransform::dirac_video_info(*sequence, &info, &unspecified_matrix);
  if (!status.ok()) {
    cudatransform::post_error(GST_ELEMENT(decoder), status);
    return GST_FLOW_ERROR;
  }
  if (unspecified_matrix)
    GST_ELEMENT_WARNING(decoder, STREAM, FORMAT,
                        ("The video is YCoCg, for which GStreamer has no colorimetry"), (nullptr));
  GstVideoCodecState* out = gst_video_decoder_set_interlaced_output_state(
      decoder, GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_INTERLACE_MODE(&info), sequence->width,
      sequence->height, state.input);
  // What the stream says of itself goes before what a container does.
  const GstVideoFieldOrder order = GST_VIDEO_INFO_FIELD_ORDER(&info);
  out->info.fps_n = info.fps_n;
  out->info.fps_d = info.fps_d;
  out->info.par_n = info.par_n;
  out->info.par_d = info.par_d;
  out->info.colorimetry = info.colorimetry;
  GST_VIDEO_INFO_FIELD_ORDER(&out->info) = order;
  gst_video_codec_state_unref(out);
  // Pictures wait for two frames with lower numbers, and for those in work.
  const guint waiting = 2 + static_cast<guint>(state.pictures.threads() - 1);
  const GstClockTime latency = cudatransform::latency_of(waiting, info.fps_n, info.fps_d);
  gst_video_decoder_set_latency(decoder, latency, latency);
  if (!gst_video_decoder_negotiate(decoder))
    return GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder)) ? GST_FLOW_FLUSHING
                                                                   : GST_FLOW_NOT_NEGOTIATED;
  state.output = sequence;
  return GST_FLOW_OK;
}

static void gst_cuda_dirac_dec_set_times(GstVideoDecoder* decoder, const DiracShown& shown) {
  State& state = state_of(decoder);
  const cudatransform::DiracSequence& sequence = *shown.sequence;
  const auto time_of = [&](guint64 frames) {
    const auto& rate = sequence.frame_rate;
    return rate.numerator == 0
               ? 0
               : gst_util_uint64_scale(frames, rate.denominator * GST_SECOND, rate.numerator);
  };
  GstVideoCodecFrame* frame = shown.frame;
  const uint32_t number = sequence.field_coding ? shown.number & ~1u : shown.number;
  Anchor& anchor = state.anchor;
  const bool begins = !anchor.is_set || anchor.sequence_count != shown.sequence_count;
  if (begins && !(state.resumes && anchor.is_set))
    anchor = {true, shown.sequence_count, number, state.next_time};
  anchor.sequence_count = shown.sequence_count;
  const auto ahead = static_cast<int32_t>(number - anchor.number);
  const guint64 frames =
      ahead < 0 ? 0 : static_cast<guint64>(ahead) / (sequence.field_coding ? 2 : 1);
  GstClockTime time = anchor.time + time_of(frames);
  if (state.resumes) {
    // Numbers that begin anew with each sequence say nothing of where it is.
    const GstSegment& segment = decoder->output_segment;
    if (time < segment.start) time = segment.start;
    anchor = {true, shown.sequence_count, number, time};
    state.resumes = false;
  }
  // Times in the order of coding, or one for many pictures, are none of a picture.
  const bool is_after = !state.has_time || frame->pts >= state.next_time - time_of(1) / 2;
  if (state.framed)
    time = GST_CLOCK_TIME_IS_VALID(frame->pts) && is_after ? frame->pts : state.next_time;
  state.has_time = true;
  frame->pts = time;
  frame->dts = GST_CLOCK_TIME_NONE;
  frame->duration = time_of(1);
  state.next_time = time + frame->duration;
}

static GstFlowReturn gst_cuda_dirac_dec_write(GstVideoDecoder* decoder, const DiracShown& shown) {
  GstVideoCodecFrame* codec_frame = shown.frame;
  const GstFlowReturn flow = gst_video_decoder_allocate_output_frame(decoder, codec_frame);
  if (flow != GST_FLOW_OK) return flow;
  GstBuffer* buffer = codec_frame->output_buffer;
  GstVideoCodecState* out = gst_video_decoder_get_output_state(decoder);
  GstVideoFrame frame;
  const bool mapped = gst_video_frame_map(&frame, &out->info, buffer, GST_MAP_WRITE);
  gst_video_codec_state_unref(out);
  if (!mapped) {
    GST_ELEMENT_ERROR(decoder, RESOURCE, WRITE, ("A frame could not be mapped"), (nullptr));
    return GST_FLOW_ERROR;
  }
  for (const auto& picture : shown.pictures) {
    if (picture != nullptr) cudatransform::write_dirac_picture(*picture, &frame);
  }
  const cudatransform::DiracSequence& sequence = *shown.sequence;
  if (sequence.field_coding && shown.pictures[1] == nullptr) {
    // A field alone stands for the other, too.
    cudatransform::DiracRendered other;
    other.sequence = shown.sequence;
    other.number = shown.pictures[0]->number ^ 1;
    std::copy(std::begin(shown.pictures[0]->samples), std::end(shown.pictures[0]->samples),
              other.samples);
    cudatransform::write_dirac_picture(other, &frame);
  }
  gst_video_frame_unmap(&frame);
  if (sequence.interlaced && sequence.top_field_first)
    GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF);
  else if (sequence.interlaced)
    GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  if (shown.is_damaged) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
  if (cudatransform::has_clean_area(sequence)) {
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
    crop->x = sequence.clean_left;
    crop->y = sequence.clean_top;
    crop->width = sequence.clean_width;
    crop->height = sequence.clean_height;
  }
  return GST_FLOW_OK;
}

// True: the frame was given up, and `*flow` says how to go on.
static bool gst_cuda_dirac_dec_reject(GstVideoDecoder* decoder, const DiracShown& shown,
                                      OnError on_error, GstFlowReturn* flow) {
  State& state = state_of(decoder);
  if (!shown.is_damaged) {
    state.bad_in_row = 0;
    return false;
  }
  ++state.bad_in_row;
  const gint most = gst_video_decoder_get_max_errors(decoder);
  const bool too_many = on_error == OnError::kDrop && most >= 0 && state.bad_in_row > most;
  if (on_error == OnError::kConceal) return false;
  if (on_error == OnError::kFail || too_many) {
    gst_video_decoder_release_frame(decoder, shown.frame);
    GST_ELEMENT_ERROR(decoder, STREAM, DECODE, ("A picture is damaged: %s", shown.damage.c_str()),
                      ("%d in a row", state.bad_in_row));
    *flow = GST_FLOW_ERROR;
    return true;
  }
  GST_OBJECT_LOCK(decoder);
  ++state.dropped;
  GST_OBJECT_UNLOCK(decoder);
  if (state.bad_in_row == 1)
    GST_ELEMENT_WARNING(decoder, STREAM, DECODE,
                        ("Dropped a damaged picture: %s", shown.damage.c_str()), (nullptr));
  *flow = gst_video_decoder_drop_frame(decoder, shown.frame);
  return true;
}

static GstFlowReturn gst_cuda_dirac_dec_push(GstVideoDecoder* decoder, DiracShown shown) {
  State& state = state_of(decoder);
  if (shown.frame == nullptr) return GST_FLOW_OK;
  gst_cuda_dirac_dec_set_times(decoder, shown);
  GST_OBJECT_LOCK(decoder);
  const OnError on_error = state.settings.on_error;
  GST_OBJECT_UNLOCK(decoder);
  GstFlowReturn flow = GST_FLOW_OK;
  if (gst_cuda_dirac_dec_reject(decoder, shown, on_error, &flow)) return flow;
  if (state.output == nullptr || !(*state.output == *shown.sequence))
    flow = gst_cuda_dirac_dec_set_output(decoder, shown.sequence);
  if (flow == GST_FLOW_OK) flow = gst_cuda_dirac_dec_write(decoder, shown);
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder, shown.frame);
    return flow;
  }
  GST_OBJECT_LOCK(decoder);
  ++state.frames;
  GST_OBJECT_UNLOCK(decoder);
  return gst_video_decoder_finish_frame(decoder, shown.frame);
}

static GstFlowReturn gst_cuda_dirac_dec_push_ready(GstVideoDecoder* decoder, const Status& status) {
  State& state = state_of(decoder);
  GST_OBJECT_LOCK(decoder);
  state.stats = state.pictures.stats();
  GST_OBJECT_UNLOCK(decoder);
  if (!status.ok()) {
    cudatransform::post_error(GST_ELEMENT(decoder), status);
    return GST_FLOW_ERROR;
  }
  GstFlowReturn flow = GST_FLOW_OK;
  DiracShown shown;
  while (flow == GST_FLOW_OK && state.pictures.next(&shown))
    flow = gst_cuda_dirac_dec_push(decoder, std::move(shown));
  return flow;
}

// ---- Stream ----

static GstFlowReturn gst_cuda_dirac_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame*,
                                              GstAdapter* adapter, gboolean at_eos) {
  using cudatransform::kDiracParseInfoBytes;
  State& state = state_of(decoder);
  const uint64_t most = cudatransform::DiracLimits().max_unit_bytes;
  const gsize available = gst_adapter_available(adapter);
  cudatransform::DiracParseInfo info;
  if (state.in_step && !at_eos && available >= kDiracParseInfoBytes) {
    guint8 head[kDiracParseInfoBytes];
    gst_adapter_copy(adapter, head, 0, sizeof head);
    // Nothing to be looked for in the bytes so far.
    if (read_parse_info(head, sizeof head, &info) && info.next > available && info.next < most)
      return GST_VIDEO_DECODER_FLOW_NEED_DATA;
  }
  const auto* data = static_cast<const guint8*>(gst_adapter_map(adapter, available));
  const cudatransform::DiracUnitSpan unit =
      cudatransform::find_dirac_unit(data, available, at_eos, state.in_step, most);
  if (unit.size > 0) read_parse_info(data + unit.skipped, unit.size, &info);
  gst_adapter_unmap(adapter);
  if (unit.skipped > 0) {
    GST_DEBUG_OBJECT(decoder, "%" G_GSIZE_FORMAT " bytes belong to no unit", unit.skipped);
    gst_adapter_flush(adapter, unit.skipped);
  }
  state.in_step = unit.size > 0;
  if (unit.size == 0) {
    if (at_eos) gst_adapter_flush(adapter, gst_adapter_available(adapter));
    return GST_VIDEO_DECODER_FLOW_NEED_DATA;
  }
  gst_video_decoder_add_to_frame(decoder, static_cast<int>(unit.size));
  return info.is_picture() || info.is_end() ? gst_video_decoder_have_frame(decoder) : GST_FLOW_OK;
}

static GstFlowReturn gst_cuda_dirac_dec_handle_frame(GstVideoDecoder* decoder,
                                                     GstVideoCodecFrame* frame) {
  State& state = state_of(decoder);
  if (!state.pictures.is_started()) {
    GST_OBJECT_LOCK(decoder);
    cudatransform::DiracLimits limits;
    limits.max_samples = state.max_samples;
    const guint wanted = state.settings.n_threads;
    GST_OBJECT_UNLOCK(decoder);
    state.pictures.start(
        limits, cudatransform::picture_threads(GST_VIDEO_DECODER_SINK_PAD(decoder), wanted));
  }
  GstBuffer* input = gst_buffer_ref(frame->input_buffer);
  GstMapInfo map;
  if (!gst_buffer_map(input, &map, GST_MAP_READ)) {
    gst_buffer_unref(input);
    gst_video_decoder_release_frame(decoder, frame);
    GST_ELEMENT_ERROR(decoder, RESOURCE, READ, ("A buffer could not be mapped"), (nullptr));
    return GST_FLOW_ERROR;
  }
  Status problem;
  const Status status = state.pictures.take(frame, map.data, map.size, &problem);
  gst_buffer_unmap(input, &map);
  gst_buffer_unref(input);
  if (!problem.ok()) {
    GST_OBJECT_LOCK(decoder);
    const bool fails = state.settings.on_error == OnError::kFail;
    GST_OBJECT_UNLOCK(decoder);
    const bool never = problem.code == cudatransform::StatusCode::kUnsupported && !state.output;
    if (fails || never) {
      cudatransform::post_error(GST_ELEMENT(decoder), problem);
      return GST_FLOW_ERROR;
    }
    GST_WARNING_OBJECT(decoder, "dropped a unit: %s", problem.message.c_str());
  }
  return gst_cuda_dirac_dec_push_ready(decoder, status);
}

static GstFlowReturn gst_cuda_dirac_dec_drain(GstVideoDecoder* decoder) {
  return gst_cuda_dirac_dec_push_ready(decoder, state_of(decoder).pictures.finish());
}

static gboolean gst_cuda_dirac_dec_flush(GstVideoDecoder* decoder) {
  State& state = state_of(decoder);
  state.pictures.flush();
  state.in_step = false;
  state.resumes = true;
  state.has_time = false;
  return TRUE;
}

// The base class leaves a segment of bytes one of bytes, though it makes times of what is in it.
static GstEvent* gst_cuda_dirac_dec_segment_in_time(GstVideoDecoder* decoder, GstEvent* event,
                                                    const GstSegment* from) {
  gint64 start = 0;
  if (!gst_pad_query_convert(GST_VIDEO_DECODER_SINK_PAD(decoder), from->format,
                             static_cast<gint64>(from->start), GST_FORMAT_TIME, &start) ||
      start < 0)
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

static gboolean gst_cuda_dirac_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    const bool framed = segment->format == GST_FORMAT_TIME;
    GST_VIDEO_DECODER_STREAM_LOCK(decoder);
    state_of(decoder).framed = framed;
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
    if (!framed) event = gst_cuda_dirac_dec_segment_in_time(decoder, event, segment);
  }
  return GST_VIDEO_DECODER_CLASS(parent_class)->sink_event(decoder, event);
}

static gboolean gst_cuda_dirac_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  State& state = state_of(decoder);
  if (state.input != nullptr) gst_video_codec_state_unref(state.input);
  state.input = gst_video_codec_state_ref(input);
  state.output.reset();
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_start(GstVideoDecoder* decoder) {
  State& state = state_of(decoder);
  GST_OBJECT_LOCK(decoder);
  state.stats = {};
  state.frames = state.dropped = 0;
  GST_OBJECT_UNLOCK(decoder);
  state.in_step = state.framed = state.resumes = false;
  state.anchor = {};
  state.next_time = 0;
  state.has_time = false;
  state.bad_in_row = 0;
  gst_video_decoder_set_packetized(decoder, FALSE);
  gst_video_decoder_set_estimate_rate(decoder, TRUE);
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_stop(GstVideoDecoder* decoder) {
  State& state = state_of(decoder);
  state.pictures.stop();
  state.output.reset();
  if (state.input != nullptr) gst_video_codec_state_unref(state.input);
  state.input = nullptr;
  return TRUE;
}

// ---- GObject ----

static void gst_cuda_dirac_dec_set_property(GObject* object, guint id, const GValue* value,
                                            GParamSpec* pspec) {
  State& state = state_of(object);
  GST_OBJECT_LOCK(object);
  if (id == PROP_MAX_SAMPLES)
    state.max_samples = g_value_get_uint64(value);
  else if (id == PROP_N_THREADS)
    state.settings.n_threads = g_value_get_uint(value);
  else if (!set_picture_property(kPictureProperties, &state.settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  GST_OBJECT_UNLOCK(object);
}

static GstStructure* gst_cuda_dirac_dec_stats(const State& state) {
  const cudatransform::DiracStats& stats = state.stats;
  return gst_structure_new("application/x-cudadiracdec-stats", "frames", G_TYPE_UINT64,
                           state.frames, "pictures", G_TYPE_UINT64, stats.pictures, "bytes",
                           G_TYPE_UINT64, stats.bytes, "damaged", G_TYPE_UINT64, stats.damaged,
                           "dropped", G_TYPE_UINT64, state.dropped, "lost-units", G_TYPE_UINT64,
                           stats.lost, "entropy-time", G_TYPE_UINT64, stats.entropy, "render-time",
                           G_TYPE_UINT64, stats.render, nullptr);
}

static void gst_cuda_dirac_dec_get_property(GObject* object, guint id, GValue* value,
                                            GParamSpec* pspec) {
  State& state = state_of(object);
  GST_OBJECT_LOCK(object);
  if (id == PROP_STATS)
    g_value_take_boxed(value, gst_cuda_dirac_dec_stats(state));
  else if (id == PROP_MAX_SAMPLES)
    g_value_set_uint64(value, state.max_samples);
  else if (id == PROP_N_THREADS)
    g_value_set_uint(value, state.settings.n_threads);
  else if (!get_picture_property(kPictureProperties, state.settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dirac_dec_finalize(GObject* object) {
  delete &state_of(object);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_cuda_dirac_dec_init(GstCudaDiracDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->state = new State(decoder);
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(decoder));
}

static void gst_cuda_dirac_dec_install_properties(GObjectClass* klass) {
  install_picture_properties(klass, kPictureProperties, kDefaults);
  g_object_class_install_property(
      klass, PROP_MAX_SAMPLES,
      g_param_spec_uint64("max-samples", "Largest frame",
                          "Samples of all components of a frame above which a stream is refused; a "
                          "header of a few bytes can claim any size",
                          1, G_MAXUINT64, cudatransform::DiracLimits().max_samples,
                          cudatransform::kUpToReady));
  g_object_class_install_property(
      klass, PROP_N_THREADS,
      g_param_spec_uint("n-threads", "Threads",
                        "How many pictures are decoded at a time, chosen at the first; each beyond "
                        "one adds a frame of latency (0 = one per core, one for live sources)",
                        0, kMaxThreads, 0, cudatransform::kUpToReady));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What has been decoded since PAUSED, as a structure; docs/elements lists "
                         "its fields",
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
  GstCaps* src = gst_caps_from_string(
      (std::string("video/x-raw, format=") + cudatransform::kDiracFormats +
       ", width=(int)[1, max], height=(int)[1, max], framerate=(fraction)[0, max]")
          .c_str());
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
  gst_caps_unref(sink);
  gst_caps_unref(src);
  gst_element_class_set_static_metadata(
      element_class, "Dirac and VC-2 decoder", "Codec/Decoder/Video",
      "Decodes Dirac and VC-2 (SMPTE ST 2042) to raw video", "The cudatransform authors");

  decoder_class->start = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_start);
  decoder_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_stop);
  decoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_sink_event);
  decoder_class->set_format = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_set_format);
  decoder_class->parse = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_parse);
  decoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_handle_frame);
  decoder_class->drain = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_drain);
  decoder_class->finish = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_drain);
  decoder_class->flush = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_flush);
}
