// Tables 1 and 2 of NVIDIA's "Discrete Cosine Transform for 8x8 Blocks with CUDA" (2008).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Table 1 is the PSNR of Barbara after transform, quantization, dequantization and inverse; Table 2
// the PSNR between the results of two implementations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/test_data.h"
#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {
namespace {

constexpr Method kMethods[] = {Method::kFloat,   Method::kReference, Method::kNaive,
                               Method::kMatrix,  Method::kSeparable, Method::kDecomposed,
                               Method::kShuffle, Method::kIslow,     Method::kIfast};

class Whitepaper : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = find_test_data("barbara.pgm");
    if (path.empty()) GTEST_SKIP() << "no barbara.pgm";
    std::string error;
    picture_.resize(1);
    ASSERT_TRUE(read_pgm(path, &picture_[0], &error)) << error;
    table_ = preset_table(QuantPreset::kWhitepaper, QuantComponent::kLuma, 50);
  }

  BytePicture picture_;
  QuantTable table_;
};

// Bounds on the number of the definition's zero quantized coefficients: exact ties may fall either
// way.
struct ZeroRange {
  int least = 0, most = 0;
};

ZeroRange zero_range(const BytePlane& plane, const QuantTable& table) {
  Plane samples(plane.width, plane.height);
  samples.samples.assign(plane.samples.begin(), plane.samples.end());
  const Coefficients exact = definition_forward({samples}, 8);
  ZeroRange range;
  for (size_t i = 0; i < exact[0].values.size(); ++i) {
    const double quotient = std::fabs(exact[0].values[i]) / table.q[i % 64];
    // The relative accuracy of an fp32 quotient of coefficients up to 1024.
    const double doubt = 1024 * 0x1p-18 / table.q[i % 64];
    range.least += quotient < 0.5 - doubt;
    range.most += quotient < 0.5 + doubt;
  }
  return range;
}

bool promises_table_1(Method method) {
  return method != Method::kIslow && method != Method::kIfast;
}

TEST_F(Whitepaper, Table1) {
  const ZeroRange zeros_of_definition = zero_range(picture_[0], table_);
  std::printf("%-26s  %9s  %9s  %d to %d zeros, by ties\n", "definition", "", "",
              zeros_of_definition.least, zeros_of_definition.most);
  EXPECT_LT(100.0 * zeros_of_definition.least / (512 * 512), 83.20);
  EXPECT_GT(100.0 * zeros_of_definition.most / (512 * 512), 83.20);
  std::printf("%-14s %-11s  %9s  %9s  %7s\n", "engine", "method", "dB", "dB, sums", "zeros %");
  for (const Engine& engine : engines())
    for (const Method method : kMethods) {
      if (!engine.covers(method)) continue;
      const FlatOptions options{method, {&table_, 1}};
      PictureSums sums;
      const Qcoefs qcoefs = forward_qcoefs(engine, options, picture_, &sums);
      const BytePicture decoded = inverse_planes(engine, options, qcoefs, picture_);
      const auto samples = static_cast<double>(picture_[0].samples.size());
      const double result = psnr(picture_[0], decoded[0]);
      const double measured =
          10 * std::log10(255.0 * 255.0 * samples / static_cast<double>(sums.sse[0]));
      const auto zeros = std::count(qcoefs[0].begin(), qcoefs[0].end(), 0);
      const double share = 100.0 * static_cast<double>(zeros) / samples;
      std::printf("%-14s %-11s  %9.6f  %9.6f  %7.2f\n", engine.name.c_str(), method_name(method),
                  result, measured, share);
      const std::string where = engine.name + " " + method_name(method);
      EXPECT_EQ(sums.zeros[0], static_cast<uint64_t>(zeros)) << where;
      if (promises_table_1(method)) {
        EXPECT_NEAR(result, 32.7771, 0.0005) << where;
        EXPECT_NEAR(measured, 32.7771, 0.0005) << where;
        EXPECT_NEAR(measured, result, 0.001) << where;
        EXPECT_GE(zeros, zeros_of_definition.least) << where;
        EXPECT_LE(zeros, zeros_of_definition.most) << where;
      } else {
        EXPECT_EQ(measured, result) << where << ": the sums of integer methods are exact";
        EXPECT_GT(result, 32.5) << where;
      }
    }
}

TEST_F(Whitepaper, Table2) {
  std::printf("against portable: %-14s %-11s  %9s\n", "engine", "method", "dB");
  for (const Method method : kMethods) {
    const FlatOptions options{method, {&table_, 1}};
    const BytePicture expected = inverse_planes(
        portable_engine(), options, forward_qcoefs(portable_engine(), options, picture_), picture_);
    for (const Engine& engine : engines()) {
      if (!engine.covers(method)) continue;
      const BytePicture decoded =
          inverse_planes(engine, options, forward_qcoefs(engine, options, picture_), picture_);
      const double result = psnr(expected[0], decoded[0]);
      std::printf("                  %-14s %-11s  %9.4f\n", engine.name.c_str(),
                  method_name(method), result);
      const std::string where = engine.name + " " + method_name(method);
      if (promises_table_1(method))
        EXPECT_GE(result, 50) << where;
      else
        EXPECT_EQ(result, INFINITY) << where;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
