// The vector code of motion compensation, compiled for every instruction set that Highway knows
// here.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/obmc/vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/obmc/arithmetic.h"
#include "transform/obmc/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
const ObmcByteKernels* choose_byte_kernels() { return nullptr; }
const ObmcWordKernels* choose_word_kernels() { return nullptr; }

#else

namespace hn = hwy::HWY_NAMESPACE;

template <typename Number>
using Lanes = hn::CappedTag<Number, kObmcLanes>;

template <class D, typename Sample>
HWY_INLINE hn::Vec<D> load(D d, const Sample* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Sample, D>(), from));
}
template <class D>
HWY_INLINE hn::Vec<D> load_residual(D d, const int16_t* from) {
  if constexpr (sizeof(hn::TFromD<D>) == 2)
    return hn::LoadU(d, from);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<int16_t, D>(), from));
}

template <int kCount, typename Sample, typename Number>
HWY_INLINE void fetch_from(const ObmcTaps<Sample>& taps, int32_t half, Number* values,
                           const ObmcArea& area) {
  const Lanes<Number> d;
  using V = hn::Vec<decltype(d)>;
  V weights[kCount];
  for (int t = 0; t < kCount; ++t) weights[t] = hn::Set(d, static_cast<Number>(taps.weights[t]));
  // Halves are subtracted before the shift, so that nothing is lost.
  const auto rounding = (1 << taps.shift) >> 1;
  const V bias = hn::Set(d, static_cast<Number>(rounding - half * (1 << taps.shift)));
  const Sample* from[kCount];
  std::copy_n(taps.from, kCount, from);
  for (size_t y = 0; y < area.rows; ++y) {
    for (size_t x = 0; x < area.columns; x += hn::Lanes(d)) {
      if constexpr (kCount == 1) {
        hn::StoreU(hn::Add(load(d, from[0] + x), bias), d, values + x);
      } else {
        V sum = hn::Add(hn::Mul(load(d, from[0] + x), weights[0]), bias);
        for (int t = 1; t < kCount; ++t)
          sum = hn::Add(sum, hn::Mul(load(d, from[t] + x), weights[t]));
        hn::StoreU(hn::ShiftRightSame(sum, taps.shift), d, values + x);
      }
    }
    for (int t = 0; t < kCount; ++t) from[t] += taps.pitch[t];
    values += area.stride;
  }
}

template <typename Sample, typename Number>
void fetch(const ObmcTaps<Sample>& taps, int32_t half, Number* values, const ObmcArea& area) {
  if (taps.count == 1)
    fetch_from<1>(taps, half, values, area);
  else if (taps.count == 2)
    fetch_from<2>(taps, half, values, area);
  else
    fetch_from<4>(taps, half, values, area);
}

template <typename Number>
void weigh(Number* values, const Number* others, const ObmcWeights& weights, const ObmcArea& area) {
  const Lanes<Number> d;
  const auto first = hn::Set(d, static_cast<Number>(weights.first));
  const auto second = hn::Set(d, static_cast<Number>(weights.second));
  const auto rounding = hn::Set(d, static_cast<Number>((1 << weights.bits) >> 1));
  for (size_t y = 0; y < area.rows; ++y) {
    for (size_t x = 0; x < area.columns; x += hn::Lanes(d)) {
      auto sum = hn::Add(hn::Mul(hn::LoadU(d, values + x), first), rounding);
      if (others != nullptr) sum = hn::Add(sum, hn::Mul(hn::LoadU(d, others + x), second));
      hn::StoreU(hn::ShiftRightSame(sum, weights.bits), d, values + x);
    }
    values += area.stride;
    if (others != nullptr) others += area.stride;
  }
}

template <typename Number>
void add(const Number* values, size_t stride, const Number* window_x, const Number* window_y,
         Number* sums, const ObmcArea& area) {
  const Lanes<Number> d;
  for (size_t x = 0; x < area.columns; x += hn::Lanes(d)) {
    const auto across = hn::LoadU(d, window_x + x);
    const Number* from = values + x;
    Number* to = sums + x;
    for (size_t y = 0; y < area.rows; ++y) {
      const auto window = hn::Mul(across, hn::Set(d, window_y[y]));
      hn::StoreU(hn::Add(hn::LoadU(d, to), hn::Mul(window, hn::LoadU(d, from))), d, to);
      from += stride;
      to += area.stride;
    }
  }
}

template <bool kMean, typename Sample, typename Number>
HWY_INLINE void add_from(const ObmcTaps<Sample>& taps, const ObmcTaps<Sample>& others, int32_t half,
                         const Number* window_x, const Number* window_y, Number* sums,
                         const ObmcArea& area) {
  const Lanes<Number> d;
  const hn::Rebind<Sample, decltype(d)> from_d;
  const auto bias = hn::Set(d, static_cast<Number>(half));
  for (size_t x = 0; x < area.columns; x += hn::Lanes(d)) {
    const auto across = hn::LoadU(d, window_x + x);
    const Sample *from = taps.from[0] + x, *other = kMean ? others.from[0] + x : nullptr;
    Number* to = sums + x;
    for (size_t y = 0; y < area.rows; ++y) {
      auto samples = hn::LoadU(from_d, from);
      if constexpr (kMean) {
        samples = hn::AverageRound(samples, hn::LoadU(from_d, other));
        other += others.pitch[0];
      }
      const auto value = hn::Sub(hn::PromoteTo(d, samples), bias);
      const auto window = hn::Mul(across, hn::Set(d, window_y[y]));
      hn::StoreU(hn::Add(hn::LoadU(d, to), hn::Mul(window, value)), d, to);
      from += taps.pitch[0];
      to += area.stride;
    }
  }
}

