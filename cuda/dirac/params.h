// Parameters of the kernels for Dirac, and the layout of quantized coefficients on the device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dwt/bands.h"
#include "transform/picture.h"

namespace cudatransform::cuda {

inline constexpr unsigned kExpandThreads = 128;  // four warps, a row of a band each

// A band of DiracQcoefs with its parts in one block of bytes: `map`, `starts`, `qcoefs` and
// `quantizers` are offsets into it. The quantized coefficients of all rows are consecutive;
// starts[y] of them come before those of row y.
struct PackedBand {
  uint64_t map, starts, qcoefs, quantizers;
  uint32_t first_row;  // among the rows of all bands
  int32_t width, height;
  int32_t x, y;  // in the pyramid
  int32_t component;
  int32_t columns, rows;  // codeblocks or slices
  int32_t map_words;
  int32_t matrix;
  int32_t is_dense;  // `qcoefs` are coefficients, all of them, and the rest is not there
  int32_t unused;    // every byte that crosses the bus is set
};

struct PyramidParams {
  uint8_t* data;
  int64_t pitch;
  int32_t width, height;  // in coefficients
};

// The block of bytes begins with the bands, in ascending order of their rows.
struct ExpandParams {
  const uint8_t* packed;
  uint64_t packed_bytes;
  uint32_t bands, rows;
  int32_t is_intra;
  PyramidParams pyramids[kMaxComponents];
};

struct SliceBandParams {
  int32_t x, y, width, height;  // in the pyramid
  int32_t matrix;
};

// `packed` has where each slice begins and ends in the data, two uint32_t each, and the data; both
// are offsets into it.
struct SliceParams {
  const uint8_t* packed;
  uint64_t packed_bytes;
  uint64_t places, data;
  int32_t columns, rows;  // slices
  int32_t is_low_delay;
  uint32_t prefix_bytes, size_scaler;  // of high quality
  int32_t bands;
  SliceBandParams band[kMaxComponents][kMaxDwtBands];
  PyramidParams pyramids[kMaxComponents];
};

// A row of samples for every ctas_across CTAs.
struct StoreParams {
  const uint8_t* from;
  int64_t from_pitch;
  uint8_t* to;
  int64_t to_pitch;
  uint32_t width, ctas_across;
  int32_t shift;
};

}  // namespace cudatransform::cuda
