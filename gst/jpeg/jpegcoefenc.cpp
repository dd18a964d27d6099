// Element jpegcoefenc: 8x8 DCT coefficients to JPEG files.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-jpegcoefenc
 * @title: jpegcoefenc
 * @see_also: cudadct8x8, jpegcoefdec
 *
 * Writes quantised 8x8 DCT coefficients (video/x-dct) as JPEG files, one per buffer, with the
 * tables that each buffer carries. The coefficients go into the file as they are: nothing is
 * transformed or quantised again. Coefficients of 8 bits in CUDA memory are coded there, several
 * frames in flight. Others, and files that are progressive or arithmetically coded, are written on
 * the CPU. The bytes are the same.
 *
 * JPEG means full range BT.601 by YCbCr; sources that can make it are asked to.
 *
 * docs/elements/jpegcoefenc.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! cudadct8x8 quality=90 ! \
 *   jpegcoefenc progressive=true ! filesink location=picture.jpg
 * ]| A progressive JPEG file of quality 90.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! cudadct8x8 ! jpegcoefenc ! avimux ! \
 *   filesink location=motion.avi
 * ]| A Motion-JPEG file.
 */

#include "gst/elements.h"

#include "gst/dct8x8/file_query.h"
#include "gst/engine/property_types.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/jpegcoefenc_private.h"

using cudatransform::JpegEntropy;
using cudatransform::kWhilePlaying;
using State = cudatransform::JpegCoefEncState;

GST_DEBUG_CATEGORY(jpegcoefenc_debug);
#define gst_jpeg_coef_enc_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstJpegCoefEnc, gst_jpeg_coef_enc, GST_TYPE_VIDEO_ENCODER,
                        GST_DEBUG_CATEGORY_INIT(jpegcoefenc_debug, "jpegcoefenc", 0,
                                                "Coefficients to JPEG pictures"));
GST_ELEMENT_REGISTER_DEFINE(jpegcoefenc, "jpegcoefenc", GST_RANK_NONE,
                            gst_jpeg_coef_enc_get_type());

enum {
  PROP_0,
  PROP_PROGRESSIVE,
  PROP_OPTIMIZE,
  PROP_ARITHMETIC,
  PROP_RESTART_INTERVAL,
  PROP_KEEP_METADATA,
  PROP_N_THREADS,
  PROP_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_ENTROPY,
  PROP_STATS,
};

static constexpr cudatransform::EngineProperties kEngineProperties = {
    .backend = PROP_BACKEND,
    .active_backend = 0,
    .cuda_device_id = PROP_CUDA_DEVICE_ID,
    .n_threads = PROP_N_THREADS,
    .backend_blurb =
        "Whether to take coefficients in CUDA memory, chosen when the element goes to READY",
    .n_threads_blurb =
        "Pictures that are written at once, each on a thread or on the GPU (0 = one per core, but "
        "1 for a live source; 1 adds no latency)",
};

