// Element cudadiracdec: Dirac and VC-2 to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadiracdec
 * @title: cudadiracdec
 * @short_description: Dirac and VC-2 decoder
 *
 * Decodes Dirac and VC-2 (SMPTE ST 2042) streams, exactly as specified, using CUDA or the CPU. The
 * input can be parsed, split by a demuxer, or a byte stream. Several pictures are decoded in
 * parallel, see #GstCudaDiracDec:n-threads.
 *
 * docs/elements/cudadiracdec.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.drc ! cudadiracdec ! videoconvert ! autovideosink
 * ]| Plays an elementary stream.
 *
 * Since: 1.0
 */

#include "gst/elements.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gst/dirac/pictures.h"
#include "gst/dirac/video_format.h"
#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/properties.h"
#include "gst/stream/codec_element.h"
#include "gst/stream/stream_gate.h"

GST_DEBUG_CATEGORY_STATIC(cudadiracdec_debug);
#define GST_CAT_DEFAULT cudadiracdec_debug

namespace cudatransform {

struct DiracSettings : PictureSettings {
  DiracSettings() { on_error = OnError::kConceal; }

  guint64 max_samples = DiracLimits().max_samples;
};

// The splitter of the stream and its progress.
struct DiracSplit {
  DiracSplit() { reset(); }
  // The next bytes do not continue the earlier ones, which the base class has cleared.
  void reset();

  ContiguousAdapter bytes;  // of the base class
  DiracSplitter splitter;
  DiracUnitLimits limits;
  // The frame that is being assembled.
  std::vector<DiracInput::Unit> units;
  gsize held = 0;
  gsize dropped = 0;  // since the last frame
};

struct DiracState : CodecElementState {
  explicit DiracState(GstVideoDecoder* decoder)
      : CodecElementState(GST_ELEMENT(decoder), probe_dirac_kernels),
        pictures(decoder, engine, settings) {}

  static DiracState& of(gpointer instance);
  static GstDebugCategory* category() { return cudadiracdec_debug; }
  static constexpr char kWithoutCuda[] = "pictures are rendered by the CPU";
  static constexpr bool kEngineHasThreads = true;
  void interrupt() { pictures.loop().interrupt(); }
  void release() { pictures.stop(); }

  // Guarded by the object lock.
  DiracSettings settings;
  guint64 seek_byte = 0;       // the byte that the last seek in a raw
  GstClockTime seek_time = 0;  // stream went to, and the time that was requested

  StreamGate gate;
  DiracPictures pictures;
  DiracSplit split;
  // The stream ends, and no frame was shown since a flush.
  std::atomic<bool> ends_after_seek = false;
};

}  // namespace cudatransform

G_BEGIN_DECLS
G_DECLARE_FINAL_TYPE(GstCudaDiracDec, gst_cuda_dirac_dec, GST, CUDA_DIRAC_DEC, GstVideoDecoder)
struct _GstCudaDiracDec {
  GstVideoDecoder parent;
  cudatransform::DiracState* state;
};
G_END_DECLS

using namespace cudatransform;

DiracState& DiracState::of(gpointer instance) {
  return *reinterpret_cast<GstCudaDiracDec*>(instance)->state;
}
static DiracState& state_of(gpointer instance) { return DiracState::of(instance); }

#define gst_cuda_dirac_dec_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDiracDec, gst_cuda_dirac_dec, GST_TYPE_VIDEO_DECODER,
                        GST_DEBUG_CATEGORY_INIT(cudadiracdec_debug, "cudadiracdec", 0,
                                                "Dirac and VC-2 decoder"));
GST_ELEMENT_REGISTER_DEFINE(cudadiracdec, "cudadiracdec", GST_RANK_SECONDARY,
                            gst_cuda_dirac_dec_get_type());

// ---- Bytes into units, and these into codec frames of one picture ----

