// Divisions: by a number that the host knows, and of a size into parts.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform::cuda {

// n / d for n < 2^31 as (n * multiplier) >> shift: a multiplication instead of some twenty
// instructions. Exact with shift = 31 + ceil(log2 d) and multiplier = ceil(2^shift / d): see
// T. Granlund, P. Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994.
struct Divider {
  uint32_t multiplier;
  uint32_t shift;
};

inline Divider make_divider(uint32_t d) {
  uint32_t log2 = 0;
  while ((uint64_t{1} << log2) < d) ++log2;
  const uint32_t shift = 31 + log2;
  return {static_cast<uint32_t>(((uint64_t{1} << shift) + d - 1) / d), shift};
}

// As many parts of `by` as it takes for `size`.
constexpr uint32_t divide_up(int64_t size, int64_t by) {
  return static_cast<uint32_t>((size + by - 1) / by);
}

CT_HD uint32_t divide(uint32_t n, const Divider& by) {
  return static_cast<uint32_t>((uint64_t{n} * by.multiplier) >> by.shift);
}

}  // namespace cudatransform::cuda
