// Components' coefficients in an engine's memory, ringed by canaries, as verbs see them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "tests/engine/frame.h"
#include "transform/verbs/coefs.h"

namespace cudatransform::test {

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
  void describe(CoefArray arrays[kMostCoefArrays]) const;

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
