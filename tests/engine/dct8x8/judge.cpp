// The promises of the methods, as inequalities.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {

namespace {

// The error that fp32 arithmetic may add to a sum of numbers of this magnitude: 2^-24 each for some
// dozens of roundings (naive sums 64 products). fp64 adds no error that an fp32 result would show.
double slack(Method method, double magnitude) {
  return magnitude * (method == Method::kReference ? 0x1p-40 : 0x1p-18);
}

std::string place(size_t c, int bx, int by, int k) {
  return "component " + std::to_string(c) + " block (" + std::to_string(bx) + "," +
         std::to_string(by) + ") coefficient (" + std::to_string(k % 8) + "," +
         std::to_string(k / 8) + ")";
}

std::string expected_but_got(double expected, double got) {
  char text[96];
  std::snprintf(text, sizeof text, ": expected %.9g, got %.9g", expected, got);
  return text;
}

// Whether `got` is a valid result for an integer that should be round(exact).
bool near_rounding(double exact, double got, double tolerance) {
  const double rounded = round_half_away(exact);
  if (got == rounded) return true;
  return std::fabs(got - rounded) <= 1 && distance_to_tie(exact) <= std::max(tolerance, 1e-9);
}

bool acceptable_coefficient(const Spec& spec, double exact, int q, double got) {
  const double magnitude = std::ldexp(1.0, spec.depth + 2);  // the largest DC
  const double quotient = exact / q;
  switch (spec.method) {
    case Method::kIslow:
      return spec.type == CoefType::kF32 ? std::fabs(got - quotient) <= 1
                                         : std::fabs(got - round_half_away(quotient)) <= 1;
    default: {
      const double tolerance = slack(spec.method, magnitude) / q;
      if (spec.type != CoefType::kF32) return near_rounding(quotient, got, tolerance);
      return std::fabs(got - quotient) <= std::max(tolerance, magnitude * 0x1p-24);
    }
  }
}

BlockQcoefs decide(const Spec& spec, size_t c, BlockEighths eighths) {
  // Quantized coefficient 1023 is the last one that has a code; only ifast ever goes beyond.
  for (int i = 1; i < 64; ++i) eighths[i] = std::clamp(eighths[i], -8187, 8187);
  const uint16_t* q = spec.tables[c].q;
  return spec.quantizer == Quantizer::kDeadZone
             ? definition_dead_zone(eighths, q, {spec.dead_zone})
             : definition_rd(eighths, q, {spec.rd_lambda, is_decided_as_chroma(c)});
}

// The first coefficient that no valid decision gives; -1: none.
int undecided(const Spec& spec, size_t c, const double* real, const double* got) {
  BlockEighths eighths;
  std::vector<int> doubtful;
  for (int i = 0; i < 64; ++i) {
    const double value = 8 * real[i];
    eighths[i] = static_cast<int>(round_half_away(value));
    if (spec.method != Method::kIslow && distance_to_tie(value) < 0.002) doubtful.push_back(i);
  }
  // DC rounds as always, from a value that all methods have exactly; float's ties go to even.
  const double dc = real[0] / spec.tables[c].q[0];
  if (std::fabs(got[0] - dc) > 0.5 ||
      (spec.method != Method::kFloat && got[0] != round_half_away(dc)))
    return 0;
  const auto first_other = [&] {
    const BlockQcoefs qcoefs = decide(spec, c, eighths);
    int i = 1;
    while (i < 64 && qcoefs[i] == got[i]) ++i;
    return i < 64 ? i : -1;
  };
  const int other = first_other();
  for (size_t j = 0; other >= 0 && j < doubtful.size(); ++j) {
    const int i = doubtful[j], kept = eighths[i];
    const double value = 8 * real[i];
    eighths[i] = static_cast<int>(kept > value ? std::floor(value) : std::ceil(value));
    if (first_other() < 0) return -1;
    eighths[i] = kept;
  }
  return other;
}

}  // namespace

bool is_integer(Method method) { return method == Method::kIslow || method == Method::kIfast; }

std::string judge_coefficients(const Spec& spec, const Coefficients& exact,
                               const Coefficients& got) {
  for (size_t c = 0; c < exact.size(); ++c)
    for (int by = 0; by < exact[c].blocks_h; ++by)
      for (int bx = 0; bx < exact[c].blocks_w; ++bx)
        for (int k = 0; k < 64; ++k) {
          const int q = spec.quantized ? spec.tables[c].q[k] : 1;
          const double e = exact[c].block(bx, by)[k], g = got[c].block(bx, by)[k];
          if (!acceptable_coefficient(spec, e, q, g))
            return place(c, bx, by, k) + expected_but_got(e / q, g);
        }
  return "";
}

