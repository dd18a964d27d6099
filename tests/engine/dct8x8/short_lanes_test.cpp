// The CPU engine's 16-bit lanes: every divisor of their quantizer, and every instruction set
// against the portable engine, to the bit.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/dct8x8/judge.h"
#include "transform/dct8x8/quantizer_short.h"

namespace cudatransform::test {
namespace {

// The arithmetic of one lane.
uint32_t short_quotient(uint32_t magnitude, const ShortDivisor& numbers) {
  const uint32_t sum = uint16_t(magnitude + numbers.half);
  return (((sum * numbers.reciprocal) >> 16) * numbers.scale) >> 16;
}

// 32768 is the largest magnitude of 16 bits.
TEST(ShortLanes, EveryDivisorDividesEveryMagnitude) {
  for (uint32_t divisor = 3; divisor <= 8191; divisor += quick() ? 37 : 1) {
    ShortDivisor numbers;
    ASSERT_TRUE(make_short_divisor(divisor, &numbers));
    uint32_t wrong = 0;
    for (uint32_t x = 0; x <= 32768; ++x) {
      wrong += short_quotient(x, numbers) != (x + divisor / 2) / divisor;
    }
    ASSERT_EQ(wrong, 0u) << "divisor " << divisor;
  }
  ShortDivisor numbers;
  for (const int64_t divisor : {int64_t{0}, int64_t{2}, int64_t{8192}, int64_t{1} << 40}) {
    EXPECT_FALSE(make_short_divisor(divisor, &numbers)) << divisor;
  }
}

// The tables find the methods' own divisors again, which the portable engine never sees as such.
TEST(ShortLanes, TablesDivideAsThePortableQuantizer) {
  for (const Method method : {Method::kIslow, Method::kIfast}) {
    for (int q = 1; q <= 1023; q += quick() ? 37 : 1) {
      QuantTable quant;
      for (uint16_t& v : quant.q) v = uint16_t(q);
      const ForwardTable wide = make_forward_table(method, &quant);
      const ShortForwardTable narrow = make_short_forward_table(wide);
      // ifast's smallest factor is 0.076 x 8, the largest 1.92 x 8.
      const bool expected = method == Method::kIslow || (q >= 5 && q <= 532);
      ASSERT_TRUE(narrow.usable || !expected) << method_name(method) << " q " << q;
      if (!narrow.usable) continue;
      for (int i = 0; i < 64; i += method == Method::kIslow ? 64 : 1) {
        const ShortDivisor numbers = {narrow.half[i], narrow.reciprocal[i], narrow.scale[i]};
        int wrong = 0;
        for (int x = 0; x <= 32768; x += method == Method::kIslow ? 1 : 31) {
          wrong += int(short_quotient(uint32_t(x), numbers)) !=
                   quantize_integer(x, wide.mul[i], wide.half[i]);
        }
        ASSERT_EQ(wrong, 0) << method_name(method) << " q " << q << " position " << i;
      }
    }
  }
}

// Products up to the limit need no saturation, and the limit is tight.
TEST(ShortLanes, LargeCoefficientsAreToldApart) {
  for (const int q : {1, 2, 3, 16, 36, 121, 255, 256, 1000, 16384, 32767}) {
    InverseTable wide = {};
    for (int i = 0; i < 64; ++i) wide.imul[i] = i == 17 ? q : 1;
    const ShortInverseTable narrow = make_short_inverse_table(wide);
    ASSERT_TRUE(narrow.usable);
    const int largest = ~narrow.large;  // all the bits that small coefficients have
    EXPECT_LE((largest + 1) * q, 32768) << q;
    EXPECT_GT(2 * (largest + 1) * q, 32768) << q;
  }
  InverseTable wide = {};
  for (int32_t& v : wide.imul) v = 32768;
  EXPECT_FALSE(make_short_inverse_table(wide).usable);
}

// The tables of a quality or of a constant.
QuantTable table_of(int kind, uint32_t seed) {
  std::mt19937 random(seed);
  QuantTable table;
  for (int i = 0; i < 64; ++i) {
    switch (kind) {
      case 0:
        table.q[i] = 1;
        break;
      case 1:
        table.q[i] = uint16_t(1 + random() % 64);
        break;
      case 2:
        table.q[i] = uint16_t(1 + random() % 255);
        break;
      default:
        table.q[i] = uint16_t(1 + random() % (65535u >> random() % 16));
        break;
    }
  }
  return table;
}

// Whole groups and remainders, with and without measuring, in every layout: each instruction set
// writes the portable engine's bytes. float too, whose promise is looser.
TEST(ShortLanes, EveryInstructionSetEqualsThePortableEngine) {
  for (const Method method : {Method::kIslow, Method::kIfast, Method::kFloat}) {
    for (uint32_t seed = 0; seed < (quick() ? 8u : 72u); ++seed) {
      Spec spec;
      spec.method = method;
      spec.seed = seed;
      spec.layout = seed % 5 == 3 ? Layout::kPlane : Layout::kBlock;
      spec.order = seed % 5 == 4 ? Order::kZigzag : Order::kRaster;
      spec.measure = seed % 4;
      spec.tables[0] = seed % 4 == 1 ? preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma,
                                                    1 + int(seed * 3 % 100))
                                     : table_of(int(seed / 2 % 4), seed);
      const auto content = static_cast<Content>(seed % kContentCount);
      const Picture picture = make_picture(Sampling::kGray, 120 + int(seed * 7 % 41),
                                           40 + int(seed % 9), 8, content, seed + 1);
      const Picture other = make_picture(Sampling::kGray, picture[0].width, picture[0].rows, 8,
                                         Content::kPhoto, seed + 100);
      const ForwardResult qcoefs = run_forward(portable_engine(), spec, picture);
      const InverseResult samples =
          run_inverse(portable_engine(), spec, qcoefs.coefs, picture, &other);
      for (const Engine& engine : engines()) {
        if (engine.is_cuda) continue;
        const std::string where =
            engine.name + " " + method_name(method) + " seed " + std::to_string(seed);
        const ForwardResult forward = run_forward(engine, spec, picture);
        EXPECT_EQ(forward.fault, "") << where;
        EXPECT_EQ(judge_equal(qcoefs.coefs, forward.coefs), "") << where;
        const InverseResult inverse = run_inverse(engine, spec, qcoefs.coefs, picture, &other);
        EXPECT_EQ(inverse.fault, "") << where;
        EXPECT_EQ(judge_equal(samples.picture, inverse.picture), "") << where;
        if ((spec.measure & kMeasureSse) != 0) {
          EXPECT_EQ(forward.sums.sse[0], qcoefs.sums.sse[0]) << where;
          EXPECT_EQ(inverse.sums.sse[0], samples.sums.sse[0]) << where;
        }
        if ((spec.measure & kMeasureZeros) != 0) {
          EXPECT_EQ(forward.sums.zeros[0], qcoefs.sums.zeros[0]) << where;
          EXPECT_EQ(inverse.sums.zeros[0], samples.sums.zeros[0]) << where;
        }
      }
    }
  }
}

// Quantized coefficients that no encoder makes: float's samples may leave 16 bits, but only
// together with 8-bit tables' products, and saturate like the portable ones.
TEST(ShortLanes, FloatAgreesOnAnyQcoefs) {
  const Picture blank = empty_picture(Sampling::kGray, 320, 64);
  std::mt19937 random(7);
  for (const int q : {1, 16, 255, 2047, 2048, 65535}) {
    Spec spec;
    spec.method = Method::kFloat;
    for (uint16_t& v : spec.tables[0].q) v = uint16_t(q);
    Coefficients qcoefs = {Blocks(40, 8)};
    for (int i = 0; i < 40 * 8; ++i) {
      const uint32_t kind = random() % 3;
      for (int k = 0; k < 64; ++k) {
        const auto any = static_cast<int16_t>(random());
        qcoefs[0].block(i % 40, i / 40)[k] = kind == 0   ? any
                                             : kind == 1 ? any / 64
                                             : any < 0   ? -32768
                                                         : 32767;
      }
    }
    const InverseResult expected = run_inverse(portable_engine(), spec, qcoefs, blank);
    for (const Engine& engine : engines()) {
      if (engine.is_cuda) continue;
      const InverseResult result = run_inverse(engine, spec, qcoefs, blank);
      EXPECT_EQ(result.fault, "") << engine.name << " q " << q;
      EXPECT_EQ(judge_equal(expected.picture, result.picture), "") << engine.name << " q " << q;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
