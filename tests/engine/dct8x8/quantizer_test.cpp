// Quantization tables: presets, quality, cjpeg's syntax; and proofs by exhaustion of the arithmetic
// that replaces divisions by their entries in the CUDA kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/engine/engines.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/dct8x8/scaled.h"

namespace cudatransform::test {
namespace {

constexpr int kQualities[] = {1, 10, 49, 50, 51, 85, 100};

// ITU-T T.81, tables K.1 and K.2.
constexpr int kLuma[64] = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                           14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                           18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                           49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr int kChromaCorner[4][4] = {
    {17, 18, 24, 47}, {18, 21, 26, 66}, {24, 26, 56, 99}, {47, 66, 99, 99}};

int scaled(int base, int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return std::clamp((base * scale + 50) / 100, 1, 255);
}

TEST(QuantTable, AnnexK) {
  for (const int quality : kQualities) {
    const QuantTable luma = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, quality);
    const QuantTable chroma = preset_table(QuantPreset::kAnnexK, QuantComponent::kChroma, quality);
    for (int k = 0; k < 64; ++k) {
      EXPECT_EQ(luma.q[k], scaled(kLuma[k], quality)) << k << " at " << quality;
      const int v = k / 8, u = k % 8;
      EXPECT_EQ(chroma.q[k], scaled(u < 4 && v < 4 ? kChromaCorner[v][u] : 99, quality));
    }
  }
}

TEST(QuantTable, FixedPresetsIgnoreQualityAndComponent) {
  constexpr int kWhitepaperDiagonals[] = {32, 33, 51, 81, 66, 39, 34, 17};
  constexpr int kMpeg[64] = {8,  16, 19, 22, 26, 27, 29, 34, 16, 16, 22, 24, 27, 29, 34, 37,
                             19, 22, 26, 27, 29, 34, 34, 38, 22, 22, 26, 27, 29, 34, 37, 40,
                             22, 26, 27, 29, 32, 35, 40, 48, 26, 27, 29, 32, 35, 40, 48, 58,
                             26, 27, 29, 34, 38, 46, 56, 69, 27, 29, 35, 38, 46, 56, 69, 83};
  constexpr int kSecond[] = {33, 36, 48, 47, 28, 23, 12, 12};
  for (const int quality : kQualities)
    for (const QuantComponent component : {QuantComponent::kLuma, QuantComponent::kChroma}) {
      const QuantTable flat = preset_table(QuantPreset::kFlat, component, quality);
      const QuantTable paper = preset_table(QuantPreset::kWhitepaper, component, quality);
      const QuantTable mpeg = preset_table(QuantPreset::kMpeg, component, quality);
      for (int k = 0; k < 64; ++k) {
        EXPECT_EQ(flat.q[k], 16);
        EXPECT_EQ(mpeg.q[k], kMpeg[k]) << k;
        EXPECT_EQ(paper.q[k], paper.q[k % 8 * 8 + k / 8]) << "symmetric";
      }
      for (int u = 0; u < 8; ++u) {
        EXPECT_EQ(paper.q[u], kWhitepaperDiagonals[u]);
        EXPECT_EQ(paper.q[8 + u], kSecond[u]);
      }
      EXPECT_EQ(paper.q[63], 12);
    }
}

// The chroma of 4:2:0 and of 4:4:4 at a frequency, as the study gives them.
double perceptual_chroma(int u, int v, bool full) {
  const double r = std::hypot(u, v);
  if (r == 0) return full ? 18 : 11;
  return full ? std::min(180.0, 20 + 22.5 * r) : std::min(46.0, 7.5 + 8.8 * r);
}

TEST(QuantTable, PerceptualIsTheFormulae) {
  for (int quality = 1; quality <= 100; ++quality) {
    const double scale = (quality < 50 ? 5000 / quality : 200 - 2 * quality) / 100.0;
    const auto table = [&](QuantComponent component) {
      return preset_table(QuantPreset::kPerceptual, component, quality);
    };
    const QuantTable luma = table(QuantComponent::kLuma), chroma = table(QuantComponent::kChroma);
    const QuantTable half = table(QuantComponent::kHalfChroma);
    const QuantTable full = table(QuantComponent::kFullChroma);
    for (int k = 0; k < 64; ++k) {
      const int u = k % 8, v = k / 8;
      // Half a step is what rounding may add; half as many samples are between the two others.
      const auto expect = [&](double exact, int entry) {
        EXPECT_NEAR(std::clamp(exact * scale, 1.0, 255.0), entry, 0.5 + 1e-9)
            << k << " at " << quality;
      };
      expect(k == 0 ? 12 : std::min(68.0, 6.8 * (1 + std::hypot(u, v))), luma.q[k]);
      expect(perceptual_chroma(u, v, false), chroma.q[k]);
      expect(perceptual_chroma(u, v, true), full.q[k]);
      expect(std::sqrt(perceptual_chroma(u, v, false) * perceptual_chroma(u, v, true)), half.q[k]);
    }
  }
}

// Computed by hand: 6.8 x 2 = 13.6; 6.8 x (1 + sqrt 2) = 16.417; 46 ends chroma's line.
TEST(QuantTable, PerceptualAtQuality50) {
  const QuantTable luma = preset_table(QuantPreset::kPerceptual, QuantComponent::kLuma, 50);
  const QuantTable chroma = preset_table(QuantPreset::kPerceptual, QuantComponent::kChroma, 50);
  EXPECT_EQ(luma.q[0], 12);
  EXPECT_EQ(luma.q[1], 14);
  EXPECT_EQ(luma.q[8], 14);
  EXPECT_EQ(luma.q[9], 16);
  EXPECT_EQ(luma.q[63], 68);
  EXPECT_EQ(chroma.q[0], 11);
  EXPECT_EQ(chroma.q[1], 16);
  EXPECT_EQ(chroma.q[63], 46);
}

std::string table_text(int first, const char* separator) {
  std::string text;
  for (int k = 0; k < 64; ++k) text += std::to_string(first + k) + separator;
  return text;
}

TEST(QuantTable, ParsesOneToFourTables) {
  for (int n = 1; n <= 4; ++n) {
    std::string text = "# tables\n";
    for (int t = 0; t < n; ++t) text += table_text(100 * t + 1, t % 2 ? "\n" : " \t") + "# end\n";
    std::vector<QuantTable> tables;
    const Status status = parse_qtable_text(text, &tables);
    ASSERT_TRUE(status.ok()) << status.message;
    ASSERT_EQ(tables.size(), static_cast<size_t>(n));
    for (int t = 0; t < n; ++t)
      for (int k = 0; k < 64; ++k) EXPECT_EQ(tables[t].q[k], 100 * t + 1 + k);
  }
}

TEST(QuantTable, ParsesOddButLegalText) {
  std::vector<QuantTable> tables;
  // A comment right after a number, no newline at the end, DOS line ends, the largest entry.
  std::string text;
  for (int k = 0; k < 63; ++k) text += k % 8 == 7 ? "7#comment 99\r\n" : "7 ";
  text += "65535";
  const Status status = parse_qtable_text(text, &tables);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].q[62], 7);
  EXPECT_EQ(tables[0].q[63], 65535);
}

