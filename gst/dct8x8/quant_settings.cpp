// Quantization settings of cudadct8x8: properties, tables of a frame, and quantizer.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/quant_settings.h"

#include <glib/gstdio.h>

#include <algorithm>
#include <cmath>

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/sampling.h"

#define GST_TYPE_CUDA_DCT_QUANT_PRESET (gst_cuda_dct_quant_preset_get_type())
static GType gst_cuda_dct_quant_preset_get_type(void) {
  using cudatransform::QuantPreset;
  static const GEnumValue kValues[] = {
      {int(QuantPreset::kAnnexK), "ITU-T T.81 Annex K, scaled by quality", "annex-k"},
      {int(QuantPreset::kFlat), "All entries 16", "flat"},
      {int(QuantPreset::kWhitepaper), "NVIDIA DCT8x8 whitepaper", "whitepaper"},
      {int(QuantPreset::kMpeg), "MPEG-1 default intra matrix", "mpeg"},
      {int(QuantPreset::kPerceptual), "Perceptually optimized, scaled by quality", "perceptual"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaDctQuantPreset", kValues);
  return type;
}

namespace cudatransform {

void QuantSettings::use_preset(QuantPreset wanted, int wanted_quality) {
  preset = wanted;
  quality = wanted_quality;
  for (const QuantComponent component : {QuantComponent::kLuma, QuantComponent::kChroma,
                                         QuantComponent::kHalfChroma, QuantComponent::kFullChroma})
    preset_tables[int(component)] = preset_table(preset, component, quality);
}

std::string read_table_property(const GValue* array, std::optional<QuantTable>* table) {
  table->reset();
  const guint size = gst_value_array_get_size(array);
  if (size == 0) return {};
  if (size != 64) return "has " + std::to_string(size) + " entries, expected 64";
  QuantTable read;
  for (guint i = 0; i < 64; i++) {
    const GValue* item = gst_value_array_get_value(array, i);
    const gint entry = G_VALUE_HOLDS_INT(item) ? g_value_get_int(item) : 0;
    if (entry < 1 || entry > 65535)
      return "has " +
             (G_VALUE_HOLDS_INT(item) ? std::to_string(entry) : std::string("no integer")) +
             " at index " + std::to_string(i) + ", expected 1 to 65535";
    read.q[i] = static_cast<uint16_t>(entry);
  }
  *table = read;
  return {};
}

void write_table_property(const std::optional<QuantTable>& table, GValue* array) {
  if (!table) return;
  for (const uint16_t entry : table->q) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, entry);
    gst_value_array_append_and_take_value(array, &item);
  }
}

void load_table_file(const char* file, QuantSettings* settings) {
  // Room for four tables with long comments. Without a limit, a pipe or a device would never end.
  constexpr goffset kLargest = 1 << 20;
  settings->file = file ? file : "";
  settings->file_tables.clear();
  settings->file_error.clear();
  if (settings->file.empty()) return;
  GStatBuf about;
  if (g_stat(settings->file.c_str(), &about) == 0 &&
      (!S_ISREG(about.st_mode) || about.st_size > kLargest)) {
    settings->file_error = "not a regular file of up to 1 MiB";
    return;
  }
  gchar* text = nullptr;
  gsize length = 0;
  GError* error = nullptr;
  if (!g_file_get_contents(settings->file.c_str(), &text, &length, &error)) {
    settings->file_error = error->message;
    g_error_free(error);
    return;
  }
  const GlibPtr<gchar> owner(text);
  const Status status = parse_qtable_text({text, length}, &settings->file_tables);
  if (!status.ok()) {
    settings->file_error = status.message;
    settings->file_tables.clear();
  }
}

static Status bad_property(const char* name, const std::string& error) {
  return Status::error(StatusCode::kInvalidSetting, std::string(name) + ": " + error);
}

QuantComponent chroma_kind(GstCoefSampling sampling) {
  if (!has_chroma(sampling)) return QuantComponent::kLuma;
  switch (sampling) {
    case GST_COEF_SAMPLING_422:
    case GST_COEF_SAMPLING_440:
    case GST_COEF_SAMPLING_YCCK_422:
    case GST_COEF_SAMPLING_YCCK_440:
      return QuantComponent::kHalfChroma;
    case GST_COEF_SAMPLING_444:
    case GST_COEF_SAMPLING_YCCK_444:
      return QuantComponent::kFullChroma;
    default:
      return QuantComponent::kChroma;
  }
}

FrameTables tables_of(const GstDctInfo& info, const GstDctMeta* meta) {
  FrameTables tables;
  if (!meta || !info.quantized) return tables;
  tables.count = static_cast<int>(meta->n_tables);
  for (guint t = 0; t < meta->n_tables; t++)
    std::copy_n(meta->tables[t].values, 64, tables.tables[t].q);
  for (guint c = 0; c < info.n_components; c++)
    tables.table_of[c] = static_cast<int>(meta->components[c].table);
  return tables;
}

Status fill_tables(const QuantSettings& settings, const GstDctInfo& info, FrameTables* frame) {
  *frame = {};
  if (!settings.file_error.empty())
    return bad_property("qtable-file", settings.file + ": " + settings.file_error);
  if (!settings.luma_error.empty()) return bad_property("luma-qtable", settings.luma_error);
  if (!settings.chroma_error.empty()) return bad_property("chroma-qtable", settings.chroma_error);

  const std::vector<QuantTable>& of_file = settings.file_tables;
  const bool wants_chroma = has_chroma(info.sampling) || settings.chroma;
  const size_t given = of_file.empty() ? 1 + wants_chroma : of_file.size();
  const int used = std::min<int>(given, info.n_components);
  frame->count = used;
  if (!of_file.empty()) {
    std::copy_n(of_file.begin(), used, frame->tables);
  } else {
    const QuantTable* preset = settings.preset_tables;
    frame->tables[0] = settings.luma ? *settings.luma : preset[int(QuantComponent::kLuma)];
    if (used > 1)
      frame->tables[1] =
          settings.chroma ? *settings.chroma : preset[int(chroma_kind(info.sampling))];
  }
  for (guint c = 0; c < info.n_components; c++) frame->table_of[c] = std::min<int>(c, used - 1);
  if (of_file.empty() && has_chroma(info.sampling) && info.n_components > 3)
    frame->table_of[3] = 0;  // K as Y
  return {};
}

Status check_scalable(const std::string& property, const QuantSettings& settings) {
  const char* fixed = !settings.file.empty()          ? "qtable-file"
                      : settings.luma                 ? "luma-qtable"
                      : settings.chroma               ? "chroma-qtable"
                      : !is_scalable(settings.preset) ? "another quant-preset"
                                                      : nullptr;
  if (!fixed) return {};
  return Status::error(StatusCode::kInvalidSetting,
                       property + " requires quant-preset=annex-k or perceptual, not " + fixed);
}

void FrameQuantizer::apply(const GstDctInfo& info, Dct8x8Job* job) const {
  if (quantizer == Quantizer::kRound) return;
  job->quantizer = quantizer;
  job->dead_zone = dead_zone;
  job->rd_lambda = rd_lambda;
  for (int c = 1; c < job->components; c++) job->coefs[c].chroma = !is_of(info.sampling, "sRGB");
}

Status choose_quantizer(const QuantSettings& settings, const GstDctInfo& info, Method method,
                        const FrameTables& frame, FrameQuantizer* chosen) {
  *chosen = {settings.quantizer, static_cast<int>(std::lround(1000 * settings.dead_zone)),
             settings.rd_lambda};
  if (settings.quantizer == Quantizer::kRound) return {};
  const std::string name = std::string("quantizer=") + quantizer_name(settings.quantizer);
  const auto refuse = [&](const std::string& what) {
    return Status::error(StatusCode::kInvalidSetting, name + " requires " + what);
  };
  if (info.depth != 8) return refuse("8-bit coefficients, not " + std::to_string(info.depth));
  if (method > Method::kFloat)
    return refuse(std::string("method=islow, ifast or float, not ") + method_name(method));
  if (settings.quantizer != Quantizer::kRd) return {};
  for (int t = 0; t < frame.count; t++) {
    const auto& q = frame.tables[t].q;
    if (const int largest = *std::max_element(std::begin(q), std::end(q)); largest > 255)
      return refuse("quantization table entries up to 255, not " + std::to_string(largest));
  }
  return {};
}

Property quality_property(const SettingsOf<QuantSettings>& quant, const char* blurb) {
  return quant.row("quality", "Quality", blurb, &QuantSettings::quality,
                   {.min = 1,
                    .max = 100,
                    .flags = kControllable,
                    .set = [](QuantSettings& settings, int quality) {
                      settings.use_preset(settings.preset, quality);
                    }});
}

// The element spec has no range: GObject would silently clamp a wrong entry, and we report the
// entry instead.
static GParamSpec* table_spec(const char* name, const char* nick, const char* blurb) {
  return gst_param_spec_array(
      name, nick, blurb,
      g_param_spec_int("entry", "Entry", "Quantizer step of one coefficient", G_MININT, G_MAXINT,
                       16, static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)),
      kWhilePlaying);
}

