// The tables themselves, libjpeg's quality scaling, and the parser of cjpeg's table files.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/quant_table.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace cudatransform {

const uint8_t kNaturalOfZigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10,  //
    17, 24, 32, 25, 18, 11, 4,  5,   //
    12, 19, 26, 33, 40, 48, 41, 34,  //
    27, 20, 13, 6,  7,  14, 21, 28,  //
    35, 42, 49, 56, 57, 50, 43, 36,  //
    29, 22, 15, 23, 30, 37, 44, 51,  //
    58, 59, 52, 45, 38, 31, 39, 46,  //
    53, 60, 61, 54, 47, 55, 62, 63,
};

const uint8_t kZigzagOfNatural[64] = {
    0,  1,  5,  6,  14, 15, 27, 28,  //
    2,  4,  7,  13, 16, 26, 29, 42,  //
    3,  8,  12, 17, 25, 30, 41, 43,  //
    9,  11, 18, 24, 31, 40, 44, 53,  //
    10, 19, 23, 32, 39, 45, 52, 54,  //
    20, 22, 33, 38, 46, 51, 55, 60,  //
    21, 34, 37, 47, 50, 56, 59, 61,  //
    35, 36, 48, 49, 57, 58, 62, 63,
};

namespace {

constexpr QuantTable kAnnexKLuma = {{
    16, 11, 10, 16, 24,  40,  51,  61,   //
    12, 12, 14, 19, 26,  58,  60,  55,   //
    14, 13, 16, 24, 40,  57,  69,  56,   //
    14, 17, 22, 29, 51,  87,  80,  62,   //
    18, 22, 37, 56, 68,  109, 103, 77,   //
    24, 35, 55, 64, 81,  104, 113, 92,   //
    49, 64, 78, 87, 103, 121, 120, 101,  //
    72, 92, 95, 98, 112, 100, 103, 99,
}};

constexpr QuantTable kAnnexKChroma = {{
    17, 18, 24, 47, 99, 99, 99, 99,  //
    18, 21, 26, 66, 99, 99, 99, 99,  //
    24, 26, 56, 99, 99, 99, 99, 99,  //
    47, 66, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,
}};

// A. Obukhov, A. Kharlamov, "Discrete Cosine Transform for 8x8 Blocks with CUDA", NVIDIA 2008.
constexpr QuantTable kWhitepaper = {{
    32, 33, 51, 81, 66, 39, 34, 17,  //
    33, 36, 48, 47, 28, 23, 12, 12,  //
    51, 48, 47, 28, 23, 12, 12, 12,  //
    81, 47, 28, 23, 12, 12, 12, 12,  //
    66, 28, 23, 12, 12, 12, 12, 12,  //
    39, 23, 12, 12, 12, 12, 12, 12,  //
    34, 12, 12, 12, 12, 12, 12, 12,  //
    17, 12, 12, 12, 12, 12, 12, 12,
}};

constexpr QuantTable kMpegIntra = {{
    8,  16, 19, 22, 26, 27, 29, 34,  //
    16, 16, 22, 24, 27, 29, 34, 37,  //
    19, 22, 26, 27, 29, 34, 34, 38,  //
    22, 22, 26, 27, 29, 34, 37, 40,  //
    22, 26, 27, 29, 32, 35, 40, 48,  //
    26, 27, 29, 32, 35, 40, 48, 58,  //
    26, 27, 29, 34, 38, 46, 56, 69,  //
    27, 29, 35, 38, 46, 56, 69, 83,
}};

// libjpeg's mapping: quality 50 keeps the table, 100 makes it all ones, below 50 it grows as 1/q.
int libjpeg_percent(int quality) {
  quality = std::clamp(quality, 1, 100);
  return quality < 50 ? 5000 / quality : 200 - 2 * quality;
}

// Staggered entries have scales from 3 % below to 3 % above theirs, in zigzag order.
constexpr uint64_t kStaggerUnit = 2048;
uint64_t stagger(TableScale scale, int natural) {
  return scale.is_staggered ? kStaggerUnit - 63 + 2 * uint64_t{kZigzagOfNatural[natural]}
                            : kStaggerUnit;
}

// As libjpeg, half away from zero.
QuantTable scale_as_libjpeg(const QuantTable& base, TableScale scale) {
  constexpr uint64_t kWhole = 100 * TableScale::kUnit * kStaggerUnit;
  QuantTable result;
  for (int i = 0; i < 64; ++i) {
    const uint64_t entry =
        (uint64_t{base.q[i]} * scale.value * stagger(scale, i) + kWhole / 2) / kWhole;
    result.q[i] = uint16_t(std::clamp<uint64_t>(entry, 1, 255));
  }
  return result;
}

// kPerceptual at 100 %: a line in the distance of a frequency (u, v) from DC, up to a limit. Fitted
// to photographs by three metrics, of which two model the eye.
struct Curve {
  double dc, begin, slope, limit;

