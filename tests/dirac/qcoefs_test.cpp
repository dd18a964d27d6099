// Dequantizing sparse quantized coefficients, and DC prediction, against the formulas on dense
// planes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/qcoefs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cudatransform::test {
namespace {

// Specification 2.2.3, table 13.1 and 13.2, the first entries.
constexpr uint32_t kFactors[] = {4,  5,  6,  7,  8,  10, 11,  13,  16,  19,  23,  27,  32,
                                 38, 45, 54, 64, 76, 91, 108, 128, 152, 181, 215, 256, 304};
constexpr uint32_t kIntraOffsets[] = {1, 2, 3, 4, 4, 5, 6, 7, 8, 10, 12, 14, 16, 19, 23, 27, 32};
constexpr uint32_t kInterOffsets[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 9, 10, 12, 14, 17, 20, 24};

TEST(DiracQcoefs, Quantizers) {
  for (int i = 0; i < int(std::size(kFactors)); ++i) EXPECT_EQ(dwt_quant_factor(i), kFactors[i]);
  for (int i = 0; i < int(std::size(kIntraOffsets)); ++i) {
    EXPECT_EQ(dirac_quant_offset(i, true), kIntraOffsets[i]) << i;
    EXPECT_EQ(dirac_quant_offset(i, false), kInterOffsets[i]) << i;
  }
  EXPECT_EQ(dirac_dequantize(-7, 4, 1), -7) << "index 0 loses nothing";
  EXPECT_EQ(dirac_dequantize(3, 10, 5), 9);
  EXPECT_EQ(dirac_dequantize(-3, 10, 5), -9);
}

DiracSequence sequence_of(uint32_t width, uint32_t height, uint32_t excursion) {
  DiracSequence sequence;
  sequence.width = width;
  sequence.height = height;
  sequence.range[0].excursion = sequence.range[1].excursion = excursion;
  return sequence;
}

// Random quantized coefficients in all bands, sparse and dense, read back through the pyramid.
template <typename Value>
void check(uint32_t excursion, bool is_intra, bool slices) {
  std::mt19937 random(3);
  const DiracSequence sequence = sequence_of(150, 70, excursion);
  DiracPictureHeader header;
  header.coding = slices ? DiracCoding::kHighQuality : DiracCoding::kVlc;
  header.reference_count = is_intra ? 0 : 1;
  DiracTransform transform;
  transform.levels = {2, 0};
  for (int level = 0; level < 3; ++level) {
    transform.columns[level] = 3 + level;
    transform.rows[level] = 2 + level;
  }
  if (slices) std::fill_n(transform.matrix, kMaxDwtBands, uint8_t{6});
  DiracQcoefs qcoefs;
  for (int round = 0; round < 2; ++round) {  // the second in the memory of the first
    ASSERT_TRUE(qcoefs.lay_out(sequence, header, transform, 1 << 20).ok());
    ASSERT_EQ(qcoefs.is_wide(), sizeof(Value) == 4);
    for (int c = 0; c < kMaxComponents; ++c) {
      const DiracPaddedSize size = dirac_padded(sequence, transform.levels, c);
      const auto width = static_cast<size_t>(size.width);
      std::vector<Value> pyramid(width * static_cast<size_t>(size.height), Value{0x55});
      std::vector<Value> expected = pyramid;
      for (int i = 0; i < qcoefs.band_count(); ++i) {
        DiracBand& band = qcoefs.band(c, i);
        const auto quantizers = static_cast<size_t>(band.columns * band.rows);
        for (size_t q = 0; q < quantizers; ++q) {
          band.quantizers[q] = static_cast<uint8_t>(slices ? q % 20 : random() % 40);
        }
        clear_dirac_rows(band, 0, band.height);
        for (int32_t y = 0; y < band.height; ++y) {
          DiracRowWriter<Value> writer(band, y);
          for (int32_t x = 0; x < band.width; ++x) {
            const int32_t qcoef =
                random() % 3 != 0 ? 0 : static_cast<int32_t>(random() % 201) - 100;
            if (qcoef != 0) writer.put(x, qcoef);
            int32_t column = 0, row = 0;
            while (dirac_part(band.width, column + 1, band.columns) <= x) ++column;
            while (dirac_part(band.height, row + 1, band.rows) <= y) ++row;
            const int index =
                std::max(band.quantizers[row * band.columns + column] - (slices ? 6 : 0), 0);
            const int64_t magnitude = std::abs(qcoef);
            const int64_t value = magnitude == 0 ? 0
                                                 : (magnitude * dwt_quant_factor(index) +
                                                    dirac_quant_offset(index, is_intra) + 2) /
                                                       4;
            expected[static_cast<size_t>(band.y + y) * width + static_cast<size_t>(band.x + x)] =
                static_cast<Value>(qcoef < 0 ? -value : value);
          }
        }
        dequantize_dirac_band(band, qcoefs.is_wide(), is_intra, pyramid.data(),
                              ptrdiff_t{size.width} * ptrdiff_t{sizeof(Value)});
      }
      EXPECT_EQ(pyramid, expected);
    }
  }
}

TEST(DiracQcoefs, DequantizedAsTheFormulaSays) {
  for (const bool is_intra : {true, false}) {
    check<int16_t>(255, is_intra, false);
    check<int32_t>(1023, is_intra, false);
  }
  check<int16_t>(255, true, true);
}

TEST(DiracQcoefs, LimitsAreTheCallers) {
  DiracQcoefs qcoefs;
  DiracTransform transform;
  transform.levels = {1, 0};
  transform.columns[0] = transform.columns[1] = transform.rows[0] = transform.rows[1] = 1;
  const DiracSequence sequence = sequence_of(64, 64, 255);  // 4:2:0
  EXPECT_EQ(qcoefs.lay_out(sequence, {}, transform, 64 * 64 * 3 / 2 - 1).code,
            StatusCode::kUnsupported);
  EXPECT_TRUE(qcoefs.lay_out(sequence, {}, transform, 64 * 64 * 3 / 2).ok());
}

// No difference is large, but each is added to the value left of it.
TEST(DiracQcoefs, ChainsOfDifferencesMayNeed32Bits) {
  const DiracSequence sequence = sequence_of(4096, 16, 255);
  DiracTransform transform;
  transform.wavelet = transform.wavelet_ho = Wavelet::kLegall53;
  transform.levels = {2, 0};
  std::fill_n(transform.columns, 3, 1);
  std::fill_n(transform.rows, 3, 1);
  DiracQcoefs qcoefs;
  ASSERT_TRUE(qcoefs.lay_out(sequence, {}, transform, 1 << 20).ok());
  ASSERT_FALSE(qcoefs.is_wide()) << "by what pictures can give";
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < qcoefs.band_count(); ++i) {
      DiracBand& band = qcoefs.band(c, i);
      clear_dirac_rows(band, 0, band.height);
      band.quantizers[0] = 0;
    }
  }
  DiracBand& coarsest = qcoefs.band(0, 0);
  for (const int step : {20, 50}) {
    clear_dirac_rows(coarsest, 0, coarsest.height);
    {
      DiracRowWriter<int16_t> writer(coarsest, 0);
      for (int32_t x = 0; x < coarsest.width; ++x) writer.put(x, step);
    }
    coarsest.largest = dirac_largest(static_cast<uint32_t>(step), 0);
    EXPECT_EQ(dirac_fits_16_bits(qcoefs, transform, true), step * coarsest.width < 32000) << step;
    EXPECT_TRUE(dirac_fits_16_bits(qcoefs, transform, false)) << "without prediction";
  }
  // Values that are too large themselves, though no sum of them is.
  clear_dirac_rows(coarsest, 0, coarsest.height);
  coarsest.largest = 0;
  transform.wavelet = transform.wavelet_ho = Wavelet::kHaar;
  qcoefs.band(0, 1).largest = 40000;
  EXPECT_FALSE(dirac_fits_16_bits(qcoefs, transform, true));
}

TEST(DiracQcoefs, DcPrediction) {
  DiracBand band;
  band.width = 3;
  band.height = 2;
  // The mean of three rounds to the nearest, also below zero.
  std::vector<int32_t> wide = {1, 2, 3, -10, 100, 0};
  predict_dirac_dc(band, true, wide.data(), 12);
  EXPECT_EQ(wide, (std::vector<int32_t>{1, 3, 6, -9, 98, 36}));
  std::vector<int16_t> narrow = {32767, 1, 0, 0, 0, 0};
  predict_dirac_dc(band, false, narrow.data(), 6);
  EXPECT_EQ(narrow[1], -32768) << "modulo 2^16";
}

}  // namespace
}  // namespace cudatransform::test
