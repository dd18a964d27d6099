// Parameters of the wavelet kernels, by value: where a level's bands, values and samples are.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/dwt/tuning.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::cuda {

// The largest value of levels that lanes may be given: see packed_inverse.cuh.
inline constexpr int32_t kMaxOfLevels = 6144;

// Values of the coefficient type: a band as stored, or the values between two launches.
struct ValuesParams {
  uint8_t* data;
  int64_t pitch;
  uint32_t factor, offset;  // of the quantizer; factor 4: none
  // For values of 16 bits: see dequantized() and quantized().
  uint32_t scaled_factor, scaled_offset;
  int32_t reciprocal32;
  int32_t reciprocal_shift;  // of both
  // Of values in the upper half of a word: the bytes of both high words that have the quotients.
  int32_t upper_reciprocal;
  uint32_t upper_bytes;
  uint32_t lane_quantizer;  // of levels in lanes: 2 qf, and above it 2 qo + 1
  uint64_t reciprocal64;
  int32_t counts;  // zeros are counted here
};

struct SamplesParams {
  uint8_t* data;  // null: not written
  int64_t pitch;
  int32_t stride, shift, width, rows, memory_rows, row_repeat;
  int32_t bytes;                         // of a sample
  int32_t level_shift, low, high, peak;  // sample = clamp(value, low, high) + level_shift
  int32_t aligned;                       // vectors of eight samples may be accessed
};

struct MeasureParams {
  PictureSums* sums;
  int32_t zeros;  // whether they are counted
  int32_t sse;    // whether the samples are compared with `reference`
};

// One direction of a level, or of the half of it in a pair of bands: lines of pairs.
struct SegmentParams {
  ValuesParams low, high, full;
  SamplesParams samples, reference;
  int32_t pairs, lines;  // along a line and across
  uint32_t first_cta;
  uint32_t tiles_across;  // CTAs in the direction of x
  int32_t component;
};

// Both parts of up to kMaxComponents components.
inline constexpr int kMaxSegments = 2 * kMaxComponents;

struct PassParams {
  SegmentParams segments[kMaxSegments];
  int32_t segment_count;
  int32_t shift;       // between levels, where this pass begins or ends one
  int32_t at_samples;  // `samples` instead of `full`
  int32_t run;         // pairs of a vertical walk
  MeasureParams measure;
};

// A level of a component in both directions.
struct TileParams {
  ValuesParams bands[4];  // LL, HL, LH, HH
  ValuesParams full;
  SamplesParams samples, reference;
  int32_t pairs_x, pairs_y;
  uint32_t first_cta;
  uint32_t tiles_across;
  uint32_t levels_bias;  // of levels in lanes, see packed_inverse.cuh; 0: no band is quantized
};

struct FusedParams {
  TileParams tiles[kMaxComponents];
  int32_t run;         // pairs of rows that a warp walks
  int32_t shift;       // between levels
  int32_t at_samples;  // `samples` instead of `full`
  int32_t packs;       // whether values are likely to be small, see packed.cuh
  // 2, 511 and 1024 in both halves: compilers rematerialize a known constant for each use.
  uint32_t two, max_doubled, more;
  // For the fast kernels, which wait for their predecessor in the stream themselves. All but a
  // job's first read high bands before that, as its kernels do not write them.
  int32_t is_first;
  int32_t successor_first;  // whether the successor may be launched before the end
  MeasureParams measure;
};

// Of a launch that makes the two finest levels: the finest one, and the other, whose results it
// need not write.
struct TwoLevelParams : FusedParams {
  TileParams coarse[kMaxComponents];
};

}  // namespace cudatransform::cuda
