// Element cudaapvenc: raw video to APV.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaapvenc
 * @title: cudaapvenc
 * @see_also: cudaapvdec
 *
 * Encodes APV (Advanced Professional Video, RFC 9924), an intra-only codec for editing. Several
 * frames are encoded at a time, and all tiles of each, see #GstCudaApvEnc:n-threads.
 *
 * docs/elements/cudaapvenc.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! video/x-raw,format=I422_10LE ! cudaapvenc qp=20 ! \
 *   filesink location=master.apv
 * ]| Writes a raw APV stream.
 *
 * Since: 1.0
 */

#include "gst/elements.h"

#include "gst/apv/encoder.h"
#include "gst/apv/metas.h"
#include "gst/apv/video_format.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/pools.h"
#include "gst/engine/properties.h"
#include "gst/stream/codec_element.h"
#include "gst/stream/stream_gate.h"

GST_DEBUG_CATEGORY_STATIC(cudaapvenc_debug);
#define GST_CAT_DEFAULT cudaapvenc_debug

namespace cudatransform {

struct ApvEncState : CodecElementState {
  explicit ApvEncState(GstVideoEncoder* encoder)
      : CodecElementState(GST_ELEMENT(encoder), probe_apv_encode_kernels),
        apv(encoder, engine, settings, engine_settings) {}

  static ApvEncState& of(gpointer instance);
  static GstDebugCategory* category() { return cudaapvenc_debug; }
  static constexpr char kWithoutCuda[] = "frames are encoded by the CPU";
  static constexpr bool kEngineHasThreads = false;
  void interrupt() {}
  void release() { apv.stop(); }

  StreamGate gate;
  ApvEncodeSettings settings;  // guarded by the object lock
  ApvEncoder apv;
};

}  // namespace cudatransform

G_DECLARE_FINAL_TYPE(GstCudaApvEnc, gst_cuda_apv_enc, GST, CUDA_APV_ENC, GstVideoEncoder)
struct _GstCudaApvEnc {
  GstVideoEncoder parent;
  cudatransform::ApvEncState* state;
};

inline cudatransform::ApvEncState& cudatransform::ApvEncState::of(gpointer instance) {
  return *GST_CUDA_APV_ENC(instance)->state;
}

using cudatransform::ApvEncodeSettings;
using cudatransform::CapsPtr;
using cudatransform::EngineSettings;
using cudatransform::Property;
using cudatransform::SettingsOf;
using State = cudatransform::ApvEncState;

#define gst_cuda_apv_enc_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaApvEnc, gst_cuda_apv_enc, GST_TYPE_VIDEO_ENCODER,
                        GST_DEBUG_CATEGORY_INIT(cudaapvenc_debug, "cudaapvenc", 0, "APV encoder"));
GST_ELEMENT_REGISTER_DEFINE(cudaapvenc, "cudaapvenc", GST_RANK_SECONDARY,
                            gst_cuda_apv_enc_get_type());

// ---- Stream ----

static gboolean gst_cuda_apv_enc_start(GstVideoEncoder* encoder) {
  State& state = State::of(encoder);
  state.apv.start();
  state.gate.open();
  return TRUE;
}

static gboolean gst_cuda_apv_enc_stop(GstVideoEncoder* encoder) {
  State& state = State::of(encoder);
  state.gate.close();
  state.apv.stop();
  return TRUE;
}

static gboolean gst_cuda_apv_enc_set_format(GstVideoEncoder* encoder, GstVideoCodecState* input) {
  return State::of(encoder).apv.set_format(input);
}

static GstFlowReturn gst_cuda_apv_enc_handle_frame(GstVideoEncoder* encoder,
                                                   GstVideoCodecFrame* frame) {
  const GstClockTime time =
      gst_segment_to_stream_time(&encoder->input_segment, GST_FORMAT_TIME, frame->pts);
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(encoder), time);
  return State::of(encoder).apv.encode(frame);
}

// A decoder makes the metas again that are written into the stream.
static gboolean gst_cuda_apv_enc_transform_meta(GstVideoEncoder* encoder, GstVideoCodecFrame* frame,
                                                GstMeta* meta) {
  return !cudatransform::is_apv_meta(meta) &&
         GST_VIDEO_ENCODER_CLASS(parent_class)->transform_meta(encoder, frame, meta);
}

static GstFlowReturn gst_cuda_apv_enc_finish(GstVideoEncoder* encoder) {
  cudatransform::ApvEncoder& apv = State::of(encoder).apv;
  return apv.loop().finish([&] { return apv.drain(); });
}

static gboolean gst_cuda_apv_enc_flush(GstVideoEncoder* encoder) {
  State::of(encoder).apv.loop().flush();
  return TRUE;
}

