// Writes coefficients: bands of core pictures, slices of low delay and high quality pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 13.4; SMPTE ST 2042-1, clause 13.5.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/dirac/encoder/picture.h"

namespace cudatransform::test {

// The data of a band that is coded, at least a byte.
std::vector<uint8_t> write_band(const CodedPicture& picture, int component, int band);

// All slices, in raster order. Low delay: throws std::runtime_error if the slices lack room.
std::vector<std::vector<uint8_t>> write_slices(const CodedPicture& picture);

// The fewest bytes for every low delay slice, and the smallest scaler for high quality ones.
uint32_t least_slice_bytes(const CodedPicture& picture);
uint32_t least_size_scaler(const CodedPicture& picture);

}  // namespace cudatransform::test