// The file is read without the lock.
static Property file_property(QuantSettings& (*find)(gpointer element)) {
  return {g_param_spec_string(
              "qtable-file", "Quantization Table File",
              "Quantization table file in cjpeg -qtables syntax (overrides all other tables)",
              nullptr, kWhilePlaying),
          [find](GObject* object, GValue* value) {
            const ObjectLock lock(object);
            const std::string& file = find(object).file;
            g_value_set_string(value, file.empty() ? nullptr : file.c_str());
          },
          [find](GObject* object, const GValue* value) {
            QuantSettings loaded;
            load_table_file(g_value_get_string(value), &loaded);
            const ObjectLock lock(object);
            QuantSettings& settings = find(object);
            settings.file = loaded.file;
            settings.file_error = loaded.file_error;
            settings.file_tables = loaded.file_tables;
          }};
}

std::vector<Property> quant_properties(const SettingsOf<QuantSettings>& quant) {
  return {
      quality_property(
          quant, "JPEG quality, scaled as in libjpeg (quant-preset=annex-k or perceptual only)"),
      quant.row("quant-preset", "Quantization Preset", "Quantization tables to use",
                &QuantSettings::preset,
                {.type = GST_TYPE_CUDA_DCT_QUANT_PRESET,
                 .set = [](QuantSettings& settings,
                           QuantPreset preset) { settings.use_preset(preset, settings.quality); }}),
      quant.row(
          table_spec("luma-qtable", "Luma Quantization Table",
                     "Luma and RGB quantization table, 64 entries in natural order (empty = "
                     "quant-preset)"),
          [](const QuantSettings& settings, GValue* value) {
            write_table_property(settings.luma, value);
          },
          [](QuantSettings& settings, const GValue* value) {
            settings.luma_error = read_table_property(value, &settings.luma);
          }),
      quant.row(
          table_spec(
              "chroma-qtable", "Chroma Quantization Table",
              "Chroma quantization table, 64 entries in natural order (empty = quant-preset)"),
          [](const QuantSettings& settings, GValue* value) {
            write_table_property(settings.chroma, value);
          },
          [](QuantSettings& settings, const GValue* value) {
            settings.chroma_error = read_table_property(value, &settings.chroma);
          }),
      file_property(quant.find()),
  };
}

const char* preset_name(QuantPreset preset) {
  auto* values = static_cast<GEnumClass*>(g_type_class_peek(GST_TYPE_CUDA_DCT_QUANT_PRESET));
  const GEnumValue* value = values ? g_enum_get_value(values, int(preset)) : nullptr;
  return value ? value->value_nick : "";
}

Status check_quant_settings(const QuantSettings& settings) {
  GstDctInfo gray = {};
  gray.sampling = GST_COEF_SAMPLING_GRAYSCALE;
  gray.n_components = 1;
  FrameTables tables;
  return fill_tables(settings, gray, &tables);
}

}  // namespace cudatransform
