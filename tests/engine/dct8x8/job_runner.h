// Runs one job of the DCT on one engine: fills guarded planes, submits, waits, reads back, checks
// the borders.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/frame.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {

// Whether Quantizer::kRd takes component `c` of a test for chroma, for any picture.
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

// A job without its data.
struct Spec {
  Method method = Method::kIslow;
  CoefType type = CoefType::kS16;
  bool quantized = true;
  Layout layout = Layout::kBlock;
  Order order = Order::kRaster;
  int depth = 8;
  int scale = 1;  // inverse
  Arrangement arrangement = Arrangement::kPlanar;
  int chroma_row_repeat = 1;  // inverse
  uint32_t measure = 0;
  uint32_t seed = 1;                   // of pitches, offsets, gaps and junk
  std::array<QuantTable, 3> tables{};  // one per component
  Quantizer quantizer = Quantizer::kRound;
  int dead_zone = 600;
  double rd_lambda = 0.0625;
};

using ForwardResult = ForwardOf<Coefficients>;

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture);
// `like` gives the sizes; `reference` may be null unless spec.measure requests the squared error.
InverseResult run_inverse(const Engine& engine, const Spec& spec, const Coefficients& coefs,
                          const Picture& like, const Picture* reference = nullptr);

// The job without planes: method, type, tables.
Dct8x8Job job_of(const Spec& spec, Direction direction, int components);

}  // namespace cudatransform::test
