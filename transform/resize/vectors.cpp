// Rows of samples in vectors, compiled for every instruction set that Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums are most of the time, and a seventh shorter by an instruction of AVX3_DL.
#define HWY_WANT_AVX3_DL
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/resize/vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/resize/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
const ResizeRows* choose_resize_rows() { return nullptr; }

#else

#include "transform/device/bytes-inl.h"

using Longs = hn::Repartition<int32_t, Bytes>;
using LongVec = hn::Vec<Longs>;
using HalfBytes = hn::Rebind<uint8_t, Words>;

// a[2i] b[2i] + a[2i+1] b[2i+1] + sum[i].
HWY_INLINE LongVec add_pairs(WordVec a, WordVec b, LongVec sum) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
  // Of VNNI, which Highway 1.0's target lacks, though it checks for it before it chooses AVX3_DL:
  // so there is no intrinsic.
  asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  LongVec unused = hn::Zero(Longs());  // on x86 there is one sum, of neighbors
  return hn::ReorderWidenMulAccumulate(Longs(), a, b, sum, unused);
#else
  const LongVec wide_a = hn::BitCast(Longs(), a), wide_b = hn::BitCast(Longs(), b);
  const LongVec even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_a)),
                               hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_b)));
  const LongVec odd = hn::Mul(hn::ShiftRight<16>(wide_a), hn::ShiftRight<16>(wide_b));
  return hn::Add(sum, hn::Add(even, odd));
#endif
}

HWY_INLINE WordVec both_weights(uint32_t pair) {
  return hn::BitCast(Words(), hn::Set(Longs(), static_cast<int32_t>(pair)));
}

// A sum in two parts, which may leave 32 bits where their sum does not: modulo 2^32 it is right.
struct Sum {
  LongVec high, low;

  HWY_INLINE void add(WordVec samples, WordVec by_high, WordVec by_low) {
    high = add_pairs(samples, by_high, high);
    low = add_pairs(samples, by_low, low);
  }
  HWY_INLINE LongVec value() const {
    return hn::ShiftRight<kResizeFraction>(hn::Add(hn::ShiftLeft<kLowBits>(high), low));
  }
};

HWY_INLINE Sum begin_sum() { return {hn::Zero(Longs()), hn::Set(Longs(), kResizeHalf)}; }

// ---- Down columns ----

// In each block of 128 bits those of `low` as bytes, then those of `high`.
HWY_INLINE ByteVec demoted_blocks(WordVec low, WordVec high) {
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 2, 4, 6, 8, 10, 12, 14,
                                                     1, 3, 5, 7, 9, 11, 13, 15};
  return hn::TableLookupBytes(narrowed(clamped(low), clamped(high)),
                              hn::LoadDup128(Bytes(), kOrder));
}

struct WordPair {
  WordVec low, high;
};
// Lower and upper halves of each block of 128 bits.
HWY_INLINE WordPair widened_blocks(ByteVec bytes) {
  const ByteVec zero = hn::Zero(Bytes());
  return {hn::BitCast(Words(), hn::InterleaveLower(Bytes(), bytes, zero)),
          hn::BitCast(Words(), hn::InterleaveUpper(Bytes(), bytes, zero))};
}

void add_rows(const uint8_t* const* rows, const WeightPair* weights, int32_t pairs, uint8_t* to,
              size_t count) {
  if (for_vectors(count, hn::Lanes(Bytes()), [=](size_t i) {
        Sum a = begin_sum(), b = a, c = a, d = a;
        for (int32_t k = 0; k < pairs; ++k) {
          const ByteVec first = hn::LoadU(Bytes(), rows[2 * k] + i);
          const ByteVec second = hn::LoadU(Bytes(), rows[2 * k + 1] + i);
          const WordVec high = both_weights(weights[k].high), low = both_weights(weights[k].low);
          const WordPair ab = widened_blocks(hn::InterleaveLower(Bytes(), first, second));
          const WordPair cd = widened_blocks(hn::InterleaveUpper(Bytes(), first, second));
          a.add(ab.low, high, low);
          b.add(ab.high, high, low);
          c.add(cd.low, high, low);
          d.add(cd.high, high, low);
        }
        const WordVec lower = hn::ReorderDemote2To(Words(), a.value(), b.value());
        const WordVec upper = hn::ReorderDemote2To(Words(), c.value(), d.value());
        hn::StoreU(demoted_blocks(lower, upper), Bytes(), to + i);
      }))
    return;
  portable_resize_rows().add_rows(rows, weights, pairs, to, count);
}

// ---- Along rows ----

using Block8 = hn::Full128<uint8_t>;
using Block16 = hn::Full128<uint16_t>;
using Block32 = hn::Full128<uint32_t>;
using Block64 = hn::Full128<uint64_t>;

// What a vector of a tile is, of which kParts are an output's rows.
constexpr size_t kRowsOfVector =
    hn::MaxLanes(Longs()) < kTileRows ? hn::MaxLanes(Longs()) : kTileRows;

