// islow and ifast against libjpeg-turbo, to the last bit: quantized coefficients, planes, tables,
// quantizer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <span>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/test_data.h"
#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/dct8x8/job_runner.h"
#include "tests/jpeg/codec.h"

namespace cudatransform::test {
namespace {

constexpr Method kIntegerMethods[] = {Method::kIslow, Method::kIfast};

// libjpeg-turbo's quantized coefficients and planes of a source, once for all engines.
struct Judgement {
  std::vector<QuantTable> tables;
  Qcoefs qcoefs;
  BytePicture planes;
};

Judgement judge(const Source& source, const std::vector<QuantTable>& tables, Method method) {
  const std::vector<uint8_t> file =
      jpeg_from_planes(source.planes, source.sampling, source.width, source.height, tables, method);
  JpegContents contents = jpeg_qcoefs(file);
  return {tables, std::move(contents.qcoefs), jpeg_planes(file, method).planes};
}

struct Score {
  int jobs = 0, unequal = 0;
};

// Comparisons with libjpeg-turbo, printed at the end.
class Comparisons {
 public:
  ~Comparisons() {
    for (const auto& [name, score] : scores_)
      std::printf("%-24s %4d comparisons with libjpeg-turbo, %d unequal\n", name.c_str(),
                  score.jobs, score.unequal);
  }

  // `targets`: also those engines that are one Highway target each.
  void compare(const Source& source, Method method, const std::vector<QuantTable>& tables,
               const std::string& what, bool targets = true) {
    const Judgement expected = judge(source, tables, method);
    const FlatOptions options{method, expected.tables};
    for (const Engine& engine : engines()) {
      if (!targets && engine.highway_target != 0) continue;
      const std::string name = engine.name + " " + method_name(method);
      const std::string where = name + ", " + source.name + ", " + what;
      const std::string qcoefs =
          first_difference(expected.qcoefs, forward_qcoefs(engine, options, source.planes));
      const std::string planes = first_difference(
          expected.planes, inverse_planes(engine, options, expected.qcoefs, source.planes));
      Score& score = scores_[name];
      score.jobs += 2;
      score.unequal += !qcoefs.empty() + !planes.empty();
      EXPECT_EQ(qcoefs, "") << where;
      EXPECT_EQ(planes, "") << where;
    }
  }

  // Both methods at these qualities.
  void compare_qualities(const Source& source, std::span<const int> qualities = kQualities,
                         std::span<const Method> methods = kIntegerMethods, bool targets = true) {
    for (const Method method : methods)
      for (const int quality : qualities)
        compare(source, method, tables_for(source.planes.size(), quality),
                "quality " + std::to_string(quality), targets || quality == 75);
  }

