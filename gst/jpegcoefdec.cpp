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

#include "gst/caps.h"
#include "gst/debug.h"
#include "gst/element_error.h"
#include "gst/jpegcoefdec_frames.h"
#include "jpeg/splitter.h"

using cudatransform::Backend;
using cudatransform::Engine;
using cudatransform::JpegCounts;
using cudatransform::JpegFrames;
using cudatransform::JpegSettings;
using cudatransform::JpegSplitter;
using cudatransform::OnError;
using cudatransform::Status;

namespace {

constexpr gsize kPiece = 16384;                   // of a stream, looked at in one go
constexpr gsize kMostBytes = gsize{1} << 28;      // of a picture
constexpr guint64 kMaxPixels = guint64{1} << 27;  // the default: a camera of 100 megapixels passes

// Settings are guarded by the object lock.
struct State {
  explicit State(GstVideoDecoder* decoder)
      : engine(GST_ELEMENT(decoder)), frames(decoder, engine) {}

  JpegSettings settings = {OnError::kDrop, kMaxPixels, 0};
  Backend backend = Backend::kAuto;
  Backend active_backend = Backend::kAuto;
  int cuda_device_id = -1;

  Engine engine;
  JpegFrames frames;
  JpegSplitter splitter;  // has seen the bytes that the base class has collected
};

enum {
  PROP_0,
  PROP_ON_ERROR,
  PROP_MAX_PIXELS,
  PROP_N_THREADS,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_STATS,
};

}  // namespace

struct GstJpegCoefDec {
  GstVideoDecoder parent;
  State* state;
};

struct GstJpegCoefDecClass {
  GstVideoDecoderClass parent_class;
};

G_DEFINE_TYPE(GstJpegCoefDec, gst_jpeg_coef_dec, GST_TYPE_VIDEO_DECODER);
GST_ELEMENT_REGISTER_DEFINE(jpegcoefdec, "jpegcoefdec", GST_RANK_NONE,
                            gst_jpeg_coef_dec_get_type());

static State* state_of(gpointer object) {
  return G_TYPE_CHECK_INSTANCE_CAST(object, gst_jpeg_coef_dec_get_type(), GstJpegCoefDec)->state;
}

#define GST_TYPE_JPEG_COEF_DEC_ON_ERROR (gst_jpeg_coef_dec_on_error_get_type())
static GType gst_jpeg_coef_dec_on_error_get_type(void) {
  static gsize type = 0;
  static const GEnumValue kValues[] = {
      {int(OnError::kDrop), "Drop the picture, with a warning", "drop"},
      {int(OnError::kConceal), "Push what could be decoded, marked as corrupted", "conceal"},
      {int(OnError::kFail), "Stop with an error", "fail"},
      {0, nullptr, nullptr},
  };
  if (g_once_init_enter(&type)) {
    const GType made = g_enum_register_static("GstJpegCoefDecOnError", kValues);
    gst_type_mark_as_plugin_api(made, static_cast<GstPluginAPIFlags>(0));
    g_once_init_leave(&type, made);
  }
  return type;
}

static JpegSettings settings_of(GstVideoDecoder* decoder) {
  GST_OBJECT_LOCK(decoder);
  const JpegSettings settings = state_of(decoder)->settings;
  GST_OBJECT_UNLOCK(decoder);
  return settings;
}

// ---- State ----

static bool open_engine(GstElement* element) {
  State* state = state_of(element);
  GST_OBJECT_LOCK(element);
  const Backend backend = state->backend;
  const int device_id = state->cuda_device_id;
  GST_OBJECT_UNLOCK(element);
  std::string fallback;
  const Status status = state->engine.open(backend, device_id, 1, &fallback);
  if (!status.ok()) {
    cudatransform::post_error(element, status);
    return false;
  }
  // Nothing is slower for it, so it is no message: the device would only be copied to.
  if (!fallback.empty())
    GST_INFO_OBJECT(element, "coefficients stay in system memory: %s", fallback.c_str());
  GST_OBJECT_LOCK(element);
  state->active_backend = state->engine.is_cuda() ? Backend::kCuda : Backend::kCpu;
  GST_OBJECT_UNLOCK(element);
  g_object_notify(G_OBJECT(element), "active-backend");
  return true;
}

static void close_engine(GstElement* element) {
  State* state = state_of(element);
  state->frames.stop();
  state->engine.close();
  GST_OBJECT_LOCK(element);
  state->active_backend = Backend::kAuto;
  GST_OBJECT_UNLOCK(element);
  g_object_notify(G_OBJECT(element), "active-backend");
}

