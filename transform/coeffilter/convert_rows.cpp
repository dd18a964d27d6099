// Conversions of rows of blocks, compiled for every instruction set that Highway knows here:
// compilers make vectors of these loops.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/coeffilter/convert_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "transform/coeffilter/conversions.h"
#include "transform/coeffilter/numbers.h"
#include "transform/dct8x8/quant_table.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

// Blocks that are converted at a time: several lines of the cache of each frequency, and few enough
// for the second cache.
constexpr int32_t kTile = 128;

template <typename Number>
Number* block_of(const CoefRow& row, int32_t block) {
  return reinterpret_cast<Number*>(row.data) + ptrdiff_t{64} * block;
}
// Row `v` of a block in kPlane, and frequency `k` in kBand.
template <typename Number>
Number* plane_row_of(const CoefRow& row, int v, int32_t block) {
  return reinterpret_cast<Number*>(row.data + v * row.pitch) + ptrdiff_t{8} * block;
}
template <typename Number>
Number* band_of(const CoefRow& row, int k, int32_t block) {
  return reinterpret_cast<Number*>(row.data + k * row.to_band) + block;
}

// ---- Adjacent blocks to frequencies, and back ----
//
// Of kTile blocks, 64 numbers each, number n of block b is at 64 b + n; of frequencies at
// kTile n + b.

// Transposes a square of as many numbers on a side as a vector of 16 bytes has.
#if HWY_TARGET == HWY_SCALAR
constexpr int32_t kSquareBytes = 0;
template <typename Number>
HWY_INLINE void transpose_square(const Number* from, ptrdiff_t from_step, Number* to,
                                 ptrdiff_t to_step) {
  *to = *from;
  static_cast<void>(from_step + to_step);
}
#else
constexpr int32_t kSquareBytes = 16;

namespace hn = hwy::HWY_NAMESPACE;

template <typename Number>
HWY_INLINE void transpose_square(const Number* from, ptrdiff_t from_step, Number* to,
                                 ptrdiff_t to_step) {
  constexpr int kSide = kSquareBytes / sizeof(Number);
  using Bits = hwy::UnsignedFromSize<sizeof(Number)>;
  using Tag = hn::FixedTag<Bits, kSide>;
  const Tag tag;
  hn::Vec<Tag> rows[kSide], next[kSide];
  for (int i = 0; i < kSide; ++i)
    rows[i] = hn::LoadU(tag, reinterpret_cast<const Bits*>(from + i * from_step));
  // Each step interleaves the halves of the list.
  for (int step = 1; step < kSide; step *= 2) {
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(tag, rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(tag, rows[i], rows[i + kSide / 2]);
    }
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < kSide; ++i)
    hn::StoreU(rows[i], tag, reinterpret_cast<Bits*>(to + i * to_step));
}
#endif