 private:
  std::map<std::string, Score> scores_;
};

Source noise(JpegSampling sampling, size_t components, int width, int height, uint32_t seed) {
  std::mt19937 random(seed);
  return make_source("noise", sampling, components, width, height,
                     [&](size_t, int, int) { return static_cast<uint8_t>(random()); });
}

// A part of a picture, chroma averaged down to the sampling.
Source crop(const std::string& name, const BytePicture& whole, JpegSampling sampling, int x0,
            int y0, int width, int height) {
  return make_source(name, sampling, whole.size(), width, height, [&](size_t c, int x, int y) {
    const int h = c == 0 ? 1 : sampling.h, v = c == 0 ? 1 : sampling.v;
    int sum = 0;
    for (int j = 0; j < v; ++j)
      for (int i = 0; i < h; ++i)
        sum += whole[c].samples[static_cast<size_t>(y0 + y + j) * whole[c].width + x0 + x + i];
    return (2 * sum + h * v) / (2 * h * v);
  });
}

TEST(Libjpeg, QualityTables) {
  for (int quality = 1; quality <= 100; ++quality) {
    const std::vector<QuantTable> expected = jpeg_quality_tables(quality);
    for (int t = 0; t < 2; ++t) {
      const QuantTable got = preset_table(
          QuantPreset::kAnnexK, t == 0 ? QuantComponent::kLuma : QuantComponent::kChroma, quality);
      for (int k = 0; k < 64; ++k)
        ASSERT_EQ(got.q[k], expected[t].q[k])
            << "quality " << quality << " table " << t << " " << k;
    }
  }
}

TEST(Libjpeg, Noise) {
  const std::pair<int, int> sizes[] = {{1, 1}, {7, 9}, {33, 17}, {65, 50}, {160, 128}};
  Comparisons comparisons;
  uint32_t seed = 1;
  for (const auto& [width, height] : sizes)
    for (const auto& [sampling, components] : {std::pair{JpegSampling{1, 1}, size_t{1}},
                                               {JpegSampling{1, 1}, size_t{3}},
                                               {JpegSampling{2, 1}, size_t{3}},
                                               {JpegSampling{2, 2}, size_t{3}},
                                               {JpegSampling{4, 1}, size_t{3}},
                                               {JpegSampling{1, 2}, size_t{3}}})
      comparisons.compare_qualities(noise(sampling, components, width, height, seed++));
}

// Samples that drive coefficients to their limits: 16-bit arithmetic must fail where
// libjpeg-turbo's does, or not at all. Above quality 90 libjpeg refuses to code such quantized
// coefficients. ifast's sums are 16 bits wide where libjpeg-turbo runs on x86, and ours everywhere;
// on other processors libjpeg-turbo differs from itself where these overflow.
TEST(Libjpeg, Extremes) {
#if defined(__x86_64__)
  const std::vector<Method> methods(std::begin(kIntegerMethods), std::end(kIntegerMethods));
#else
  const std::vector<Method> methods = {Method::kIslow};
#endif
  constexpr int kLowQualities[] = {1, 5, 25, 50, 75, 90};
  Comparisons comparisons;
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Picture picture = make_picture(Sampling::kGray, 512, 128, 8, Content::kExtreme, seed);
    comparisons.compare_qualities(
        make_source("extremes", {1, 1}, 1, 512, 128,
                    [&](size_t, int x, int y) { return picture[0].at(x, y); }),
        kLowQualities, methods);
  }
}

// Tables that no quality makes: every divisor 1..255 at some place, in random order.
TEST(Libjpeg, EveryDivisor) {
  Comparisons comparisons;
  std::vector<uint16_t> divisors(256);
  std::iota(divisors.begin(), divisors.end(), uint16_t{0});
  divisors[0] = 255;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    std::shuffle(divisors.begin(), divisors.end(), random);
    // Four gray pictures, one for each quarter of the divisors.
    for (int quarter = 0; quarter < 4; ++quarter) {
      std::vector<QuantTable> tables(1);
      std::copy_n(divisors.begin() + 64 * quarter, 64, tables[0].q);
      Source source = noise({1, 1}, 1, 192, 128, seed * 4 + quarter);
      // Contrast from full to faint, so that quantized coefficients near zero are met too.
      for (size_t i = 0; i < source.planes[0].samples.size(); ++i) {
        uint8_t& sample = source.planes[0].samples[i];
        sample = static_cast<uint8_t>(128 + (sample - 128) / (1 + static_cast<int>(i / 192 / 16)));
      }
      for (const Method method : kIntegerMethods)
        comparisons.compare(source, method, tables, "divisors of seed " + std::to_string(seed));
    }
  }
}

TEST(Libjpeg, Barbara) {
  const std::string path = find_test_data("barbara.pgm");
  if (path.empty()) GTEST_SKIP() << "no barbara.pgm";
  Source source{"Barbara", {1, 1}, 0, 0, {}};
  source.planes.resize(1);
  std::string error;
  ASSERT_TRUE(read_pgm(path, &source.planes[0], &error)) << error;
  source.width = source.planes[0].width;
  source.height = source.planes[0].height;
  Comparisons().compare_qualities(source);
}