std::string judge_decisions(const Spec& spec, const Coefficients& real, const Coefficients& got) {
  for (size_t c = 0; c < real.size(); ++c)
    for (int by = 0; by < real[c].blocks_h; ++by)
      for (int bx = 0; bx < real[c].blocks_w; ++bx) {
        const double* qcoefs = got[c].block(bx, by);
        const int k = undecided(spec, c, real[c].block(bx, by), qcoefs);
        if (k >= 0)
          return place(c, bx, by, k) + ": no decision about " +
                 std::to_string(real[c].block(bx, by)[k] / spec.tables[c].q[k]) + " gives " +
                 std::to_string(static_cast<int>(qcoefs[k]));
      }
  return "";
}

std::string judge_samples(const Spec& spec, const RealPicture& exact, const Coefficients& values,
                          const Picture& got) {
  const bool residual = spec.arrangement == Arrangement::kResidual;
  const int size = 8 / spec.scale;
  const double shift = residual ? 0 : 1 << (spec.depth - 1);
  const double low = residual ? -32768 : 0;
  const double high = residual ? 32767 : (1 << spec.depth) - 1;
  for (size_t c = 0; c < exact.size(); ++c)
    for (int by = 0; by < values[c].blocks_h; ++by)
      for (int bx = 0; bx < values[c].blocks_w; ++bx) {
        double magnitude = shift;
        for (int k = 0; k < 64; ++k) magnitude += std::fabs(values[c].block(bx, by)[k]);
        const int right = std::min(size * (bx + 1), got[c].width);
        const int bottom = std::min(size * (by + 1), got[c].rows);
        for (int y = size * by; y < bottom; ++y)
          for (int x = size * bx; x < right; ++x) {
            const double e = std::clamp(exact[c].at(x, y) + shift, low, high);
            const double g = got[c].at(x, y);
            const bool fine = spec.method == Method::kIslow
                                  ? std::fabs(g - round_half_away(e)) <= 1
                                  : near_rounding(e, g, slack(spec.method, magnitude));
            if (!fine)
              return "component " + std::to_string(c) + " sample (" + std::to_string(x) + "," +
                     std::to_string(y) + ")" + expected_but_got(e, g);
          }
      }
  return "";
}

std::string judge_equal(const Coefficients& expected, const Coefficients& got) {
  for (size_t c = 0; c < expected.size(); ++c)
    for (size_t i = 0; i < expected[c].values.size(); ++i)
      if (expected[c].values[i] != got[c].values[i]) {
        const int block = static_cast<int>(i / 64);
        return place(c, block % expected[c].blocks_w, block / expected[c].blocks_w,
                     static_cast<int>(i % 64)) +
               expected_but_got(expected[c].values[i], got[c].values[i]);
      }
  return "";
}

std::string judge_sse(const PictureSums& sums, const Picture& source, const Picture& result,
                      bool exactly) {
  for (size_t c = 0; c < source.size(); ++c) {
    const auto expected = static_cast<double>(squared_error(source[c], result[c]));
    int largest = 0;
    for (size_t i = 0; i < source[c].samples.size(); ++i)
      largest = std::max(largest, std::abs(source[c].samples[i] - result[c].samples[i]));
    // 0.001 dB are a factor of 10^0.0001; one sample that rounds the other way changes its square
    // by at most 2 |error| + 1.
    const double tolerance =
        exactly ? 0 : expected * (std::pow(10.0, 0.0001) - 1) + 2 * (2 * largest + 1);
    if (std::fabs(static_cast<double>(sums.sse[c]) - expected) > tolerance)
      return "component " + std::to_string(c) + " squared error" +
             expected_but_got(expected, static_cast<double>(sums.sse[c]));
  }
  return "";
}

std::string judge_zeros(const PictureSums& sums, const Coefficients& coefs) {
  for (size_t c = 0; c < coefs.size(); ++c) {
    const auto zeros =
        static_cast<uint64_t>(std::count(coefs[c].values.begin(), coefs[c].values.end(), 0.0));
    if (sums.zeros[c] != zeros)
      return "component " + std::to_string(c) + " zeros" +
             expected_but_got(static_cast<double>(zeros), static_cast<double>(sums.zeros[c]));
  }
  return "";
}

