// Input that no valid encoder produces: the largest quantized coefficients, the largest tables,
// wild floats.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "tests/engine/dct8x8/judge.h"

namespace cudatransform::test {
namespace {

Coefficients wild_qcoefs(int w, int h, uint32_t seed, double largest) {
  std::mt19937 random(seed);
  Coefficients coefs = {Blocks(w, h)};
  for (int i = 0; i < w * h; ++i) {
    double* block = coefs[0].block(i % w, i / w);
    const int density = 1 << random() % 7;
    // From block to block: anything, powers of two, or the two ends alone.
    const auto kind = random() % 3;
    for (int k = 0; k < 64; ++k) {
      if (random() % density != 0) continue;
      const double unit = static_cast<double>(static_cast<int32_t>(random())) / 0x1p31;
      const double sign = unit < 0 ? -1 : 1;
      block[k] = kind == 0 ? std::round(unit * largest)
                 : kind == 1
                     ? sign * std::ldexp(1.0, static_cast<int>(std::log2(largest) * unit * sign))
                     : (unit < 0 ? -largest - 1 : largest);
      block[k] = std::clamp(std::trunc(block[k]), -largest - 1, largest);
    }
  }
  return coefs;
}

bool in_range(const Picture& picture, int low, int high) {
  for (const Plane& plane : picture)
    for (const int sample : plane.samples)
      if (sample < low || sample > high) return false;
  return true;
}

void fill_table(Spec* spec, int q) {
  for (uint16_t& v : spec->tables[0].q) v = static_cast<uint16_t>(q);
}

// The integer methods write the same bytes on every engine, for any input.
void expect_agreement(const Spec& spec, const Coefficients& coefs, const std::string& what) {
  const Picture blank = empty_scaled_picture(empty_picture(Sampling::kGray, 320, 160), spec.scale);
  const InverseResult expected = run_inverse(portable_engine(), spec, coefs, blank);
  for (const Engine& engine : engines()) {
    const InverseResult result = run_inverse(engine, spec, coefs, blank);
    const std::string where = engine.name + " " + method_name(spec.method) + " at 1/" +
                              std::to_string(spec.scale) + " " +
                              arrangement_name(spec.arrangement) + " " + what;
    EXPECT_EQ(result.fault, "") << where;
    EXPECT_EQ(judge_equal(expected.picture, result.picture), "") << where;
  }
}

enum class Zeros { kNone, kSome, kAllButLast };

void expect_agreement_on_any_qcoefs(Spec spec) {
  for (const int q : {1, 2, 16, 255, 256, 4096, 32768, 65535})
    for (const auto& [arrangement, zeros] : {std::pair{Arrangement::kPlanar, Zeros::kNone},
                                             {Arrangement::kResidual, Zeros::kNone},
                                             {Arrangement::kPlanar, Zeros::kSome},
                                             {Arrangement::kPlanar, Zeros::kAllButLast}}) {
      spec.arrangement = arrangement;
      fill_table(&spec, q);
      uint16_t* const entries = spec.tables[0].q;
      for (int k = 0; zeros == Zeros::kSome && k < 64; k += 3) entries[k] = 0;
      // Of 1, ifast's multiplier is 0 there.
      if (zeros == Zeros::kAllButLast) std::fill_n(entries, 63, uint16_t{0});
      expect_agreement(spec, wild_qcoefs(40, 20, static_cast<uint32_t>(q), 32767),
                       "q " + std::to_string(q));
    }
}

TEST(Extremes, IntegerMethodsAgreeOnAnyQcoefs) {
  Spec spec;
  for (const Method method : {Method::kIslow, Method::kIfast}) {
    spec.method = method;
    expect_agreement_on_any_qcoefs(spec);
  }
}

TEST(Extremes, IslowOf12BitsAgreesOnAnyQcoefs) {
  Spec spec;
  spec.depth = 12;
  expect_agreement_on_any_qcoefs(spec);
}

TEST(Extremes, ScaledIslowAgreesOnAnyQcoefs) {
  Spec spec;
  for (const int depth : {8, 12})
    for (const int scale : {2, 4, 8}) {
      spec.depth = depth;
      spec.scale = scale;
      expect_agreement_on_any_qcoefs(spec);
    }
}

TEST(Extremes, IntegerMethodsAgreeOnAnyValues) {
  for (const auto& [method, depth] :
       {std::pair{Method::kIslow, 8}, {Method::kIslow, 12}, {Method::kIfast, 8}})
    for (const CoefType type : {CoefType::kS32, CoefType::kF32})
      for (const double largest : {2047.0, 32767.0, 1e6, 2147483647.0}) {
        Spec spec;
        spec.method = method;
        spec.depth = depth;
        spec.quantized = false;
        spec.type = type;
        expect_agreement(
            spec, wild_qcoefs(40, 20, 5, largest),
            "to " + std::to_string(largest) + (type == CoefType::kF32 ? " F32" : " S32"));
      }
}

// NaN, infinities and values beyond any integer: any sample is right, but there must be one, and
// nothing may trap.
TEST(Extremes, NotANumber) {
  const float wild[] = {
      std::numeric_limits<float>::quiet_NaN(),  std::numeric_limits<float>::infinity(),
      -std::numeric_limits<float>::infinity(),  std::numeric_limits<float>::max(),
      std::numeric_limits<float>::denorm_min(), -3e9f};
  const Picture full = empty_picture(Sampling::kGray, 64, 64);
  std::mt19937 random(3);
  Coefficients values = {Blocks(8, 8)};
  for (double& value : values[0].values)
    if (random() % 9 == 0) value = wild[random() % std::size(wild)];
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m)
      for (const auto& [depth, scale] :
           {std::pair{8, 1}, {10, 1}, {8, 2}, {8, 4}, {8, 8}, {12, 2}}) {
        Spec spec;
        spec.method = static_cast<Method>(m);
        spec.quantized = false;
        spec.type = CoefType::kF32;
        spec.depth = depth;
        spec.scale = scale;
        if (effective_method(spec.method, depth, scale) != spec.method) continue;
        const InverseResult result =
            run_inverse(engine, spec, values, empty_scaled_picture(full, scale));
        const std::string where = engine.name + " " + method_name(spec.method) + " at " +
                                  std::to_string(depth) + " bits, 1/" + std::to_string(scale);
        EXPECT_EQ(result.fault, "") << where;
        EXPECT_TRUE(in_range(result.picture, 0, (1 << depth) - 1)) << where;
      }
}

// Where the definition is far outside, the result is black or white.
TEST(Extremes, FloatingMethodsSaturate) {
  const Picture blank = empty_picture(Sampling::kGray, 320, 160);
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m)
      for (const int q : {1, 255, 65535}) {
        Spec spec;
        spec.method = static_cast<Method>(m);
        if (is_integer(spec.method) || !engine.covers(spec.method)) continue;
        fill_table(&spec, q);
        const Coefficients qcoefs = wild_qcoefs(40, 20, 11, 32767);
        const Coefficients values = dequantize(qcoefs, spec.tables);
        const InverseResult result = run_inverse(engine, spec, qcoefs, blank);
        const std::string where =
            engine.name + " " + method_name(spec.method) + " q " + std::to_string(q);
        ASSERT_EQ(result.fault, "") << where;
        EXPECT_TRUE(in_range(result.picture, 0, 255)) << where;
        const RealPicture exact = definition_inverse(values, blank);
        int wrong = 0;
        for (int y = 0; y < 160; ++y)
          for (int x = 0; x < 320; ++x) {
            double sum = 0;
            for (int k = 0; k < 64; ++k) sum += std::fabs(values[0].block(x / 8, y / 8)[k]);
            const double e = exact[0].at(x, y) + 128, margin = 1 + sum * 0x1p-18;
            const int g = result.picture[0].at(x, y);
            wrong += (e > 255 + margin && g != 255) || (e < -margin && g != 0);
          }
        EXPECT_EQ(wrong, 0) << where;
      }
}