namespace cudatransform {
namespace {

// The most bytes before a picture in its codec frame, and the most dropped between two.
constexpr gsize kMaxBefore = gsize{1} << 16, kMaxDropped = gsize{1} << 18;
// Room for units without a picture, and for the pictures' data other than samples.
constexpr guint64 kMaxOther = guint64{1} << 20;
// Losslessly coded 16-bit noise takes 5 bytes a sample.
constexpr guint64 kMaxBytesASample = 8;

// A frame carries its bytes with it, because in reverse playback it waits for its turn in the base
// class.
void unref_input(gpointer input) { delete static_cast<std::shared_ptr<DiracInput>*>(input); }

// Makes a frame of the first `size` bytes. Those that came in several buffers are copied to memory
// that max-memory counts, and the base class gets the first byte, by which it finds the frame's
// times.
GstFlowReturn make_frame(GstVideoDecoder* decoder, GstVideoCodecFrame* frame, gsize size) {
  DiracSplit& split = state_of(decoder).split;
  auto input = std::make_shared<DiracInput>();
  input->units = std::exchange(split.units, {});
  split.held = split.dropped = 0;
  gsize given = size;
  if (split.bytes.is_copied()) {
    input->status = state_of(decoder).pictures.allocate(size, &input->memory);
    if (input->status.ok()) {
      memcpy(input->memory->data(), split.bytes.bytes().data(), size);
      input->data = static_cast<const guint8*>(input->memory->data());
    }
    given = 1;
  }
  split.bytes.add_to_frame(decoder, given);
  split.bytes.flush(size - given);
  gst_video_codec_frame_set_user_data(frame, new std::shared_ptr<DiracInput>(std::move(input)),
                                      unref_input);
  return gst_video_decoder_have_frame(decoder);
}

// The sequence limits the size of its pictures.
void note_sequence(DiracSplit& split, std::span<const guint8> unit) {
  constexpr gsize kMaxBytes = 1024;
  const auto header = unit.first(std::min(unit.size(), kMaxBytes)).subspan(kDiracParseInfoBytes);
  DiracSequence sequence;
  if (!read_sequence(header, {}, &sequence).ok()) return;
  guint64 samples = 0;
  for (int c = 0; c < kMaxComponents; ++c)
    samples += guint64{sequence.picture_width(c)} * sequence.picture_height(c);
  split.limits.picture =
      std::min(kMaxOther + kMaxBytesASample * samples, DiracLimits().max_unit_bytes);
}

// Whether the decoder learns anything from the unit.
bool is_needed(const DiracParseInfo& info, std::span<const guint8> unit) {
  if (info.is_auxiliary() && unit.size() > kDiracParseInfoBytes)
    return unit[kDiracParseInfoBytes] == kDiracEncoderName;
  return info.is_picture() || info.is_sequence_header() || info.is_end();
}

}  // namespace

void DiracSplit::reset() {
  bytes.clear();
  splitter = DiracSplitter();
  limits = {kMaxOther, kMaxOther};
  units.clear();
  held = dropped = 0;
}

// A frame is a picture, with the units before it that describe it. Other units are dropped
// immediately where no frame has begun; so are bytes of no unit.
static GstFlowReturn parse_stream(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                  GstAdapter* adapter, bool at_eos) {
  DiracState& state = state_of(decoder);
  DiracSplit& split = state.split;
  OrderedPictures& loop = state.pictures.loop();
  if (loop.has_failed()) {
    split.reset();
    split.bytes.discard(adapter, 0);
    return loop.failure();
  }
  if (const Status status = split.bytes.gather(adapter); !status.ok()) {
    split.reset();
    split.bytes.discard(adapter, 0);
    return state.pictures.flow_after(status);
  }
  state.pictures.limit(locked(decoder, state.settings.max_memory));
  for (;;) {
    if (GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder))) return GST_FLOW_FLUSHING;
    const std::span<const guint8> bytes = split.bytes.bytes().subspan(split.held);
    const DiracUnitSpan unit = split.splitter.next(bytes, at_eos, split.limits);
    gsize size = unit.skipped + unit.size;
    if (size == 0) break;
    DiracParseInfo info;
    bool needed = false;
    if (unit.size > 0) {
      read_parse_info(bytes, &info);
      needed = is_needed(info, bytes.first(size));
      if (info.is_sequence_header()) note_sequence(split, bytes.first(size));
    } else {
      GST_DEBUG_OBJECT(decoder, "skipping %" G_GSIZE_FORMAT " bytes between data units", size);
    }
    if (needed) split.units.push_back({split.held, size});
    const bool is_whole = needed && (info.is_picture() || info.is_end());
    if (needed || split.held > 0) {
      split.held += size;
      if (is_whole || split.held >= kMaxBefore) return make_frame(decoder, frame, split.held);
    } else if (split.dropped + size < kMaxDropped) {
      split.dropped += size;
      split.bytes.flush(size);
    } else {
      // The base class forgets the times of buffers together with their frames.
      return make_frame(decoder, frame, size);
    }
  }
  if (at_eos) {
    split.reset();
    split.bytes.discard(adapter, 0);
  }
  // A unit that comes in several buffers is copied when it is whole. Pictures that made room for it
  // leave.
  const Status status =
      state.pictures.hold(gst_adapter_available(adapter) + split.splitter.wanted());
  const GstFlowReturn flow = state.pictures.flow_after(status);
  return flow == GST_FLOW_OK ? GST_VIDEO_DECODER_FLOW_NEED_DATA : flow;
}

}  // namespace cudatransform

