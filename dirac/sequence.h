// The sequence header of Dirac and VC-2: sizes, rates, ranges of samples and colors.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clauses 10 and 11, and annex B; Dirac specification 2.2.3 for formats that
// differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transform/device/status.h"
#include "transform/picture.h"

namespace cudatransform {

// The largest streams that a caller is ready to decode: memory follows from these.
struct DiracLimits {
  uint32_t max_width = 16384;
  uint32_t max_height = 16384;
  uint64_t max_samples = uint64_t{1} << 27;  // of all components of a frame
  uint64_t max_unit_bytes = uint64_t{1} << 28;

  // Small pictures with many levels are padded to many times their size.
  uint64_t max_coefs() const { return 2 * max_samples + (uint64_t{1} << 18); }
};

struct DiracRational {
  uint32_t numerator = 1;
  uint32_t denominator = 1;
  bool operator==(const DiracRational&) const = default;
};

struct DiracSignalRange {
  uint32_t offset = 0;
  uint32_t excursion = 255;
  int depth() const;  // bits of a sample
  bool operator==(const DiracSignalRange&) const = default;
};

enum class DiracChroma { k444, k422, k420 };

// Numbers of color specifications, as the bitstream has them.
struct DiracColor {
  uint32_t primaries = 0;  // 0 BT.709, 1 SMPTE 170M, 2 EBU 3213, 3 XYZ, 4 BT.2020
  uint32_t matrix = 0;     // 0 BT.709, 1 BT.601, 2 reversible YCoCg, 3 identity (GBR), 4 BT.2020
  uint32_t transfer = 0;   // 0 TV, 1 extended gamut, 2 linear, 3 ST 428-1, 4 PQ, 5 HLG
  bool operator==(const DiracColor&) const = default;
};

struct DiracSequence {
  uint32_t major_version = 0, minor_version = 0, profile = 0, level = 0, base_format = 0;
  uint32_t width = 0, height = 0;  // of the luma of a frame
  DiracChroma chroma = DiracChroma::k420;
  bool interlaced = false;  // says how pictures were taken, not how they are coded
  bool top_field_first = false;
  DiracRational frame_rate;
  DiracRational pixel_aspect_ratio;
  uint32_t clean_width = 0, clean_height = 0, clean_left = 0, clean_top = 0;
  DiracSignalRange range[2];  // luma, chroma
  DiracColor color;
  bool field_coding = false;  // a picture is a field

  int chroma_shift_x() const { return chroma == DiracChroma::k444 ? 0 : 1; }
  int chroma_shift_y() const { return chroma == DiracChroma::k420 ? 1 : 0; }
  int depth(int component) const { return range[component != 0].depth(); }
  // The size of a component of a picture: a frame, or a field of half its rows.
  uint32_t picture_width(int component) const;
  uint32_t picture_height(int component) const;
  uint32_t frame_height(int component) const;
  // Whether asymmetric transforms may occur, which change the syntax of transform parameters.
  bool has_extended_transforms() const { return major_version >= 3; }

