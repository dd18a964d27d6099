// Quantized coefficients that are decided, not rounded: by a dead zone, or by a block's rate and
// distortion.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both use coefficients in eighths of the orthonormal values, the integers that islow makes
// anyway, and calculate with integers from there. So engines agree to the bit wherever their
// transforms do. A divisor of eighths is 8 q, and the rounded quantized coefficient that a decision
// starts from is islow's. DC is never decided: it rounds as its method does.
//
// What is common to host and device comes first; on the GPU, cuda/dct8x8/rate.cuh is built
// around it.
#pragma once

#include <bit>
#include <cstdint>

#include "transform/dct8x8/constants.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

// Quantized coefficient 1023 of divisor 8, the largest AC quantized coefficient that baseline JPEG
// has a code for. No 8-bit samples give more, but ifast's 16 bits wrap in extreme blocks.
inline constexpr int32_t kMaxEighths = 8 * 1023 + 3;

CT_HD int32_t limit_eighths(int32_t x) { return clamp_int(x, -kMaxEighths, kMaxEighths); }

// What makes eighths of AA&N's values: |eighths| = floor((|value| + half) mul) for ifast's
// integers, value x mul, rounded, for float.
struct AanEighths {
  float mul[64];
  float half[64];
};
constexpr AanEighths make_aan_eighths() {
  AanEighths result = {};
  for (int i = 0; i < 64; ++i) {
    const double scale = kAanScale[i / 8] * kAanScale[i % 8];
    result.mul[i] = float(1.0 / scale);
    result.half[i] = float(0.5 * scale);
  }
  return result;
}

// ---- The dead zone ----

// Whether an AC coefficient is so small that it becomes 0, with `limit` the threshold in
// thousandths of the divisor. Exact: below 2^30 on both sides.
CT_HD bool in_dead_zone(int32_t magnitude, int32_t limit) { return 1000 * magnitude < limit; }

// ---- Rate and distortion ----

// The bits of an AC symbol, its code's and those that follow: [run << 4 | size], the end of the
// block in [0], sixteen zeros in [0xf0]. By the codes of ITU-T T.81, tables K.5 and K.6: best codes
// for the picture would change few decisions.
struct AcBits {
  uint8_t of[256];
};
constexpr AcBits make_ac_bits(bool chroma) {
  // Codes of sizes 1 to 10 after runs of 0 to 3 zeros; and of 1 and 2 after longer ones, where
  // all other codes have 16 bits.
  constexpr uint8_t kShort[2][4][10] = {{{2, 2, 3, 4, 5, 7, 8, 10, 16, 16},
                                         {4, 5, 7, 9, 11, 16, 16, 16, 16, 16},
                                         {5, 8, 10, 12, 16, 16, 16, 16, 16, 16},
                                         {6, 9, 12, 16, 16, 16, 16, 16, 16, 16}},
                                        {{2, 3, 4, 5, 5, 6, 7, 9, 10, 12},
                                         {4, 6, 8, 9, 11, 12, 16, 16, 16, 16},
                                         {5, 8, 10, 12, 15, 16, 16, 16, 16, 16},
                                         {5, 8, 10, 12, 16, 16, 16, 16, 16, 16}}};
  constexpr uint8_t kLong[2][12][2] = {{{6, 10},
                                        {7, 11},
                                        {7, 12},
                                        {8, 12},
                                        {9, 15},
                                        {9, 16},
                                        {9, 16},
                                        {10, 16},
                                        {10, 16},
                                        {11, 16},
                                        {16, 16},
                                        {16, 16}},
                                       {{6, 9},
                                        {6, 10},
                                        {7, 11},
                                        {7, 11},
                                        {8, 16},
                                        {9, 16},
                                        {9, 16},
                                        {9, 16},
                                        {9, 16},
                                        {11, 16},
                                        {14, 16},
                                        {15, 16}}};
  AcBits bits = {};
  for (int run = 0; run < 16; ++run) {
    for (int size = 1; size <= 10; ++size) {
      int code = 16;
      if (run < 4) {
        code = kShort[chroma][run][size - 1];
      } else if (size <= 2) {
        code = kLong[chroma][run - 4][size - 1];
      }
      bits.of[run << 4 | size] = uint8_t(code + size);
    }
  }
  bits.of[0] = chroma ? 2 : 4;
  bits.of[0xf0] = chroma ? 10 : 11;
  return bits;
}

CT_HD int width_of(uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 32 - __clz(int(x));
#else
  return std::bit_width(x);
#endif
}
CT_HD int highest_bit(uint64_t x) {
#if defined(__CUDA_ARCH__)
  return 63 - __clzll(static_cast<long long>(x));
#else
  return 63 - std::countl_zero(x);
#endif
}

// A squared error of one quantizer step costs as many sixteenths of a bit as rd_weight_of()
// returns, in blocks without detail. In detailed blocks errors are less visible and cost less.
CT_HD uint32_t rd_weight_of(uint32_t weight, bool chroma, uint32_t squares) {
  const uint32_t energy = squares / (64 * 63);  // the mean square of AC values, orthonormal
  return weight / (1500 + energy) * (chroma ? 2 : 1);
}

