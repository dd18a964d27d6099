// Proofs by exhaustion of the arithmetic that replaces divisions in the CUDA kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The proofs run on the host, because every machine has one: an fp32 multiply-add rounds the same
// everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/engine/engines.h"
#include "transform/dct8x8/scaled.h"

namespace cudatransform::test {
namespace {

// libjpeg's rounded division: ties away from zero.
int divide_rounded(int x, int divisor) {
  const int magnitude = (std::abs(x) + divisor / 2) / divisor;
  return x < 0 ? -magnitude : magnitude;
}

// FastIslow::quantize() of cuda/dct8x8/fast.cuh, and its table.
int quantize_by_multiply_add(int x, float mul) {
  const float rounded = std::fmaf(static_cast<float>(x), mul, 12582912.0f);
  int32_t bits = 0;
  std::memcpy(&bits, &rounded, sizeof bits);
  return static_cast<int16_t>(bits);
}
float multiplier(int q) { return static_cast<float>(1.0 / (8.0 * q) * (1.0 + 0x1p-16)); }

// Quotients change only beside ties, so testing around each tie covers them all.
std::vector<int> values_beside_ties(int divisor, int limit) {
  std::vector<int> values = {0, limit};
  for (int64_t tie = divisor / 2; tie <= limit; tie += divisor)
    for (int64_t x = tie - 1; x <= tie + 1; ++x)
      if (x <= limit) values.push_back(static_cast<int>(x));
  return values;
}

TEST(Quantizer, MultiplyAddDividesAsLibjpegDoes) {
  constexpr int kLimit = 32767;  // 8-bit samples reach 8 x 1024 x 1.1
  int64_t checked = 0;
  for (int q = 1; q <= 65535; ++q) {
    const float mul = multiplier(q);
    const bool all = q <= (quick() ? 4 : 64);
    const std::vector<int> beside = values_beside_ties(8 * q, kLimit);
    const size_t count = all ? kLimit + 1 : beside.size();
    for (size_t i = 0; i < count; ++i) {
      const int x = all ? static_cast<int>(i) : beside[i];
      for (const int value : {x, -x}) {
        ASSERT_EQ(quantize_by_multiply_add(value, mul), divide_rounded(value, 8 * q))
            << value << " by 8 x " << q;
        ++checked;
      }
    }
    if (quick()) q += q / 16;
  }
  RecordProperty("divisions", static_cast<int>(checked));
}

// Without the enlarged multiplier ties go to even: the test above would notice.
TEST(Quantizer, PlainReciprocalFailsAtTies) {
  int unequal = 0;
  for (int q = 1; q <= 255; ++q)
    for (int x = 4 * q; x <= 32767; x += 8 * q)
      unequal += quantize_by_multiply_add(x, static_cast<float>(1.0 / (8.0 * q))) !=
                 divide_rounded(x, 8 * q);
  EXPECT_GT(unequal, 1000);
}

// exceeds_limits() of cuda/dct8x8/islow.cuh: levels within its limits cannot make pass 1 leave 16
// bits. The gains are those of islow's integers, in units of 2^-13.
TEST(Quantizer, LimitsKeepPass1InRange) {
  constexpr int kOdd[4][4] = {{11363, 9633, 6437, 2260},
                              {9633, -2259, -11362, -6436},
                              {6437, -11362, 2261, 9633},
                              {2260, -6436, 9633, -11363}};
  constexpr int kEven[4][2] = {{10703, 4433}, {4433, -10704}, {-4433, 10704}, {-10703, -4433}};
  for (int n = 0; n < 4; ++n) {
    int64_t gain = 8192 + std::abs(kEven[n][0]) + std::abs(kEven[n][1]);
    for (const auto& frequency : kOdd) gain += std::abs(frequency[n]);
    const int64_t largest = 8192 * 2048 + gain * 949;  // DC, and seven AC values
    EXPECT_LE((largest + (1 << 10)) >> 11, 32767) << n;
  }
}

// The same for the scaled inverses and limit14(). Pass 1 is linear except for its rounding, so its
// corners suffice; one step further out, some corner has to meet the limit.
template <int kSize>
int largest_of_scaled_pass1(int dc, int ac) {
  int largest = 0;
  for (unsigned signs = 0; signs < 256; ++signs) {
    int32_t v[8];
    for (unsigned k = 0; k < 8; ++k) v[k] = (k == 0 ? dc : ac) * (signs >> k & 1 ? 1 : -1);
    ScaledIslow<kSize>::template column<1, false>(v);
    for (int n = 0; n < kSize; ++n) largest = std::max(largest, std::abs(v[n]));
  }
  return largest;
}
TEST(Quantizer, LimitsKeepScaledPass1InRange) {
  using Half = ScaledIslow<4>;
  EXPECT_LE(largest_of_scaled_pass1<4>(Half::kLargestDc, Half::kLargestAc), 16384);
  EXPECT_LE(largest_of_scaled_pass1<2>(Half::kLargestDc, Half::kLargestAc), 16384);
  EXPECT_GT(largest_of_scaled_pass1<4>(Half::kLargestDc, Half::kLargestAc + 1), 16384);
}

}  // namespace
}  // namespace cudatransform::test
