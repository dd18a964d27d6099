// A bit for each coefficient of a block, in zigzag order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudatransform {

// Bits by natural index, moved to their places in zigzag order.
uint64_t in_zigzag_order(uint64_t natural);

}  // namespace cudatransform
