// The quantized coefficients of a picture as they were decoded: sparse, with their quantizers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/qcoefs.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "transform/device/host_device.h"
#include "transform/dwt/lifting.h"

namespace cudatransform {

namespace {

constexpr size_t kAlignment = 64;

// Gives out parts of a block of memory; without one it only adds up.
class Parts {
 public:
  explicit Parts(uint8_t* begin) : begin_(begin) {}
  template <typename Type>
  Type* take(uint64_t count) {
    Type* part = begin_ != nullptr ? reinterpret_cast<Type*>(begin_ + used_) : nullptr;
    used_ += (count * sizeof(Type) + kAlignment - 1) & ~uint64_t{kAlignment - 1};
    return part;
  }
  uint64_t used() const { return used_; }

 private:
  uint8_t* begin_;
  uint64_t used_ = 0;
};

int level_of(DwtLevels levels, int band) {
  if (band <= levels.horizontal) return band;
  return levels.horizontal + 1 + (band - levels.horizontal - 1) / 3;
}

DiracBand describe(const DiracSequence& sequence, const DiracPictureHeader& header,
                   const DiracTransform& transform, int component, int index) {
  const DiracPaddedSize size = dirac_padded(sequence, transform.levels, component);
  const DwtBand place = dwt_band(transform.levels, size.width, size.height, index);
  DiracBand band;
  band.width = place.width;
  band.height = place.height;
  band.x = place.x;
  band.y = place.y;
  band.level = level_of(transform.levels, index);
  const int grid = header.has_slices() ? 0 : band.level;
  band.columns = transform.columns[grid];
  band.rows = transform.rows[grid];
  band.matrix = transform.matrix[index];
  band.map_words = (band.width + 63) / 64;
  return band;
}

// The parts that are cleared for each picture precede the quantized coefficients, which are not.
void place_maps(Parts& parts, DiracBand& band) {
  const auto words = static_cast<uint64_t>(band.map_words) * static_cast<uint64_t>(band.height);
  band.map = parts.take<uint64_t>(words);
  band.signs = parts.take<uint64_t>(words);
  band.counts = parts.take<uint32_t>(static_cast<uint64_t>(band.height));
}

uint8_t* place_quantizers(Parts& parts, const DiracBand& band) {
  return parts.take<uint8_t>(static_cast<uint64_t>(band.columns) *
                             static_cast<uint64_t>(band.rows));
}

void place_qcoefs(Parts& parts, bool is_wide, DiracBand& band) {
  const auto count = static_cast<uint64_t>(band.width) * static_cast<uint64_t>(band.height);
  band.qcoefs = is_wide ? static_cast<void*>(parts.take<int32_t>(count))
                        : static_cast<void*>(parts.take<int16_t>(count));
}

template <typename Qcoef, typename Value = Qcoef>
void dequantize_row(const DiracBand& band, int32_t y, int32_t grid_row, bool is_intra, Value* to) {
  std::fill_n(to, band.width, Value{0});
  const auto* qcoef = static_cast<const Qcoef*>(band.qcoefs) + ptrdiff_t{y} * band.width;
  const uint64_t* map = band.map_row(y);
  int32_t column_end = 0, column = -1;
  uint32_t factor = 0, offset = 0;
  for (int32_t word = 0; word < band.map_words; ++word) {
    for (uint64_t bits = map[word]; bits != 0; bits &= bits - 1) {
      const int32_t x = 64 * word + std::countr_zero(bits);
      if (x >= column_end) {
        while (x >= column_end) column_end = dirac_part(band.width, ++column + 1, band.columns);
        const int index = band.quantizer(column, grid_row);
        factor = dwt_quant_factor(index);
        offset = dirac_quant_offset(index, is_intra);
      }
      to[x] = static_cast<Value>(dirac_dequantize(*qcoef++, factor, offset));
    }
  }
}

template <typename Value>
Value* pyramid_row(const DiracBand& band, int32_t y, void* pyramid, ptrdiff_t pitch) {
  auto* row = static_cast<uint8_t*>(pyramid) + (band.y + ptrdiff_t{y}) * pitch;
  return reinterpret_cast<Value*>(row) + band.x;
}

template <typename Value>
void dequantize(const DiracBand& band, bool is_intra, void* pyramid, ptrdiff_t pitch) {
  for (int32_t grid_row = 0; grid_row < band.rows; ++grid_row) {
    const int32_t end = dirac_part(band.height, grid_row + 1, band.rows);
    for (int32_t y = dirac_part(band.height, grid_row, band.rows); y < end; ++y) {
      dequantize_row<Value>(band, y, grid_row, is_intra,
                            pyramid_row<Value>(band, y, pyramid, pitch));
    }
  }
}

int64_t floor_of_third(int64_t value) { return (value - (value < 0 ? 2 : 0)) / 3; }

// `above`: null in the first row.
template <typename Value>
void predict_row(int32_t width, const Value* above, Value* row) {
  const auto add = [](Value& value, int64_t prediction) {
    value = static_cast<Value>(static_cast<uint64_t>(int64_t{value} + prediction));
  };
  if (above == nullptr) {
    for (int32_t x = 1; x < width; ++x) add(row[x], row[x - 1]);
    return;
  }
  add(row[0], above[0]);
  for (int32_t x = 1; x < width; ++x) {
    add(row[x], floor_of_third(int64_t{row[x - 1]} + above[x - 1] + above[x] + 1));
  }
}

// All rows before it are zero, and so are their predictions.
int32_t first_row_with_qcoefs(const DiracBand& band) {
  if (band.counts == nullptr) return 0;
  const uint32_t* const end = band.counts + band.height;
  const auto has_qcoefs = [](uint32_t count) { return count > 0; };
  return static_cast<int32_t>(
      std::find_if(static_cast<const uint32_t*>(band.counts), end, has_qcoefs) - band.counts);
}

template <typename Value>
void predict(const DiracBand& band, void* pyramid, ptrdiff_t pitch) {
  for (int32_t y = first_row_with_qcoefs(band); y < band.height; ++y) {
    predict_row(band.width, y > 0 ? pyramid_row<Value>(band, y - 1, pyramid, pitch) : nullptr,
                pyramid_row<Value>(band, y, pyramid, pitch));
  }
}

// The largest magnitude, with room for rounding.
constexpr uint64_t kMaxIn16Bits = 32000;

// Whether level 0 of an intra picture still fits when its prediction has been added, and the
// `*largest` of its coefficients: they are a chain, which their largest difference does not bound.
// Quantized coefficients are int16_t, and no difference is larger than kMaxIn16Bits.
bool predicted_fits(const DiracBand& band, uint64_t* largest) {
  std::unique_ptr<Memory> memory;
  const auto width = static_cast<size_t>(band.width);
  if (!allocate_host_memory(2 * width * sizeof(int64_t), &memory).ok()) return false;
  auto* row = static_cast<int64_t*>(memory->data());
  int64_t* above = row + width;
  std::fill_n(above, width, int64_t{0});
  for (int32_t y = first_row_with_qcoefs(band), grid_row = 0; y < band.height; ++y) {
    while (dirac_part(band.height, grid_row + 1, band.rows) <= y) ++grid_row;
    dequantize_row<int16_t>(band, y, grid_row, true, row);
    predict_row(band.width, y > 0 ? above : nullptr, row);
    const auto [least, most] = std::minmax_element(row, row + width);
    *largest = std::max({*largest, static_cast<uint64_t>(std::abs(*least)),
                         static_cast<uint64_t>(std::abs(*most))});
    if (*largest > kMaxIn16Bits) return false;
    std::swap(row, above);
  }
  return true;
}

// The largest magnitudes of a component in each step of the inverse transform, if no coefficient of
// a band exceeds its `largest`. Lifting's gains of low and high values are the sums of the
// magnitudes of the steps' impulse responses, in 64ths and rounded up: they hold for any signs and
// at any edge.
struct Gain {
  uint64_t low, high;
  uint64_t of(uint64_t low_value, uint64_t high_value) const {
    return (low * low_value + high * high_value) / 64 + 4;  // with rounding
  }
};
struct Gains {
  Gain even, odd, between;  // `between`: of steps that are followed by others
};
constexpr Gains kGains[] = {
    {{64, 32}, {80, 64}, {0, 0}},     {{64, 32}, {64, 64}, {0, 0}}, {{64, 40}, {80, 69}, {0, 0}},
    {{64, 32}, {64, 32}, {0, 0}},     {{64, 32}, {64, 32}, {0, 0}}, {{81, 118}, {59, 64}, {0, 0}},
    {{64, 45}, {72, 64}, {113, 165}},
};

}  // namespace

bool dirac_needs_wide_qcoefs(const DiracSequence& sequence, const DiracTransform& transform,
                             bool is_intra) {
  // By filter: the most levels at which coefficients of 8-bit samples, and the values of lifting
  // intermediate steps, stay within 16 bits.
  constexpr int kMaxLevels[] = {4, 4, 4, 6, 5, 2, 3};
  // For predicted pictures this only becomes likely; filters whose factors add up to much have no
  // useful bound.
  constexpr int kMaxLevelsPredicted[] = {4, 5, 4, 6, 6, -1, -1};
  const int levels = transform.levels.both + transform.levels.horizontal;
  if (sequence.depth(0) > 8 || sequence.depth(1) > 8) return true;
  if (transform.wavelet != transform.wavelet_ho || transform.levels.horizontal != 0) return true;
  const auto wavelet = static_cast<size_t>(transform.wavelet);
  return levels > (is_intra ? kMaxLevels : kMaxLevelsPredicted)[wavelet];
}

bool dirac_fits_16_bits(const DiracQcoefs& qcoefs, const DiracTransform& transform,
                        bool predicts_dc) {
  constexpr uint64_t kMax = kMaxIn16Bits;
  const auto wavelet = static_cast<size_t>(transform.wavelet);
  if (wavelet >= std::size(kGains)) return false;
  const Gains gains = kGains[wavelet];
  const bool shifts = lifting(transform.wavelet).shift_between_levels != 0;
  bool fits = true;
  const auto synthesize = [&](uint64_t low, uint64_t high) {
    const uint64_t even = gains.even.of(low, high), odd = gains.odd.of(low, high);
    fits &= even <= kMax && odd <= kMax && gains.between.of(low, high) <= kMax;
    return std::max(even, odd);
  };
  for (int c = 0; c < kMaxComponents && fits; ++c) {
    const DiracBand& coarsest = qcoefs.band(c, 0);
    uint64_t low = coarsest.largest;
    fits = low <= kMax;
    if (fits && predicts_dc) fits = predicted_fits(coarsest, &low);
    for (int i = 1; i + 2 < qcoefs.band_count() && fits; i += 3) {
      uint64_t high[3];  // HL, LH, HH
      for (int k = 0; k < 3; ++k) {
        fits &= qcoefs.band(c, i + k).largest <= kMax;
        high[k] = std::min(qcoefs.band(c, i + k).largest, kMax);
      }
      // The bound of both orders, rows first or columns first.
      const uint64_t either = std::max(high[0], high[1]);
      low = synthesize(synthesize(low, either), synthesize(either, high[2]));
      if (shifts) low = (low + 1) / 2;
    }
  }
  return fits;
}

Status DiracQcoefs::lay_out(const DiracSequence& sequence, const DiracPictureHeader& header,
                            const DiracTransform& transform, uint64_t max_coefs,
                            bool must_be_wide) {
  uint64_t coefs = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    const DiracPaddedSize size = dirac_padded(sequence, transform.levels, c);
    coefs += static_cast<uint64_t>(size.width) * static_cast<uint64_t>(size.height);
  }
  if (coefs > max_coefs) {
    return Status::error(StatusCode::kUnsupported, "picture of " + std::to_string(coefs) +
                                                       " coefficients exceeds the limit of " +
                                                       std::to_string(max_coefs));
  }
  coef_count_ = coefs;
  is_wide_ = must_be_wide || dirac_needs_wide_qcoefs(sequence, transform, header.is_intra());
  band_count_ = dwt_band_count(transform.levels);
  // The first pass finds the size, the second gives out the parts.
  for (const bool counting : {true, false}) {
    Parts parts(counting ? nullptr : static_cast<uint8_t*>(memory_->data()));
    uint8_t* slices = nullptr;
    for (int c = 0; c < kMaxComponents; ++c) {
      for (int i = 0; i < band_count_; ++i) {
        DiracBand& band = bands_[c][i];
        band = describe(sequence, header, transform, c, i);
        place_maps(parts, band);
        // All bands of a slice picture have the slices' indices.
        const bool shares = header.has_slices() && (c > 0 || i > 0);
        band.quantizers = shares ? slices : place_quantizers(parts, band);
        if (!shares) slices = band.quantizers;
      }
    }
    for (int c = 0; c < kMaxComponents; ++c) {
      for (int i = 0; i < band_count_; ++i) place_qcoefs(parts, is_wide_, bands_[c][i]);
    }
    if (counting && (memory_ == nullptr || memory_->size() < parts.used())) {
      memory_.reset();
      CT_RETURN_IF_ERROR(budget_->allocate_on_host(parts.used(), &memory_));
    }
  }
  return {};
}

