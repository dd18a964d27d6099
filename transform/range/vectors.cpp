// Rows of bytes to full range in vectors, compiled for every instruction set that Highway knows
// here.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/range/vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/range/arithmetic.h"
#include "transform/range/engine.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
const RangeRows* choose_range_rows() { return nullptr; }

#else

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;
using Words = hn::Repartition<int16_t, Bytes>;
using WordVec = hn::Vec<Words>;

// round(word * factor / 2^fraction) + middle, by products of numbers of 15 bits of fraction.
template <bool kIsChroma>
HWY_INLINE WordVec scaled(WordVec sample) {
  constexpr const RangeScale& kBy = kIsChroma ? kByteChroma : kByteLuma;
  constexpr int32_t kZero = kIsChroma ? kChromaZero : kLumaZero;
  static_assert(kBy.factor < 32768 && (255 - kZero) << (15 - kBy.fraction) < 32768);
  const WordVec from_zero = hn::Sub(sample, hn::Set(Words(), static_cast<int16_t>(kZero)));
  const WordVec product = hn::MulFixedPoint15(hn::ShiftLeft<15 - kBy.fraction>(from_zero),
                                              hn::Set(Words(), static_cast<int16_t>(kBy.factor)));
  return kIsChroma ? hn::Add(product, hn::Set(Words(), static_cast<int16_t>(kChromaZero)))
                   : product;
}

HWY_INLINE WordVec clamped(WordVec value) {
  return hn::Min(hn::Max(value, hn::Zero(Words())), hn::Set(Words(), 255));
}

template <bool kIsChroma>
void convert(const uint8_t* from, uint8_t* to, size_t count) {
  const size_t lanes = hn::Lanes(Bytes());
  if (count < lanes) {
    const RangeRows& rows = portable_range_rows();
    return (kIsChroma ? rows.chroma : rows.luma)(from, to, count);
  }
  // Bytes of even and of odd positions, in lanes of 16 bits: no shuffle is needed.
  const auto vector = [=](size_t i) {
    const WordVec words = hn::BitCast(Words(), hn::LoadU(Bytes(), from + i));
    const WordVec even = hn::And(words, hn::Set(Words(), 255));
    const WordVec odd =
        hn::BitCast(Words(), hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<Words>(), words)));
    const WordVec low = clamped(scaled<kIsChroma>(even)), high = clamped(scaled<kIsChroma>(odd));
    hn::StoreU(hn::BitCast(Bytes(), hn::Or(low, hn::ShiftLeft<8>(high))), Bytes(), to + i);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) vector(i);
  if (i < count) vector(count - lanes);
}

constexpr RangeRows kRows = {convert<false>, convert<true>};

const RangeRows* choose_range_rows() { return &kRows; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_range_rows);

const RangeRows* vector_range_rows() { return HWY_DYNAMIC_DISPATCH(choose_range_rows)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
