// The entropy code of APV, for host and device: values, and pairs of a run and a coefficient that
// one table lookup reads.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A value with parameter k is 1 and k bits; 00 and k bits, plus 2^k; or 01, n zeros, 1 and k + n
// bits, plus (2^n + 1) 2^k. Parameters follow from earlier values:
//   difference of DC  min(d / 2, 5), d the size of the last difference
//   run of zeros      min(r / 4, 2), r the last run of the block
//   coefficient       min(c / 4, 4), c the size of the last one of the block; at its beginning, of
//                     the first one of the last block that had one
// The two of a pair are its context.
#pragma once

#include <cstdint>

#include "transform/apv/arithmetic.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

// More zeros do not occur in a legal code.
inline constexpr int kMaxApvZeros = 15;
// The most bits of a value and its sign.
inline constexpr int kMaxApvValueBits = 3 + 2 * kMaxApvZeros + 5 + 1;

CT_HD constexpr int apv_dc_parameter(uint32_t difference) {
  return difference < 10 ? static_cast<int>(difference / 2) : 5;
}
CT_HD constexpr int apv_run_parameter(uint32_t run) {
  return run < 8 ? static_cast<int>(run / 4) : 2;
}
CT_HD constexpr int apv_coef_parameter(uint32_t size) {
  return size < 16 ? static_cast<int>(size / 4) : 4;
}
inline constexpr int kApvRunParameters = 3, kApvCoefParameters = 5;
inline constexpr int kApvContexts = kApvRunParameters * kApvCoefParameters;
CT_HD constexpr int apv_context(int run_parameter, int coef_parameter) {
  return coef_parameter * kApvRunParameters + run_parameter;
}
// The context of the next block, where this one follows its first coefficient.
CT_HD constexpr int apv_first_context(int context) { return context - context % kApvRunParameters; }

// State at the beginning of a chain.
inline constexpr int kApvFirstDcParameter = 5, kApvFirstContext = 0;

CT_HD constexpr int apv_leading_zeros(uint64_t word) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(word));
#else
  return word == 0 ? 64 : __builtin_clzll(word);
#endif
}

struct ApvValue {
  uint32_t value;
  int bits;  // 0: not a code
};
// The value that the upper bits of `window` begin with.
CT_HD constexpr ApvValue read_apv_value(uint64_t window, int k) {
  const auto next = [&](int at, int bits) {
    return static_cast<uint32_t>(window << at >> 1 >> (63 - bits));
  };
  if (window >> 63 != 0) return {next(1, k), 1 + k};
  if (window >> 62 == 0) return {(1u << k) + next(2, k), 2 + k};
  const int n = apv_leading_zeros(window << 2);
  if (n > kMaxApvZeros) return {0, 0};
  return {(((1u << n) + 1) << k) + next(3 + n, k + n), 3 + 2 * n + k};
}

// A pair, in 32 bits: bits of the run; the run; bits of all; next context; coefficient. No bits
// where the table's index does not have them.
struct ApvPair {
  uint32_t packed;

  CT_HD constexpr int run_bits() const { return static_cast<int>(packed & 15); }
  CT_HD constexpr int run() const { return static_cast<int>(packed >> 4 & 63); }
  CT_HD constexpr int bits() const { return static_cast<int>(packed >> 10 & 15); }
  CT_HD constexpr int next_context() const { return static_cast<int>(packed >> 14 & 15); }
  CT_HD constexpr int coef() const { return static_cast<int32_t>(packed) >> 24; }
};

// The pair that `window` begins with, of which only `index_bits` are known.
constexpr ApvPair make_apv_pair(int context, uint64_t window, int index_bits) {
  const ApvValue run = read_apv_value(window, context % kApvRunParameters);
  if (run.bits == 0 || run.bits > index_bits || run.value > 63) return {0};
  const auto run_part = static_cast<uint32_t>(run.bits) | run.value << 4;
  const ApvValue size = read_apv_value(window << run.bits, context / kApvRunParameters);
  const int bits = run.bits + size.bits + 1;
  if (size.bits == 0 || bits > index_bits || size.value > 126) return {run_part};
  const auto coef = static_cast<int32_t>(size.value + 1);
  const bool negative = (window << (bits - 1)) >> 63 != 0;
  const int next = apv_context(apv_run_parameter(run.value), apv_coef_parameter(size.value + 1));
  return {run_part | static_cast<uint32_t>(bits) << 10 | static_cast<uint32_t>(next) << 14 |
          static_cast<uint32_t>(negative ? -coef : coef) << 24};
}

template <int kBits>
struct ApvTable {
  uint32_t pairs[kApvContexts << kBits];

  constexpr ApvTable() : pairs() {
    for (int context = 0; context < kApvContexts; ++context) {
      for (uint32_t i = 0; i < 1u << kBits; ++i) {
        pairs[(static_cast<uint32_t>(context) << kBits) + i] =
            make_apv_pair(context, uint64_t{i} << (64 - kBits), kBits).packed;
      }
    }
  }
};

// Why a chain ends before its last block.
enum class ApvChainError : uint32_t { kNone, kCode, kRun, kRange, kEnd };
constexpr const char* describe(ApvChainError error) {
  switch (error) {
    case ApvChainError::kCode:
      return "invalid code";
    case ApvChainError::kRun:
      return "run of zeros beyond the block";
    case ApvChainError::kRange:
      return "coefficient of more than 16 bits";
    case ApvChainError::kEnd:
      return "data ends before the last block";
    case ApvChainError::kNone:
      break;
  }
  return "no error";
}

}  // namespace cudatransform
