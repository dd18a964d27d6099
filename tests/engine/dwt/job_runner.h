// Runs one wavelet job on one engine, on guarded planes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/engine/dwt/definition.h"
#include "tests/engine/frame.h"
#include "tests/engine/run_job.h"

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

using QuantIndices = std::array<std::array<uint8_t, kMaxDwtBands>, kMaxComponents>;

// A job without its data.
struct Spec {
  Shape shape;
  DwtCoefType type = DwtCoefType::kS16;
  int depth = 8;
  Arrangement arrangement = Arrangement::kPlanar;
  int chroma_row_repeat = 1;  // inverse
  uint32_t measure = 0;
  uint32_t seed = 1;  // of pitches, offsets, gaps and junk
  QuantIndices quant_index = {};
};

using ForwardResult = ForwardOf<Pyramids>;

// Zero coefficients for pictures of these sizes.
Pyramids empty_pyramids(const Picture& picture, const Shape& shape);

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture);
// `like` gives the sizes; `reference` may be null unless spec.measure requests the squared error.
InverseResult run_inverse(const Engine& engine, const Spec& spec, const Pyramids& coefs,
                          const Picture& like, const Picture* reference = nullptr);

}  // namespace cudatransform::test::dwt
