// IEEE 1180-1990: the accuracy that video standards ask of an 8x8 inverse DCT.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The procedure is also ITU-T H.261 Annex A and ISO/IEC 23002-1. The inverse writes signed 16-bit
// samples without level shift or clamp: an 8-bit output would clamp half of them away and pass too
// easily.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tests/conformance/flat_job.h"
#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {
namespace {

constexpr int kBlocksW = 100, kBlocksH = 100, kBlocks = kBlocksW * kBlocksH;

// The standard's generator, bit for bit: 32-bit wrap-around and its double arithmetic included.
class Generator {
 public:
  int next(int low, int high) {
    state_ = state_ * 1103515245u + 12345u;
    const uint32_t i = state_ & 0x7ffffffe;
    const double x = static_cast<double>(i) / 0x7fffffff * (low + high + 1);
    return static_cast<int>(static_cast<long>(x)) - low;
  }

 private:
  uint32_t state_ = 1;
};

struct DataSet {
  int low, high;
  bool negated;
  bool required;  // by the standard; the others are wider
  std::vector<int32_t> coefs;
  std::vector<int> expected;  // samples of the fp64 inverse, rounded, clipped
  int clip;
};

DataSet make_data_set(int low, int high, bool negated, bool required) {
  DataSet set{low, high, negated, required, {}, {}, 0};
  // The standard clips samples to 9 bits, also those of its set (300, 300); the wider sets judge
  // all of their range. Coefficients have 12 bits in all of them.
  set.clip = required ? 256 : low;
  const int coef_clip = 2048;
  Generator random;
  set.coefs.resize(64 * kBlocks);
  set.expected.resize(64 * kBlocks);
  for (int b = 0; b < kBlocks; ++b) {
    double samples[64], coefs[64];
    for (double& sample : samples) {
      const int value = random.next(low, high);
      sample = negated ? -value : value;
    }
    definition_dct(samples, coefs);
    for (int k = 0; k < 64; ++k) {
      coefs[k] = std::clamp(round_half_away(coefs[k]), -1.0 * coef_clip, coef_clip - 1.0);
      set.coefs[64 * b + k] = static_cast<int32_t>(coefs[k]);
    }
    definition_idct(coefs, samples);
    for (int i = 0; i < 64; ++i)
      set.expected[64 * b + i] = static_cast<int>(
          std::clamp(round_half_away(samples[i]), -1.0 * set.clip, set.clip - 1.0));
  }
  return set;
}

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets = [] {
    std::vector<DataSet> list;
    for (const bool negated : {false, true}) {
      list.push_back(make_data_set(256, 255, negated, true));
      list.push_back(make_data_set(5, 5, negated, true));
      list.push_back(make_data_set(300, 300, negated, true));
      list.push_back(make_data_set(384, 383, negated, false));
      list.push_back(make_data_set(512, 511, negated, false));
    }
    return list;
  }();
  return sets;
}

// The standard's five figures.
struct Figures {
  int ppe = 0;      // largest error
  double pmse = 0;  // largest mean square error of a position
  double omse = 0;
  double pme = 0;  // largest magnitude of a mean error of a position
  double ome = 0;

  void widen(const Figures& f) {
    ppe = std::max(ppe, f.ppe);
    pmse = std::max(pmse, f.pmse);
    omse = std::max(omse, f.omse);
    pme = std::max(pme, f.pme);
    ome = std::max(ome, f.ome);
  }
  bool pass() const {
    return ppe <= 1 && pmse <= 0.06 && omse <= 0.02 && pme <= 0.015 && ome <= 0.0015;
  }
};

// `sample(b, i)`: sample i of block b under test.
Figures judge(const DataSet& set, const std::function<int(int, int)>& sample) {
  Figures f;
  std::array<double, 64> error{}, square{};
  for (int b = 0; b < kBlocks; ++b)
    for (int i = 0; i < 64; ++i) {
      const int got = std::clamp(sample(b, i), -set.clip, set.clip - 1);
      const int e = got - set.expected[64 * b + i];
      f.ppe = std::max(f.ppe, std::abs(e));
      error[i] += e;
      square[i] += e * e;
    }
  double error_sum = 0;
  for (int i = 0; i < 64; ++i) {
    f.pmse = std::max(f.pmse, square[i] / kBlocks);
    f.pme = std::max(f.pme, std::fabs(error[i]) / kBlocks);
    f.omse += square[i] / kBlocks / 64;
    error_sum += error[i];
  }
  f.ome = std::fabs(error_sum) / kBlocks / 64;
  return f;
}

void print(const std::string& engine, const char* method, const char* sets, const Figures& f) {
  std::printf("%-14s %-11s %-8s  %3d  %8.6f  %8.6f  %8.6f  %8.6f  %s\n", engine.c_str(), method,
              sets, f.ppe, f.pmse, f.omse, f.pme, f.ome, f.pass() ? "pass" : "FAIL");
}

void print_header() {
  std::printf("%-14s %-11s %-8s  %3s  %8s  %8s  %8s  %8s\n", "engine", "method", "sets", "ppe",
              "pmse", "omse", "pme", "ome");
  std::printf("%-14s %-11s %-8s  %3d  %8.3f  %8.3f  %8.3f  %8.4f\n", "", "", "limit", 1, 0.06, 0.02,
              0.015, 0.0015);
}

