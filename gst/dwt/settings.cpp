// The settings of the wavelets, their faults, and the quantizer indices that they mean.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "gst/engine/engine_element.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform {
namespace {

static_assert(int(Wavelet::kDd97) == GST_DWT_WAVELET_DD97 &&
              int(Wavelet::kJ2k53) == GST_DWT_WAVELET_J2K53);
static_assert(kMaxQuantIndex == GST_DWT_MAX_QUANT_INDEX);

// The info of a small picture with this transform.
Status gray_info(const DwtSettings& settings, GstDwtInfo* info) {
  const DwtShape shape = settings.shape();
  gchar* reason = nullptr;
  if (gst_dwt_info_set(info, shape.wavelet, shape.wavelet_ho, shape.levels, shape.levels_ho, TRUE,
                       8, GST_COEF_SAMPLING_GRAYSCALE, 1, 1, &reason))
    return {};
  return error_of(StatusCode::kInvalidSetting, reason, "invalid transform");
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string quoted(std::string_view text) { return std::string("'").append(text).append("'"); }

std::string parse_list(std::string_view list, std::vector<guint8>* entries) {
  for (;;) {
    const size_t comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    int entry = -1;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), entry);
    if (error != std::errc() || end != item.data() + item.size() || entry < 0 ||
        entry > kMaxQuantIndex)
      return quoted(item) + " at index " + std::to_string(entries->size()) + ", expected 0 to " +
             std::to_string(kMaxQuantIndex);
    entries->push_back(static_cast<guint8>(entry));
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
}

Status bad_matrix(const std::string& error) {
  return Status::error(StatusCode::kInvalidSetting, "quant-matrix: " + error);
}

std::string transform_text(const GstDwtInfo& info) {
  return std::string("wavelet=") + gst_dwt_wavelet_to_string(info.wavelet) +
         ", wavelet-ho=" + gst_dwt_wavelet_to_string(info.wavelet_ho) +
         ", levels=" + std::to_string(info.levels) +
         ", levels-ho=" + std::to_string(info.levels_ho);
}

Status fill_matrix(const DwtQuantSettings& settings, const GstDwtInfo& info, guint8* matrix) {
  const guint bands = gst_dwt_info_get_n_bands(&info);
  switch (settings.kind) {
    case DwtQuantSettings::Kind::kFlat:
      return {};
    case DwtQuantSettings::Kind::kVc2:
      if (default_matrix(static_cast<Wavelet>(info.wavelet), static_cast<Wavelet>(info.wavelet_ho),
                         {static_cast<int>(info.levels), static_cast<int>(info.levels_ho)}, matrix))
        return {};
      return bad_matrix("no VC-2 default matrix for " + transform_text(info) +
                        ", expected VC-2 filters or haar with wavelet-ho=legall53, up to 4 levels "
                        "and 5 with levels-ho");
    case DwtQuantSettings::Kind::kList:
      break;
  }
  if (settings.entries.size() != bands)
    return bad_matrix(std::to_string(settings.entries.size()) + " entries, expected " +
                      std::to_string(bands) + " for " + transform_text(info));
  std::copy(settings.entries.begin(), settings.entries.end(), matrix);
  return {};
}

}  // namespace

void set_matrix(const char* text, DwtQuantSettings* settings) {
  settings->matrix = text ? text : "flat";
  settings->entries.clear();
  settings->error.clear();
  const std::string_view matrix = trimmed(settings->matrix);
  if (matrix == "flat") {
    settings->kind = DwtQuantSettings::Kind::kFlat;
  } else if (matrix == "vc2") {
    settings->kind = DwtQuantSettings::Kind::kVc2;
  } else if (matrix.size() >= 2 && matrix.front() == '<' && matrix.back() == '>') {
    settings->kind = DwtQuantSettings::Kind::kList;
    settings->error = parse_list(matrix.substr(1, matrix.size() - 2), &settings->entries);
  } else {
    settings->error =
        quoted(settings->matrix) +
        ", expected flat, vc2 or a list with one number per band such as <5, 3, 3, 0>";
  }
}

Status fill_indices(const DwtQuantSettings& settings, const GstDwtInfo& info,
                    QuantIndices* indices) {
  *indices = {};
  if (!settings.error.empty()) return bad_matrix(settings.error);
  guint8 matrix[kMaxDwtBands] = {};
  CT_RETURN_IF_ERROR(fill_matrix(settings, info, matrix));
  if (!info.quantized) return {};
  const guint bands = gst_dwt_info_get_n_bands(&info);
  for (guint c = 0; c < info.n_components; c++)
    for (guint b = 0; b < bands; b++)
      indices->of[c][b] = static_cast<guint8>(std::max(settings.index - matrix[b], 0));
  return {};
}

Status check_transform(const DwtSettings& settings) {
  GstDwtInfo gray;
  return gray_info(settings, &gray);
}

Status check_settings(const DwtSettings& settings) {
  GstDwtInfo gray;
  CT_RETURN_IF_ERROR(gray_info(settings, &gray));
  QuantIndices indices;
  return fill_indices(settings.quant, gray, &indices);
}

}  // namespace cudatransform
