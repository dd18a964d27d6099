// Element jpegcoefenc: 8x8 DCT coefficients to JPEG files.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-jpegcoefenc
 * @title: jpegcoefenc
 * @short_description: entropy encoder from DCT coefficients to JPEG
 * @see_also: cudadct8x8, jpegcoefdec
 *
 * Entropy-codes quantized 8x8 DCT coefficients (video/x-dct) as JPEG files, one per buffer, with
 * the quantization tables that each buffer carries. It neither transforms nor quantizes again, so
 * nothing is lost. 8-bit coefficients in CUDA memory are coded on the GPU, several frames in
 * flight; all others, and progressive and arithmetic files, on the CPU. The output is identical.
 *
 * JPEG stores YCbCr as full-range BT.601, so the element prefers that colorimetry upstream.
 *
 * docs/elements/jpegcoefenc.md is the manual.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! cudadct8x8 quality=90 ! \
 *   jpegcoefenc progressive=true ! filesink location=picture.jpg
 * ]| Writes a progressive JPEG file of quality 90.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! cudadct8x8 ! jpegcoefenc ! avimux ! \
 *   filesink location=motion.avi
 * ]| Writes a Motion JPEG file.
 *
 * Since: 1.0
 */

#include "gst/elements.h"

#include "gst/dct8x8/file_query.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/pools.h"
#include "gst/engine/properties.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/encoder.h"
#include "gst/stream/codec_element.h"
#include "gst/stream/coef_caps.h"
#include "gst/stream/stream_gate.h"

GST_DEBUG_CATEGORY(jpegcoefenc_debug);
#define GST_CAT_DEFAULT jpegcoefenc_debug

namespace cudatransform {

struct JpegCoefEncState : CodecElementState {
  explicit JpegCoefEncState(GstVideoEncoder* encoder)
      : CodecElementState(GST_ELEMENT(encoder), nullptr),
        jpeg(encoder, engine, settings, engine_settings) {}

  static JpegCoefEncState& of(gpointer instance);
  static GstDebugCategory* category() { return jpegcoefenc_debug; }
  static constexpr char kWithoutCuda[] = "no CUDA memory";
  // The device would only copy, so that its absence costs no speed.
  static constexpr bool kEngineHasThreads = false;
  void interrupt() {}
  void release() { jpeg.close(); }

  StreamGate gate;
  JpegEncodeSettings settings;  // guarded by the object lock
  JpegEncoder jpeg;
};

}  // namespace cudatransform

G_DECLARE_FINAL_TYPE(GstJpegCoefEnc, gst_jpeg_coef_enc, GST, JPEG_COEF_ENC, GstVideoEncoder)
struct _GstJpegCoefEnc {
  GstVideoEncoder parent;
  cudatransform::JpegCoefEncState* state;
};

inline cudatransform::JpegCoefEncState& cudatransform::JpegCoefEncState::of(gpointer instance) {
  return *GST_JPEG_COEF_ENC(instance)->state;
}

using namespace cudatransform;
using State = JpegCoefEncState;

#define gst_jpeg_coef_enc_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstJpegCoefEnc, gst_jpeg_coef_enc, GST_TYPE_VIDEO_ENCODER,
                        GST_DEBUG_CATEGORY_INIT(jpegcoefenc_debug, "jpegcoefenc", 0,
                                                "JPEG coefficient encoder"));
GST_ELEMENT_REGISTER_DEFINE(jpegcoefenc, "jpegcoefenc", GST_RANK_NONE,
                            gst_jpeg_coef_enc_get_type());

static GstStructure* make_stats(GObject* object) {
  const JpegEncodeCounts& counts = State::of(object).jpeg.counts();
  const guint64 by_device = counts.frames_by_device, frames = counts.frames;  // in this order
  return gst_structure_new("application/x-jpegcoefenc-stats", "frames", G_TYPE_UINT64, frames,
                           "cuda-frames", G_TYPE_UINT64, by_device, "cpu-frames", G_TYPE_UINT64,
                           frames - by_device, "xmp-length-mismatches", G_TYPE_UINT64,
                           counts.xmp_length_mismatches.load(), nullptr);
}