static GstFlowReturn gst_cuda_dirac_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                              GstAdapter* adapter, gboolean at_eos) {
  return parse_stream(decoder, frame, adapter, at_eos != FALSE);
}

// ---- Stream ----

static GstFlowReturn gst_cuda_dirac_dec_handle_frame(GstVideoDecoder* decoder,
                                                     GstVideoCodecFrame* frame) {
  DiracState& state = state_of(decoder);
  if (state.pictures.loop().has_failed()) {
    gst_video_decoder_release_frame(decoder, frame);
    return state.pictures.loop().failure();
  }
  if (!state.pictures.is_started()) {
    DiracLimits limits;
    limits.max_samples = locked(decoder, state.settings.max_samples);
    state.pictures.start_decoder(limits, locked(decoder, state.engine_settings.n_threads));
  }
  const auto input = *static_cast<DiracInputPtr*>(gst_video_codec_frame_get_user_data(frame));
  if (input->map(frame->input_buffer)) return state.pictures.decode(frame, input);
  gst_video_decoder_release_frame(decoder, frame);
  return state.pictures.flow_after(input->status);
}

static GstFlowReturn gst_cuda_dirac_dec_drain(GstVideoDecoder* decoder) {
  return state_of(decoder).pictures.drain();
}

static GstFlowReturn gst_cuda_dirac_dec_finish(GstVideoDecoder* decoder) {
  DiracPictures& pictures = state_of(decoder).pictures;
  return pictures.loop().finish([&] { return pictures.drain(); });
}

static gboolean gst_cuda_dirac_dec_flush(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  state.pictures.flush();
  state.split.reset();
  return TRUE;
}

// ---- Times in raw streams: seeks, duration, and the time after a seek ----
//
// A raw stream has bytes but no times. The bytes decoded so far, and the frames that they made,
// give the rate between the two. That is only as exact as the bit rate is constant, so a seek ends
// near its time. Frames after it take their times from picture numbers where these fit, and from
// the requested time otherwise.

// The bytes and the time decoded so far; false: none yet.
static bool decoded_so_far(GstVideoDecoder* decoder, guint64* bytes, GstClockTime* time) {
  const DiracPictures& pictures = state_of(decoder).pictures;
  const DiracStats stats = pictures.stats();
  *bytes = stats.bytes;
  *time = stats.pictures * pictures.frames().counts().picture_time;
  return *bytes > 0 && *time > 0;
}

static bool is_raw(GstVideoDecoder* decoder) {
  return !state_of(decoder).pictures.frames().is_framed();
}