TEST(QuantTable, RefusesBadText) {
  const std::string good = table_text(1, " ");
  const std::pair<const char*, std::string> bad[] = {
      // a part of the message, and the text
      {"table", ""},
      {"table", "# nothing\n"},
      {"64", good.substr(0, good.rfind("64"))},
      {"64", good + "65"},
      {"4", good + good + good + good + good},
      {"0", "0 " + good.substr(2)},
      {"-1", "-1 " + good.substr(2)},
      {"65536", "65536 " + good.substr(2)},
      {"99999999999999999999...", "99999999999999999999999 " + good.substr(2)},
      {"1.5", "1.5 " + good.substr(2)},
      {"0x10", "0x10 " + good.substr(2)},
      {"sixteen", "sixteen " + good.substr(2)},
  };
  for (const auto& [named, text] : bad) {
    std::vector<QuantTable> tables;
    const Status status = parse_qtable_text(text, &tables);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << named;
    EXPECT_NE(status.message.find(named), std::string::npos) << named << ": " << status.message;
  }
}

}  // namespace

// The proofs run on the host, because every machine has one: an fp32 multiply-add rounds the same
// everywhere.

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
float multiplier(int q, double larger = 0x1p-16) {
  return static_cast<float>(1.0 / (8.0 * q) * (1.0 + larger));
}

// Quotients change only next to ties, so testing around each tie covers them all.
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

// FastIslow12 of cuda/dct8x8/fast_deep.cu: 12-bit samples reach 8 x 16384, in DC.
TEST(Quantizer, MultiplyAddDividesValuesOf12Bits) {
  for (int q = 1; q <= 65535; ++q) {
    for (const int x : values_beside_ties(8 * q, 1 << 17))
      for (const int value : {x, -x})
        ASSERT_EQ(quantize_by_multiply_add(value, multiplier(q, 0x1p-19)),
                  divide_rounded(value, 8 * q))
            << value << " by 8 x " << q;
    if (quick()) q += q / 16;
  }
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

// exceeds_limits() of cuda/dct8x8/islow.cuh: quantized coefficients within its limits cannot make
// pass 1 leave 16 bits. The gains are those of islow's integers, in units of 2^-13.
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