namespace {

// ITU-T T.81, tables K.5 and K.6: the lengths of the codes, by the zeros before a quantized
// coefficient (rows) and its bits (columns 1 to 10).
constexpr int kLumaLengths[16][10] = {
    {2, 2, 3, 4, 5, 7, 8, 10, 16, 16},        {4, 5, 7, 9, 11, 16, 16, 16, 16, 16},
    {5, 8, 10, 12, 16, 16, 16, 16, 16, 16},   {6, 9, 12, 16, 16, 16, 16, 16, 16, 16},
    {6, 10, 16, 16, 16, 16, 16, 16, 16, 16},  {7, 11, 16, 16, 16, 16, 16, 16, 16, 16},
    {7, 12, 16, 16, 16, 16, 16, 16, 16, 16},  {8, 12, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 15, 16, 16, 16, 16, 16, 16, 16, 16},  {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {10, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {10, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {11, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {16, 16, 16, 16, 16, 16, 16, 16, 16, 16}};
constexpr int kChromaLengths[16][10] = {
    {2, 3, 4, 5, 5, 6, 7, 9, 10, 12},         {4, 6, 8, 9, 11, 12, 16, 16, 16, 16},
    {5, 8, 10, 12, 15, 16, 16, 16, 16, 16},   {5, 8, 10, 12, 16, 16, 16, 16, 16, 16},
    {6, 9, 16, 16, 16, 16, 16, 16, 16, 16},   {6, 10, 16, 16, 16, 16, 16, 16, 16, 16},
    {7, 11, 16, 16, 16, 16, 16, 16, 16, 16},  {7, 11, 16, 16, 16, 16, 16, 16, 16, 16},
    {8, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {9, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {11, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {14, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {15, 16, 16, 16, 16, 16, 16, 16, 16, 16}};

BlockQcoefs round_all(const BlockEighths& eighths, const uint16_t divisors[64]) {
  BlockQcoefs qcoefs;
  for (int i = 0; i < 64; ++i) {
    const int qcoef = (std::abs(eighths[i]) + 4 * divisors[i]) / (8 * divisors[i]);
    qcoefs[i] = eighths[i] < 0 ? -qcoef : qcoef;
  }
  return qcoefs;
}

// Bits of a block's AC quantized coefficients.
int bits_of(const BlockQcoefs& qcoefs, bool chroma) {
  int bits = 0, zeros = 0;
  for (int k = 1; k < 64; ++k) {
    const int qcoef = std::abs(qcoefs[natural_of_zigzag(k)]);
    if (qcoef == 0) {
      ++zeros;
      continue;
    }
    for (; zeros > 15; zeros -= 16) bits += chroma ? 10 : 11;
    int size = 0;
    while (qcoef >> size != 0) ++size;
    bits += (chroma ? kChromaLengths : kLumaLengths)[zeros][size - 1] + size;
    zeros = 0;
  }
  return zeros == 0 ? bits : bits + (chroma ? 2 : 4);
}

// In 1/256 bit; integers, rounded down as the engines do it: ties of costs are not rare.
struct Costs {
  const BlockEighths& eighths;
  const uint16_t* divisors;
  RdRule rule;
  int64_t weight;

  int64_t error(int i, int qcoef) const {
    const int64_t divisor = 8 * divisors[i];
    const int64_t off = std::abs(std::abs(eighths[i]) - std::abs(qcoef) * divisor);
    const int64_t sixty_fourths = off * ((1 << 20) / divisor) / (1 << 14);
    return sixty_fourths * sixty_fourths * weight / 256;
  }
  int64_t of(const BlockQcoefs& qcoefs) const {
    int64_t cost = 256 * bits_of(qcoefs, rule.chroma);
    for (int i = 1; i < 64; ++i) cost += error(i, qcoefs[i]);
    return cost;
  }
};

Costs costs_of(const BlockEighths& eighths, const uint16_t divisors[64], RdRule rule) {
  int64_t squares = 0;
  for (int i = 1; i < 64; ++i) squares += int64_t{eighths[i]} * eighths[i];
  const int64_t energy = squares / 64 / 63;
  const int64_t weight = std::llround(16 * 1500 / rule.lambda) / (1500 + energy);
  return {eighths, divisors, rule, rule.chroma ? 2 * weight : weight};
}

}  // namespace

BlockQcoefs definition_dead_zone(const BlockEighths& eighths, const uint16_t divisors[64],
                                 DeadZoneRule rule) {
  BlockQcoefs qcoefs = round_all(eighths, divisors);
  for (int i = 1; i < 64; ++i)
    if (int64_t{1000} * std::abs(eighths[i]) < int64_t{8} * divisors[i] * rule.thousandths)
      qcoefs[i] = 0;
  return qcoefs;
}

BlockQcoefs definition_rd(const BlockEighths& eighths, const uint16_t divisors[64], RdRule rule) {
  const Costs costs = costs_of(eighths, divisors, rule);
  BlockQcoefs qcoefs = round_all(eighths, divisors);
  for (int k = 63; k > 0; --k) {
    const int i = natural_of_zigzag(k);
    const int sign = qcoefs[i] < 0 ? -1 : 1, qcoef = std::abs(qcoefs[i]);
    if (qcoef == 0) continue;
    int64_t least = costs.of(qcoefs);
    BlockQcoefs best = qcoefs;
    const auto offer = [&](int candidate) {
      qcoefs[i] = sign * candidate;
      const int64_t cost = costs.of(qcoefs);
      if (cost < least) least = cost, best = qcoefs;
    };
    if (qcoef > 1) offer(qcoef - 1);
    if (qcoef <= 2) offer(0);
    qcoefs = best;
  }
  return qcoefs;
}

}  // namespace cudatransform::test
