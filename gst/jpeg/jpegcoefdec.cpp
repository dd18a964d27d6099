// Element jpegcoefdec: JPEG pictures and Motion JPEG to their quantized DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-jpegcoefdec
 * @title: jpegcoefdec
 * @short_description: entropy decoder from JPEG to DCT coefficients
 * @see_also: cudaidct8x8, jpegcoefenc
 *
 * Entropy-decodes JPEG images and Motion JPEG into quantized DCT coefficients (video/x-dct), on the
 * CPU or, see #GstJpegCoefDec:entropy-backend, on the GPU. Each buffer carries its quantization
 * tables. cudaidct8x8 reconstructs raw video from them, in every sampling of the files; jpegcoefenc
 * writes them to JPEG files again without loss.
 *
 * Several pictures are decoded in parallel, see #GstJpegCoefDec:n-threads.
 *
 * docs/elements/jpegcoefdec.md is the manual.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudaidct8x8 ! videoconvert ! \
 *   imagefreeze ! autovideosink
 * ]| Shows a photograph.
 * |[
 * gst-launch-1.0 filesrc location=recording.avi ! avidemux ! jpegcoefdec ! \
 *   cudaidct8x8 scale=quarter ! videoconvert ! autovideosink
 * ]| Plays a Motion JPEG recording at a quarter of its size, without full-size frames.
 *
 * Since: 1.0
 */

#include "gst/elements.h"

#include <gst/video/gstvideodecoder.h>

#include <algorithm>
#include <optional>

#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/properties.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/decoder.h"
#include "gst/stream/codec_element.h"
#include "gst/stream/decoder_common.h"
#include "gst/stream/stream_gate.h"
#include "jpeg/file_splitter.h"

GST_DEBUG_CATEGORY(jpegcoefdec_debug);
#define GST_CAT_DEFAULT jpegcoefdec_debug

namespace cudatransform {

struct JpegCoefDecState : CodecElementState {
  explicit JpegCoefDecState(GstVideoDecoder* decoder)
      : CodecElementState(GST_ELEMENT(decoder), nullptr),
        jpeg(decoder, engine, settings, engine_settings) {}

  static JpegCoefDecState& of(gpointer instance);
  static GstDebugCategory* category() { return jpegcoefdec_debug; }
  static constexpr char kWithoutCuda[] = "coefficients stay in system memory";
  // The device would only copy, so that its absence costs no speed.
  static constexpr bool kEngineHasThreads = false;
  void interrupt() { jpeg.interrupt(); }
  void release() { jpeg.stop(); }

