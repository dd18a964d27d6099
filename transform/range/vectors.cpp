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
#include "transform/range/range.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
const RangeRows* choose_range_rows() { return nullptr; }

#else

#include "transform/device/bytes-inl.h"

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

template <bool kIsChroma>
void convert(const uint8_t* from, uint8_t* to, size_t count) {
  if (for_vectors(count, hn::Lanes(Bytes()), [=](size_t i) {
        const Both words = widened(hn::LoadU(Bytes(), from + i));
        hn::StoreU(
            narrowed(clamped(scaled<kIsChroma>(words.even)), clamped(scaled<kIsChroma>(words.odd))),
            Bytes(), to + i);
      }))
    return;
  const RangeRows& rows = portable_range_rows();
  (kIsChroma ? rows.chroma : rows.luma)(from, to, count);
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