template <typename Sample, typename Number>
void add_samples(const ObmcTaps<Sample>& taps, const ObmcTaps<Sample>* others, int32_t half,
                 const Number* window_x, const Number* window_y, Number* sums,
                 const ObmcArea& area) {
  if (others != nullptr)
    add_from<true>(taps, *others, half, window_x, window_y, sums, area);
  else
    add_from<false>(taps, taps, half, window_x, window_y, sums, area);
}

template <typename Sample, typename Number>
void store(const Number* sums, const int16_t* residual, int32_t half, Sample* to, size_t count) {
  const Lanes<Number> d;
  const hn::Rebind<Sample, decltype(d)> to_d;
  const size_t lanes = hn::Lanes(d);
  const auto rounding = hn::Set(d, Number{1 << (kObmcWindowShift - 1)});
  const auto least = hn::Set(d, static_cast<Number>(-half));
  const auto most = hn::Set(d, static_cast<Number>(half - 1));
  const auto bias = hn::Set(d, static_cast<Number>(half));
  size_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    auto value = hn::ShiftRight<kObmcWindowShift>(hn::Add(hn::LoadU(d, sums + x), rounding));
    if (residual != nullptr) {
      const auto rest = load_residual(d, residual + x);
      if constexpr (sizeof(Number) == 2)
        value = hn::SaturatedAdd(value, rest);
      else
        value = hn::Add(value, rest);
    }
    value = hn::Add(hn::Min(hn::Max(value, least), most), bias);
    hn::StoreU(hn::DemoteTo(to_d, value), to_d, to + x);
  }
  for (; x < count; ++x) {
    const int32_t predicted = (sums[x] + (1 << (kObmcWindowShift - 1))) >> kObmcWindowShift;
    const int32_t value = predicted + (residual != nullptr ? residual[x] : 0);
    to[x] = static_cast<Sample>(std::clamp(value, -half, half - 1) + half);
  }
}

// Sums of bytes are between -4080 and 12256; of 16 bits they have 21.
template <typename Number, typename Sample>
HWY_INLINE void halve_vector(const Sample* const* rows, Sample* to, size_t x, int32_t peak) {
  const Lanes<Number> d;
  auto sum = hn::Set(d, static_cast<Number>(kObmcFilterRounding));
  for (size_t k = 0; k < 4; ++k) {
    const auto pair = hn::Add(load(d, rows[3 - k] + x), load(d, rows[4 + k] + x));
    sum = hn::Add(sum, hn::Mul(pair, hn::Set(d, static_cast<Number>(kObmcFilterTaps[k]))));
  }
  sum = hn::ShiftRight<kObmcFilterShift>(sum);
  sum = hn::Min(hn::Max(sum, hn::Zero(d)), hn::Set(d, static_cast<Number>(peak)));
  const hn::Rebind<Sample, decltype(d)> to_d;
  hn::StoreU(hn::DemoteTo(to_d, sum), to_d, to + x);
}

template <typename Sample, typename Number>
void halve(const Sample* const* rows, Sample* to, size_t count, int32_t peak) {
  const size_t lanes = hn::Lanes(Lanes<Number>());
  size_t x = 0;
  for (; x + lanes <= count; x += lanes) halve_vector<Number>(rows, to, x, peak);
  if (x == count) return;
  if (count >= lanes) return halve_vector<Number>(rows, to, count - lanes, peak);
  for (; x < count; ++x) {
    int32_t sum = kObmcFilterRounding;
    for (int k = 0; k < 4; ++k) sum += kObmcFilterTaps[k] * (rows[3 - k][x] + rows[4 + k][x]);
    to[x] = static_cast<Sample>(std::clamp(sum >> kObmcFilterShift, 0, peak));
  }
}

template <typename Sample, typename Number>
constexpr ObmcKernels<Sample, Number> kKernels = {
    fetch<Sample, Number>,       weigh<Number>,         add<Number>,
    add_samples<Sample, Number>, store<Sample, Number>, halve<Sample, Number>};

const ObmcByteKernels* choose_byte_kernels() { return &kKernels<uint8_t, int16_t>; }
const ObmcWordKernels* choose_word_kernels() { return &kKernels<uint16_t, int32_t>; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_byte_kernels);
HWY_EXPORT(choose_word_kernels);

const ObmcByteKernels* obmc_byte_kernels() { return HWY_DYNAMIC_DISPATCH(choose_byte_kernels)(); }
const ObmcWordKernels* obmc_word_kernels() { return HWY_DYNAMIC_DISPATCH(choose_word_kernels)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