static gboolean seek_bytes(GstVideoDecoder* decoder, GstEvent* event) {
  gdouble rate = 0;
  GstFormat format = GST_FORMAT_UNDEFINED;
  GstSeekFlags flags = GST_SEEK_FLAG_NONE;
  GstSeekType start_type = GST_SEEK_TYPE_NONE, stop_type = GST_SEEK_TYPE_NONE;
  gint64 start = 0, stop = 0;
  gst_event_parse_seek(event, &rate, &format, &flags, &start_type, &start, &stop_type, &stop);
  const bool to_the_end = stop_type == GST_SEEK_TYPE_NONE || stop == -1;
  if (format != GST_FORMAT_TIME || rate <= 0 || start_type != GST_SEEK_TYPE_SET || start < 0 ||
      !to_the_end || (flags & GST_SEEK_FLAG_ACCURATE))
    return FALSE;
  guint64 bytes = 0;
  GstClockTime time = 0;
  if (start > 0 && !decoded_so_far(decoder, &bytes, &time)) return FALSE;
  const guint64 at =
      start == 0 ? 0 : gst_util_uint64_scale(static_cast<guint64>(start), bytes, time);
  GST_OBJECT_LOCK(decoder);
  state_of(decoder).seek_byte = at;
  state_of(decoder).seek_time = static_cast<GstClockTime>(start);
  GST_OBJECT_UNLOCK(decoder);
  GstEvent* in_bytes = gst_event_new_seek(rate, GST_FORMAT_BYTES, flags, GST_SEEK_TYPE_SET,
                                          static_cast<gint64>(at), GST_SEEK_TYPE_NONE, -1);
  gst_event_set_seqnum(in_bytes, gst_event_get_seqnum(event));
  return gst_pad_push_event(GST_VIDEO_DECODER_SINK_PAD(decoder), in_bytes);
}

static gboolean answer_duration(GstVideoDecoder* decoder, GstQuery* query) {
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_duration(query, &format, nullptr);
  guint64 bytes = 0;
  GstClockTime time = 0;
  gint64 all = 0;
  if (format != GST_FORMAT_TIME || !decoded_so_far(decoder, &bytes, &time) ||
      !gst_pad_peer_query_duration(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_FORMAT_BYTES, &all) ||
      all <= 0)
    return FALSE;
  const guint64 duration = gst_util_uint64_scale(static_cast<guint64>(all), time, bytes);
  gst_query_set_duration(query, GST_FORMAT_TIME, static_cast<gint64>(duration));
  return TRUE;
}

static gboolean answer_seeking(GstVideoDecoder* decoder, GstQuery* query) {
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_seeking(query, &format, nullptr, nullptr, nullptr);
  if (format != GST_FORMAT_TIME) return FALSE;
  gboolean seekable = FALSE;
  GstQuery* in_bytes = gst_query_new_seeking(GST_FORMAT_BYTES);
  if (gst_pad_peer_query(GST_VIDEO_DECODER_SINK_PAD(decoder), in_bytes))
    gst_query_parse_seeking(in_bytes, nullptr, &seekable, nullptr, nullptr);
  gst_query_unref(in_bytes);
  gst_query_set_seeking(query, GST_FORMAT_TIME, seekable, 0, -1);
  return TRUE;
}

static gboolean dirac_seek(GstVideoDecoder* decoder, GstEvent* event) {
  if (gst_pad_push_event(GST_VIDEO_DECODER_SINK_PAD(decoder), gst_event_ref(event))) return TRUE;
  return is_raw(decoder) && seek_bytes(decoder, event);
}

static gboolean dirac_raw_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (!is_raw(decoder)) return FALSE;
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_DURATION:
      return answer_duration(decoder, query);
    case GST_QUERY_SEEKING:
      return answer_seeking(decoder, query);
    default:
      return FALSE;
  }
}

static GstClockTime dirac_time_of_byte(GstVideoDecoder* decoder, guint64 byte) {
  GST_OBJECT_LOCK(decoder);
  const DiracState& state = state_of(decoder);
  const bool is_requested = byte == state.seek_byte;
  const GstClockTime requested = state.seek_time;
  GST_OBJECT_UNLOCK(decoder);
  if (is_requested) return requested;
  guint64 bytes = 0;
  GstClockTime time = 0;
  if (byte == 0 || !decoded_so_far(decoder, &bytes, &time)) return 0;
  return gst_util_uint64_scale(byte, time, bytes);
}

static GstEvent* dirac_segment_in_time(GstVideoDecoder* decoder, GstEvent* event,
                                       const GstSegment* from) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = from->rate;
  const bool in_bytes = from->format == GST_FORMAT_BYTES;
  segment.start = in_bytes ? dirac_time_of_byte(decoder, from->start) : 0;
  segment.time = segment.position = segment.start;
  GstEvent* in_time = gst_event_new_segment(&segment);
  gst_event_set_seqnum(in_time, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return in_time;
}