static gboolean gst_cuda_apv_enc_sink_event(GstVideoEncoder* encoder, GstEvent* event) {
  return State::of(encoder).apv.loop().take_event(
      event, [&] { return GST_VIDEO_ENCODER_CLASS(parent_class)->sink_event(encoder, event); });
}

// ---- Caps, queries ----

static GstCaps* gst_cuda_apv_enc_getcaps(GstVideoEncoder* encoder, GstCaps* filter) {
  const auto& engine = State::of(encoder).engine;
  CapsPtr caps(gst_pad_get_pad_template_caps(GST_VIDEO_ENCODER_SINK_PAD(encoder)));
  if (engine.is_open() && !engine.is_cuda())
    caps.reset(cudatransform::without_cuda_memory(caps.release()));
  return gst_video_encoder_proxy_getcaps(encoder, caps.get(), filter);
}

static gboolean gst_cuda_apv_enc_propose_allocation(GstVideoEncoder* encoder, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps == nullptr) return FALSE;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  propose_raw_pool(State::of(encoder).engine, query, caps, 0);
  return TRUE;
}

static gboolean gst_cuda_apv_enc_sink_query(GstVideoEncoder* encoder, GstQuery* query) {
  State& state = State::of(encoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_ENCODER_SINK_PAD(encoder), query)) return FALSE;
  state.apv.take_query(query);
  return GST_VIDEO_ENCODER_CLASS(parent_class)->sink_query(encoder, query);
}

