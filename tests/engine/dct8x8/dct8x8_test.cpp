// Every method, engine, direction, form, placement, depth, sampling and arrangement against the
// definition; and mutants that these cases must find.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The integer methods are also compared with the portable engine, to the bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/dct8x8/cases.h"
#include "tests/engine/engines.h"
#include "tests/engine/mutants.h"
#include "transform/dct8x8/1d.h"

namespace cudatransform::test {
namespace {

void check_all(const CaseList& list) {
  check_cases(list.cases, case_step(), engines(), [](const Engine& engine, const Case& test) {
    return engine.covers(test.spec.method);
  });
}

TEST(Dct8x8, AgreesWithTheDefinition) {
  std::printf("%zu cases; pairs of property values met: %zu of about %zu that can meet\n",
              all_cases().cases.size(), all_cases().pairs_met, all_cases().pairs_possible);
  check_all(all_cases());
}

TEST(Dct8x8, AgreesWithTheDefinitionScaled) {
  std::printf("%zu cases; pairs of property values met: %zu\n", scaled_cases().cases.size(),
              scaled_cases().pairs_met);
  check_all(scaled_cases());
}

// libjpeg's factor of frequency `k` in sample `n` of a scaled inverse, in units of 2^-13: summed
// over the samples of the full size.
int64_t scaled_islow_factor(int n, int k, int scale) {
  double sum = 0;
  for (int i = n * scale; i < (n + 1) * scale; ++i)
    sum += k == 0 ? 1 : std::sqrt(2.0) * std::cos((2 * i + 1) * k * std::acos(-1.0) / 16);
  return std::lround(8192 * sum);
}

// By libjpeg's arithmetic of 12 bits: between its roundings it is linear, so that matrices have the
// same integers.
Picture scaled_islow_of_12_bits(const Coefficients& values, Picture picture, int scale) {
  const int size = 8 / scale, log = scale == 2 ? 1 : 2;
  const auto descaled = [](int64_t sum, int bits) { return (sum + (1 << (bits - 1))) >> bits; };
  for (size_t c = 0; c < picture.size(); ++c)
    for (int y = 0; y < picture[c].rows; ++y)
      for (int x = 0; x < picture[c].width; ++x) {
        const double* block = values[c].block(x / size, y / size);
        int64_t row = 0;
        for (int u = 0; u < 8; ++u) {
          int64_t column = 0;
          for (int v = 0; v < 8; ++v)
            column += scaled_islow_factor(y % size, v, scale) * std::lround(block[8 * v + u]);
          row += scaled_islow_factor(x % size, u, scale) * descaled(column, 12 + log);
        }
        picture[c].at(x, y) =
            static_cast<int>(std::clamp<int64_t>(descaled(row, 17 + log) + 2048, 0, 4095));
      }
  return picture;
}

TEST(Dct8x8, ScaledIslowOf12BitsIsLibjpegs) {
  Spec spec;
  spec.depth = 12;
  for (const Content content : {Content::kPhoto, Content::kNoise, Content::kExtreme})
    for (const int q : {1, 7, 300}) {
      for (QuantTable& table : spec.tables) std::fill_n(table.q, 64, static_cast<uint16_t>(q));
      const Picture full = make_picture(Sampling::k420, 45, 37, 12, content, 5);
      spec.scale = 1;
      const Coefficients qcoefs = run_forward(portable_engine(), spec, full).coefs;
      for (const int scale : {2, 4}) {
        spec.scale = scale;
        const Picture expected = scaled_islow_of_12_bits(dequantize(qcoefs, spec.tables),
                                                         empty_scaled_picture(full, scale), scale);
        for (const Engine& engine : engines()) {
          const InverseResult result = run_inverse(engine, spec, qcoefs, expected);
          EXPECT_EQ(result.fault + judge_equal(expected, result.picture), "")
              << engine.name << " at 1/" << scale << ", q " << q;
        }
      }
    }
}

TEST(Dct8x8, AgreesWithTheDefinitionDecided) {
  std::printf("%zu cases; pairs of property values met: %zu\n", decided_cases().cases.size(),
              decided_cases().pairs_met);
  check_all(decided_cases());
}

}  // namespace

namespace {

struct Dct8x8 {
  using Job = Dct8x8Job;
  using Ops = Dct8x8Ops;
  static constexpr uint8_t kSampleFault = 2;  // an error of 1 is allowed