TEST(Libjpeg, Cathedral) {
  const std::vector<uint8_t> file = read_test_data("006mp-cathedral.jpg");
  if (file.empty()) GTEST_SKIP() << "no 006mp-cathedral.jpg";
  const JpegContents decoded = jpeg_planes(file, Method::kIslow);
  ASSERT_EQ(decoded.planes.size(), 3u);
  ASSERT_EQ(decoded.sampling.h * decoded.sampling.v, 1) << "expected 4:4:4";

  Comparisons comparisons;
  if (!quick()) {
    // Both decode the file's own quantized coefficients, as its encoder made them.
    const JpegContents own = jpeg_qcoefs(file);
    for (const Method method : kIntegerMethods) {
      const BytePicture expected = jpeg_planes(file, method).planes;
      for (const Engine& engine : engines()) {
        const BytePicture got = inverse_planes(engine, {method, own.tables}, own.qcoefs, expected);
        EXPECT_EQ(first_difference(expected, got), "")
            << engine.name << " " << method_name(method) << ", the file itself";
      }
    }
    comparisons.compare_qualities(
        {"cathedral 4:4:4", {1, 1}, decoded.width, decoded.height, decoded.planes}, kQualities,
        kIntegerMethods, false);
  }
  // Odd sizes and the other samplings on parts of it.
  comparisons.compare_qualities(
      crop("cathedral 4:2:0", decoded.planes, {2, 2}, 400, 700, 501, 375));
  comparisons.compare_qualities(
      crop("cathedral 4:2:2", decoded.planes, {2, 1}, 900, 1300, 333, 421));
  comparisons.compare_qualities(
      crop("cathedral 4:1:1", decoded.planes, {4, 1}, 100, 2000, 401, 203));
}

// ---- The quantizer ----

// Blocks in the sign of one basis function, at every contrast, with a little noise: the magnitudes
// of that coefficient reach from 0 to the largest there is.
Picture quantizer_fodder() {
  std::mt19937 random(9);
  Picture picture = make_picture(Sampling::kGray, 512, 256, 8, Content::kExtreme, 10);
  for (int by = 0; by < 32; ++by)
    for (int bx = 0; bx < 64; ++bx) {
      const int contrast = static_cast<int>(random() % 129), noise = 1 + random() % 12;
      for (int i = 0; i < 64; ++i) {
        int& sample = picture[0].at(8 * bx + i % 8, 8 * by + i / 8);
        sample = 128 + (sample > 0 ? contrast : -contrast) + static_cast<int>(random() % noise);
        sample = std::clamp(sample, 0, 255);
      }
    }
  return picture;
}

// The engine's own quantizer: its unquantized islow values are multiples of 1/8 and give x; the
// quantized coefficients of the same picture with each table must be the exact quotients.
TEST(Quantizer, EnginesDivideExactly) {
  const QuantTable ones = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 100);
  for (const uint16_t q : ones.q) ASSERT_EQ(q, 1);
  const Picture picture = quantizer_fodder();
  const BytePicture bytes = {{512, 256, {picture[0].samples.begin(), picture[0].samples.end()}}};

  // x from a portable run with q = 1 is not enough (it is rounded): take the real values.
  Spec spec;
  spec.quantized = false;
  spec.type = CoefType::kF32;
  for (const Engine& engine : engines()) {
    if (!engine.covers(Method::kIslow)) continue;
    const ForwardResult values = run_forward(engine, spec, picture);
    ASSERT_EQ(values.fault, "");
    std::vector<bool> met(32768);
    std::vector<int> xs;
    for (const double value : values.coefs[0].values) {
      const double x = value * 8;
      ASSERT_EQ(x, std::round(x)) << engine.name << ": islow's values are multiples of 1/8";
      xs.push_back(static_cast<int>(x));
      met[std::abs(xs.back())] = true;
    }
    for (int q = 1; q <= 255; q += (quick() ? 9 : 1)) {
      QuantTable table;
      std::fill_n(table.q, 64, static_cast<uint16_t>(q));
      const Qcoefs qcoefs = forward_qcoefs(engine, {Method::kIslow, {&table, 1}}, bytes);
      for (size_t i = 0; i < xs.size(); ++i) {
        const int qcoef = (std::abs(xs[i]) + 4 * q) / (8 * q);
        ASSERT_EQ(qcoefs[0][i], xs[i] < 0 ? -qcoef : qcoef)
            << engine.name << " x " << xs[i] << " q " << q;
      }
    }
    std::printf("%s: %zu different |x| with each of 255 divisors\n", engine.name.c_str(),
                static_cast<size_t>(std::count(met.begin(), met.end(), true)));
  }
}

}  // namespace
}  // namespace cudatransform::test