  double at(int u, int v) const {
    const double distance = std::sqrt(double(u * u + v * v));
    return distance == 0 ? dc : std::min(limit, begin + slope * distance);
  }
};
constexpr Curve kLumaCurve = {12, 6.8, 6.8, 68};
constexpr Curve kQuarterChromaCurve = {11, 7.5, 8.8, 46};
constexpr Curve kFullChromaCurve = {18, 20, 22.5, 180};

// An error of a chroma sample spreads over as many pixels as the sample covers. Half as many
// samples as pixels are the geometric mean of as many and a quarter. So is their table.
double perceptual_entry(QuantComponent component, int u, int v) {
  switch (component) {
    case QuantComponent::kChroma:
      return kQuarterChromaCurve.at(u, v);
    case QuantComponent::kHalfChroma:
      return std::sqrt(kQuarterChromaCurve.at(u, v) * kFullChromaCurve.at(u, v));
    case QuantComponent::kFullChroma:
      return kFullChromaCurve.at(u, v);
    case QuantComponent::kLuma:
      break;
  }
  return kLumaCurve.at(u, v);
}

// Made once: rate control scales them many times a frame.
struct PerceptualEntries {
  double of[4][64];  // [component]

  PerceptualEntries() {
    for (int c = 0; c < 4; ++c)
      for (int i = 0; i < 64; ++i)
        of[c][i] = perceptual_entry(static_cast<QuantComponent>(c), i % 8, i / 8);
  }
};

QuantTable perceptual_table(QuantComponent component, TableScale scale) {
  static const PerceptualEntries kEntries;
  const double percent = double(scale.value) / TableScale::kUnit;
  QuantTable result;
  for (int i = 0; i < 64; ++i) {
    const double entry = kEntries.of[static_cast<int>(component)][i] * percent / 100 *
                         double(stagger(scale, i)) / double(kStaggerUnit);
    result.q[i] = uint16_t(std::clamp(entry + 0.5, 1.0, 255.0));
  }
  return result;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n';
}

Status error_in_line(int line, std::string what) {
  return Status::error(StatusCode::kInvalidArgument,
                       "quantization tables, line " + std::to_string(line) + ": " + what);
}

Status parse_entry(std::string_view word, int line, uint16_t* entry) {
  // A word of a binary file may be long and unprintable.
  std::string shown(word.substr(0, 20));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  if (word.size() > 20) shown += "...";
  uint32_t value = 0;
  for (char c : word) {
    if (c < '0' || c > '9') {
      return error_in_line(line, "'" + shown + "' is not a decimal integer");
    }
    value = std::min<uint32_t>(value * 10 + uint32_t(c - '0'), 65536);
  }
  if (value < 1 || value > 65535) {
    return error_in_line(line, shown + " is outside the range 1 to 65535");
  }
  *entry = uint16_t(value);
  return {};
}

}  // namespace

QuantTable preset_table(QuantPreset preset, QuantComponent component, int quality) {
  switch (preset) {
    case QuantPreset::kFlat: {
      QuantTable flat;
      std::fill(std::begin(flat.q), std::end(flat.q), uint16_t{16});
      return flat;
    }
    case QuantPreset::kWhitepaper:
      return kWhitepaper;
    case QuantPreset::kMpeg:
      return kMpegIntra;
    case QuantPreset::kPerceptual:
    case QuantPreset::kAnnexK:
      break;
  }
  return scaled_table(preset, component, {uint32_t(libjpeg_percent(quality)) * TableScale::kUnit});
}

TableScale scale_of_quality(int quality) {
  return {std::max(TableScale::kFinest, uint32_t(libjpeg_percent(quality)) * TableScale::kUnit)};
}

double quality_of_scale(TableScale scale) {
  if (scale.value <= TableScale::kFinest) return 100;
  const double percent = double(scale.value) / TableScale::kUnit;
  return percent > 100 ? 5000 / percent : 100 - percent / 2;
}

bool is_scalable(QuantPreset preset) {
  return preset == QuantPreset::kAnnexK || preset == QuantPreset::kPerceptual;
}

QuantTable scaled_table(QuantPreset preset, QuantComponent component, TableScale scale) {
  if (preset == QuantPreset::kPerceptual) return perceptual_table(component, scale);
  return scale_as_libjpeg(component == QuantComponent::kLuma ? kAnnexKLuma : kAnnexKChroma, scale);
}

Status parse_qtable_text(std::string_view text, std::vector<QuantTable>* tables) {
  std::vector<QuantTable> parsed;
  QuantTable table;
  int entries = 0;
  int line = 1;
  size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      if (text[at] == '\n') ++line;
      ++at;
    } else if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      size_t end = at;
      while (end < text.size() && !is_space(text[end]) && text[end] != '#') ++end;
      if (parsed.size() == 4) return error_in_line(line, "more than 4 tables of 64 entries");
      CT_RETURN_IF_ERROR(parse_entry(text.substr(at, end - at), line, &table.q[entries]));
      if (++entries == 64) {
        parsed.push_back(table);
        entries = 0;
      }
      at = end;
    }
  }
  if (entries != 0) {
    return error_in_line(line, "the text ends after " + std::to_string(entries) +
                                   " of the 64 entries of table " +
                                   std::to_string(parsed.size() + 1));
  }
  if (parsed.empty()) return error_in_line(line, "no entry found, expected 1 to 4 tables of 64");
  *tables = std::move(parsed);
  return {};
}

void scale_tables(QuantPreset preset, QuantComponent chroma, TableScale scale, FrameTables* frame) {
  frame->tables[0] = scaled_table(preset, QuantComponent::kLuma, scale);
  if (frame->count > 1) frame->tables[1] = scaled_table(preset, chroma, scale);
}

}  // namespace cudatransform