// Rates and distortions are in 1/256 bit. Neither overflows: an error is at most 2.5 quantized
// coefficients, see decide_by_rate().
struct RdRates {
  const uint8_t* bits;  // an AcBits

  CT_HD constexpr uint32_t of(int run, int size) const {
    return 256u * (uint32_t(run >> 4) * bits[0xf0] + bits[(run & 15) << 4 | size]);
  }
  CT_HD constexpr uint32_t end_of_block() const { return 256u * bits[0]; }
};
CT_HD uint32_t rd_distortion(int32_t magnitude, int32_t qcoef, int32_t divisor, uint32_t reciprocal,
                             uint32_t weight) {
  const int32_t error = magnitude - qcoef * divisor;
  // In 1/64 of a step.
  const uint32_t e = uint32_t(error < 0 ? -error : error) * reciprocal >> 14;
  return e * e * weight >> 8;
}

// The AC quantized coefficients of a block, from the last one that is not zero to the first: each
// stays, loses one, or becomes 0 if it is 1 or 2, whatever costs least with its neighbors as they
// are. `nonzero` has a bit for each rounded quantized coefficient, by its place k in zigzag order;
// `rates` are RdRates, or equal.
//   block.magnitude(k)    |eighths|
//   block.qcoef(k)        |rounded quantized coefficient|
//   block.divisor(k)      8 q, q at most 255
//   block.reciprocal(k)   2^20 / (8 q), rounded down
//   block.set(k, qcoef)   takes the |quantized coefficient| of a bit in `nonzero`
template <typename Rates, typename Block>
CT_HD void decide_by_rate(uint64_t nonzero, uint32_t weight, const Rates& rates, Block&& block) {
  const uint32_t end_of_block = rates.end_of_block();
  int next = 0, next_size = 0;  // the next quantized coefficient, decided already; 0: none
  int k = nonzero != 0 ? highest_bit(nonzero) : 0;
  uint32_t behind = k < 63 ? end_of_block : 0;  // the rate of what follows the coefficient
  for (int before = 0; k != 0; k = before) {
    nonzero ^= uint64_t{1} << k;
    before = nonzero != 0 ? highest_bit(nonzero) : 0;
    const int32_t magnitude = block.magnitude(k), qcoef = block.qcoef(k);
    const int32_t divisor = block.divisor(k);
    const uint32_t reciprocal = block.reciprocal(k);
    const auto cost = [&](int32_t candidate) {
      return rd_distortion(magnitude, candidate, divisor, reciprocal, weight);
    };
    int32_t best = qcoef;
    uint32_t least = UINT32_MAX, rate = 0;
    const auto try_to_keep = [&](int32_t candidate) {
      const uint32_t own = rates.of(k - before - 1, width_of(uint32_t(candidate)));
      const uint32_t all = cost(candidate) + own + behind;
      if (all < least) least = all, best = candidate, rate = own;
    };
    try_to_keep(qcoef);
    if (qcoef > 1) try_to_keep(qcoef - 1);
    if (qcoef <= 2) {
      const uint32_t without = next != 0 ? rates.of(next - before - 1, next_size) : end_of_block;
      if (cost(0) + without < least) best = 0, rate = without;
    }
    block.set(k, best);
    behind = rate;
    if (best != 0) {
      next = k;
      next_size = width_of(uint32_t(best));
    }
  }
}

// ---- Host ----

// `weight` of rd_weight_of() for a Lagrange multiplier: 256 x 1500 for 1/16.
uint32_t rd_weight(double lambda);

// For kDeadZone and kRd: coefficients of `method` in eighths, stored as int32_t.
ForwardTable make_eighths_table(Method method);

// Everything that deciding a component's quantized coefficients takes, in natural order. Of a job
// with kDeadZone or kRd.
struct Decision {
  Quantizer quantizer;
  bool chroma;
  bool even_dc;  // DC's ties go to even numbers
  uint32_t weight;
  ForwardTable rounding;
  int32_t divisor[64];
  int32_t dead_zone_limit[64];  // of 1000 |eighths|
  uint32_t reciprocal[64];      // kRd only
};
Decision make_decision(const Dct8x8Job& job, int component);

int16_t dc_qcoef(const Decision& decision, int32_t eighths);

// The AC quantized coefficients of kRd. Bit i of `nonzero` is that of qcoefs[i]; DC's does not
// matter. `squares` is the sum of those of the AC eighths, which are limited; `qcoefs` are rounded.
void decide_rd(const Decision& decision, uint64_t nonzero, uint32_t squares,
               const int32_t eighths[64], int16_t qcoefs[64]);

// 64 coefficients in eighths, not limited yet, to quantized coefficients; in natural order.
void decide_block(const Decision& decision, const int32_t eighths[64], int16_t qcoefs[64]);

// Bits by natural index, moved to their places in zigzag order.
uint64_t in_zigzag_order(uint64_t natural);

}  // namespace cudatransform
