// Element jpegcoefdec: its properties and statistics.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/property_types.h"
#include "gst/jpeg/jpegcoefdec_private.h"
#include "gst/stream/picture_properties.h"

using cudatransform::JpegEntropy;
using cudatransform::JpegFilePictures;
using cudatransform::kReadOnly;
using cudatransform::kWhilePlaying;
using State = cudatransform::JpegCoefDecState;

namespace {

enum {
  PROP_0,
  PROP_ON_ERROR,
  PROP_MAX_PIXELS,
  PROP_MAX_MEMORY,
  PROP_PICTURES,
  PROP_KEEP_METADATA,
  PROP_TABLES_IN_CAPS,
  PROP_ENTROPY,
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
        "Whether to offer coefficients in CUDA memory as well, and to decode on the GPU (entropy), "
        "chosen when the element goes to READY",
    .n_threads_blurb =
        "How many pictures are decoded at a time, chosen at the first (0 = one per core, or two "
        "where CUDA may decode; one for live sources)",
};

constexpr cudatransform::PictureProperties kPictureProperties = {
    .on_error = PROP_ON_ERROR,
    .max_memory = PROP_MAX_MEMORY,
    .max_memory_blurb =
        "Bytes of host memory that all pictures being decoded may take together "
        "(0 = no limit): fewer at a time when they are large; one that needs "
        "more alone counts as damaged",
};

GType pictures_type() {
  static const GEnumValue kValues[] = {
      {int(JpegFilePictures::kFirst), "The first; the others travel with it", "first"},
      {int(JpegFilePictures::kAll), "All, as if there was no index", "all"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstJpegCoefPictures", kValues);
  return type;
}

}  // namespace

static void gst_jpeg_coef_dec_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* pspec) {
  State& state = State::of(object);
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_MAX_PIXELS:
      state.settings.max_pixels = g_value_get_uint64(value);
      break;
    case PROP_PICTURES:
      state.settings.pictures = static_cast<JpegFilePictures>(g_value_get_enum(value));
      break;
    case PROP_KEEP_METADATA:
      state.settings.keep_metadata = g_value_get_boolean(value);
      break;
    case PROP_TABLES_IN_CAPS:
      state.settings.tables_in_caps = g_value_get_boolean(value);
      break;
    case PROP_ENTROPY:
      state.settings.entropy = static_cast<JpegEntropy>(g_value_get_enum(value));
      break;
    default:
      if (!set_engine_property(kEngineProperties, &state.engine_settings, id, value) &&
          !set_picture_property(kPictureProperties, &state.settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static void gst_jpeg_coef_dec_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  State& state = State::of(object);
  if (id == PROP_STATS) {
    g_value_take_boxed(value, state.pictures.stats());
    return;
  }
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_MAX_PIXELS:
      g_value_set_uint64(value, state.settings.max_pixels);
      break;
    case PROP_PICTURES:
      g_value_set_enum(value, int(state.settings.pictures));
      break;
    case PROP_KEEP_METADATA:
      g_value_set_boolean(value, state.settings.keep_metadata);
      break;
    case PROP_TABLES_IN_CAPS:
      g_value_set_boolean(value, state.settings.tables_in_caps);
      break;
    case PROP_ENTROPY:
      g_value_set_enum(value, int(state.settings.entropy));
      break;
    default:
      if (!get_engine_property(kEngineProperties, state.engine_settings, id, value) &&
          !get_picture_property(kPictureProperties, state.settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

void gst_jpeg_coef_dec_install_properties(GObjectClass* klass) {
  klass->set_property = gst_jpeg_coef_dec_set_property;
  klass->get_property = gst_jpeg_coef_dec_get_property;
  install_picture_properties(klass, kPictureProperties, cudatransform::JpegDecodeSettings());
  g_object_class_install_property(
      klass, PROP_MAX_PIXELS,
      g_param_spec_uint64("max-pixels", "Largest picture",
                          "Width times height above which a picture counts as damaged (0 = no "
                          "limit); a header of a few bytes can claim 4 gigapixels",
                          0, G_MAXUINT64, cudatransform::kMaxJpegPixels, kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_PICTURES,
      g_param_spec_enum("pictures", "Pictures of a file",
                        "Which pictures become frames of a file whose index (MPF) names several, "
                        "as gain maps, stereo pairs and previews",
                        pictures_type(), int(JpegFilePictures::kFirst), cudatransform::kUpToReady));
  g_object_class_install_property(
      klass, PROP_KEEP_METADATA,
      g_param_spec_boolean("keep-metadata", "Keep metadata",
                           "Attach the file's density, Exif data, colour profile, comments and "
                           "the bytes behind its picture to the coefficients, for jpegcoefenc to "
                           "write",
                           TRUE, kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_TABLES_IN_CAPS,
      g_param_spec_boolean("tables-in-caps", "Tables in caps",
                           "Write the quantisation tables into the caps as well, for files that "
                           "keep no metas; with it, new tables are new caps",
                           FALSE, cudatransform::kUpToReady));
  g_object_class_install_property(
      klass, PROP_ENTROPY,
      g_param_spec_enum("entropy", "Entropy decoding",
                        "The engine that decodes Huffman codes; the CPU decodes progressive, "
                        "arithmetic and damaged files in any case",
                        GST_TYPE_JPEG_COEF_ENTROPY, int(JpegEntropy::kAuto),
                        cudatransform::kUpToReady));
  install_engine_properties(klass, kEngineProperties);
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What was decoded since PAUSED, as a structure; "
                         "docs/elements/jpegcoefdec.md lists its fields",
                         GST_TYPE_STRUCTURE, kReadOnly));
}