  static ptrdiff_t coef_row_bytes(const Job& job) {
    const int size = job.type == CoefType::kS16 ? 2 : 4;
    return ptrdiff_t{job.coefs[0].blocks_w} * (job.layout == Layout::kBlock ? 64 : 8) * size;
  }
  static int32_t coef_rows(const Job& job) { return job.coefs[0].blocks_h; }
};
using J = Dct8x8Job;

const std::vector<Mutant<J>>& dct_mutants() {
  static const std::vector<Mutant<J>> list = {
      {"order ignored", [](J& j) { j.order = Order::kRaster; }, nullptr},
      {"table index ignored",
       [](J& j) {
         for (int c = 0; c < j.components; ++c) j.coefs[c].table = 1;
       },
       nullptr},
      {"tables transposed",
       [](J& j) {
         for (QuantTable& table : j.tables)
           for (int v = 0; v < 8; ++v)
             for (int u = 0; u < v; ++u) std::swap(table.q[8 * v + u], table.q[8 * u + v]);
       },
       nullptr},
      {"float for islow",
       [](J& j) {
         if (j.method == Method::kIslow) j.method = Method::kFloat;
       },
       nullptr},
      {"islow for float",
       [](J& j) {
         if (j.method == Method::kFloat && j.depth == 8) j.method = Method::kIslow;
       },
       nullptr},
  };
  return list;
}

std::vector<Mutant<J>> with(std::vector<Mutant<J>> more) {
  more.insert(more.end(), dct_mutants().begin(), dct_mutants().end());
  return more;
}

TEST(Mutants, AreAllFound) {
  expect_found<Dct8x8>(&Engine::ops, all_cases().cases, quick() ? 37 : 11,
                       with({{"a coefficient off by two", nullptr,
                              [](const J& j, FencePtr*) {
                                if (is_forward(j) && j.type == CoefType::kS16)
                                  static_cast<int16_t*>(j.coefs[0].data)[63] += 2;
                              }},
                             {"error mismeasured", nullptr, [](const J& j, FencePtr*) {
                                if (j.sums != nullptr) j.sums->sse[0] += 1 + j.sums->sse[0] / 1000;
                              }}}));
}

TEST(Mutants, AreAllFoundScaled) {
  // Blocks that are four samples wide instead of two, and so on.
  expect_found<Dct8x8>(&Engine::ops, scaled_cases().cases, 7,
                       with({{"scale mistaken",
                              [](J& j) {
                                if (j.scale == 1 || j.scale == 8) return;
                                j.scale *= 2;
                                for (int c = 0; c < j.components; ++c) {
                                  SamplePlane& p = j.samples[c];
                                  p.width = scaled_size(p.width, 2);
                                  p.height = scaled_size(p.height, 2);
                                }
                              },
                              nullptr}}));
}

TEST(Mutants, AreAllFoundDecided) {
  expect_each_found<Dct8x8>(
      &Engine::ops, decided_cases().cases, 3,
      {{"coefficients rounded", [](J& j) { j.quantizer = Quantizer::kRound; }, nullptr},
       {"a dead zone instead of rd",
        [](J& j) {
          if (j.quantizer == Quantizer::kRd) j.quantizer = Quantizer::kDeadZone;
        },
        nullptr},
       {"a dead zone a hundredth too wide",
        [](J& j) { j.dead_zone = std::min(1000, j.dead_zone + 10); }, nullptr},
       {"lambda a tenth too large", [](J& j) { j.rd_lambda = std::min(1.0, j.rd_lambda * 1.1); },
        nullptr},
       {"chroma taken for luma",
        [](J& j) {
          for (CoefPlane& plane : j.coefs) plane.chroma = false;
        },
        nullptr},
       {"DC decided", nullptr, [](const J& j, FencePtr*) {
          auto* dc = static_cast<int16_t*>(j.coefs[0].data);
          *dc = static_cast<int16_t>(*dc - (*dc > 0) + (*dc < 0));
        }}});
}

}  // namespace

// On the host a multiply-add rounds twice; the graphs are the same.

namespace {

constexpr int kRuns = 1000;

double scale(int k) { return std::sqrt(8.0) * kAanScale[k]; }

// Orthonormal.
double definition(const double* x, int k) {
  double sum = 0;
  for (int n = 0; n < 8; ++n) sum += x[n] * cosine_sixteenth((2 * n + 1) * k);
  return sum * (k == 0 ? std::sqrt(0.125) : 0.5);
}

TEST(Float1d, ForwardIsTheScaledTransform) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> sample(0, 255);
  for (int run = 0; run < kRuns; ++run) {
    double x[8];
    float v[16];
    for (int n = 0; n < 8; ++n) v[2 * n] = static_cast<float>(x[n] = std::floor(sample(random)));
    float_forward_1d<2>(v);
    for (int k = 0; k < 8; ++k)
      ASSERT_NEAR(v[2 * k], definition(x, k) * scale(k), 1e-3) << "frequency " << k;
  }
}

TEST(Float1d, InverseUndoesIt) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> sample(-128, 127);
  for (int run = 0; run < kRuns; ++run) {
    double x[8];
    float v[8];
    for (double& value : x) value = sample(random);
    for (int k = 0; k < 8; ++k)
      v[k] = static_cast<float>(definition(x, k) * kAanScale[k] / std::sqrt(8.0));
    float_inverse_1d<1>(v, [](float value) { return value; });
    for (int n = 0; n < 8; ++n) ASSERT_NEAR(v[n], x[n], 1e-3) << "sample " << n;
  }
}

// The saturation comes last, and nowhere else.
TEST(Float1d, AppliesTheLastStepToEveryOutput) {
  float plain[8] = {1.5f, -0.25f, 0.5f, 0.125f, -1.0f, 0.75f, -0.5f, 0.25f}, last[8];
  for (int k = 0; k < 8; ++k) last[k] = plain[k];
  float_inverse_1d<1>(plain, [](float value) { return value; });
  float_inverse_1d<1>(last, [](float value) { return 2.0f * value; });
  for (int n = 0; n < 8; ++n) EXPECT_EQ(last[n], 2.0f * plain[n]) << n;
}

}  // namespace

}  // namespace cudatransform::test
