// A single coefficient is where layout and order define, in both directions.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/dct8x8/judge.h"

namespace cudatransform::test {
namespace {

struct Placement {
  const char* name;
  Layout layout;
  Order order;
};
constexpr Placement kPlacements[] = {{"block raster", Layout::kBlock, Order::kRaster},
                                     {"block zigzag", Layout::kBlock, Order::kZigzag},
                                     {"plane", Layout::kPlane, Order::kRaster}};

// Checks the definition of a zigzag scan against the well-known first figures.
TEST(Placement, ZigzagTables) {
  const int first[] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5};
  for (int k = 0; k < 16; ++k) EXPECT_EQ(natural_of_zigzag(k), first[k]);
  EXPECT_EQ(natural_of_zigzag(62), 62);
  EXPECT_EQ(natural_of_zigzag(63), 63);
  for (int k = 0; k < 64; ++k) {
    EXPECT_EQ(kNaturalOfZigzag[k], natural_of_zigzag(k)) << k;
    EXPECT_EQ(kZigzagOfNatural[natural_of_zigzag(k)], k) << k;
  }
}

// 9 x 8 blocks, block i carries basis function i % 64 and, at the end, i % 64 again: every
// coefficient position and many block positions. Every divisor is different, so that a table in the
// wrong order shows.
Spec unit_spec(const Placement& placement) {
  Spec spec;
  spec.layout = placement.layout;
  spec.order = placement.order;
  for (int k = 0; k < 64; ++k) spec.tables[0].q[k] = static_cast<uint16_t>(16 + 2 * k);
  return spec;
}

Coefficients one_qcoef_each(const Spec& spec, int qcoef_times_q) {
  Coefficients coefs = {Blocks(9, 8)};
  for (int i = 0; i < 72; ++i) {
    const int k = i % 64;
    coefs[0].block(i % 9, i / 9)[k] = std::round(1.0 * qcoef_times_q / spec.tables[0].q[k]);
  }
  return coefs;
}

TEST(Placement, OneCoefficientABlock) {
  for (const Engine& engine : engines())
    for (const Placement& placement : kPlacements)
      for (const Method method :
           {Method::kIslow, Method::kIfast, Method::kFloat, Method::kReference, Method::kNaive,
            Method::kMatrix, Method::kSeparable, Method::kDecomposed, Method::kShuffle}) {
        Spec spec = unit_spec(placement);
        spec.method = method;
        // Amplitudes keep every sample in range, so the forward transform must find the quantized
        // coefficient again.
        const Coefficients qcoefs = one_qcoef_each(spec, 400);
        const Picture blank = empty_picture(Sampling::kGray, 72, 64);
        const std::string where = engine.name + " " + placement.name + " " + method_name(method);

        const InverseResult inverse = run_inverse(engine, spec, qcoefs, blank);
        EXPECT_EQ(inverse.fault, "") << where;
        const Coefficients values = dequantize(qcoefs, spec.tables);
        if (method != Method::kIfast) {
          const RealPicture exact = definition_inverse(values, blank);
          EXPECT_EQ(judge_samples(spec, exact, values, inverse.picture), "") << where;
        }

        const ForwardResult forward = run_forward(engine, spec, inverse.picture);
        EXPECT_EQ(forward.fault, "") << where;
        EXPECT_EQ(judge_equal(qcoefs, forward.coefs), "") << where;
      }
}

void use_tables(Spec* spec) {
  for (int c = 0; c < 3; ++c)
    spec->tables[c] = preset_table(QuantPreset::kAnnexK,
                                   c == 0 ? QuantComponent::kLuma : QuantComponent::kChroma, 92);
}

Spec placed(Spec spec, const Placement& placement, Arrangement arrangement) {
  spec.layout = placement.layout;
  spec.order = placement.order;
  spec.arrangement = arrangement;
  spec.seed = 101;  // not aligned, as no pool lays it out
  return spec;
}

// The same coefficients in three placements and the same samples in two arrangements give the same
// numbers: adapters must not change arithmetic.
TEST(Placement, DoesNotChangeTheArithmetic) {
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m) {
      Spec spec;
      spec.method = static_cast<Method>(m);
      if (!engine.covers(spec.method)) continue;
      use_tables(&spec);
      const Picture picture = make_picture(Sampling::k420, 75, 51, 8, Content::kPhoto, 17);
      const ForwardResult expected = run_forward(engine, spec, picture);
      const InverseResult back = run_inverse(engine, spec, expected.coefs, picture);
      for (const Placement& placement : kPlacements)
        for (const Arrangement arrangement : {Arrangement::kPlanar, Arrangement::kSemiPlanar}) {
          const Spec other = placed(spec, placement, arrangement);
          const std::string where = engine.name + " " + method_name(spec.method) + " " +
                                    placement.name + " " + arrangement_name(arrangement);
          const ForwardResult forward = run_forward(engine, other, picture);
          EXPECT_EQ(forward.fault, "") << where;
          EXPECT_EQ(judge_equal(expected.coefs, forward.coefs), "") << where;
          const InverseResult inverse = run_inverse(engine, other, expected.coefs, picture);
          EXPECT_EQ(inverse.fault, "") << where;
          EXPECT_EQ(judge_equal(back.picture, inverse.picture), "") << where;
        }
    }
}

// The same at 1/2, 1/4 and 1/8, where alignment alone decides the GPU's kernel. Rows of blocks are
// longer than a CTA, and their length is no multiple of anything.
TEST(Placement, DoesNotChangeTheScaledArithmetic) {
  const Picture picture = make_picture(Sampling::k420, 2173, 51, 8, Content::kPhoto, 18);
  const Coefficients exact = definition_forward(picture, 8);
  for (const Engine& engine : engines())
    for (const int scale : {2, 4, 8})
      for (const Method method : {Method::kIslow, Method::kFloat, Method::kReference}) {
        Spec spec;
        spec.method = method;
        spec.scale = scale;
        spec.seed = 1;  // aligned as buffers of a pool are: see frame.cpp
        if (!engine.covers(method)) continue;
        use_tables(&spec);
        const std::string where =
            engine.name + " " + method_name(method) + " at 1/" + std::to_string(scale);
        const Picture like = empty_scaled_picture(picture, scale);
        const Coefficients qcoefs = quantize(exact, spec.tables);
        const Coefficients values = dequantize(qcoefs, spec.tables);
        const InverseResult expected = run_inverse(engine, spec, qcoefs, like);
        EXPECT_EQ(expected.fault, "") << where;
        const ScaledBy way =
            method == Method::kIslow ? ScaledBy::kMeans : ScaledBy::kLowFrequencies;
        EXPECT_EQ(judge_samples(spec, definition_scaled_inverse(values, like, scale, way), values,
                                expected.picture),
                  "")
            << where;
        for (const Placement& placement : kPlacements)
          for (const Arrangement arrangement : {Arrangement::kPlanar, Arrangement::kSemiPlanar}) {
            const Spec other = placed(spec, placement, arrangement);
            const InverseResult got = run_inverse(engine, other, qcoefs, like);
            EXPECT_EQ(got.fault, "") << where << " " << placement.name;
            EXPECT_EQ(judge_equal(expected.picture, got.picture), "")
                << where << " " << placement.name << " " << arrangement_name(arrangement);
          }
      }
}

}  // namespace
}  // namespace cudatransform::test
