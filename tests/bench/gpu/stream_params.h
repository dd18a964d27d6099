// The parameters of a streaming kernel: a plain struct, passed by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudatransform::bench {

// Counts of 16-byte units. Tile t reads units t x in_tile .. + in_tile - 1, up to the last one, and
// writes likewise.
struct StreamParams {
  const void* in;
  void* out;
  uint32_t in_units, out_units;
  uint32_t in_tile, out_tile;
  uint32_t tiles;
};

}  // namespace cudatransform::bench
