// Entropy decoding of APV on the CPU: the chain of one component's blocks in one tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "apv/codes.h"

namespace cudatransform {

// The blocks of a component in a tile, macroblock by macroblock.
struct ApvChainPlaces {
  int16_t* first = nullptr;  // the 64 coefficients of the first block
  ptrdiff_t row_pitch = 0;   // coefficients from a block to the one below it
  uint32_t mbs_across = 0, mbs_down = 0;
  uint32_t mb_blocks_across = 0;  // 1 or 2; down there are always 2

  uint64_t blocks() const { return uint64_t{mbs_across} * mbs_down * mb_blocks_across * 2; }
};

// Writes all coefficients of all blocks, row by row. From the block on in which an error is found
// they are zero, which is mid-gray; all earlier ones stay. Reads no byte outside of `data`.
ApvChainError decode_apv_chain(std::span<const uint8_t> data, const ApvChainPlaces& places);

}  // namespace cudatransform