uint64_t DiracQcoefs::growth() const {
  const uint64_t rounding = uint64_t{kMaxComponents} * kMaxDwtBands * kAlignment;
  return is_wide_ ? 0 : coef_count_ * (sizeof(int32_t) - sizeof(int16_t)) + rounding;
}

void clear_dirac_rows(const DiracBand& band, int32_t first, int32_t end) {
  const ptrdiff_t words = ptrdiff_t{band.map_words} * (end - first);
  std::fill_n(band.map + ptrdiff_t{first} * band.map_words, words, uint64_t{0});
  std::fill_n(band.signs + ptrdiff_t{first} * band.map_words, words, uint64_t{0});
  std::fill_n(band.counts + first, end - first, uint32_t{0});
}

void dequantize_dirac_band(const DiracBand& band, bool is_wide, bool is_intra, void* pyramid,
                           ptrdiff_t pitch) {
  if (is_wide) {
    dequantize<int32_t>(band, is_intra, pyramid, pitch);
  } else {
    dequantize<int16_t>(band, is_intra, pyramid, pitch);
  }
}

void predict_dirac_dc(const DiracBand& band, bool is_wide, void* pyramid, ptrdiff_t pitch) {
  if (is_wide) {
    predict<int32_t>(band, pyramid, pitch);
  } else {
    predict<int16_t>(band, pyramid, pitch);
  }
}

}  // namespace cudatransform
