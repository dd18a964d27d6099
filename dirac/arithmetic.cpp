// How contexts of the arithmetic decoder adapt.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/arithmetic.h"

namespace cudatransform {

namespace {

// Dirac specification 2.2.3, annex B: a context's loss at a 1, by its upper 8 bits. At a 0 it gains
// the entry that is as far from the table's other end.
constexpr int16_t kLosses[256] = {
    0,    2,    5,    8,    11,   15,   20,   24,   29,   35,   41,   47,   53,   60,   67,   74,
    82,   89,   97,   106,  114,  123,  132,  141,  150,  160,  170,  180,  190,  201,  211,  222,
    233,  244,  256,  267,  279,  291,  303,  315,  327,  340,  353,  366,  379,  392,  405,  419,
    433,  447,  461,  475,  489,  504,  518,  533,  548,  563,  578,  593,  609,  624,  640,  656,
    672,  688,  705,  721,  738,  754,  771,  788,  805,  822,  840,  857,  875,  892,  910,  928,
    946,  964,  983,  1001, 1020, 1038, 1057, 1076, 1095, 1114, 1133, 1153, 1172, 1192, 1211, 1231,
    1251, 1271, 1291, 1311, 1332, 1352, 1373, 1393, 1414, 1435, 1456, 1477, 1498, 1520, 1541, 1562,
    1584, 1606, 1628, 1649, 1671, 1694, 1716, 1738, 1760, 1783, 1806, 1828, 1851, 1874, 1897, 1920,
    1935, 1942, 1949, 1955, 1961, 1968, 1974, 1980, 1985, 1991, 1996, 2001, 2006, 2011, 2016, 2021,
    2025, 2029, 2033, 2037, 2040, 2044, 2047, 2050, 2053, 2056, 2058, 2061, 2063, 2065, 2066, 2068,
    2069, 2070, 2071, 2072, 2072, 2072, 2072, 2072, 2072, 2071, 2070, 2069, 2068, 2066, 2065, 2063,
    2060, 2058, 2055, 2052, 2049, 2045, 2042, 2038, 2033, 2029, 2024, 2019, 2013, 2008, 2002, 1996,
    1989, 1982, 1975, 1968, 1960, 1952, 1943, 1934, 1925, 1916, 1906, 1896, 1885, 1874, 1863, 1851,
    1839, 1827, 1814, 1800, 1786, 1772, 1757, 1742, 1727, 1710, 1694, 1676, 1659, 1640, 1622, 1602,
    1582, 1561, 1540, 1518, 1495, 1471, 1447, 1422, 1396, 1369, 1341, 1312, 1282, 1251, 1219, 1186,
    1151, 1114, 1077, 1037, 995,  952,  906,  857,  805,  750,  690,  625,  553,  471,  376,  255};

constexpr std::array<int16_t, 512> make_steps() {
  std::array<int16_t, 512> steps{};
  for (size_t i = 0; i < 256; ++i) {
    steps[2 * i] = kLosses[255 - i];
    steps[2 * i + 1] = static_cast<int16_t>(-kLosses[i]);
  }
  return steps;
}

constexpr std::array<uint32_t, 512> make_wide_steps() {
  constexpr std::array<int16_t, 512> kSteps = make_steps();
  std::array<uint32_t, 512> steps{};
  for (size_t i = 0; i < 256; ++i) {
    steps[i] = static_cast<uint32_t>(int32_t{kSteps[2 * i + 1]}) << 16;
    steps[256 + i] = static_cast<uint32_t>(int32_t{kSteps[2 * i]}) << 16;
  }
  return steps;
}

constexpr DiracDescents make_descents(uint32_t probability) {
  DiracDescents descents{};
  uint32_t at = 0;
  for (uint32_t way = 0; way < DiracDescents::kWays; ++way) {
    uint32_t range = 0x8000 - way;
    for (size_t i = 0; i < DiracDescents::kLength; ++i) {
      if (range >= kDiracLeastRange)
        descents.place[range - kDiracLeastRange] = static_cast<uint16_t>(at);
      descents.ranges[at++] = static_cast<uint16_t>(range);
      range -= range * probability >> 16;
    }
  }
  return descents;
}
constexpr std::array<DiracDescents, 2> kDescents = {make_descents(kDiracStillProbability),
                                                    make_descents(kDiracStillProbability + 1)};

// Whether every range is on a path that is long enough.
constexpr bool are_complete(const DiracDescents& descents) {
  for (uint32_t range = kDiracLeastRange; range <= 0x8000; ++range) {
    const size_t at = descents.place[range - kDiracLeastRange];
    const size_t most = DiracDescents::kLength - 1 - at % DiracDescents::kLength;
    if (descents.ranges[at] != range || most < DiracDescents::kMax) return false;
  }
  return true;
}
static_assert(are_complete(kDescents[0]) && are_complete(kDescents[1]));

}  // namespace

const std::array<DiracDescents, 2> kDiracDescents = kDescents;
const std::array<int16_t, 512> kDiracContextSteps = make_steps();
const std::array<uint32_t, 512> kDiracWideSteps = make_wide_steps();

}  // namespace cudatransform
