// GPUDCT's test: the inverse transform of a whole photograph's coefficients, method by method, as
// PSNR of each component against the definition in double precision.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The picture is 006mp-cathedral.jpg of imagecompression.info's new test images, 2000x3008, 4:4:4.
// GPUDCT requires 50 dB against a single-precision inverse; the definition judges more strictly,
// and test_data.h explains the two figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/test_data.h"
#include "tests/jpeg/codec.h"

namespace cudatransform::test {
namespace {

constexpr Method kMethods[] = {Method::kFloat,      Method::kIslow,   Method::kIfast,
                               Method::kNaive,      Method::kMatrix,  Method::kSeparable,
                               Method::kDecomposed, Method::kShuffle, Method::kReference};

// dB, with ties counted as right. Single-precision arithmetic misses a rounding here and there;
// integers miss more.
double promised(Method method) {
  if (method == Method::kReference) return HUGE_VAL;
  if (method == Method::kIslow) return 57;
  return method == Method::kIfast ? 50 : 75;
}

double psnr_of(double squared_error, size_t samples) {
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(samples) / squared_error);
}

struct Figures {
  double all, without_ties;  // dB
};
Figures judge(const std::vector<Gold>& gold, const BytePlane& plane) {
  const InverseErrors errors = judge_inverse(gold, plane);
  return {psnr_of(errors.all, gold.size()), psnr_of(errors.without_ties, gold.size())};
}

TEST(Gpudct, Cathedral) {
  const std::vector<uint8_t> file = read_test_data("006mp-cathedral.jpg");
  if (file.empty()) GTEST_SKIP() << "no 006mp-cathedral.jpg";
  const JpegContents photograph = jpeg_qcoefs(file);
  ASSERT_EQ(photograph.qcoefs.size(), 3u);

  const auto gold = gold_of(photograph);
  for (const auto& component : gold)
    std::printf("%.2f %% of the samples are ties\n",
                100.0 *
                    static_cast<double>(std::count_if(component.begin(), component.end(),
                                                      [](Gold g) { return g.low != g.high; })) /
                    static_cast<double>(component.size()));
  FlatOptions options{Method::kReference, photograph.tables};
  std::printf("%-14s %-11s  %8s %8s %8s   ties right: %8s %8s %8s\n", "engine", "method", "Y dB",
              "Cb", "Cr", "Y dB", "Cb", "Cr");
  for (const Engine& engine : engines())
    for (const Method method : kMethods) {
      if (!engine.covers(method)) continue;
      // Memory checkers learn nothing new from six million samples for each.
      if (quick() && method != Method::kIslow && method != Method::kFloat) continue;
      options.method = method;
      const BytePicture planes =
          inverse_planes(engine, options, photograph.qcoefs, photograph.planes);
      Figures figures[3];
      for (size_t c = 0; c < 3; ++c) figures[c] = judge(gold[c], planes[c]);
      std::printf("%-14s %-11s  %8.2f %8.2f %8.2f               %8.2f %8.2f %8.2f\n",
                  engine.name.c_str(), method_name(method), figures[0].all, figures[1].all,
                  figures[2].all, figures[0].without_ties, figures[1].without_ties,
                  figures[2].without_ties);
      for (const Figures& component : figures)
        EXPECT_GE(component.without_ties, promised(method))
            << engine.name << " " << method_name(method);
    }
}

}  // namespace
}  // namespace cudatransform::test
