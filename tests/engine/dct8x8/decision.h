// Decided levels by the rules as a person would follow them: the judge of the engines' quantisers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each level is tried in its block, and the whole block coded and compared anew. On purpose without
// a line of transform/.
#pragma once

#include <array>
#include <cstdint>

namespace cudatransform::test {

using BlockLevels = std::array<int, 64>;   // natural order
using BlockEighths = std::array<int, 64>;  // eight times the orthonormal coefficients

struct DeadZoneRule {
  int thousandths;
};
// AC levels below the threshold become 0, the rest and DC round to the nearest one.
BlockLevels definition_dead_zone(const BlockEighths& eighths, const uint16_t divisors[64],
                                 DeadZoneRule rule);

struct RdRule {
  double lambda;
  bool chroma;
};
// From the last AC level to the first: as rounded, one less, or 0 instead of 1 or 2, whichever
// makes the block cheapest; bits by Annex K's codes, plus the squared error in levels over lambda,
// less of it in blocks of much energy, twice of it in chroma.
BlockLevels definition_rd(const BlockEighths& eighths, const uint16_t divisors[64], RdRule rule);

}  // namespace cudatransform::test
