// The loops around AVDCT: quantize, dequantize, clamp.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/cases.h"

namespace cudatransform::bench {

// The reciprocal 2^16 / d of a divisor d = 8q is off by a half at most, which becomes an eighth of
// a quantized coefficient for the largest value, 2^14: sometimes a quantized coefficient is one
// off, and the loop is as short as a loop of 16-bit elements can be.
PlainTable make_plain_table(const uint16_t* q) {
  PlainTable table;
  for (int i = 0; i < 64; ++i) {
    const uint32_t divisor = 8u * q[i];
    table.q[i] = int16_t(q[i]);
    table.half[i] = uint16_t(divisor / 2);
    table.reciprocal[i] = uint16_t((65536u + divisor / 2) / divisor);
  }
  return table;
}

void plain_quantize(const int16_t* __restrict values, const PlainTable& table,
                    int16_t* __restrict qcoefs) {
  for (int i = 0; i < 64; ++i) {
    const int16_t x = values[i];
    const uint16_t sum = uint16_t(uint16_t(x < 0 ? -x : x) + table.half[i]);
    const uint32_t product = uint32_t(sum) * uint32_t(table.reciprocal[i]);
    const int16_t qcoef = int16_t(uint16_t(product >> 16));
    qcoefs[i] = x < 0 ? int16_t(-qcoef) : qcoef;
  }
}

void plain_dequantize(const int16_t* __restrict qcoefs, const PlainTable& table,
                      int16_t* __restrict values) {
  for (int i = 0; i < 64; ++i) values[i] = int16_t(qcoefs[i] * table.q[i]);
  values[0] = int16_t(values[0] + 128 * 8);
}

void plain_dequantize_permuted(const int16_t* __restrict qcoefs, const PlainTable& table,
                               const uint8_t* __restrict permutation, int16_t* __restrict values) {
  for (int i = 0; i < 64; ++i) values[permutation[i]] = int16_t(qcoefs[i] * table.q[i]);
  values[permutation[0]] = int16_t(values[permutation[0]] + 128 * 8);
}

void plain_clamp(const int16_t* __restrict samples, uint8_t* __restrict to, ptrdiff_t pitch) {
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int16_t sample = samples[8 * y + x];
      to[y * pitch + x] = uint8_t(sample < 0 ? 0 : sample > 255 ? 255 : sample);
    }
  }
}

}  // namespace cudatransform::bench