static gboolean gst_jpeg_coef_enc_start(GstVideoEncoder* encoder) {
  State& state = State::of(encoder);
  if (const Status status = state.jpeg.start(); !status.ok()) {
    post_error(GST_ELEMENT(encoder), status);
    return FALSE;
  }
  state.gate.open();
  return TRUE;
}

static gboolean gst_jpeg_coef_enc_stop(GstVideoEncoder* encoder) {
  State& state = State::of(encoder);
  state.gate.close();
  state.jpeg.stop();
  return TRUE;
}

static gboolean gst_jpeg_coef_enc_set_format(GstVideoEncoder* encoder, GstVideoCodecState* input) {
  return State::of(encoder).jpeg.set_caps(input->caps, input);
}

static GstFlowReturn gst_jpeg_coef_enc_handle_frame(GstVideoEncoder* encoder,
                                                    GstVideoCodecFrame* frame) {
  return State::of(encoder).jpeg.encode(frame);
}

static GstFlowReturn gst_jpeg_coef_enc_finish(GstVideoEncoder* encoder) {
  return State::of(encoder).jpeg.finish();
}

static gboolean gst_jpeg_coef_enc_flush(GstVideoEncoder* encoder) {
  State::of(encoder).jpeg.flush();
  return TRUE;
}

static gboolean gst_jpeg_coef_enc_sink_event(GstVideoEncoder* encoder, GstEvent* event) {
  return State::of(encoder).jpeg.sink_event(event, GST_VIDEO_ENCODER_CLASS(parent_class));
}

static GstCaps* gst_jpeg_coef_enc_getcaps(GstVideoEncoder* encoder, GstCaps* filter) {
  const auto& engine = State::of(encoder).engine;
  CapsPtr coefs(gst_pad_get_pad_template_caps(GST_VIDEO_ENCODER_SINK_PAD(encoder)));
  if (engine.is_open() && !engine.is_cuda()) coefs.reset(without_cuda_memory(coefs.release()));
  // Does not use the allowed caps of our own pad, which must keep the negotiated ones.
  GstPad* src = GST_VIDEO_ENCODER_SRC_PAD(encoder);
  const CapsPtr all_files(gst_pad_get_pad_template_caps(src));
  const CapsPtr files(gst_pad_peer_query_caps(src, all_files.get()));
  CapsPtr caps(jpeg_coefs_for(files.get(), coefs.get()));
  if (filter) caps.reset(gst_caps_intersect_full(caps.get(), filter, GST_CAPS_INTERSECT_FIRST));
  // Pads that are being linked see all that is possible.
  const bool negotiates = filter && GST_PAD_IS_ACTIVE(GST_VIDEO_ENCODER_SINK_PAD(encoder));
  return negotiates ? with_common_depth(caps.release()) : caps.release();
}

// Deliberately not chaining up: the base class would propose a pool for our caps, which none knows.
static gboolean gst_jpeg_coef_enc_propose_allocation(GstVideoEncoder*, GstQuery* query) {
  gst_query_add_allocation_meta(query, GST_DCT_META_API_TYPE, nullptr);
  promise_to_honor_fence(query);
  return TRUE;
}

static gboolean gst_jpeg_coef_enc_sink_query(GstVideoEncoder* encoder, GstQuery* query) {
  State& state = State::of(encoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  const JpegOptions options = locked(encoder, state.settings.options);
  if (answer_file_query(query, options)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_ENCODER_SINK_PAD(encoder), query)) return FALSE;
  state.jpeg.take_query(query);
  return GST_VIDEO_ENCODER_CLASS(parent_class)->sink_query(encoder, query);
}