  bool operator==(const DiracSequence&) const = default;
};

// Reads the header that is in the bytes after a parse info. kUnsupported: sound, but beyond
// `limits`; kInvalidArgument: damaged.
Status read_sequence(std::span<const uint8_t> data, const DiracLimits& limits,
                     DiracSequence* sequence);

// SMPTE ST 2042-1, annex B; Dirac specification 2.2.3, appendix C.

struct DiracBaseFormat {
  uint32_t width, height;
  DiracChroma chroma;
  bool interlaced, top_field_first;
  int frame_rate, pixel_aspect_ratio;  // numbers of presets
  uint32_t clean_width, clean_height;  // 0: all
  uint32_t clean_left;
  int signal_range, color;  // numbers of presets
};

inline constexpr DiracBaseFormat kDiracBaseFormats[] = {
    {640, 480, DiracChroma::k420, false, false, 1, 1, 0, 0, 0, 1, 0},     // custom
    {176, 120, DiracChroma::k420, false, false, 9, 2, 0, 0, 0, 1, 1},     // QSIF525
    {176, 144, DiracChroma::k420, false, true, 10, 3, 0, 0, 0, 1, 2},     // QCIF
    {352, 240, DiracChroma::k420, false, false, 9, 2, 0, 0, 0, 1, 1},     // SIF525
    {352, 288, DiracChroma::k420, false, true, 10, 3, 0, 0, 0, 1, 2},     // CIF
    {704, 480, DiracChroma::k420, false, false, 9, 2, 0, 0, 0, 1, 1},     // 4SIF525
    {704, 576, DiracChroma::k420, false, true, 10, 3, 0, 0, 0, 1, 2},     // 4CIF
    {720, 480, DiracChroma::k422, true, false, 4, 2, 704, 480, 8, 3, 1},  // SD480I-60
    {720, 576, DiracChroma::k422, true, true, 3, 3, 704, 576, 8, 3, 2},   // SD576I-50
    {1280, 720, DiracChroma::k422, false, true, 7, 1, 0, 0, 0, 3, 3},     // 720P-60
    {1280, 720, DiracChroma::k422, false, true, 6, 1, 0, 0, 0, 3, 3},     // 720P-50
    {1920, 1080, DiracChroma::k422, true, true, 4, 1, 0, 0, 0, 3, 3},     // 1080I-60
    {1920, 1080, DiracChroma::k422, true, true, 3, 1, 0, 0, 0, 3, 3},     // 1080I-50
    {1920, 1080, DiracChroma::k422, false, true, 7, 1, 0, 0, 0, 3, 3},    // 1080P-60
    {1920, 1080, DiracChroma::k422, false, true, 6, 1, 0, 0, 0, 3, 3},    // 1080P-50
    {2048, 1080, DiracChroma::k444, false, true, 2, 1, 0, 0, 0, 4, 4},    // 2K
    {4096, 2160, DiracChroma::k444, false, true, 2, 1, 0, 0, 0, 4, 4},    // 4K
    {3840, 2160, DiracChroma::k422, false, true, 7, 1, 0, 0, 0, 3, 5},    // UHD4K-60
    {3840, 2160, DiracChroma::k422, false, true, 6, 1, 0, 0, 0, 3, 5},    // UHD4K-50
    {7680, 4320, DiracChroma::k422, false, true, 7, 1, 0, 0, 0, 3, 5},    // UHD8K-60
    {7680, 4320, DiracChroma::k422, false, true, 6, 1, 0, 0, 0, 3, 5},    // UHD8K-50
    {1920, 1080, DiracChroma::k422, false, true, 1, 1, 0, 0, 0, 3, 3},    // 1080P-24
    {720, 486, DiracChroma::k422, true, false, 4, 2, 0, 0, 0, 3, 3},      // SD486
};

// Presets count from 1.
inline constexpr DiracRational kDiracFrameRates[] = {
    {24000, 1001}, {24, 1}, {25, 1}, {30000, 1001}, {30, 1}, {50, 1},  {60000, 1001},  {60, 1},
    {15000, 1001}, {25, 2}, {48, 1}, {48000, 1001}, {96, 1}, {100, 1}, {120000, 1001}, {120, 1}};
inline constexpr DiracRational kDiracAspectRatios[] = {{1, 1},   {10, 11}, {12, 11},
                                                       {40, 33}, {16, 11}, {4, 3}};
inline constexpr DiracSignalRange kDiracSignalRanges[][2] = {
    {{0, 255}, {128, 255}},          {{16, 219}, {128, 224}},     {{64, 876}, {512, 896}},
    {{256, 3504}, {2048, 3584}},     {{0, 1023}, {512, 1023}},    {{0, 4095}, {2048, 4095}},
    {{4096, 56064}, {32768, 57344}}, {{0, 65535}, {32768, 65535}}};
// This one counts from 0.
inline constexpr DiracColor kDiracColors[] = {{0, 0, 0}, {1, 1, 0}, {2, 1, 0}, {0, 0, 0},
                                              {3, 3, 3}, {4, 4, 0}, {4, 4, 4}, {4, 4, 5}};
inline constexpr int kDiracColorDcinema = 4;  // Dirac 2.2.3 has the matrix of BT.709 there
inline constexpr int kDiracColorUhd = 5;      // and HDTV's where base formats of VC-2 have this

}  // namespace cudatransform
