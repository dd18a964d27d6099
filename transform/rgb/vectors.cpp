// Rows of RGB in vectors, compiled for every instruction set that Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/rgb/vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/rgb/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
const RgbRows* choose_rgb_rows() { return nullptr; }

#else

#include "transform/device/bytes-inl.h"

using Longs = hn::Repartition<int32_t, Bytes>;
using HalfBytes = hn::Rebind<uint8_t, Words>;
using LongVec = hn::Vec<Longs>;

// ---- Words of bytes ----

HWY_INLINE WordVec load_words(const uint8_t* from) {
  return hn::PromoteTo(Words(), hn::LoadU(HalfBytes(), from));
}
HWY_INLINE WordVec load_words(const uint16_t* from) {
  return hn::BitCast(Words(), hn::LoadU(hn::RebindToUnsigned<Words>(), from));
}
// `first` in even lanes, `second` in odd ones.
HWY_INLINE WordVec by_turns(int16_t first, int16_t second) {
  const auto both = static_cast<int32_t>(uint32_t(uint16_t(second)) << 16 | uint16_t(first));
  return hn::BitCast(Words(), hn::Set(Longs(), both));
}
HWY_INLINE WordVec times_three(WordVec value) { return hn::Add(hn::Add(value, value), value); }

// ---- Upsampling ----

void blend_row_sums(const uint8_t* near, const uint8_t* other, uint16_t* sums, size_t count) {
  const hn::RebindToUnsigned<Words> d;
  if (for_vectors(count, hn::Lanes(Words()), [=](size_t i) {
        const WordVec sum = hn::Add(times_three(load_words(near + i)), load_words(other + i));
        hn::StoreU(hn::BitCast(d, sum), d, sums + i);
      }))
    return;
  portable_rgb_rows().blend_rows(near, other, sums, count);
}

void blend_two_rows(const uint8_t* near, const uint8_t* other, int position, uint8_t* to,
                    size_t count) {
  const WordVec rounding = hn::Set(Words(), static_cast<int16_t>(1 + (position & 1)));
  if (for_vectors(count, hn::Lanes(Words()), [=](size_t i) {
        const WordVec sum = hn::Add(times_three(load_words(near + i)), load_words(other + i));
        const WordVec blended = hn::ShiftRight<2>(hn::Add(sum, rounding));
        hn::StoreU(hn::DemoteTo(HalfBytes(), blended), HalfBytes(), to + i);
      }))
    return;
  portable_rgb_rows().blend_two(near, other, position, to, count);
}

// Both positions of each sample: 3/4 of it, 1/4 of the one before or after it.
template <int kBits, typename Sample>
HWY_INLINE bool blend_in_rows(const Sample* near, uint8_t* to, size_t count, int16_t even_rounding,
                              int16_t odd_rounding) {
  const WordVec even_bias = hn::Set(Words(), even_rounding);
  const WordVec odd_bias = hn::Set(Words(), odd_rounding);
  return for_vectors(count, hn::Lanes(Words()), [=](size_t i) {
    const WordVec most = times_three(load_words(near + i));
    const WordVec before = hn::Add(load_words(near + i - 1), even_bias);
    const WordVec behind = hn::Add(load_words(near + i + 1), odd_bias);
    hn::StoreU(narrowed(hn::ShiftRight<kBits>(hn::Add(most, before)),
                        hn::ShiftRight<kBits>(hn::Add(most, behind))),
               Bytes(), to + 2 * i);
  });
}
void blend_columns(const uint8_t* near, uint8_t* to, size_t count) {
  if (!blend_in_rows<2>(near, to, count, 1, 2)) portable_rgb_rows().blend_columns(near, to, count);
}
void blend_column_sums(const uint16_t* near, uint8_t* to, size_t count) {
  if (!blend_in_rows<4>(near, to, count, 8, 7)) portable_rgb_rows().blend_sums(near, to, count);
}

void repeat_twice(const uint8_t* from, uint8_t* to, size_t count) {
  if (for_vectors(count, hn::Lanes(Words()), [=](size_t i) {
        const WordVec words = load_words(from + i);
        hn::StoreU(narrowed(words, words), Bytes(), to + 2 * i);
      }))
    return;
  portable_rgb_rows().repeat_twice(from, to, count);
}

