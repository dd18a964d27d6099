// Pyramids of wavelet coefficients in an engine's memory, ringed by canaries.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/engine/dwt/definition.h"
#include "tests/engine/frame.h"

namespace cudatransform::test::dwt {

using Pyramids = std::vector<Values>;  // by component

class PyramidFrame : public GuardedFrame {
 public:
  PyramidFrame(const Engine& engine, const Pyramids& like, DwtCoefType type, bool writable,
               uint32_t seed);
  void fill(const Pyramids& coefs);
  void poison();
  void read(Pyramids* coefs);
  void describe(DwtPlane planes[3]) const;

 private:
  struct Component {
    size_t offset, pitch;
    int width, rows;
  };
  // Calls function(address, x, y) for every coefficient of component `c`.
  template <typename Function>
  void for_each(size_t c, Function function);

  DwtCoefType type_;
  std::vector<Component> components_;  // each has a buffer
};

}  // namespace cudatransform::test::dwt
