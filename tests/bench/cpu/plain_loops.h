// The parts of a whole job that AVDCT leaves out, as loops that the compiler vectorises.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform::bench {

// A table prepared for 16-bit arithmetic: |level| = ((|x| + half) * reciprocal >> 16) * scale
// >> 16.
struct PlainTable {
  int16_t q[64];
  uint16_t half[64], reciprocal[64];
};

// Entries 1..255; values are 8 times the orthonormal transform.
PlainTable make_plain_table(const uint16_t* q);

// 64 values, 128 x 64 less in DC for the level shift, to levels.
void plain_quantise(const int16_t* values, const PlainTable& table, int16_t* levels);

// Levels to values, 128 x 8 more in DC; the second puts coefficient i at permutation[i].
void plain_dequantise(const int16_t* levels, const PlainTable& table, int16_t* values);
void plain_dequantise_permuted(const int16_t* levels, const PlainTable& table,
                               const uint8_t* permutation, int16_t* values);

// 64 samples, clamped to 0..255.
void plain_clamp(const int16_t* samples, uint8_t* to, ptrdiff_t pitch);

}  // namespace cudatransform::bench
