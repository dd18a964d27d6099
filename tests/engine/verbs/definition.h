// The definition of conversions between coefficients: exact numbers, one at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>

#include "transform/verbs/convert.h"

namespace cudatransform::test {

using Exact = long double;  // of 64 bits: holds a level times its divisor, and every number here

template <typename Number>
Number read_as(const uint8_t* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}
template <typename Number>
void write_as(Number number, uint8_t* to) {
  std::memcpy(to, &number, sizeof number);
}

Exact exact_half(uint16_t bits);
// Where coefficient (u, v) of a block is: bytes from the array's beginning.
int64_t place(const CoefKinds& kinds, const CoefArray& array, int u, int v, int bx, int by);
// Counts *saturated up if the result does not hold the number.
void convert_one(const CoefKinds& from, const uint8_t* source, const CoefKinds& to, uint8_t* result,
                 uint16_t divisor, uint64_t* saturated);

}  // namespace cudatransform::test
