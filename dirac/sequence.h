// The sequence header of Dirac and VC-2: sizes, rates, ranges of samples and colours.
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

// Numbers of colour specifications, as the bitstream has them.
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

// Reads the header that is in the bytes behind a parse info. kUnsupported: sound, but beyond
// `limits`; kInvalidArgument: damaged.
Status read_sequence(std::span<const uint8_t> data, const DiracLimits& limits,
                     DiracSequence* sequence);

}  // namespace cudatransform