static bool is_end_after_dirac_seek(GstElement* element, GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !state_of(element).ends_after_seek)
    return false;
  gchar* debug = nullptr;
  gst_message_parse_error(message, nullptr, &debug);
  const bool is_that = debug != nullptr && std::strstr(debug, "no valid frames") != nullptr;
  g_free(debug);
  return is_that;
}

// ---- Events and queries ----

static gboolean gst_cuda_dirac_dec_take_event(GstVideoDecoder* decoder, GstEvent* event) {
  DiracState& state = state_of(decoder);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    const bool framed = segment->format == GST_FORMAT_TIME;
    GST_VIDEO_DECODER_STREAM_LOCK(decoder);
    state.pictures.frames().set_framed(framed);
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
    if (!framed) event = dirac_segment_in_time(decoder, event, segment);
  }
  if (GST_EVENT_TYPE(event) != GST_EVENT_EOS)
    return GST_VIDEO_DECODER_CLASS(parent_class)->sink_event(decoder, event);
  GST_VIDEO_DECODER_STREAM_LOCK(decoder);
  state.ends_after_seek = state.pictures.frames().is_after_seek();
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
  const gboolean taken = GST_VIDEO_DECODER_CLASS(parent_class)->sink_event(decoder, event);
  state.ends_after_seek = false;
  return taken;
}

static gboolean gst_cuda_dirac_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  return state_of(decoder).pictures.loop().take_event(
      event, [&] { return gst_cuda_dirac_dec_take_event(decoder, event); });
}

static gboolean gst_cuda_dirac_dec_post_message(GstElement* element, GstMessage* message) {
  if (!is_end_after_dirac_seek(element, message))
    return GST_ELEMENT_CLASS(parent_class)->post_message(element, message);
  gst_message_unref(message);
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_src_event(GstVideoDecoder* decoder, GstEvent* event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_SEEK)
    return GST_VIDEO_DECODER_CLASS(parent_class)->src_event(decoder, event);
  const gboolean done = dirac_seek(decoder, event);
  gst_event_unref(event);
  return done;
}

static gboolean gst_cuda_dirac_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  DiracState& state = state_of(decoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_DECODER_SINK_PAD(decoder), query)) return FALSE;
  // Frames that wait for their turn stay: what follows may be shown before them.
  OrderedPictures& loop = state.pictures.loop();
  loop.take_query(query, [&] { return loop.drain(); });
  return GST_VIDEO_DECODER_CLASS(parent_class)->sink_query(decoder, query);
}

static gboolean gst_cuda_dirac_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  return state_of(decoder).engine.handle_context_query(query) || dirac_raw_query(decoder, query) ||
         GST_VIDEO_DECODER_CLASS(parent_class)->src_query(decoder, query);
}

static gboolean gst_cuda_dirac_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  state_of(decoder).pictures.frames().set_input(input);
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  return state_of(decoder).pictures.frames().decide_allocation(query);
}

static gboolean gst_cuda_dirac_dec_start(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  GST_OBJECT_LOCK(decoder);
  state.seek_byte = state.seek_time = 0;
  GST_OBJECT_UNLOCK(decoder);
  state.split.reset();
  state.pictures.start();
  gst_video_decoder_set_packetized(decoder, FALSE);
  state.gate.open();
  return TRUE;
}

static gboolean gst_cuda_dirac_dec_stop(GstVideoDecoder* decoder) {
  DiracState& state = state_of(decoder);
  state.gate.close();
  state.pictures.stop();
  return TRUE;
}

// ---- GObject ----