void to_tile(const uint8_t* const* rows, uint8_t* tile, size_t count) {
  constexpr size_t kSamples = 16, kRows = 8;
  const Block16 d;
  size_t i = 0;
  for (; i + kSamples <= count; i += kSamples) {
    for (size_t group = 0; group < kTileRows; group += kRows) {
      hn::Vec<Block16> a[kRows], b[kRows];
      for (size_t r = 0; r < kRows; ++r)
        a[r] = hn::BitCast(d, hn::LoadU(Block8(), rows[group + r] + i));
      for (size_t r = 0; r < 4; ++r) {
        b[2 * r] = hn::InterleaveLower(d, a[r], a[r + 4]);
        b[2 * r + 1] = hn::InterleaveUpper(d, a[r], a[r + 4]);
      }
      for (size_t r = 0; r < 4; ++r) {
        a[2 * r] = hn::InterleaveLower(d, b[r], b[r + 4]);
        a[2 * r + 1] = hn::InterleaveUpper(d, b[r], b[r + 4]);
      }
      for (size_t r = 0; r < 4; ++r) {
        b[2 * r] = hn::InterleaveLower(d, a[r], a[r + 4]);
        b[2 * r + 1] = hn::InterleaveUpper(d, a[r], a[r + 4]);
      }
      for (size_t pair = 0; pair < 8; ++pair)
        hn::StoreU(hn::BitCast(Block8(), b[pair]), Block8(),
                   tile + 2 * (kTileRows * (i / 2 + pair) + group));
    }
  }
  if (i == count) return;
  const uint8_t* rest[kTileRows];
  for (size_t r = 0; r < kTileRows; ++r) rest[r] = rows[r] + i;
  portable_resize_rows().to_tile(rest, tile + kTileRows * i, count - i);
}

void add_columns(const uint8_t* tile, const AxisPairs& axis, uint8_t* to) {
  constexpr size_t kParts = kTileRows / kRowsOfVector;
  const hn::CappedTag<int32_t, kRowsOfVector> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  for (size_t o = 0; o < static_cast<size_t>(axis.out); ++o) {
    const uint8_t* from = tile + kTileRows * static_cast<size_t>(axis.first[o]);
    const WeightPair* weights = &axis.pairs[o * axis.stride];
    Sum sums[kParts];
    for (Sum& sum : sums) sum = begin_sum();
    for (int32_t k = 0; k < axis.count[o]; ++k, from += 2 * kTileRows) {
      const WordVec high = both_weights(weights[k].high), low = both_weights(weights[k].low);
      for (size_t part = 0; part < kParts; ++part) {
        const auto samples = hn::LoadU(HalfBytes(), from + 2 * kRowsOfVector * part);
        sums[part].add(hn::PromoteTo(Words(), samples), high, low);
      }
    }
    for (size_t part = 0; part < kParts; ++part)
      hn::StoreU(hn::DemoteTo(bytes, sums[part].value()), bytes,
                 to + kTileRows * o + kRowsOfVector * part);
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL

// Four samples of each row.
void to_quads(const uint8_t* const* rows, uint8_t* tile, size_t count) {
  constexpr size_t kSamples = 16, kRows = 4;
  size_t i = 0;
  for (; i + kSamples <= count; i += kSamples) {
    for (size_t group = 0; group < kTileRows; group += kRows) {
      hn::Vec<Block32> a[kRows], b[kRows];
      for (size_t r = 0; r < kRows; ++r)
        a[r] = hn::BitCast(Block32(), hn::LoadU(Block8(), rows[group + r] + i));
      for (size_t r = 0; r < 2; ++r) {
        b[2 * r] = hn::InterleaveLower(Block32(), a[r], a[r + 2]);
        b[2 * r + 1] = hn::InterleaveUpper(Block32(), a[r], a[r + 2]);
      }
      for (size_t r = 0; r < 2; ++r) {
        a[2 * r] = hn::InterleaveLower(Block32(), b[r], b[r + 2]);
        a[2 * r + 1] = hn::InterleaveUpper(Block32(), b[r], b[r + 2]);
      }
      for (size_t quad = 0; quad < 4; ++quad)
        hn::StoreU(hn::BitCast(Block8(), a[quad]), Block8(),
                   tile + 4 * (kTileRows * (i / 4 + quad) + group));
    }
  }
  for (; i < count; ++i)
    for (size_t r = 0; r < kTileRows; ++r) tile[4 * (kTileRows * (i / 4) + r) + i % 4] = rows[r][i];
}

// Products of bytes without and with a sign, four of them added up.
HWY_INLINE LongVec add_products(ByteVec samples, uint32_t weights, LongVec sum) {
  const LongVec four = hn::Set(Longs(), static_cast<int32_t>(weights));
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(samples.raw), "v"(four.raw));
  return sum;
}

void add_quads(const uint8_t* tile, const AxisQuads& axis, uint8_t* to) {
  static_assert(kRowsOfVector == kTileRows);
  const hn::Rebind<uint8_t, Longs> bytes;
  for (size_t o = 0; o < static_cast<size_t>(axis.out); ++o) {
    const uint8_t* from = tile + kTileRows * static_cast<size_t>(axis.first[o]);
    const WeightQuad* weights = &axis.quads[o * axis.stride];
    LongVec sum = hn::Set(Longs(), kResizeHalf), middle = hn::Zero(Longs()), high = middle;
    for (int32_t k = 0; k < axis.count[o]; ++k, from += 4 * kTileRows) {
      const ByteVec samples = hn::LoadU(Bytes(), from);
      sum = add_products(samples, weights[k].digit[0], sum);
      middle = add_products(samples, weights[k].digit[1], middle);
      high = add_products(samples, weights[k].digit[2], high);
    }
    sum = hn::Add(sum, hn::Add(hn::ShiftLeft<8>(middle), hn::ShiftLeft<16>(high)));
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<kResizeFraction>(sum)), bytes,
               to + kTileRows * o);
  }
}

