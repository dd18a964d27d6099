// Bands, quantizer factors and names, against the specification's lists.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include "tests/engine/dwt/definition.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::test::dwt {
namespace {

// Every coefficient of a pyramid is in the band that the definition gives it, and in no other.
TEST(DwtBands, TileThePyramid) {
  for (int levels = 0; levels <= kMaxDwtLevels; ++levels)
    for (int ho = 0; ho <= kMaxDwtLevelsHo; ++ho) {
      if (levels + ho == 0) continue;
      const Shape shape{Wavelet::kDd97, Wavelet::kDd97, levels, ho};
      const DwtLevels both{levels, ho};
      const Values pyramid(padded_width(shape, 33), padded_height(shape, 70));
      ASSERT_EQ(dwt_padded_width(33, both), pyramid.width);
      ASSERT_EQ(dwt_padded_height(70, both), pyramid.rows);
      ASSERT_EQ(dwt_band_count(both), band_count(shape));
      ASSERT_LE(dwt_band_count(both), kMaxDwtBands);
      BasicPlane<int> met(pyramid.width, pyramid.rows);
      for (int b = 0; b < dwt_band_count(both); ++b) {
        const DwtBand band = dwt_band(both, pyramid.width, pyramid.rows, b);
        for (int y = band.y; y < band.y + band.height; ++y)
          for (int x = band.x; x < band.x + band.width; ++x) {
            ASSERT_EQ(band_at(shape, pyramid, x, y), b) << levels << "+" << ho;
            met.at(x, y)++;
          }
      }
      for (const int count : met.samples) ASSERT_EQ(count, 1) << levels << "+" << ho;
    }
}

TEST(DwtQuantizer, HasTheFactorsOfTheSpecification) {
  const uint32_t factors[] = {4,  5,  6,  7,  8,  10, 11,  13,  16,  19,  23,  27,  32,
                              38, 45, 54, 64, 76, 91, 108, 128, 152, 181, 215, 256, 304};
  const uint32_t offsets[] = {1, 2, 3, 4, 4, 5, 6, 7, 8, 10, 12, 14, 16, 19, 23, 27, 32};
  for (size_t q = 0; q < std::size(factors); ++q)
    EXPECT_EQ(dwt_quant_factor(static_cast<int>(q)), factors[q]) << q;
  for (size_t q = 0; q < std::size(offsets); ++q)
    EXPECT_EQ(dwt_quant_offset(static_cast<int>(q)), offsets[q]) << q;
  for (int q = 0; q <= kMaxQuantIndex; ++q) {
    EXPECT_EQ(dwt_quant_factor(q), quant_factor(q)) << q;
    EXPECT_LT(quant_factor(q), int64_t{1} << 31) << q;
    if (q > 0) {
      EXPECT_GT(quant_factor(q), quant_factor(q - 1)) << q;
    }
  }
}

// Any value round-trips exactly at index 0, and otherwise within a step.
TEST(DwtQuantizer, StaysNearTheValue) {
  for (int q = 0; q <= kMaxQuantIndex; ++q)
    for (int64_t value = -70000; value <= 70000; value += 1 + q) {
      const int64_t level = quantize(value, q);
      const int64_t back = dequantize(level, q, Rule::kUnbounded);
      if (q == 0) {
        ASSERT_EQ(back, value);
      }
      ASSERT_LE(4 * std::abs(back - value), quant_factor(q) + 4) << value << " at " << q;
      ASSERT_EQ(quantize(-value, q), -level);
    }
}

TEST(Wavelets, HaveNames) {
  const char* const names[kWaveletCount] = {"dd97",       "legall53", "dd137",  "haar",
                                            "haar-shift", "fidelity", "daub97", "j2k53"};
  for (int w = 0; w < kWaveletCount; ++w)
    EXPECT_STREQ(wavelet_name(static_cast<Wavelet>(w)), names[w]);
  EXPECT_STREQ(wavelet_name(static_cast<Wavelet>(kWaveletCount)), "unknown");
}

}  // namespace
}  // namespace cudatransform::test::dwt