static GstStateChangeReturn gst_jpeg_coef_dec_change_state(GstElement* element,
                                                           GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !open_engine(element))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_jpeg_coef_dec_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    close_engine(element);
  return result;
}

static void gst_jpeg_coef_dec_set_context(GstElement* element, GstContext* context) {
  State* state = state_of(element);
  GST_OBJECT_LOCK(element);
  const int device_id = state->cuda_device_id;
  GST_OBJECT_UNLOCK(element);
  state->engine.handle_set_context(context, device_id);
  GST_ELEMENT_CLASS(gst_jpeg_coef_dec_parent_class)->set_context(element, context);
}

static gboolean gst_jpeg_coef_dec_start(GstVideoDecoder* decoder) {
  State* state = state_of(decoder);
  state->frames.start();
  state->splitter.restart();
  // Until caps say that somebody has done it already.
  gst_video_decoder_set_packetized(decoder, FALSE);
  return TRUE;
}

static gboolean gst_jpeg_coef_dec_stop(GstVideoDecoder* decoder) {
  state_of(decoder)->frames.stop();
  return TRUE;
}

// ---- Queries ----

static gboolean gst_jpeg_coef_dec_sink_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      state_of(decoder)->engine.handle_context_query(query))
    return TRUE;
  return GST_VIDEO_DECODER_CLASS(gst_jpeg_coef_dec_parent_class)->sink_query(decoder, query);
}

static gboolean gst_jpeg_coef_dec_src_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      state_of(decoder)->engine.handle_context_query(query))
    return TRUE;
  return GST_VIDEO_DECODER_CLASS(gst_jpeg_coef_dec_parent_class)->src_query(decoder, query);
}

// Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
static gboolean gst_jpeg_coef_dec_decide_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  GstBufferPool* pool = nullptr;
  const Status status = state_of(decoder)->frames.allocate(query, &pool);
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

static gboolean gst_jpeg_coef_dec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  State* state = state_of(decoder);
  const GstFlowReturn flow = state->frames.drain(settings_of(decoder));
  if (flow != GST_FLOW_OK) GST_DEBUG_OBJECT(decoder, "draining: %s", gst_flow_get_name(flow));
  state->frames.set_input(input);
  gboolean parsed = FALSE;
  gst_structure_get_boolean(gst_caps_get_structure(input->caps, 0), "parsed", &parsed);
  gst_video_decoder_set_packetized(decoder, parsed);
  return TRUE;
}