static gboolean gst_cuda_apv_enc_src_query(GstVideoEncoder* encoder, GstQuery* query) {
  if (State::of(encoder).engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_ENCODER_CLASS(parent_class)->src_query(encoder, query);
}

// ---- GObject ----

static GstStructure* make_stats(GObject* object) {
  const cudatransform::ApvEncoder& apv = State::of(object).apv;
  const cudatransform::ApvEncodeCounts& counts = apv.counts();
  const guint64 by_device = counts.frames_by_device, frames = counts.frames;  // in this order
  return gst_structure_new("application/x-cudaapvenc-stats", "frames", G_TYPE_UINT64, frames,
                           "cuda-frames", G_TYPE_UINT64, by_device, "bytes", G_TYPE_UINT64,
                           counts.bytes.load(), "last-qp", G_TYPE_INT, apv.rate().qp.load(),
                           "oversized-frames", G_TYPE_UINT64, apv.rate().oversized_frames.load(),
                           nullptr);
}

static void gst_cuda_apv_enc_init(GstCudaApvEnc* self) {
  self->state = new State(GST_VIDEO_ENCODER(self));
}

/**
 * GstCudaApvEnc:qp:
 *
 * Quantization parameter of the first component; 6 more double the quantizer step.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:qp-offset-c1:
 *
 * QP offset of the second component.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:qp-offset-c2:
 *
 * QP offset of the third component.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:qp-offset-c3:
 *
 * QP offset of the fourth component.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:q-matrix-c0:
 *
 * Quantization matrix of the first component: 64 weights, row by row.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:q-matrix-c1:
 *
 * Quantization matrix of the second component.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:q-matrix-c2:
 *
 * Quantization matrix of the third component.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:q-matrix-c3:
 *
 * Quantization matrix of the fourth component.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:bitrate:
 *
 * Target bit rate in kbit/s, which chooses the quantization parameter of each frame.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:vbv-buf-capacity:
 *
 * Size of the VBV buffer in milliseconds (0 = automatic).
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:tile-width:
 *
 * Width of tiles, rounded up to macroblocks and, for at most 20 columns, further.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:tile-height:
 *
 * Height of tiles, likewise.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:band:
 *
 * Band of the level, which limits its bit rate.
 *
 * Since: 1.0
 */

/**
 * GstCudaApvEnc:frame-hash:
 *
 * Write the MD5s of the decoded planes into the metadata of each frame.
 *
 * Since: 1.0
 */

static const SettingsOf<ApvEncodeSettings>& apv_settings() {
  static const SettingsOf<ApvEncodeSettings> settings(
      [](gpointer element) -> auto& { return State::of(element).settings; });
  return settings;
}

template <int kComponent>
static Property offset_property(const char* name, const char* nick, const char* blurb) {
  constexpr int kMax = cudatransform::kMaxApvEncodeQp;
  return apv_settings().row(
      g_param_spec_int(name, nick, blurb, -kMax, kMax, 0, cudatransform::kControllable),
      [](const ApvEncodeSettings& settings, GValue* value) {
        g_value_set_int(value, settings.qp_offset[kComponent]);
      },
      [](ApvEncodeSettings& settings, const GValue* value) {
        settings.qp_offset[kComponent] = g_value_get_int(value);
      });
}

template <int kComponent>
static Property matrix_property(const char* name, const char* nick, const char* blurb) {
  return apv_settings().row(
      g_param_spec_string(name, nick, blurb, nullptr, cudatransform::kUpToReady),
      [](const ApvEncodeSettings& settings, GValue* value) {
        const std::string& text = settings.matrix[kComponent];
        g_value_set_string(value, text.empty() ? nullptr : text.c_str());
      },
      [](ApvEncodeSettings& settings, const GValue* value) {
        const gchar* text = g_value_get_string(value);
        settings.matrix[kComponent] = text != nullptr ? text : "";
      });
}

static void install_properties(GObjectClass* klass) {
  const SettingsOf<EngineSettings> engine(
      [](gpointer element) -> auto& { return State::of(element).engine_settings; });
  const SettingsOf<ApvEncodeSettings>& apv = apv_settings();
  cudatransform::install_properties(
      klass,
      {apv.row("qp", "Quantization Parameter",
               "Quantization parameter of component 0 (6 more double the quantizer step)",
               &ApvEncodeSettings::qp,
               {.max = cudatransform::kMaxApvEncodeQp, .flags = cudatransform::kControllable}),
       offset_property<1>("qp-offset-c1", "QP Offset C1", "QP offset of component 1"),
       offset_property<2>("qp-offset-c2", "QP Offset C2", "QP offset of component 2"),
       offset_property<3>("qp-offset-c3", "QP Offset C3", "QP offset of component 3"),
       matrix_property<0>(
           "q-matrix-c0", "Q Matrix C0",
           "64 weights of component 0, row by row, separated by spaces (empty = flat)"),
       matrix_property<1>(
           "q-matrix-c1", "Q Matrix C1",
           "64 weights of component 1, row by row, separated by spaces (empty = flat)"),
       matrix_property<2>(
           "q-matrix-c2", "Q Matrix C2",
           "64 weights of component 2, row by row, separated by spaces (empty = flat)"),
       matrix_property<3>(
           "q-matrix-c3", "Q Matrix C3",
           "64 weights of component 3, row by row, separated by spaces (empty = flat)"),
       apv.row("bitrate", "Bit Rate", "Target bit rate in kbit/s (0 = constant qp)",
               &ApvEncodeSettings::bitrate, {.max = G_MAXUINT}),
       apv.row("vbv-buf-capacity", "VBV Buffer Capacity",
               "Size of the VBV buffer in milliseconds (0 = automatic)",
               &ApvEncodeSettings::vbv_buf_capacity, {.max = 10000}),
       apv.row("tile-width", "Tile Width", "Width of tiles in samples (more above 20 columns)",
               &ApvEncodeSettings::tile_width,
               {.min = 256, .max = G_MAXINT, .flags = cudatransform::kUpToReady}),
       apv.row("tile-height", "Tile Height", "Height of tiles in samples (more above 20 rows)",
               &ApvEncodeSettings::tile_height,
               {.min = 128, .max = G_MAXINT, .flags = cudatransform::kUpToReady}),
       apv.row("band", "Band", "Band of the level, which limits the bit rate",
               &ApvEncodeSettings::band,
               {.max = cudatransform::kApvBands - 1, .flags = cudatransform::kUpToReady}),
       apv.row("frame-hash", "Frame Hash",
               "Write the MD5s of the decoded planes (decodes each frame on the CPU)",
               &ApvEncodeSettings::frame_hash, {.flags = cudatransform::kUpToReady}),
       n_threads_property(engine, "Number of pictures to encode in parallel (0 = automatic)"),
       backend_property(engine, "Backend for the transform and entropy coding"),
       active_backend_property(engine), cuda_device_id_property(engine),
       cudatransform::stats_property(make_stats)});
}

static void gst_cuda_apv_enc_class_init(GstCudaApvEncClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* encoder_class = GST_VIDEO_ENCODER_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));
  cudatransform::register_apv_metas();
  encoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_sink_event);
  encoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_sink_query);
  encoder_class->src_query = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_src_query);
  encoder_class->start = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_start);
  encoder_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_stop);
  encoder_class->set_format = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_set_format);
  encoder_class->getcaps = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_getcaps);
  encoder_class->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_propose_allocation);
  encoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_handle_frame);
  encoder_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_transform_meta);
  encoder_class->finish = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_finish);
  encoder_class->flush = GST_DEBUG_FUNCPTR(gst_cuda_apv_enc_flush);

  cudatransform::CodecElement<State>::install(
      element_class, cudatransform::apv_input_template_caps(),
      gst_caps_from_string("video/x-apv, alignment=(string)au, stream-format=(string){ raw, au }"));
  gst_element_class_set_static_metadata(
      element_class, "CUDA APV Encoder", "Codec/Encoder/Video/Hardware",
      "Encodes APV video using CUDA or the CPU", "The cudatransform authors");
}
