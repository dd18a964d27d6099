// The properties of quantisation tables: quality, quant-preset, luma-qtable, chroma-qtable and
// qtable-file.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/quant_properties.h"

#include "gst/engine/property_types.h"

#define GST_TYPE_CUDA_DCT_QUANT_PRESET (gst_cuda_dct_quant_preset_get_type())
static GType gst_cuda_dct_quant_preset_get_type(void) {
  using cudatransform::QuantPreset;
  static const GEnumValue kValues[] = {
      {int(QuantPreset::kAnnexK), "ITU-T T.81 Annex K, scaled by quality", "annex-k"},
      {int(QuantPreset::kFlat), "16 everywhere", "flat"},
      {int(QuantPreset::kWhitepaper), "NVIDIA's DCT8x8 whitepaper", "whitepaper"},
      {int(QuantPreset::kMpeg), "MPEG-1's default intra matrix", "mpeg"},
      {int(QuantPreset::kPerceptual), "Fewer bytes at the same look, scaled by quality",
       "perceptual"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaDctQuantPreset", kValues);
  return type;
}

namespace cudatransform {
namespace {

void install_table(GObjectClass* klass, guint id, const char* name, const char* nick,
                   const char* blurb) {
  // The element spec has no range: GObject would silently move a wrong entry into it, and we want
  // to report the entry.
  g_object_class_install_property(
      klass, id,
      gst_param_spec_array(
          name, nick, blurb,
          g_param_spec_int("entry", "Entry", "Divisor of one coefficient", G_MININT, G_MAXINT, 16,
                           static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)),
          kWhilePlaying));
}

}  // namespace

void install_quant_properties(GObjectClass* klass, const QuantProperties& properties) {
  g_object_class_install_property(
      klass, properties.quality,
      g_param_spec_int("quality", "Quality",
                       "JPEG quality: scales the annex-k tables exactly as libjpeg does, and the "
                       "perceptual ones; no other tables are scaled",
                       1, 100, 85,
                       static_cast<GParamFlags>(kWhilePlaying | GST_PARAM_CONTROLLABLE)));
  g_object_class_install_property(
      klass, properties.quant_preset,
      g_param_spec_enum("quant-preset", "Quantisation preset", "The quantisation tables to use",
                        GST_TYPE_CUDA_DCT_QUANT_PRESET, int(QuantPreset::kAnnexK), kWhilePlaying));
  install_table(
      klass, properties.luma_qtable, "luma-qtable", "Luma quantisation table",
      "The table of Y and of R, G and B: 64 integers, 1 to 65535, in natural order; empty: "
      "the preset's");
  install_table(klass, properties.chroma_qtable, "chroma-qtable", "Chroma quantisation table",
                "The table of Cb and Cr and, if it is set, of G and B: 64 integers, 1 to 65535, in "
                "natural order; empty: the preset's");
  g_object_class_install_property(
      klass, properties.qtable_file,
      g_param_spec_string("qtable-file", "Quantisation table file",
                          "A file of 1 to 4 tables as cjpeg -qtables reads them, instead of all "
                          "other tables",
                          nullptr, kWhilePlaying));
}

bool set_quant_property(const QuantProperties& properties, GObject* object, QuantSettings* settings,
                        guint id, const GValue* value) {
  QuantSettings loaded;
  if (id == properties.qtable_file) load_table_file(g_value_get_string(value), &loaded);
  bool is_ours = true;
  GST_OBJECT_LOCK(object);
  if (id == properties.quality) {
    settings->use_preset(settings->preset, g_value_get_int(value));
  } else if (id == properties.quant_preset) {
    settings->use_preset(static_cast<QuantPreset>(g_value_get_enum(value)), settings->quality);
  } else if (id == properties.luma_qtable) {
    settings->luma_error = read_table_property(value, &settings->luma);
  } else if (id == properties.chroma_qtable) {
    settings->chroma_error = read_table_property(value, &settings->chroma);
  } else if (id == properties.qtable_file) {
    settings->file = loaded.file;
    settings->file_error = loaded.file_error;
    settings->file_tables = loaded.file_tables;
  } else {
    is_ours = false;
  }
  GST_OBJECT_UNLOCK(object);
  return is_ours;
}

bool get_quant_property(const QuantProperties& properties, const QuantSettings& settings, guint id,
                        GValue* value) {
  if (id == properties.quality)
    g_value_set_int(value, settings.quality);
  else if (id == properties.quant_preset)
    g_value_set_enum(value, int(settings.preset));
  else if (id == properties.luma_qtable)
    write_table_property(settings.luma, value);
  else if (id == properties.chroma_qtable)
    write_table_property(settings.chroma, value);
  else if (id == properties.qtable_file)
    g_value_set_string(value, settings.file.empty() ? nullptr : settings.file.c_str());
  else
    return false;
  return true;
}

const char* preset_name(QuantPreset preset) {
  auto* values = static_cast<GEnumClass*>(g_type_class_peek(GST_TYPE_CUDA_DCT_QUANT_PRESET));
  const GEnumValue* value = values ? g_enum_get_value(values, int(preset)) : nullptr;
  return value ? value->value_nick : "";
}

Status check_quant_settings(const QuantSettings& settings) {
  GstDctInfo grey = {};
  grey.sampling = GST_COEF_SAMPLING_GRAYSCALE;
  grey.n_components = 1;
  FrameTables tables;
  return fill_tables(settings, grey, &tables);
}

}  // namespace cudatransform
