// Block data of inter pictures: how each superblock is split, and each block predicted.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 12. Nine streams of bytes, each with a separate arithmetic
// decoder: splits and modes first; each of the others needs only these two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dirac/picture_header.h"
#include "transform/obmc/obmc.h"

namespace cudatransform {

// In the order of the bitstream. Streams of the second reference are empty where there is one.
inline constexpr int kDiracMotionStreams = 9;
inline constexpr int kDiracSplitStream = 0;
inline constexpr int kDiracModeStream = 1;
inline constexpr int kDiracVectorStream = 2;  // 1 x, 1 y, 2 x, 2 y
inline constexpr int kDiracDcStream = 6;      // of each component

struct DiracMotionCode {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// The blocks of a picture, which are zero at first, and a byte for each superblock.
struct DiracMotionGrid {
  int32_t blocks_across = 0, blocks_down = 0;
  ObmcBlock* blocks = nullptr;
  uint8_t* splits = nullptr;
};

// Decodes splits and modes. False where the data are invalid; the remaining blocks stay as they
// are.
bool decode_dirac_modes(const DiracMotionCode& splits, const DiracMotionCode& modes,
                        bool is_arithmetic, int reference_count, const DiracMotionGrid& grid);

// Decodes one of the other streams.
bool decode_dirac_vectors(const DiracMotionCode& code, bool is_arithmetic, int reference, int axis,
                          const DiracMotionGrid& grid);
bool decode_dirac_dc(const DiracMotionCode& code, bool is_arithmetic, int component,
                     const DiracMotionGrid& grid);

}  // namespace cudatransform