Figures judge_engine(const Engine& engine, Method method, const DataSet& set) {
  const std::vector<int16_t> got = inverse_residuals(engine, method, set.coefs, kBlocksW, kBlocksH);
  return judge(set, [&](int b, int i) {
    const int x = b % kBlocksW * 8 + i % 8, y = b / kBlocksW * 8 + i / 8;
    return static_cast<int>(got[static_cast<size_t>(y) * kBlocksW * 8 + x]);
  });
}

TEST(Ieee1180, Methods) {
  print_header();
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m) {
      const auto method = static_cast<Method>(m);
      if (!engine.covers(method)) continue;
      Figures required, wider;
      for (const DataSet& set : data_sets()) {
        // Sanitizers check memory, and numbers make no difference there: one set of each kind.
        if (sanitized() && (set.negated || (set.low != 256 && set.low != 384))) continue;
        (set.required ? required : wider).widen(judge_engine(engine, method, set));
      }
      print(engine.name, method_name(method), "standard", required);
      print(engine.name, method_name(method), "wider", wider);
      // ifast is known to miss the standard; its promise is another one.
      if (method == Method::kIfast) continue;
      EXPECT_TRUE(required.pass()) << engine.name << " " << method_name(method);
      EXPECT_TRUE(wider.pass()) << engine.name << " " << method_name(method);
    }
}

TEST(Ieee1180, AllZeroGivesAllZero) {
  const std::vector<int32_t> zero(64 * 4);
  for (const Engine& engine : engines())
    for (int m = 0; m < kMethodCount; ++m)
      for (const int16_t sample : inverse_residuals(engine, static_cast<Method>(m), zero, 2, 2))
        EXPECT_EQ(sample, 0) << engine.name << " " << method_name(static_cast<Method>(m));
}

// ---- The test itself: it must reject wrong transforms ----

using Idct = std::function<void(const double[64], double[64])>;

Figures judge_idct(const DataSet& set, const Idct& idct) {
  std::vector<int> samples(64 * kBlocks);
  for (int b = 0; b < kBlocks; ++b) {
    double coefs[64], out[64];
    for (int k = 0; k < 64; ++k) coefs[k] = set.coefs[64 * b + k];
    idct(coefs, out);
    for (int i = 0; i < 64; ++i) samples[64 * b + i] = static_cast<int>(out[i]);
  }
  return judge(set, [&](int b, int i) { return samples[64 * b + i]; });
}

TEST(Ieee1180, RejectsWrongTransforms) {
  const DataSet& set = data_sets()[0];
  const auto round_all = [](double s[64]) {
    for (int i = 0; i < 64; ++i) s[i] = round_half_away(s[i]);
  };
  const Figures right = judge_idct(set, [&](const double c[64], double s[64]) {
    definition_idct(c, s);
    round_all(s);
  });
  EXPECT_TRUE(right.pass());
  EXPECT_EQ(right.ppe, 0);

  const std::pair<const char*, Idct> wrong[] = {
      {"truncating",
       [](const double c[64], double s[64]) {
         definition_idct(c, s);
         for (int i = 0; i < 64; ++i) s[i] = std::floor(s[i]);
       }},
      {"biased 1/64",
       [&](const double c[64], double s[64]) {
         definition_idct(c, s);
         for (int i = 0; i < 64; ++i) s[i] += 1.0 / 64;
         round_all(s);
       }},
      {"7-bit gain",
       [&](const double c[64], double s[64]) {
         double scaled[64];
         for (int k = 0; k < 64; ++k) scaled[k] = k == 9 ? c[k] * 127 / 128 : c[k];
         definition_idct(scaled, s);
         round_all(s);
       }},
      {"transposed",
       [&](const double c[64], double s[64]) {
         double turned[64];
         for (int k = 0; k < 64; ++k) turned[k] = c[k % 8 * 8 + k / 8];
         definition_idct(turned, s);
         round_all(s);
       }},
      {"rows rounded between passes",
       [&](const double c[64], double s[64]) {
         // One-dimensional transforms through the two-dimensional definition: a row v alone, as
         // if it were row 0 (whose own column factor is sqrt(1/8)).
         double half[64] = {}, samples[64];
         for (int v = 0; v < 8; ++v) {
           double row[64] = {};
           for (int u = 0; u < 8; ++u) row[u] = c[8 * v + u];
           definition_idct(row, samples);
           for (int x = 0; x < 8; ++x)
             half[8 * v + x] = round_half_away(samples[x] * std::sqrt(8.0));
         }
         for (int x = 0; x < 8; ++x) {
           double column[64] = {};
           for (int v = 0; v < 8; ++v) column[8 * v] = half[8 * v + x];
           definition_idct(column, samples);
           for (int y = 0; y < 8; ++y) s[8 * y + x] = samples[8 * y] * std::sqrt(8.0);
         }
         round_all(s);
       }},
  };
  for (const auto& [name, idct] : wrong) {
    const Figures f = judge_idct(set, idct);
    print("(planted)", name, "first", f);
    EXPECT_FALSE(f.pass()) << name;
  }
}

// The generator's own start, worked out by hand from its definition: r1 = 1103527590,
// i = r1 & 0x7ffffffe = 1103527590, x = i / 0x7fffffff * 512 = 263.1, value = 263 - 256 = 7.
TEST(Ieee1180, Generator) {
  Generator random;
  EXPECT_EQ(random.next(256, 255), 7);
  int low = 1000, high = -1000;
  for (int i = 0; i < 100000; ++i) {
    const int value = random.next(300, 300);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_EQ(low, -300);
  EXPECT_EQ(high, 300);
}

}  // namespace
}  // namespace cudatransform::test