#else

constexpr auto to_quads = nullptr, add_quads = nullptr;

#endif

template <typename D>
HWY_INLINE void interleave(D d, const hn::Vec<Block8>* from, hn::Vec<Block8>* to) {
  for (size_t i = 0; i < 8; ++i) {
    const auto a = hn::BitCast(d, from[i]), b = hn::BitCast(d, from[i + 8]);
    to[2 * i] = hn::BitCast(Block8(), hn::InterleaveLower(d, a, b));
    to[2 * i + 1] = hn::BitCast(Block8(), hn::InterleaveUpper(d, a, b));
  }
}

void from_tile(const uint8_t* from, uint8_t* const* rows, size_t count) {
  constexpr size_t kSamples = 16;
  size_t i = 0;
  for (; i + kSamples <= count; i += kSamples) {
    hn::Vec<Block8> a[kSamples], b[kSamples];
    for (size_t k = 0; k < kSamples; ++k) a[k] = hn::LoadU(Block8(), from + kTileRows * (i + k));
    interleave(Block8(), a, b);
    interleave(Block8(), b, a);
    interleave(Block8(), a, b);
    interleave(Block8(), b, a);
    for (size_t r = 0; r < kTileRows; ++r) hn::StoreU(a[r], Block8(), rows[r] + i);
  }
  if (i == count) return;
  uint8_t* rest[kTileRows];
  for (size_t r = 0; r < kTileRows; ++r) rest[r] = rows[r] + i;
  portable_resize_rows().from_tile(from + kTileRows * i, rest, count - i);
}

// ---- Channels ----

void split(const uint8_t* from, int channels, uint8_t* const* to, size_t count) {
  const bool done = for_vectors(count, hn::Lanes(Bytes()), [=](size_t i) {
    // Initialized because GCC for ARM does not know that there are 2 to 4 channels.
    ByteVec a = hn::Zero(Bytes()), b = a, c = a, d = a;
    const uint8_t* at = from + i * static_cast<size_t>(channels);
    if (channels == 2) hn::LoadInterleaved2(Bytes(), at, a, b);
    if (channels == 3) hn::LoadInterleaved3(Bytes(), at, a, b, c);
    if (channels == 4) hn::LoadInterleaved4(Bytes(), at, a, b, c, d);
    hn::StoreU(a, Bytes(), to[0] + i);
    hn::StoreU(b, Bytes(), to[1] + i);
    if (channels > 2) hn::StoreU(c, Bytes(), to[2] + i);
    if (channels > 3) hn::StoreU(d, Bytes(), to[3] + i);
  });
  if (!done) portable_resize_rows().split(from, channels, to, count);
}

void join(const uint8_t* const* from, int channels, uint8_t* to, size_t count) {
  const bool done = for_vectors(count, hn::Lanes(Bytes()), [=](size_t i) {
    const ByteVec a = hn::LoadU(Bytes(), from[0] + i), b = hn::LoadU(Bytes(), from[1] + i);
    const ByteVec c = channels > 2 ? hn::LoadU(Bytes(), from[2] + i) : a;
    const ByteVec d = channels > 3 ? hn::LoadU(Bytes(), from[3] + i) : a;
    uint8_t* at = to + i * static_cast<size_t>(channels);
    if (channels == 2) hn::StoreInterleaved2(a, b, Bytes(), at);
    if (channels == 3) hn::StoreInterleaved3(a, b, c, Bytes(), at);
    if (channels == 4) hn::StoreInterleaved4(a, b, c, d, Bytes(), at);
  });
  if (!done) portable_resize_rows().join(from, channels, to, count);
}

constexpr ResizeRows kRows = {add_rows, to_tile,   add_columns, from_tile,
                              to_quads, add_quads, split,       join};

const ResizeRows* choose_resize_rows() { return &kRows; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_resize_rows);

const ResizeRows* vector_resize_rows() { return HWY_DYNAMIC_DISPATCH(choose_resize_rows)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