static gboolean gst_jpeg_coef_enc_src_query(GstVideoEncoder* encoder, GstQuery* query) {
  if (State::of(encoder).engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_ENCODER_CLASS(parent_class)->src_query(encoder, query);
}

static void gst_jpeg_coef_enc_init(GstJpegCoefEnc* self) {
  self->state = new State(GST_VIDEO_ENCODER(self));
}

/**
 * GstJpegCoefEnc:progressive:
 *
 * Write progressive JPEG.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:optimize:
 *
 * Compute optimal Huffman tables for each picture.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:arithmetic:
 *
 * Use arithmetic coding (few decoders support it).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:restart-interval:
 *
 * Restart interval in MCUs (0 = no restart markers).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:keep-metadata:
 *
 * Write the attached metadata and trailing data.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:n-threads:
 *
 * Number of pictures to encode in parallel (0 = automatic).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:backend:
 *
 * Backend for entropy coding and input memory.
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:active-backend:
 *
 * Backend in use (auto = not chosen yet).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:cuda-device-id:
 *
 * Set the GPU device to use for operations (-1 = auto).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:entropy-backend:
 *
 * Backend for entropy coding (progressive, arithmetic and 12-bit files use the CPU).
 *
 * Since: 1.0
 */

/**
 * GstJpegCoefEnc:stats:
 *
 * Statistics, reset on READY to PAUSED.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const SettingsOf<EngineSettings> engine(
      [](gpointer element) -> auto& { return State::of(element).engine_settings; });
  const SettingsOf<JpegEncodeSettings> jpeg(
      [](gpointer element) -> auto& { return State::of(element).settings; });
  const SettingsOf<JpegOptions> options(
      [](gpointer element) -> auto& { return State::of(element).settings.options; });
  install_properties(
      klass,
      {options.row("progressive", "Progressive", "Write progressive JPEG",
                   &JpegOptions::progressive),
       options.row("optimize", "Optimize", "Compute optimal Huffman tables for each picture",
                   &JpegOptions::optimize),
       options.row("arithmetic", "Arithmetic", "Use arithmetic coding (few decoders support it)",
                   &JpegOptions::arithmetic),
       options.row("restart-interval", "Restart Interval",
                   "Restart interval in MCUs (0 = no restart markers)",
                   &JpegOptions::restart_interval, {.max = kJpegMaxRestartInterval}),
       options.row("keep-metadata", "Keep Metadata",
                   "Write the attached metadata and trailing data", &JpegOptions::keep_metadata),
       n_threads_property(engine, "Number of pictures to encode in parallel (0 = automatic)"),
       backend_property(engine, "Backend for entropy coding and input memory"),
       active_backend_property(engine), cuda_device_id_property(engine),
       jpeg.row("entropy-backend", "Entropy Coding",
                "Backend for entropy coding (progressive, arithmetic and 12-bit files use the CPU)",
                &JpegEncodeSettings::entropy, {.type = jpeg_entropy_type(), .flags = kUpToReady}),
       stats_property(make_stats)});
}

static void gst_jpeg_coef_enc_class_init(GstJpegCoefEncClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* encoder_class = GST_VIDEO_ENCODER_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));
  encoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_sink_event);
  encoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_sink_query);
  encoder_class->src_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_src_query);
  encoder_class->start = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_start);
  encoder_class->stop = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_stop);
  encoder_class->set_format = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_set_format);
  encoder_class->getcaps = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_getcaps);
  encoder_class->propose_allocation = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_propose_allocation);
  encoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_handle_frame);
  encoder_class->finish = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_finish);
  encoder_class->flush = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_flush);

  CodecElement<State>::install(element_class, jpeg_coefs_template_caps(false),
                               jpeg_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "JPEG Coefficient Encoder", "Codec/Encoder/Image/Hardware",
      "Entropy-codes quantized DCT coefficients as JPEG using CUDA or the CPU",
      "The cudatransform authors");
}