// ---- Downsampling ----

HWY_INLINE WordVec pair_sums(const uint8_t* from) {
  const Both both = widened(hn::LoadU(Bytes(), from));
  return hn::Add(both.even, both.odd);
}

// A vector that begins at an odd column would round the other way round.
HWY_INLINE WordVec roundings(size_t i, int16_t even) {
  const auto turn = static_cast<int16_t>(i & 1);
  return by_turns(static_cast<int16_t>(even + turn), static_cast<int16_t>(even + 1 - turn));
}

void halve_columns(const uint8_t* from, uint8_t* to, size_t count) {
  if (for_vectors(count, hn::Lanes(Words()), [=](size_t i) {
        const WordVec sum = hn::Add(pair_sums(from + 2 * i), roundings(i, 0));
        hn::StoreU(hn::DemoteTo(HalfBytes(), hn::ShiftRight<1>(sum)), HalfBytes(), to + i);
      }))
    return;
  portable_rgb_rows().halve_columns(from, to, count);
}

void halve_both(const uint8_t* const* rows, uint8_t* to, size_t count) {
  const uint8_t *above = rows[0], *below = rows[1];
  if (for_vectors(count, hn::Lanes(Words()), [=](size_t i) {
        const WordVec sums = hn::Add(pair_sums(above + 2 * i), pair_sums(below + 2 * i));
        const WordVec sum = hn::Add(sums, roundings(i, 1));
        hn::StoreU(hn::DemoteTo(HalfBytes(), hn::ShiftRight<2>(sum)), HalfBytes(), to + i);
      }))
    return;
  portable_rgb_rows().halve_both(rows, to, count);
}

// ---- Color ----

// a[2i] b[2i] + a[2i+1] b[2i+1].
HWY_INLINE LongVec multiply_pairs(WordVec a, WordVec b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  LongVec unused = hn::Zero(Longs());  // on x86 there is one sum, of neighbors
  return hn::ReorderWidenMulAccumulate(Longs(), a, b, hn::Zero(Longs()), unused);
#else
  const LongVec wide_a = hn::BitCast(Longs(), a), wide_b = hn::BitCast(Longs(), b);
  const LongVec even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_a)),
                               hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_b)));
  return hn::Add(even, hn::Mul(hn::ShiftRight<16>(wide_a), hn::ShiftRight<16>(wide_b)));
#endif
}

struct WideVec {
  LongVec low, high;
};
struct Pairs {
  WordVec low, high;
};
HWY_INLINE Pairs pairs_of(WordVec a, WordVec b) {
  return {hn::InterleaveLower(Words(), a, b), hn::InterleaveUpper(Words(), a, b)};
}
HWY_INLINE WideVec operator*(const Pairs& pairs, WordVec factors) {
  return {multiply_pairs(pairs.low, factors), multiply_pairs(pairs.high, factors)};
}
HWY_INLINE WideVec operator+(const WideVec& a, const WideVec& b) {
  return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)};
}
// (bias - sum) >> kBits; pairs return to their places.
template <int kBits>
HWY_INLINE WordVec descaled(int32_t bias, const WideVec& sum) {
  const LongVec from = hn::Set(Longs(), bias);
  return hn::ReorderDemote2To(Words(), hn::ShiftRight<kBits>(hn::Sub(from, sum.low)),
                              hn::ShiftRight<kBits>(hn::Sub(from, sum.high)));
}

template <typename Vec>
struct RgbOf {
  Vec r, g, b;
};

// All factors but red's are even: with 15 bits of fraction they are exact, too. Red's factor less
// one, halved and rounded down, gives the same red for all 256 values of Cr.
HWY_INLINE RgbOf<WordVec> rgb_of_words(WordVec y, WordVec cb, WordVec cr) {
  static_assert(kBlueOfCb % 2 == 0 && kGreenOfCb % 2 == 0 && kGreenOfCr % 2 == 0);
  constexpr int kBits = kRgbFraction - 1;
  constexpr auto kRed = static_cast<int16_t>((kRedOfCr - (1 << kRgbFraction)) / 2);
  constexpr auto kBlue = static_cast<int16_t>((kBlueOfCb - (2 << kRgbFraction)) / 2);
  const WordVec red = hn::Add(hn::Add(y, cr), hn::MulFixedPoint15(cr, hn::Set(Words(), kRed)));
  const WordVec blue =
      hn::Add(hn::Add(y, hn::Add(cb, cb)), hn::MulFixedPoint15(cb, hn::Set(Words(), kBlue)));
  const WordVec factors = by_turns(kGreenOfCb / 2, kGreenOfCr / 2);
  const WordVec green = hn::Add(y, descaled<kBits>(kRgbHalf / 2, pairs_of(cb, cr) * factors));
  return {clamped(red), clamped(green), clamped(blue)};
}