  StreamGate gate;
  JpegDecodeSettings settings;  // guarded by the object lock
  JpegDecoder jpeg;
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

using namespace cudatransform;
using State = JpegCoefDecState;

#define gst_jpeg_coef_dec_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstJpegCoefDec, gst_jpeg_coef_dec, GST_TYPE_VIDEO_DECODER,
                        GST_DEBUG_CATEGORY_INIT(jpegcoefdec_debug, "jpegcoefdec", 0,
                                                "JPEG coefficient decoder"));
GST_ELEMENT_REGISTER_DEFINE(jpegcoefdec, "jpegcoefdec", GST_RANK_NONE,
                            gst_jpeg_coef_dec_get_type());

// ---- Properties ----

namespace {

GType pictures_type() {
  static const GEnumValue kValues[] = {
      {int(JpegFilePictures::kPrimary), "Primary picture; the others are attached to it",
       "primary"},
      {int(JpegFilePictures::kAll), "All pictures, ignoring the MPF index", "all"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstJpegCoefPictures", kValues);
  return type;
}

}  // namespace

/**
 * GstJpegCoefDec:on-error:
 *
 * How to handle damaged pictures.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:max-pixels:
 *
 * Maximum picture size in pixels (0 = unlimited).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:max-memory:
 *
 * Maximum host memory for pictures in flight in bytes (0 = unlimited).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:pictures:
 *
 * Pictures to output from Multi-Picture Format (MPF) files.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:keep-metadata:
 *
 * Attach APPn and COM segments and trailing data to the coefficients.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:tables-in-caps:
 *
 * Also write quantization tables into the caps (table changes cause renegotiation).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:entropy-backend:
 *
 * Backend for Huffman decoding (progressive, arithmetic and damaged files use the CPU).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:n-threads:
 *
 * Number of pictures to decode in parallel (0 = automatic).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:backend:
 *
 * Backend for entropy decoding and output memory.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:active-backend:
 *
 * Backend in use (auto = not chosen yet).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:cuda-device-id:
 *
 * Set the GPU device to use for operations (-1 = auto).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefDec:stats:
 *
 * Statistics, reset on READY to PAUSED.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const SettingsOf<EngineSettings> engine(
      [](gpointer element) -> auto& { return State::of(element).engine_settings; });
  const SettingsOf<PictureSettings> pictures(
      [](gpointer element) -> PictureSettings& { return State::of(element).settings; });
  const SettingsOf<JpegDecodeSettings> jpeg(
      [](gpointer element) -> auto& { return State::of(element).settings; });
  install_properties(
      klass,
      {on_error_property(pictures),
       jpeg.row("max-pixels", "Maximum Pixels", "Maximum picture size in pixels (0 = unlimited)",
                &JpegDecodeSettings::max_pixels, {.max = G_MAXUINT64}),
       max_memory_property(pictures,
                           "Maximum host memory for pictures in flight in bytes (0 = unlimited)"),
       jpeg.row("pictures", "Pictures", "Pictures to output from Multi-Picture Format (MPF) files",
                &JpegDecodeSettings::pictures, {.type = pictures_type(), .flags = kUpToReady}),
       jpeg.row("keep-metadata", "Keep Metadata",
                "Attach APPn and COM segments and trailing data to the coefficients",
                &JpegDecodeSettings::keep_metadata),
       jpeg.row("tables-in-caps", "Tables in Caps",
                "Also write quantization tables into the caps (table changes cause renegotiation)",
                &JpegDecodeSettings::tables_in_caps, {.flags = kUpToReady}),
       jpeg.row(
           "entropy-backend", "Entropy Decoding",
           "Backend for Huffman decoding (progressive, arithmetic and damaged files use the CPU)",
           &JpegDecodeSettings::entropy, {.type = jpeg_entropy_type(), .flags = kUpToReady}),
       n_threads_property(engine, "Number of pictures to decode in parallel (0 = automatic)"),
       backend_property(engine, "Backend for entropy decoding and output memory"),
       active_backend_property(engine), cuda_device_id_property(engine),
       stats_property([](GObject* object) { return State::of(object).jpeg.stats(); })});
}

// ---- Bytes to frames: files, whose first pictures become frames ----

namespace {

// User data of frames that have no picture: bytes between pictures, or what the element refuses.
// The base class keeps frames for later in reverse playback.
constexpr char kBetween = 0, kRefused = 0;

gpointer mark(const char& kind) { return const_cast<char*>(&kind); }

// Whether the stream of bytes is a file: then EOS follows, and no branch waits for a picture until
// then.
bool is_file(GstVideoDecoder* decoder) {
  gint64 size = -1;
  return gst_pad_peer_query_duration(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_FORMAT_BYTES,
                                     &size) &&
         size > 0;
}

JpegFileRules rules_of(GstVideoDecoder* decoder, State& state) {
  JpegFileRules rules;
  GST_OBJECT_LOCK(decoder);
  rules.with_others = state.settings.pictures == JpegFilePictures::kPrimary;
  const bool kept = state.settings.keep_metadata && rules.with_others;
  if (const guint64 most = state.settings.max_memory; most != 0)
    rules.most = std::min(rules.most, most);
  GST_OBJECT_UNLOCK(decoder);
  rules.is_framed = state.jpeg.framed();
  if (kept && !rules.is_framed && !state.is_file) state.is_file = is_file(decoder);
  rules.with_rest = kept && (rules.is_framed || *state.is_file);
  return rules;
}

// Makes a frame without a picture of the first byte.
GstFlowReturn have_mark(GstVideoDecoder* decoder, GstVideoCodecFrame* frame, const char& kind) {
  gst_video_codec_frame_set_user_data(frame, mark(kind), nullptr);
  return gst_video_decoder_have_frame(decoder);
}

GstFlowReturn refuse(GstVideoDecoder* decoder, State& state, GstVideoCodecFrame* frame,
                     GstAdapter* adapter, const Status& why) {
  state.refusal = why;
  state.begin_anew();
  state.bytes.discard(adapter, 1);
  gst_video_decoder_add_to_frame(decoder, 1);
  return have_mark(decoder, frame, kRefused);
}

// Drops bytes between pictures. The base class forgets the times of buffers together with their
// frames, so that a stream without pictures needs some, too.
bool skip(GstVideoDecoder* decoder, State& state, gsize size) {
  constexpr gsize kMaxSkipped = gsize{1} << 18;
  GST_DEBUG_OBJECT(decoder, "skipping %" G_GSIZE_FORMAT " bytes between pictures", size);
  const bool is_too_much = (state.skipped += size) > kMaxSkipped;
  state.bytes.flush(size - (is_too_much ? 1 : 0));
  if (is_too_much) state.bytes.add_to_frame(decoder, 1);
  return !is_too_much;
}

}  // namespace

static GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                             GstAdapter* adapter, gboolean at_eos) {
  State& state = State::of(decoder);
  if (const Status status = state.bytes.gather(adapter); !status.ok())
    return refuse(decoder, state, frame, adapter, status);
  const JpegFileRules rules = rules_of(decoder, state);
  const bool at_end = at_eos || state.is_parsed;
  for (;;) {
    const JpegFileSpan span = state.splitter.next(state.bytes.bytes(), rules, at_end);
    if (span.size == 0 && span.skipped == 0) return GST_VIDEO_DECODER_FLOW_NEED_DATA;
    if (span.size == 0 && skip(decoder, state, span.skipped)) continue;
    state.skipped = 0;
    if (span.size == 0) return have_mark(decoder, frame, kBetween);
    if (const std::string& doubt = state.splitter.doubt(); !doubt.empty())
      GST_DEBUG_OBJECT(decoder, "%s", doubt.c_str());
    if (span.is_cut)
      GST_WARNING_OBJECT(decoder, "dropping trailing data of more than %" G_GUINT64_FORMAT " bytes",
                         rules.most);
    state.bytes.add_to_frame(decoder, span.size);
    return gst_video_decoder_have_frame(decoder);
  }
}

static GstFlowReturn gst_jpeg_coef_dec_handle_frame(GstVideoDecoder* decoder,
                                                    GstVideoCodecFrame* frame) {
  State& state = State::of(decoder);
  const gpointer kind = gst_video_codec_frame_get_user_data(frame);
  if (kind == mark(kRefused)) return state.jpeg.refuse(frame, state.refusal);
  if (kind != mark(kBetween)) return state.jpeg.decode(frame);
  gst_video_decoder_release_frame(decoder, frame);
  return GST_FLOW_OK;
}

// ---- Start and stop ----

static gboolean gst_jpeg_coef_dec_start(GstVideoDecoder* decoder) {
  State& state = State::of(decoder);
  if (const Status status = state.jpeg.start(); !status.ok()) {
    post_error(GST_ELEMENT(decoder), status);
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
  state.jpeg.stop();
  state.begin_anew();
  return TRUE;
}

// ---- Queries ----

static gboolean gst_jpeg_coef_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  State& state = State::of(decoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_DECODER_SINK_PAD(decoder), query)) return FALSE;
  state.jpeg.take_query(query);
  return GST_VIDEO_DECODER_CLASS(parent_class)->sink_query(decoder, query);
}

static gboolean gst_jpeg_coef_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (State::of(decoder).engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_DECODER_CLASS(parent_class)->src_query(decoder, query);
}

// Not the default, which adds the sizes that downstream accepts: sources without a fixed size
// (multifilesrc) would fix 1x1.
static GstCaps* gst_jpeg_coef_dec_getcaps(GstVideoDecoder* decoder, GstCaps* filter) {
  CapsPtr caps(gst_pad_get_pad_template_caps(GST_VIDEO_DECODER_SINK_PAD(decoder)));
  if (filter) caps.reset(gst_caps_intersect_full(filter, caps.get(), GST_CAPS_INTERSECT_FIRST));
  return caps.release();
}

static gboolean gst_jpeg_coef_dec_decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  return State::of(decoder).jpeg.decide_allocation(query);
}

// ---- Stream ----

static gboolean gst_jpeg_coef_dec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  return State::of(decoder).jpeg.sink_event(event, GST_VIDEO_DECODER_CLASS(parent_class));
}

static gboolean gst_jpeg_coef_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  if (!State::of(decoder).jpeg.set_input(input)) return FALSE;
  gboolean parsed = FALSE;
  gst_structure_get_boolean(gst_caps_get_structure(input->caps, 0), "parsed", &parsed);
  State& state = State::of(decoder);
  state.is_parsed = parsed;
  const bool wants_all = locked(decoder, state.settings.pictures) == JpegFilePictures::kAll;
  // The base class makes one frame of a packet, so a file that produces several is split.
  gst_video_decoder_set_packetized(decoder, parsed && !wants_all);
  return TRUE;
}

static GstFlowReturn gst_jpeg_coef_dec_drain(GstVideoDecoder* decoder) {
  return State::of(decoder).jpeg.drain();
}

static GstFlowReturn gst_jpeg_coef_dec_finish(GstVideoDecoder* decoder) {
  return State::of(decoder).jpeg.finish();
}

static gboolean gst_jpeg_coef_dec_flush(GstVideoDecoder* decoder) {
  State& state = State::of(decoder);
  state.jpeg.flush();
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
  CodecElement<State>::install(element_class, gst_caps_new_empty_simple("image/jpeg"),
                               jpeg_coefs_template_caps(true));
  install_properties(G_OBJECT_CLASS(klass));
  gst_element_class_set_static_metadata(
      element_class, "JPEG Coefficient Decoder", "Codec/Decoder/Image/Hardware",
      "Entropy-decodes JPEG and Motion JPEG into quantized DCT coefficients using CUDA or the CPU",
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
