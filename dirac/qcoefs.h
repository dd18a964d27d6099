// The quantized coefficients of a picture as they were decoded: sparse, with their quantizers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A map has a bit for each coefficient of a band, which is set where its quantized coefficient is
// not zero. Only those quantized coefficients are packed, row by row: the quantized coefficients of
// a row are consecutive from the row's own place on, in order of their columns. So a reader finds
// the quantized coefficient of a coefficient by counting the bits before it in its row, rows are
// independent of each other, and a copy of a band to another device takes counts[y] quantized
// coefficients of each row y.
//
// Quantized coefficients are integers modulo 2^16 or, where coefficients may be larger, modulo
// 2^32.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "dirac/picture_header.h"
#include "transform/device/device.h"
#include "transform/device/memory_budget.h"
#include "transform/device/status.h"
#include "transform/dwt/bands.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform {

// Part `index` of `count` into which `size` is divided: codeblocks and slices of a band.
inline int32_t dirac_part(int32_t size, int32_t index, int32_t count) {
  return static_cast<int32_t>(int64_t{size} * index / count);
}

struct DiracBand {
  int32_t width = 0, height = 0;
  int level = 0;  // 0 is the coarsest
  // Its place in the pyramid of its component.
  int32_t x = 0, y = 0;
  // Codeblocks or slices, which share a quantizer. Column i begins at dirac_part(width, i,
  // columns); rows likewise.
  int32_t columns = 1, rows = 1;
  // The index of each, in raster order; `matrix` is taken off it for this band.
  uint8_t* quantizers = nullptr;
  uint8_t matrix = 0;

  void* qcoefs = nullptr;      // int16_t or int32_t; row y begins at y * width
  uint32_t* counts = nullptr;  // of quantized coefficients, by row
  uint64_t* map = nullptr;     // bit x % 64 of word x / 64 of a row is coefficient x
  uint64_t* signs = nullptr;   // likewise: which of those are negative
  int32_t map_words = 0;       // of a row; bits after the width are 0
  // Valid when it has been decoded: the bound of its coefficients' magnitudes, without prediction.
  uint64_t largest = 0;

  const uint64_t* map_row(int32_t row) const { return map + ptrdiff_t{row} * map_words; }
  int quantizer(int32_t column, int32_t row) const {
    const int index = quantizers[ptrdiff_t{row} * columns + column] - matrix;
    return index > 0 ? index : 0;
  }
};

// The memory of a picture's quantized coefficients. It is kept for the next picture.
class DiracQcoefs {
 public:
  explicit DiracQcoefs(MemoryBudgetPtr budget = nullptr)
      : budget_(some_budget(std::move(budget))) {}

  // Lays out all bands. Each row must be cleared before quantized coefficients are stored there.
  // kUnsupported: more coefficients than `max_coefs`. `must_be_wide`: also where 16 bits are likely
  // to do.
  Status lay_out(const DiracSequence& sequence, const DiracPictureHeader& header,
                 const DiracTransform& transform, uint64_t max_coefs, bool must_be_wide = false);

  int band_count() const { return band_count_; }
  uint64_t coef_count() const { return coef_count_; }
  // How much more memory they take where they have to be wide and are not.
  uint64_t growth() const;
  // Whether quantized coefficients are int32_t.
  bool is_wide() const { return is_wide_; }
  DiracBand& band(int component, int index) { return bands_[component][index]; }
  const DiracBand& band(int component, int index) const { return bands_[component][index]; }

 private:
  const MemoryBudgetPtr budget_;
  std::unique_ptr<Memory> memory_;
  uint64_t coef_count_ = 0;
  DiracBand bands_[kMaxComponents][kMaxDwtBands];
  int band_count_ = 0;
  bool is_wide_ = false;
};

// Makes all quantized coefficients of these rows zero.
void clear_dirac_rows(const DiracBand& band, int32_t first, int32_t end);

// Whether coefficients of these samples are likely to need more than 16 bits, by what the forward
// transform of pictures can give; the difference of two pictures has a bit more, which coefficients
// seldom need. SMPTE ST 2042-1 has no bound: where this is false, dirac_fits_16_bits() decides.
bool dirac_needs_wide_qcoefs(const DiracSequence& sequence, const DiracTransform& transform,
                             bool is_intra);

// Whether no step of the inverse transform of decoded bands can leave 16 bits, nor DC prediction
// where the picture has it.
bool dirac_fits_16_bits(const DiracQcoefs& qcoefs, const DiracTransform& transform,
                        bool predicts_dc);

// A value from a quantized coefficient that is not zero; modulo 2^32.
inline int32_t dirac_dequantize(int32_t qcoef, uint32_t factor, uint32_t offset) {
  const uint64_t magnitude =
      qcoef < 0 ? 0 - static_cast<uint64_t>(int64_t{qcoef}) : static_cast<uint64_t>(qcoef);
  const auto value = static_cast<uint32_t>((magnitude * factor + offset + 2) >> 2);
  return static_cast<int32_t>(qcoef < 0 ? 0 - value : value);
}

// The addend before the division by 4; pictures that are predicted from others have a smaller one.
inline uint32_t dirac_quant_offset(int index, bool is_intra) {
  if (is_intra || index == 0) return dwt_quant_offset(index);
  return static_cast<uint32_t>((uint64_t{3} * dwt_quant_factor(index) + 4) >> 3);
}

// The bound of coefficients whose quantized coefficient's magnitude has only bits of `magnitudes`,
// for any picture: the offset of intra pictures is the larger one.
inline uint64_t dirac_largest(uint32_t magnitudes, int index) {
  if (magnitudes == 0) return 0;
  const uint64_t most = (uint64_t{1} << std::bit_width(magnitudes)) - 1;
  return (most * dwt_quant_factor(index) + dirac_quant_offset(index, true) + 2) >> 2;
}

// Writes all coefficients of a band into the pyramid of its component, whose rows are `pitch`
// bytes: int16_t or int32_t as the quantized coefficients are.
void dequantize_dirac_band(const DiracBand& band, bool is_wide, bool is_intra, void* pyramid,
                           ptrdiff_t pitch);

// Adds to each coefficient of level 0 the mean of its neighbors to the left and above.
void predict_dirac_dc(const DiracBand& band, bool is_wide, void* pyramid, ptrdiff_t pitch);

// The place of one row's quantized coefficients. Within a row they are in order from left to right.
template <typename Value>
class DiracRowWriter {
 public:
  DiracRowWriter(const DiracBand& band, int32_t row)
      : map_(band.map + ptrdiff_t{row} * band.map_words),
        signs_(band.signs + ptrdiff_t{row} * band.map_words),
        count_(band.counts + row),
        next_(static_cast<Value*>(band.qcoefs) + ptrdiff_t{row} * band.width + *count_),
        first_(next_) {}
  ~DiracRowWriter() { *count_ += static_cast<uint32_t>(next_ - first_); }
  DiracRowWriter(const DiracRowWriter&) = delete;
  DiracRowWriter& operator=(const DiracRowWriter&) = delete;

  // `qcoef` is not zero. A multiple of 2^16 does not fit in 16 bits and stays zero.
  void put(int32_t x, int32_t qcoef) {
    const auto value = static_cast<Value>(qcoef);
    if (value == 0) return;
    *next_++ = value;
    const uint64_t bit = uint64_t{1} << (x & 63);
    map_[x >> 6] |= bit;
    if (value < 0) signs_[x >> 6] |= bit;
  }

 private:
  uint64_t* map_;
  uint64_t* signs_;
  uint32_t* count_;
  Value* next_;
  Value* first_;
};

}  // namespace cudatransform
