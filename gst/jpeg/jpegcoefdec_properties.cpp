// Element jpegcoefdec: its properties and statistics.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/property_types.h"
#include "gst/jpeg/jpegcoefdec_private.h"

using cudatransform::kReadOnly;
using cudatransform::kWhilePlaying;
using cudatransform::OnError;
using State = cudatransform::JpegCoefDecState;

namespace {

enum {
  PROP_0,
  PROP_ON_ERROR,
  PROP_MAX_PIXELS,
  PROP_MAX_MEMORY,
  PROP_KEEP_METADATA,
  PROP_TABLES_IN_CAPS,
  PROP_N_THREADS,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_STATS,
};

constexpr cudatransform::EngineProperties kEngineProperties = {
    .backend = PROP_BACKEND,
    .active_backend = PROP_ACTIVE_BACKEND,
    .cuda_device_id = PROP_CUDA_DEVICE_ID,
    .n_threads = PROP_N_THREADS,
    .backend_blurb =
        "Whether there is a CUDA device that coefficients can be put on, chosen when the element "
        "goes to READY",
    .n_threads_blurb =
        "Pictures decoded at a time, chosen at the first of them; each above one adds a frame of "
        "latency (0 = one per core, one for live sources)",
};

}  // namespace

#define GST_TYPE_JPEG_COEF_DEC_ON_ERROR (gst_jpeg_coef_dec_on_error_get_type())
static GType gst_jpeg_coef_dec_on_error_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(OnError::kDrop), "Drop the picture, with a warning", "drop"},
      {int(OnError::kConceal), "Push what could be decoded, marked as corrupted", "conceal"},
      {int(OnError::kFail), "Stop with an error", "fail"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstJpegCoefDecOnError", kValues);
  return type;
}

static void gst_jpeg_coef_dec_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* pspec) {
  State& state = State::of(object);
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_ON_ERROR:
      state.picture_settings.on_error = static_cast<OnError>(g_value_get_enum(value));
      break;
    case PROP_MAX_PIXELS:
      state.jpeg_settings.max_pixels = g_value_get_uint64(value);
      break;
    case PROP_MAX_MEMORY:
      state.picture_settings.max_memory = g_value_get_uint64(value);
      break;
    case PROP_KEEP_METADATA:
      state.jpeg_settings.keep_metadata = g_value_get_boolean(value);
      break;
    case PROP_TABLES_IN_CAPS:
      state.jpeg_settings.tables_in_caps = g_value_get_boolean(value);
      break;
    default:
      if (!set_engine_property(kEngineProperties, &state.engine_settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static void gst_jpeg_coef_dec_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  State& state = State::of(object);
  if (id == PROP_STATS) {
    g_value_take_boxed(value, state.pictures.stats("application/x-jpegcoefdec-stats"));
    return;
  }
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_ON_ERROR:
      g_value_set_enum(value, int(state.picture_settings.on_error));
      break;
    case PROP_MAX_PIXELS:
      g_value_set_uint64(value, state.jpeg_settings.max_pixels);
      break;
    case PROP_MAX_MEMORY:
      g_value_set_uint64(value, state.picture_settings.max_memory);
      break;
    case PROP_KEEP_METADATA:
      g_value_set_boolean(value, state.jpeg_settings.keep_metadata);
      break;
    case PROP_TABLES_IN_CAPS:
      g_value_set_boolean(value, state.jpeg_settings.tables_in_caps);
      break;
    default:
      if (!get_engine_property(kEngineProperties, state.engine_settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

void gst_jpeg_coef_dec_install_properties(GObjectClass* klass) {
  klass->set_property = gst_jpeg_coef_dec_set_property;
  klass->get_property = gst_jpeg_coef_dec_get_property;
  g_object_class_install_property(
      klass, PROP_ON_ERROR,
      g_param_spec_enum("on-error", "On error",
                        "What to do with a damaged picture; after max-errors of them in a row the "
                        "element stops with an error",
                        GST_TYPE_JPEG_COEF_DEC_ON_ERROR, int(OnError::kDrop), kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_MAX_PIXELS,
      g_param_spec_uint64("max-pixels", "Largest picture",
                          "Width times height above which a picture counts as damaged (0 = no "
                          "limit); a header of a few bytes can claim 4 gigapixels",
                          0, G_MAXUINT64, cudatransform::kMaxJpegPixels, kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_MAX_MEMORY,
      g_param_spec_uint64("max-memory", "Most memory",
                          "Bytes of host memory that all pictures being decoded may take together "
                          "(0 = no limit): fewer at a time when they are large; one that needs "
                          "more alone counts as damaged",
                          0, G_MAXUINT64, cudatransform::kMaxJpegMemory, kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_KEEP_METADATA,
      g_param_spec_boolean("keep-metadata", "Keep metadata",
                           "Attach the file's density, Exif data, colour profile and comments to "
                           "the coefficients, for jpegcoefenc to write",
                           TRUE, kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_TABLES_IN_CAPS,
      g_param_spec_boolean("tables-in-caps", "Tables in caps",
                           "Write the quantisation tables into the caps as well, for files that "
                           "keep no metas; new tables are new caps then",
                           FALSE, cudatransform::kUpToReady));
  install_engine_properties(klass, kEngineProperties);
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What has been decoded since PAUSED, as a structure; docs/elements lists "
                         "its fields",
                         GST_TYPE_STRUCTURE, kReadOnly));
}
