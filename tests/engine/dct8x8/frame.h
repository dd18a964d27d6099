// Coefficient planes of the DCT in an engine's memory, ringed by canaries.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/engine/dct8x8/picture.h"
#include "tests/engine/frame.h"

namespace cudatransform::test {

// Whether Quantizer::kRd takes component `c` of a test for chroma, whatever its picture is.
inline bool is_decided_as_chroma(size_t c) { return c > 0; }

class CoefFrame : public GuardedFrame {
 public:
  CoefFrame(const Engine& engine, const Coefficients& like, CoefType type, Layout layout,
            Order order, bool writable, uint32_t seed);
  void fill(const Coefficients& coefs);
  void poison();
  void read(Coefficients* coefs);
  void describe(CoefPlane planes[3]) const;

 private:
  struct Component {
    size_t buffer, offset;
    CoefPlane plane;
  };
  size_t offset_of(const Component& component, int bx, int by, int natural) const;
  // Calls function(address, bx, by, natural) for every coefficient of component `c`.
  template <typename Function>
  void for_each(size_t c, const Function& function);

  CoefType type_;
  Layout layout_;
  Order order_;
  std::vector<Component> components_;
};

}  // namespace cudatransform::test