HWY_INLINE RgbOf<ByteVec> rgb_of_bytes(ByteVec y, ByteVec cb, ByteVec cr) {
  const WordVec middle = hn::Set(Words(), kRgbMiddle);
  const Both luma = widened(y), b = widened(cb), r = widened(cr);
  const RgbOf<WordVec> even =
      rgb_of_words(luma.even, hn::Sub(b.even, middle), hn::Sub(r.even, middle));
  const RgbOf<WordVec> odd = rgb_of_words(luma.odd, hn::Sub(b.odd, middle), hn::Sub(r.odd, middle));
  return {narrowed(even.r, odd.r), narrowed(even.g, odd.g), narrowed(even.b, odd.b)};
}

// Green's factor for luma is too large for 16 bits: it is the sum of two.
HWY_INLINE WordVec luma_of_pairs(const Pairs& rg, const Pairs& bg) {
  constexpr int16_t kQuarter = 1 << 14;
  const WideVec sum = rg * by_turns(-kLumaOfRed, -(kLumaOfGreen - kQuarter)) +
                      bg * by_turns(-kLumaOfBlue, -kQuarter);
  return descaled<kRgbFraction>(kRgbHalf, sum);
}
struct YccWords {
  WordVec y, cb, cr;
};
HWY_INLINE YccWords ycc_of_words(WordVec r, WordVec g, WordVec b) {
  constexpr int16_t kLess = -kRgbHalf;  // a half is subtracted, negative
  const Pairs rg = pairs_of(r, g), bg = pairs_of(b, g);
  return {luma_of_pairs(rg, bg),
          descaled<kRgbFraction>(kChromaBias,
                                 rg * by_turns(kCbOfRed, kCbOfGreen) + bg * by_turns(kLess, 0)),
          descaled<kRgbFraction>(kChromaBias,
                                 rg * by_turns(kLess, kCrOfGreen) + bg * by_turns(kCrOfBlue, 0))};
}

template <RgbPacking kPacking>
HWY_INLINE void store(const RgbOf<ByteVec>& rgb, uint8_t* const* to, size_t i) {
  constexpr RgbLayout kLayout = rgb_layout(kPacking);
  if constexpr (kPacking == RgbPacking::kPlanar) {
    hn::StoreU(rgb.r, Bytes(), to[0] + i);
    hn::StoreU(rgb.g, Bytes(), to[1] + i);
    hn::StoreU(rgb.b, Bytes(), to[2] + i);
  } else if constexpr (kLayout.pixel_bytes == 3) {
    constexpr bool kIsRgb = kLayout.r == 0;
    hn::StoreInterleaved3(kIsRgb ? rgb.r : rgb.b, rgb.g, kIsRgb ? rgb.b : rgb.r, Bytes(),
                          to[0] + 3 * i);
  } else {
    const ByteVec x = hn::Set(Bytes(), 255);
    const auto at = [&](int place) {
      return place == kLayout.r   ? rgb.r
             : place == kLayout.g ? rgb.g
             : place == kLayout.b ? rgb.b
                                  : x;
    };
    hn::StoreInterleaved4(at(0), at(1), at(2), at(3), Bytes(), to[0] + 4 * i);
  }
}

