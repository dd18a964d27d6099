// The entropy code of a block, for host and device: values to bits, and coefficients to values.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// apv/codes.h has the code. What precedes a block matters by three numbers alone: its DC
// coefficient, the parameter of the difference of DC, which follows from the block before, and the
// parameter of the first coefficient, from the last block that had one. So blocks can be coded in
// parallel.
#pragma once

#include <cstdint>

#include "apv/codes.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

struct ApvBits {
  uint64_t bits;  // the lowest `length`
  int length;
};

// `value`: up to 2^16 - 1.
CT_HD ApvBits apv_value_bits(uint32_t value, int k) {
  const uint32_t limit = 1u << k;
  if (value < limit) return {limit | value, 1 + k};
  const uint32_t rest = value - limit;
  if (rest < limit) return {rest, 2 + k};
  // The highest bit of the remainder is the 1 after the zeros.
  const int n = 63 - apv_leading_zeros(rest) - k;
  return {uint64_t{1} << (2 * n + k + 1) | rest, 3 + 2 * n + k};
}
CT_HD ApvBits apv_joined(ApvBits first, ApvBits second) {
  return {first.bits << second.length | second.bits, first.length + second.length};
}
CT_HD ApvBits apv_with_sign(ApvBits size, bool negative) {
  return {size.bits << 1 | (negative ? 1u : 0u), size.length + 1};
}

// No block has more: 64 values of 16 bits with signs, and runs between them.
inline constexpr int kMaxApvBlockBits = 64 * (kMaxApvValueBits + 4);

// Codes as they are computed.
struct ApvComputedCodes {
  CT_HD ApvBits run(uint32_t run, int k) const { return apv_value_bits(run, k); }
  CT_HD ApvBits coef(int32_t coef, int k) const {
    const uint32_t size = static_cast<uint32_t>(coef < 0 ? -coef : coef);
    return apv_with_sign(apv_value_bits(size - 1, k), coef < 0);
  }
};

CT_HD ApvBits apv_dc_bits(int32_t difference, int k) {
  const uint32_t size = static_cast<uint32_t>(difference < 0 ? -difference : difference);
  const ApvBits bits = apv_value_bits(size, k);
  return size == 0 ? bits : apv_with_sign(bits, difference < 0);
}

CT_HD int apv_lowest_bit(uint64_t mask) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(mask)) - 1;
#else
  return __builtin_ctzll(mask);
#endif
}

// The AC coefficients of a block in coding order, of which `nonzero` names those that are not zero:
// put(bits) gets the codes of each with its run, and that of the last run. coef(i) is coefficient
// i. `k`: the parameter of the first one.
template <typename Codes, typename Coef, typename Put>
CT_HD void code_apv_ac(const Codes& codes, uint64_t nonzero, int k, const Coef& coef,
                       const Put& put) {
  int at = 1, run_k = 0;
  for (uint64_t mask = nonzero & ~uint64_t{1}; mask != 0; mask &= mask - 1) {
    const int place = apv_lowest_bit(mask);
    const auto run = static_cast<uint32_t>(place - at);
    const int32_t value = coef(place);
    put(apv_joined(codes.run(run, run_k), codes.coef(value, k)));
    run_k = apv_run_parameter(run);
    k = apv_coef_parameter(static_cast<uint32_t>(value < 0 ? -value : value));
    at = place + 1;
  }
  if (at < 64) put(codes.run(static_cast<uint32_t>(64 - at), run_k));
}

}  // namespace cudatransform