// Feeds the splitter what it has not seen. What it has not seen began with a buffer of its own.
static void look_at_new_bytes(GstVideoDecoder* decoder, GstAdapter* adapter, gsize available) {
  JpegSplitter& splitter = state_of(decoder)->splitter;
  guint8 piece[kPiece];
  bool first = true;
  while (!splitter.found() && splitter.position() < available) {
    const gsize size = std::min(kPiece, available - splitter.position());
    gst_adapter_copy(adapter, piece, splitter.position(), size);
    // Where buffers have times, one that begins like a picture is one, and what came before it was
    // cut off.
    const bool framed = decoder->input_segment.format == GST_FORMAT_TIME;
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
  JpegSplitter& splitter = state_of(decoder)->splitter;
  const gsize available = gst_adapter_available(adapter);
  look_at_new_bytes(decoder, adapter, available);
  if (!splitter.found() && splitter.inside() &&
      (at_eos || available - splitter.begin() > kMostBytes))
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
  if (gst_video_decoder_get_max_decode_time(decoder, frame) < 0) {
    GST_DEBUG_OBJECT(decoder, "too late: skipped");
    return gst_video_decoder_drop_frame(decoder, frame);
  }
  return state_of(decoder)->frames.decode(frame, settings_of(decoder));
}

static GstFlowReturn gst_jpeg_coef_dec_drain(GstVideoDecoder* decoder) {
  return state_of(decoder)->frames.drain(settings_of(decoder));
}

static gboolean gst_jpeg_coef_dec_flush(GstVideoDecoder* decoder) {
  State* state = state_of(decoder);
  state->frames.flush();
  state->splitter.restart();
  return TRUE;
}

// ---- Properties ----

static void gst_jpeg_coef_dec_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* pspec) {
  State* state = state_of(object);
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_ON_ERROR:
      state->settings.on_error = static_cast<OnError>(g_value_get_enum(value));
      break;
    case PROP_MAX_PIXELS:
      state->settings.max_pixels = g_value_get_uint64(value);
      break;
    case PROP_N_THREADS:
      state->settings.n_threads = g_value_get_uint(value);
      break;
    case PROP_BACKEND:
      state->backend = static_cast<Backend>(g_value_get_enum(value));
      break;
    case PROP_CUDA_DEVICE_ID:
      state->cuda_device_id = g_value_get_int(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static GstStructure* statistics(const JpegCounts& counts) {
  return gst_structure_new("application/x-jpegcoefdec-stats", "frames", G_TYPE_UINT64,
                           counts.frames, "damaged", G_TYPE_UINT64, counts.damaged, "dropped",
                           G_TYPE_UINT64, counts.dropped, nullptr);
}

static void gst_jpeg_coef_dec_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  State* state = state_of(object);
  if (id == PROP_STATS) {
    g_value_take_boxed(value, statistics(state->frames.counts()));
    return;
  }
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_ON_ERROR:
      g_value_set_enum(value, int(state->settings.on_error));
      break;
    case PROP_MAX_PIXELS:
      g_value_set_uint64(value, state->settings.max_pixels);
      break;
    case PROP_N_THREADS:
      g_value_set_uint(value, state->settings.n_threads);
      break;
    case PROP_BACKEND:
      g_value_set_enum(value, int(state->backend));
      break;
    case PROP_ACTIVE_BACKEND:
      g_value_set_enum(value, int(state->active_backend));
      break;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int(value, state->cuda_device_id);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static void install_properties(GObjectClass* klass) {
  const int base = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const auto playing = static_cast<GParamFlags>(base | GST_PARAM_MUTABLE_PLAYING);
  const auto ready = static_cast<GParamFlags>(base | GST_PARAM_MUTABLE_READY);
  const auto read_only = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      klass, PROP_ON_ERROR,
      g_param_spec_enum("on-error", "On error",
                        "What to do with a damaged picture; after max-errors of them in a row the "
                        "element stops with an error",
                        GST_TYPE_JPEG_COEF_DEC_ON_ERROR, int(OnError::kDrop), playing));
  g_object_class_install_property(
      klass, PROP_MAX_PIXELS,
      g_param_spec_uint64("max-pixels", "Largest picture",
                          "Width times height above which a picture counts as damaged (0 = no "
                          "limit); a header of a few bytes can claim 4 gigapixels",
                          0, G_MAXUINT64, kMaxPixels, playing));
  g_object_class_install_property(
      klass, PROP_N_THREADS,
      g_param_spec_uint("n-threads", "Threads",
                        "Pictures decoded at a time, chosen at the first of them; each above one "
                        "adds a frame of latency (0 = one per core, one for live sources)",
                        0, 1024, 0, ready));
  g_object_class_install_property(
      klass, PROP_BACKEND,
      g_param_spec_enum("backend", "Backend",
                        "Whether there is a CUDA device that coefficients can be put on, chosen "
                        "when the element goes to READY",
                        GST_TYPE_CUDA_DCT_BACKEND, int(Backend::kAuto), ready));
  g_object_class_install_property(
      klass, PROP_ACTIVE_BACKEND,
      g_param_spec_enum("active-backend", "Active backend",
                        "The engine in use: cuda or cpu from READY on, auto before it is chosen",
                        GST_TYPE_CUDA_DCT_BACKEND, int(Backend::kAuto), read_only));
  g_object_class_install_property(
      klass, PROP_CUDA_DEVICE_ID,
      g_param_spec_int("cuda-device-id", "CUDA device ID",
                       "The CUDA device to use, chosen when the element goes to READY (-1 = any)",
                       -1, G_MAXINT, -1, ready));
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What has been decoded since PAUSED, as a structure; docs/elements lists "
                         "its fields",
                         GST_TYPE_STRUCTURE, read_only));
}

static void gst_jpeg_coef_dec_finalize(GObject* object) {
  delete state_of(object);
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
  object_class->set_property = gst_jpeg_coef_dec_set_property;
  object_class->get_property = gst_jpeg_coef_dec_get_property;
  object_class->finalize = gst_jpeg_coef_dec_finalize;
  install_properties(object_class);

  GstCaps* jpeg = gst_caps_new_empty_simple("image/jpeg");
  GstCaps* dct = cudatransform::jpeg_dct_template_caps(true);
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
  decoder_class->sink_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_sink_query);
  decoder_class->src_query = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_src_query);
  decoder_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_decide_allocation);
  decoder_class->set_format = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_set_format);
  decoder_class->parse = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_parse);
  decoder_class->handle_frame = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_handle_frame);
  decoder_class->drain = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_drain);
  decoder_class->finish = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_drain);
  decoder_class->flush = GST_DEBUG_FUNCPTR(gst_jpeg_coef_dec_flush);
  gst_type_mark_as_plugin_api(GST_TYPE_JPEG_COEF_DEC_ON_ERROR, static_cast<GstPluginAPIFlags>(0));
}