template <RgbPacking kPacking>
HWY_INLINE RgbOf<ByteVec> load(const uint8_t* const* from, size_t i) {
  constexpr RgbLayout kLayout = rgb_layout(kPacking);
  if constexpr (kPacking == RgbPacking::kPlanar) {
    return {hn::LoadU(Bytes(), from[0] + i), hn::LoadU(Bytes(), from[1] + i),
            hn::LoadU(Bytes(), from[2] + i)};
  } else if constexpr (kLayout.pixel_bytes == 3) {
    ByteVec a, b, c;
    hn::LoadInterleaved3(Bytes(), from[0] + 3 * i, a, b, c);
    if constexpr (kLayout.r == 0) return {a, b, c};
    return {c, b, a};
  } else {
    ByteVec a, b, c, d;
    hn::LoadInterleaved4(Bytes(), from[0] + 4 * i, a, b, c, d);
    const auto at = [&](int place) { return place == 0 ? a : place == 1 ? b : place == 2 ? c : d; };
    return {at(kLayout.r), at(kLayout.g), at(kLayout.b)};
  }
}

struct Conversions {
  template <RgbColor kColor, RgbPacking kPacking>
  static void to_rgb(const uint8_t* const* from, uint8_t* const* to, size_t count) {
    if (!for_vectors(count, hn::Lanes(Bytes()),
                     [=](size_t i) { store<kPacking>(rgb_at<kColor>(from, i), to, i); }))
      portable<kColor, kPacking>(portable_rgb_rows().to_rgb)(from, to, count);
  }
  template <RgbColor kColor, RgbPacking kPacking>
  static void from_rgb(const uint8_t* const* from, uint8_t* const* to, size_t count) {
    if (!for_vectors(count, hn::Lanes(Bytes()),
                     [=](size_t i) { store_components<kColor>(load<kPacking>(from, i), to, i); }))
      portable<kColor, kPacking>(portable_rgb_rows().from_rgb)(from, to, count);
  }

 private:
  template <RgbColor kColor, RgbPacking kPacking, typename Table>
  static RgbRows::Convert portable(const Table& table) {
    return table[static_cast<size_t>(kColor)][static_cast<size_t>(kPacking)];
  }

  template <RgbColor kColor>
  static HWY_INLINE RgbOf<ByteVec> rgb_at(const uint8_t* const* from, size_t i) {
    const ByteVec first = hn::LoadU(Bytes(), from[0] + i);
    if constexpr (kColor == RgbColor::kGray) return {first, first, first};
    const ByteVec second = hn::LoadU(Bytes(), from[1] + i);
    const ByteVec third = hn::LoadU(Bytes(), from[2] + i);
    if constexpr (kColor == RgbColor::kRgb) return {first, second, third};
    return rgb_of_bytes(first, second, third);
  }

  template <RgbColor kColor>
  static HWY_INLINE void store_components(const RgbOf<ByteVec>& rgb, uint8_t* const* to, size_t i) {
    if constexpr (kColor == RgbColor::kRgb) {
      store<RgbPacking::kPlanar>(rgb, to, i);
      return;
    }
    const Both r = widened(rgb.r), g = widened(rgb.g), b = widened(rgb.b);
    if constexpr (kColor == RgbColor::kGray) {
      const WordVec even = luma_of_pairs(pairs_of(r.even, g.even), pairs_of(b.even, g.even));
      const WordVec odd = luma_of_pairs(pairs_of(r.odd, g.odd), pairs_of(b.odd, g.odd));
      hn::StoreU(narrowed(even, odd), Bytes(), to[0] + i);
    } else {
      const YccWords even = ycc_of_words(r.even, g.even, b.even);
      const YccWords odd = ycc_of_words(r.odd, g.odd, b.odd);
      hn::StoreU(narrowed(even.y, odd.y), Bytes(), to[0] + i);
      hn::StoreU(narrowed(even.cb, odd.cb), Bytes(), to[1] + i);
      hn::StoreU(narrowed(even.cr, odd.cr), Bytes(), to[2] + i);
    }
  }
};

constexpr RgbRows kRows = with_conversions<Conversions>({blend_row_sums,
                                                         blend_two_rows,
                                                         blend_columns,
                                                         blend_column_sums,
                                                         repeat_twice,
                                                         halve_columns,
                                                         halve_both,
                                                         {},
                                                         {}});

const RgbRows* choose_rgb_rows() { return &kRows; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_rgb_rows);

const RgbRows* vector_rgb_rows() { return HWY_DYNAMIC_DISPATCH(choose_rgb_rows)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
