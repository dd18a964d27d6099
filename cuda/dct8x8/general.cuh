// Shared by the kernels for every format with a thread a block: the methods, a thread's place, and
// what it adds to the measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: the methods of transform/dct8x8/simd_methods-inl.h.
#pragma once

#include "cuda/dct8x8/adapters.cuh"
#include "cuda/dct8x8/float.cuh"
#include "cuda/dct8x8/rate.cuh"
#include "transform/dct8x8/block.h"

namespace cudatransform::cuda {

// The parameters of a plane's transforms other than their table.
struct Range {
  int32_t level_shift, peak;
  int32_t low, high;  // of samples with the level shift
};

template <typename Method>
struct GeneralInteger : Method {
  static __device__ __forceinline__ void inverse(int32_t* v, const InverseTable&,
                                                 const Range& range) {
    Method::inverse(v, range.level_shift);
  }
  static __device__ __forceinline__ int32_t sample(int32_t x, const Range& range) {
    return clamp_int(x, range.low, range.high);
  }
};
using GeneralIslow = GeneralInteger<IslowMethod>;
using GeneralIslow12 = GeneralInteger<Islow12Method>;
using GeneralIfast = GeneralInteger<IfastMethod>;

// InverseTable::mul is divided by the peak here.
struct GeneralFloat {
  using Value = float;
  static __device__ __forceinline__ void forward(float* v, int level_shift) {
    FloatDevice::forward(v, 64.0f * float(level_shift));
  }
  template <typename Coef>
  static __device__ __forceinline__ Coef store(float x, const ForwardTable& table, int i) {
    if constexpr (Coef(0.5) != 0)
      return x * table.mul[i];
    else
      return Coef(integer_of_rounded(FloatDevice::rounded(x, table.mul[i])));
  }
  template <typename Coef>
  static __device__ __forceinline__ float load(Coef c, const InverseTable&, int) {
    return float(c);
  }
  static __device__ __forceinline__ void inverse(float* v, const InverseTable& table,
                                                 const Range& range) {
    FloatDevice::inverse<false>(v, table.mul, float(range.level_shift) / float(range.peak));
  }
  // Picture samples end as in the fast kernels. Signed ones reach further, and are rounded from the
  // same product, so that clamping them gives the picture's.
  static __device__ __forceinline__ int32_t sample(float x, const Range& range) {
    const float peak = float(range.peak);
    if (range.low == 0) return FloatDevice::sample_bits(__saturatef(x), peak) & 0xffff;
    x = fminf(fmaxf(x, float(range.low) / peak - 1.0f), float(range.high) / peak + 1.0f);
    return clamp_int(integer_of_rounded(__fmaf_rn(x, peak, kRound)), range.low, range.high);
  }
};

// `block`: of those of the CTA, kFusedBlocks.
__device__ __forceinline__ BlockPlace place_in_cta(const FrameParams& frame, uint32_t block) {
  const int component = plane_of_cta(frame.planes);
  const uint32_t cta = blockIdx.x - frame.planes[component].first_cta;
  return place_in_plane(frame, component, cta * kFusedBlocks + block);
}
__device__ __forceinline__ BlockPlace place_of_thread(const FrameParams& frame) {
  return place_in_cta(frame, threadIdx.x);
}

__device__ __forceinline__ Range range_of(const FrameParams& frame, const PlaneParams& plane) {
  return {plane.level_shift, frame.peak, plane.low, plane.high};
}

// Every thread calls it.
__device__ __forceinline__ void add_measured(const FrameParams& frame, const BlockPlace& place,
                                             int zeros, uint64_t error) {
  if (frame.measure & kMeasureSse)
    add_to_sum(place.active ? error : 0, &frame.sums->sse[place.component]);
  if (frame.measure & kMeasureZeros)
    add_to_sum(place.active ? zeros : 0, &frame.sums->zeros[place.component]);
}

// ---- Quantized coefficients by a dead zone: decide_block() of transform/dct8x8/decision.cpp ----

// The methods above, of which DC is rounded as ever.
struct DecidedIslow : GeneralIslow {
  static __device__ __forceinline__ int32_t eighths(int32_t x, int) { return x; }
};
struct DecidedIfast : GeneralIfast {
  static __device__ __forceinline__ int32_t eighths(int32_t x, int i) {
    return quantize_integer(x, aan_eighths_mul(i), aan_eighths_half(i));
  }
};
struct DecidedFloat : GeneralFloat {
  static __device__ __forceinline__ int32_t eighths(float x, int i) {
    return eighths_of_float(x, i);
  }
};

template <typename M>
__device__ __forceinline__ int16_t dead_zone_qcoef(typename M::Value value,
                                                   const ForwardTable& table, int i,
                                                   int32_t thousandths) {
  const int32_t x = limit_eighths(M::eighths(value, i));
  const int32_t qcoef = quantize_integer(x, table.mul[i], table.half[i]);
  return int16_t(in_dead_zone(abs(x), thousandths * 2 * int32_t(table.half[i])) ? 0 : qcoef);
}

}  // namespace cudatransform::cuda
