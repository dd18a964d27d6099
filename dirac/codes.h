// The codes of a picture's quantized coefficients: bands of core pictures, slices of low delay and
// high quality pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 13.4. Bands are independent except for a context of the
// arithmetic decoder: which quantized coefficients of the band below in the same orientation are
// zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dirac/picture_header.h"
#include "dirac/qcoefs.h"

namespace cudatransform {

struct DiracBandCode {
  const uint8_t* data = nullptr;
  size_t size = 0;
  int quantizer = 0;
  bool is_coded = false;              // otherwise all quantized coefficients are zero
  bool has_quantizer_deltas = false;  // before each codeblock that is not zero
};

// Decodes into `band`, whose quantized coefficients are zero. `parent`: the band of the level below
// that has the same orientation, or null. False where the data are invalid: quantized coefficients
// decoded until then stay, and the rest is zero. `index`: the band's number, which determines its
// orientation.
bool decode_dirac_band(const DiracBandCode& code, bool is_arithmetic, bool is_wide, int index,
                       const DiracBand* parent, DiracBand& band);

// SMPTE ST 2042-1, clause 13.5. A slice has a part of every band. Slices depend only on their own
// bytes, so that rows of slices may be decoded concurrently: they write different rows.

// Bytes of a slice in the picture's data; none: the slice is missing, and its quantized
// coefficients are zero.
struct DiracSlicePlace {
  uint32_t begin = 0, end = 0;
};

// A run of consecutive slices, in raster order: those of a picture, or of a fragment.
struct DiracSliceRun {
  int64_t first = 0, count = 0;
  uint32_t begin = 0, end = 0;  // bytes in the picture's data
};

// All slices of a picture, to be decoded by the renderer.
struct DiracSlices {
  const uint8_t* data =
      nullptr;  // null: there are none, and quantized coefficients have been decoded
  size_t size = 0;
  const DiracSlicePlace* places = nullptr;  // columns * rows
  int32_t columns = 0, rows = 0;
  bool is_low_delay = false;
  uint32_t prefix_bytes = 0, size_scaler = 1;  // of high quality
};

// Finds the slices of `run` in `data`; `places` has one for each slice of the picture. False where
// the data ends too early. `end`: where the last one ends.
bool find_dirac_slices(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                       const DiracSliceRun& run, DiracSlicePlace* places, uint32_t* end);

// Whether a slice within the data would decode without error. `max_quantizer` is the largest index
// that all bands can hold.
bool is_sound_dirac_slice(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                          const DiracSlicePlace& place, int max_quantizer);

// Decodes row `row` of slices. False where one of them cannot be right.
bool decode_dirac_slices(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                         const DiracSlicePlace* places, int32_t row, DiracQcoefs& qcoefs);

}  // namespace cudatransform
