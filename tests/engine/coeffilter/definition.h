// The definition of conversions between coefficients: exact numbers, one at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/engine/frame.h"
#include "transform/coeffilter/coefs.h"
#include "transform/coeffilter/convert.h"

namespace cudatransform::test {

using Exact = long double;  // of 64 bits: holds a quantized coefficient times its divisor, and
                            // every number here

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

// A component: block (x, y)'s coefficient (u, v) at natural index 8 v + u of block y blocks_w + x.
struct CoefComponent {
  int blocks_w = 0, blocks_h = 0;
  std::vector<int64_t> values;  // those of floating point are whole, too

  CoefComponent() = default;
  CoefComponent(int w, int h) : blocks_w(w), blocks_h(h), values(size_t(w) * h * 64) {}
  int64_t* block(int x, int y) { return &values[(size_t(y) * blocks_w + x) * 64]; }
  const int64_t* block(int x, int y) const { return &values[(size_t(y) * blocks_w + x) * 64]; }
};
using CoefComponents = std::vector<CoefComponent>;

// One buffer for each component, with gaps that `seed` chooses.
class CoefPlanes : public GuardedFrame {
 public:
  CoefPlanes(const Engine& engine, const CoefComponents& like, CoefNumber number,
             CoefArrangement arrangement, bool writable, uint32_t seed);
  void fill(const CoefComponents& components);
  void poison();
  CoefComponents read();
  void describe(CoefArray arrays[kMaxCoefArrays]) const;

 private:
  struct Place {
    int blocks_w, blocks_h;
    size_t offset, pitch;
  };
  uint8_t* at(size_t c, int x, int y, int natural);

  CoefNumber number_;
  CoefArrangement arrangement_;
  std::vector<Place> places_;
};

}  // namespace cudatransform::test