// Zero in, level shift out; zero residual without it.
TEST(Extremes, AllZero) {
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m)
      for (const int depth : {8, 10, 12, 16}) {
        Spec spec;
        spec.method = static_cast<Method>(m);
        spec.depth = depth;
        if (effective_method(spec.method, depth) != spec.method) continue;
        spec.quantized = false;
        spec.type = CoefType::kS32;
        const Picture blank = empty_picture(Sampling::kGray, 23, 9);
        const Coefficients zero = empty_coefficients(blank);
        for (const Arrangement arrangement : {Arrangement::kPlanar, Arrangement::kResidual}) {
          spec.arrangement = arrangement;
          const int qcoef = arrangement == Arrangement::kPlanar ? 1 << (depth - 1) : 0;
          const InverseResult result = run_inverse(engine, spec, zero, blank);
          EXPECT_EQ(result.fault, "");
          EXPECT_TRUE(in_range(result.picture, qcoef, qcoef))
              << engine.name << " " << method_name(spec.method) << " at " << depth << " bits";
        }
      }
}

// Lossless settings come back within the rounding of the coefficients.
TEST(Extremes, RoundTrips) {
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m)
      for (const int depth : {8, 10, 12, 16})
        for (const CoefType type : {CoefType::kS32, CoefType::kF32}) {
          Spec spec;
          spec.method = static_cast<Method>(m);
          spec.depth = depth;
          spec.quantized = false;
          spec.type = type;
          if (effective_method(spec.method, depth) != spec.method || !engine.covers(spec.method))
            continue;
          if (spec.method == Method::kIfast) continue;  // promises nothing of the kind
          const Picture picture =
              make_picture(Sampling::kGray, 131, 77, depth, Content::kPhoto, 40 + depth);
          const ForwardResult forward = run_forward(engine, spec, picture);
          const InverseResult inverse = run_inverse(engine, spec, forward.coefs, picture);
          const std::string where = engine.name + " " + method_name(spec.method) + " at " +
                                    std::to_string(depth) + " bits" +
                                    (type == CoefType::kF32 ? " F32" : " S32");
          EXPECT_EQ(forward.fault + inverse.fault, "") << where;
          // Rounded coefficients: 64 errors of variance 1/12 make 0.29 a sample; 3 is ten sigma.
          // Real ones lose nothing before the last rounding, but fp32 has 24 bits.
          const int allowed = type == CoefType::kS32          ? 3
                              : spec.method == Method::kIslow ? 1
                              : depth == 16                   ? 1
                                                              : 0;
          int largest = 0;
          for (size_t i = 0; i < picture[0].samples.size(); ++i)
            largest =
                std::max(largest, std::abs(picture[0].samples[i] - inverse.picture[0].samples[i]));
          EXPECT_LE(largest, allowed) << where;
        }
}

}  // namespace
}  // namespace cudatransform::test
