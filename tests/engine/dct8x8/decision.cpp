// Decides levels the slow way.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/decision.h"

#include <cmath>
#include <cstdlib>

#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {
namespace {

// ITU-T T.81, tables K.5 and K.6: the lengths of the codes, by the zeros before a level (rows) and
// its bits (columns 1 to 10).
constexpr int kLumaLengths[16][10] = {
    {2, 2, 3, 4, 5, 7, 8, 10, 16, 16},        {4, 5, 7, 9, 11, 16, 16, 16, 16, 16},
    {5, 8, 10, 12, 16, 16, 16, 16, 16, 16},   {6, 9, 12, 16, 16, 16, 16, 16, 16, 16},
    {6, 10, 16, 16, 16, 16, 16, 16, 16, 16},  {7, 11, 16, 16, 16, 16, 16, 16, 16, 16},
    {7, 12, 16, 16, 16, 16, 16, 16, 16, 16},  {8, 12, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 15, 16, 16, 16, 16, 16, 16, 16, 16},  {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {10, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {10, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {11, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {16, 16, 16, 16, 16, 16, 16, 16, 16, 16}};
constexpr int kChromaLengths[16][10] = {
    {2, 3, 4, 5, 5, 6, 7, 9, 10, 12},         {4, 6, 8, 9, 11, 12, 16, 16, 16, 16},
    {5, 8, 10, 12, 15, 16, 16, 16, 16, 16},   {5, 8, 10, 12, 16, 16, 16, 16, 16, 16},
    {6, 9, 16, 16, 16, 16, 16, 16, 16, 16},   {6, 10, 16, 16, 16, 16, 16, 16, 16, 16},
    {7, 11, 16, 16, 16, 16, 16, 16, 16, 16},  {7, 11, 16, 16, 16, 16, 16, 16, 16, 16},
    {8, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {11, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {14, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {15, 16, 16, 16, 16, 16, 16, 16, 16, 16}};

BlockLevels round_all(const BlockEighths& eighths, const uint16_t divisors[64]) {
  BlockLevels levels;
  for (int i = 0; i < 64; ++i) {
    const int level = (std::abs(eighths[i]) + 4 * divisors[i]) / (8 * divisors[i]);
    levels[i] = eighths[i] < 0 ? -level : level;
  }
  return levels;
}

// Bits of a block's AC levels.
int bits_of(const BlockLevels& levels, bool chroma) {
  int bits = 0, zeros = 0;
  for (int k = 1; k < 64; ++k) {
    const int level = std::abs(levels[natural_of_zigzag(k)]);
    if (level == 0) {
      ++zeros;
      continue;
    }
    for (; zeros > 15; zeros -= 16) bits += chroma ? 10 : 11;
    int size = 0;
    while (level >> size != 0) ++size;
    bits += (chroma ? kChromaLengths : kLumaLengths)[zeros][size - 1] + size;
    zeros = 0;
  }
  return zeros == 0 ? bits : bits + (chroma ? 2 : 4);
}

// In 1/256 bit; integers, rounded down as the engines do it: ties of costs are not rare.
struct Costs {
  const BlockEighths& eighths;
  const uint16_t* divisors;
  RdRule rule;
  int64_t weight;

  int64_t error(int i, int level) const {
    const int64_t divisor = 8 * divisors[i];
    const int64_t off = std::abs(std::abs(eighths[i]) - std::abs(level) * divisor);
    const int64_t sixty_fourths = off * ((1 << 20) / divisor) / (1 << 14);
    return sixty_fourths * sixty_fourths * weight / 256;
  }
  int64_t of(const BlockLevels& levels) const {
    int64_t cost = 256 * bits_of(levels, rule.chroma);
    for (int i = 1; i < 64; ++i) cost += error(i, levels[i]);
    return cost;
  }
};

Costs costs_of(const BlockEighths& eighths, const uint16_t divisors[64], RdRule rule) {
  int64_t squares = 0;
  for (int i = 1; i < 64; ++i) squares += int64_t{eighths[i]} * eighths[i];
  const int64_t energy = squares / 64 / 63;
  const int64_t weight = std::llround(16 * 1500 / rule.lambda) / (1500 + energy);
  return {eighths, divisors, rule, rule.chroma ? 2 * weight : weight};
}

}  // namespace

BlockLevels definition_dead_zone(const BlockEighths& eighths, const uint16_t divisors[64],
                                 DeadZoneRule rule) {
  BlockLevels levels = round_all(eighths, divisors);
  for (int i = 1; i < 64; ++i)
    if (int64_t{1000} * std::abs(eighths[i]) < int64_t{8} * divisors[i] * rule.thousandths)
      levels[i] = 0;
  return levels;
}

BlockLevels definition_rd(const BlockEighths& eighths, const uint16_t divisors[64], RdRule rule) {
  const Costs costs = costs_of(eighths, divisors, rule);
  BlockLevels levels = round_all(eighths, divisors);
  for (int k = 63; k > 0; --k) {
    const int i = natural_of_zigzag(k);
    const int sign = levels[i] < 0 ? -1 : 1, level = std::abs(levels[i]);
    if (level == 0) continue;
    int64_t least = costs.of(levels);
    BlockLevels best = levels;
    const auto offer = [&](int candidate) {
      levels[i] = sign * candidate;
      const int64_t cost = costs.of(levels);
      if (cost < least) least = cost, best = levels;
    };
    if (level > 1) offer(level - 1);
    if (level <= 2) offer(0);
    levels = best;
  }
  return levels;
}

}  // namespace cudatransform::test