static GstStructure* make_stats(GObject* object) {
  const DiracState& state = state_of(object);
  static constexpr const char* kStages[] = {"motion-decode", "residual-decode", "wavelet",
                                            "upsample", "motion-render"};
  static_assert(G_N_ELEMENTS(kStages) == kDiracStages);
  const DiracStats stats = state.pictures.stats();
  const DiracFrameCounts counts = state.pictures.frames().counts();
  GstStructure* to = gst_structure_new(
      "application/x-cudadiracdec-stats", "frames", G_TYPE_UINT64, counts.frames, "pictures",
      G_TYPE_UINT64, stats.pictures, "cuda-pictures", G_TYPE_UINT64, stats.on_cuda, "bytes",
      G_TYPE_UINT64, stats.bytes, "damaged", G_TYPE_UINT64, stats.damaged, "dropped", G_TYPE_UINT64,
      counts.dropped, "outside-segment", G_TYPE_UINT64, counts.outside, "late", G_TYPE_UINT64,
      stats.late, "lost-units", G_TYPE_UINT64, stats.lost, nullptr);
  for (int i = 0; i < kDiracStages; ++i) {
    const auto& time = stats.times[i];
    const std::string name = std::string(kStages[i]) + "-time";
    const bool is_measured = GST_CLOCK_TIME_IS_VALID(time.last) && stats.pictures > 0;
    const GstClockTime mean = is_measured ? time.sum / stats.pictures : GST_CLOCK_TIME_NONE;
    gst_structure_set(to, name.c_str(), G_TYPE_UINT64, time.last, (name + "-mean").c_str(),
                      G_TYPE_UINT64, mean, (name + "-sum").c_str(), G_TYPE_UINT64, time.sum,
                      nullptr);
  }
  return to;
}

static void gst_cuda_dirac_dec_init(GstCudaDiracDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->state = new DiracState(decoder);
  gst_video_decoder_set_use_default_pad_acceptcaps(decoder, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(decoder));
}

/**
 * GstCudaDiracDec:on-error:
 *
 * How to handle damaged pictures.
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:max-samples:
 *
 * Maximum number of samples per frame, all components.
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:max-memory:
 *
 * Maximum host and device memory in bytes (0 = unlimited).
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:n-threads:
 *
 * Number of pictures to decode in parallel (0 = automatic).
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:backend:
 *
 * Backend for reconstruction and slice decoding (other entropy decoding uses the CPU).
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:active-backend:
 *
 * Backend in use (auto = not chosen yet).
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:cuda-device-id:
 *
 * Set the GPU device to use for operations (-1 = auto).
 *
 * Since: 1.0
 */

/**
 * GstCudaDiracDec:stats:
 *
 * Statistics, reset on READY to PAUSED.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const SettingsOf<EngineSettings> engine(
      [](gpointer element) -> auto& { return state_of(element).engine_settings; });
  const SettingsOf<PictureSettings> pictures(
      [](gpointer element) -> PictureSettings& { return state_of(element).settings; },
      DiracSettings());
  const SettingsOf<DiracSettings> dirac(
      [](gpointer element) -> auto& { return state_of(element).settings; });
  install_properties(
      klass,
      {on_error_property(pictures),
       dirac.row("max-samples", "Maximum Samples",
                 "Maximum number of samples per frame, all components", &DiracSettings::max_samples,
                 {.min = 1, .max = G_MAXUINT64, .flags = kUpToReady}),
       max_memory_property(pictures, "Maximum host and device memory in bytes (0 = unlimited)"),
       n_threads_property(engine, "Number of pictures to decode in parallel (0 = automatic)"),
       backend_property(
           engine,
           "Backend for reconstruction and slice decoding (other entropy decoding uses the CPU)"),
       active_backend_property(engine), cuda_device_id_property(engine),
       stats_property(make_stats)});
}

static void gst_cuda_dirac_dec_class_init(GstCudaDiracDecClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));

  CodecElement<DiracState>::install(element_class, gst_caps_new_empty_simple("video/x-dirac"),
                                    dirac_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "CUDA Dirac/VC-2 Decoder", "Codec/Decoder/Video/Hardware",
      "Decodes Dirac and VC-2 video using CUDA or the CPU", "The cudatransform authors");

  element_class->post_message = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_post_message);
  decoder_class->start = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_start);
  decoder_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_stop);
  decoder_class->src_event = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_src_event);
  decoder_class->src_query = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_src_query);
  decoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_sink_query);
  decoder_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_decide_allocation);
  decoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_sink_event);
  decoder_class->set_format = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_set_format);
  decoder_class->parse = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_parse);
  decoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_handle_frame);
  decoder_class->drain = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_drain);
  decoder_class->finish = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_finish);
  decoder_class->flush = GST_DEBUG_FUNCPTR(gst_cuda_dirac_dec_flush);
}
