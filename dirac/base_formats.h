// The base video formats and presets that sequence headers refer to by number.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, annex B; Dirac specification 2.2.3, appendix C.
#pragma once

#include "dirac/sequence.h"

namespace cudatransform {

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