static void gst_jpeg_coef_enc_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* pspec) {
  State& state = State::of(object);
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_PROGRESSIVE:
      state.options.progressive = g_value_get_boolean(value);
      break;
    case PROP_OPTIMIZE:
      state.options.optimize = g_value_get_boolean(value);
      break;
    case PROP_ARITHMETIC:
      state.options.arithmetic = g_value_get_boolean(value);
      break;
    case PROP_RESTART_INTERVAL:
      state.options.restart_interval = g_value_get_uint(value);
      break;
    case PROP_KEEP_METADATA:
      state.options.keep_metadata = g_value_get_boolean(value);
      break;
    case PROP_ENTROPY:
      state.entropy = static_cast<JpegEntropy>(g_value_get_enum(value));
      break;
    default:
      if (!set_engine_property(kEngineProperties, &state.engine_settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static GstStructure* make_stats(const State& state) {
  const guint64 by_device = state.frames_by_device, frames = state.frames;  // in this order
  return gst_structure_new("application/x-jpegcoefenc-stats", "frames", G_TYPE_UINT64, frames,
                           "cuda-frames", G_TYPE_UINT64, by_device, "cpu-frames", G_TYPE_UINT64,
                           frames - by_device, "untrue-lengths", G_TYPE_UINT64,
                           state.untrue_lengths.load(), nullptr);
}

static void gst_jpeg_coef_enc_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  const State& state = State::of(object);
  if (id == PROP_STATS) {
    g_value_take_boxed(value, make_stats(state));
    return;
  }
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_PROGRESSIVE:
      g_value_set_boolean(value, state.options.progressive);
      break;
    case PROP_OPTIMIZE:
      g_value_set_boolean(value, state.options.optimize);
      break;
    case PROP_ARITHMETIC:
      g_value_set_boolean(value, state.options.arithmetic);
      break;
    case PROP_RESTART_INTERVAL:
      g_value_set_uint(value, state.options.restart_interval);
      break;
    case PROP_KEEP_METADATA:
      g_value_set_boolean(value, state.options.keep_metadata);
      break;
    case PROP_ENTROPY:
      g_value_set_enum(value, static_cast<int>(state.entropy));
      break;
    default:
      if (!get_engine_property(kEngineProperties, state.engine_settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static gboolean gst_jpeg_coef_enc_sink_event(GstVideoEncoder* encoder, GstEvent* event) {
  GstCaps* caps = nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    gst_event_parse_caps(event, &caps);
    gst_caps_ref(caps);
  }
  gboolean taken = GST_VIDEO_ENCODER_CLASS(parent_class)->sink_event(encoder, event);
  if (taken && caps) {
    GST_VIDEO_ENCODER_STREAM_LOCK(encoder);
    taken = gst_jpeg_coef_enc_take_caps(encoder, caps);
    GST_VIDEO_ENCODER_STREAM_UNLOCK(encoder);
  }
  gst_clear_caps(&caps);
  return taken;
}

static gboolean gst_jpeg_coef_enc_sink_query(GstVideoEncoder* encoder, GstQuery* query) {
  State& state = State::of(encoder);
  if (state.engine.handle_context_query(query)) return TRUE;
  GST_OBJECT_LOCK(encoder);
  const cudatransform::JpegOptions options = state.options;
  GST_OBJECT_UNLOCK(encoder);
  if (cudatransform::answer_file_query(query, options)) return TRUE;
  if (state.gate.refuses(GST_VIDEO_ENCODER_SINK_PAD(encoder), query)) return FALSE;
  return GST_VIDEO_ENCODER_CLASS(parent_class)->sink_query(encoder, query);
}

static gboolean gst_jpeg_coef_enc_src_query(GstVideoEncoder* encoder, GstQuery* query) {
  if (State::of(encoder).engine.handle_context_query(query)) return TRUE;
  return GST_VIDEO_ENCODER_CLASS(parent_class)->src_query(encoder, query);
}

static void gst_jpeg_coef_enc_init(GstJpegCoefEnc* self) {
  self->state = new State(GST_VIDEO_ENCODER(self));
}

static void install_properties(GObjectClass* klass) {
  const auto install_flag = [&](guint id, const char* name, const char* nick, const char* blurb,
                                gboolean initially = FALSE) {
    g_object_class_install_property(
        klass, id, g_param_spec_boolean(name, nick, blurb, initially, kWhilePlaying));
  };
  install_flag(PROP_PROGRESSIVE, "progressive", "Progressive",
               "Write progressive files: a coarse picture first, then its refinements");
  install_flag(PROP_OPTIMIZE, "optimize", "Optimize",
               "Compute the best Huffman tables for each picture, in a pass of its own");
  install_flag(PROP_ARITHMETIC, "arithmetic", "Arithmetic",
               "Use arithmetic coding: smaller files, which many programs cannot read");
  g_object_class_install_property(
      klass, PROP_RESTART_INTERVAL,
      g_param_spec_uint("restart-interval", "Restart interval",
                        "MCUs from one restart marker to the next (0 = no markers)", 0,
                        cudatransform::kJpegMaxRestartInterval, 0, kWhilePlaying));
  install_flag(
      PROP_KEEP_METADATA, "keep-metadata", "Keep metadata",
      "Write the density, Exif data, colour profile, comments and the bytes behind the picture, "
      "as jpegcoefdec has found them in the file that the coefficients are from",
      TRUE);
  install_engine_properties(klass, kEngineProperties);
  g_object_class_install_property(
      klass, PROP_ENTROPY,
      g_param_spec_enum("entropy", "Entropy coding",
                        "The engine that does the entropy coding: the GPU can if coefficients are "
                        "in CUDA memory, of 8 bits, and the file is neither progressive nor "
                        "arithmetic; the CPU does all others",
                        GST_TYPE_JPEG_COEF_ENTROPY, static_cast<int>(JpegEntropy::kAuto),
                        cudatransform::kUpToReady));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What was written since PAUSED, as a structure; "
                         "docs/elements/jpegcoefenc.md lists its fields",
                         GST_TYPE_STRUCTURE, cudatransform::kReadOnly));
}

static void gst_jpeg_coef_enc_class_init(GstJpegCoefEncClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* encoder_class = GST_VIDEO_ENCODER_CLASS(klass);
  object_class->set_property = gst_jpeg_coef_enc_set_property;
  object_class->get_property = gst_jpeg_coef_enc_get_property;
  install_properties(object_class);
  encoder_class->sink_event = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_sink_event);
  encoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_sink_query);
  encoder_class->src_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_src_query);
  gst_jpeg_coef_enc_install_frames(encoder_class);

  cudatransform::JpegElement<State>::install(element_class,
                                             cudatransform::jpeg_coefs_template_caps(false),
                                             cudatransform::jpeg_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "JPEG writer of 8x8 DCT coefficients", "Codec/Encoder/Image",
      "Writes quantised 8x8 DCT coefficients as JPEG files, without loss",
      "The cudatransform authors");
}