// Transposes `rows` rows of `columns` numbers.
template <typename Number>
HWY_INLINE void transpose(const Number* from, ptrdiff_t from_step, int32_t rows, int32_t columns,
                          Number* to, ptrdiff_t to_step) {
  constexpr int32_t kSide = kSquareBytes == 0 ? 1 : kSquareBytes / int32_t{sizeof(Number)};
  const int32_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
  for (int32_t r = 0; r < whole_rows; r += kSide)
    for (int32_t c = 0; c < whole_columns; c += kSide)
      transpose_square(from + r * from_step + c, from_step, to + c * to_step + r, to_step);
  for (int32_t r = 0; r < rows; ++r)
    for (int32_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      to[c * to_step + r] = from[r * from_step + c];
}

template <typename Number>
HWY_NOINLINE void gather_bands(const CoefRow& row, int32_t first, int32_t count, Number* blocks) {
  HWY_ALIGN Number bands[64 * kTile];
  for (int k = 0; k < 64; ++k)
    std::memcpy(bands + kTile * kNaturalOfZigzag[k], band_of<Number>(row, k, first),
                sizeof(Number) * size_t(count));
  transpose(bands, kTile, 64, count, blocks, 64);
}

template <typename Number>
HWY_NOINLINE void scatter_bands(const Number* blocks, const CoefRow& row, int32_t first,
                                int32_t count) {
  HWY_ALIGN Number bands[64 * kTile];
  transpose(blocks, 64, count, 64, bands, kTile);
  for (int k = 0; k < 64; ++k)
    std::memcpy(band_of<Number>(row, k, first), bands + kTile * kNaturalOfZigzag[k],
                sizeof(Number) * size_t(count));
}

// ---- Any arrangement ----

// Brings `count` blocks from number `first` on together, in natural order.
template <typename Number>
HWY_NOINLINE void gather(const CoefRow& row, int32_t first, int32_t count, Number* blocks) {
  switch (row.arrangement) {
    case CoefArrangement::kBlock:
      std::memcpy(blocks, block_of<Number>(row, first), sizeof(Number) * 64 * size_t(count));
      break;
    case CoefArrangement::kZigzagBlock:
      for (int32_t b = 0; b < count; ++b) {
        const Number* from = block_of<Number>(row, first + b);
        for (int n = 0; n < 64; ++n) blocks[64 * b + n] = from[kZigzagOfNatural[n]];
      }
      break;
    case CoefArrangement::kPlane:
      for (int v = 0; v < 8; ++v) {
        const Number* from = plane_row_of<Number>(row, v, first);
        for (int32_t b = 0; b < count; ++b)
          std::memcpy(blocks + 64 * b + 8 * v, from + ptrdiff_t{8} * b, 8 * sizeof(Number));
      }
      break;
    case CoefArrangement::kBand:
      gather_bands(row, first, count, blocks);
      break;
  }
}

// The reverse.
template <typename Number>
HWY_NOINLINE void scatter(const Number* blocks, const CoefRow& row, int32_t first, int32_t count) {
  switch (row.arrangement) {
    case CoefArrangement::kBlock:
      std::memcpy(block_of<Number>(row, first), blocks, sizeof(Number) * 64 * size_t(count));
      break;
    case CoefArrangement::kZigzagBlock:
      for (int32_t b = 0; b < count; ++b) {
        Number* to = block_of<Number>(row, first + b);
        for (int k = 0; k < 64; ++k) to[k] = blocks[64 * b + kNaturalOfZigzag[k]];
      }
      break;
    case CoefArrangement::kPlane:
      for (int v = 0; v < 8; ++v) {
        Number* to = plane_row_of<Number>(row, v, first);
        for (int32_t b = 0; b < count; ++b)
          std::memcpy(to + ptrdiff_t{8} * b, blocks + 64 * b + 8 * v, 8 * sizeof(Number));
      }
      break;
    case CoefArrangement::kBand:
      scatter_bands(blocks, row, first, count);
      break;
  }
}

template <typename From, typename To>
HWY_NOINLINE uint32_t convert_blocks(const typename From::Stored* from, typename To::Stored* to,
                                     int32_t count, const uint16_t* divisors) {
  uint32_t saturated = 0;
  for (int32_t b = 0; b < count; ++b, from += 64, to += 64)
    for (int n = 0; n < 64; ++n) to[n] = converted<From, To>(from[n], divisors[n], &saturated);
  return saturated;
}

template <typename From, typename To>
uint64_t convert_row(const CoefRow& from, const CoefRow& to, int32_t blocks,
                     const uint16_t* divisors) {
  using FromNumber = typename From::Stored;
  using ToNumber = typename To::Stored;
  HWY_ALIGN FromNumber before[kTile * 64];
  HWY_ALIGN ToNumber after[kTile * 64];
  uint64_t saturated = 0;
  for (int32_t first = 0; first < blocks; first += kTile) {
    const int32_t count = std::min(kTile, blocks - first);
    // Blocks in natural order are used in place.
    const bool reads = from.arrangement == CoefArrangement::kBlock;
    const bool writes = to.arrangement == CoefArrangement::kBlock;
    const FromNumber* source = reads ? block_of<FromNumber>(from, first) : before;
    ToNumber* result = writes ? block_of<ToNumber>(to, first) : after;
    if constexpr (std::is_same_v<From, To>) {
      if (writes) {
        gather(from, first, count, result);
      } else {
        if (!reads) gather(from, first, count, before);
        scatter(source, to, first, count);
      }
    } else {
      if (!reads) gather(from, first, count, before);
      saturated += convert_blocks<From, To>(source, result, count, divisors);
      if (!writes) scatter(after, to, first, count);
    }
  }
  return saturated;
}

const ConvertRow* choose_convert_rows() {
#define CT_ROW(name, From, To) convert_row<From, To>,
  static constexpr ConvertRow kRows[] = {CT_CONVERSIONS(CT_ROW, convert_)};
#undef CT_ROW
  return kRows;
}

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_convert_rows);

const ConvertRow* convert_rows() { return HWY_DYNAMIC_DISPATCH(choose_convert_rows)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
