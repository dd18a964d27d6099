// The general kernels of islow, float and ifast: every format, layout, order and alignment, one
// thread per 8x8 block, in one launch. The fast kernels take over where they can.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The arithmetic is that of the fast kernels, so that a frame's bytes do not depend on which of
// them it gets; ifast has no others. Around it, the CPU has forward_blocks() and inverse_blocks()
// of transform/dct8x8/simd_rows-inl.h.
#include "cuda/dct8x8/general.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {
namespace {

template <typename M, typename Coef, bool kMeasure>
__device__ __forceinline__ void forward_general(const ForwardParams& params) {
  const FrameParams& frame = params.frame;
  const BlockPlace place = place_of_thread(frame);
  const PlaneParams& plane = frame.planes[place.component];
  typename M::Value v[64];
  load_samples(plane.samples, place, frame.peak, v);
  M::forward(v, plane.level_shift);
  uint8_t* out = block_address(plane.coefs, place);
  int zeros = 0;
  const auto store_all = [&](auto natural) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      Coef c[8];
      zeros += quantize_eight<M, Coef, kMeasure>(
          v, params.tables[place.component], &params.inverse_tables[place.component],
          [&](int k) { return natural(8 * g + k); }, c);
      if (place.active) store_eight(out + g * plane.coefs.group_step, c);
    }
  };
  if (frame.order == Order::kZigzag)
    store_all([](int k) { return natural_of_zigzag(k); });
  else
    store_all([](int k) { return k; });
  if constexpr (kMeasure) {
    uint64_t error = 0;
    if (frame.measure & kMeasureSse) {
      const Range range = range_of(frame, plane);
      M::inverse(v, params.inverse_tables[place.component], range);
      error = squared_error(plane.samples, place, frame.peak,
                            [&](int i) { return M::sample(v[i], range); });
    }
    add_measured(frame, place, zeros, error);
  }
}

// Eight coefficients to transform values; returns how many are zero.
template <typename M, typename Coef, typename Natural>
__device__ __forceinline__ int dequantize_eight(const Coef* c, const InverseTable& table,
                                                Natural&& natural, typename M::Value* v) {
  int zeros = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = natural(k);
    v[i] = M::template load<Coef>(c[k], table, i);
    zeros += c[k] == Coef(0);
  }
  return zeros;
}

template <typename M, typename Coef, bool kMeasure>
__device__ __forceinline__ void inverse_general(const InverseParams& params) {
  const FrameParams& frame = params.frame;
  const BlockPlace place = place_of_thread(frame);
  const PlaneParams& plane = frame.planes[place.component];
  const uint8_t* in = block_address(plane.coefs, place);
  typename M::Value v[64];
  int zeros = 0;
  const auto load_all = [&](auto natural) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      Coef c[8];
      load_eight(in + g * plane.coefs.group_step, c);
      zeros += dequantize_eight<M>(
          c, params.tables[place.component], [&](int k) { return natural(8 * g + k); }, v);
    }
  };
  if (frame.order == Order::kZigzag)
    load_all([](int k) { return natural_of_zigzag(k); });
  else
    load_all([](int k) { return k; });
  const Range range = range_of(frame, plane);
  M::inverse(v, params.tables[place.component], range);
  const auto sample = [&](int i) { return M::sample(v[i], range); };
  if (place.active) store_samples(plane.samples, place, sample);
  if constexpr (kMeasure) {
    uint64_t error = 0;
    if (frame.measure & kMeasureSse)
      error = squared_error(plane.reference, place, frame.peak, sample);
    add_measured(frame, place, zeros, error);
  }
}

}  // namespace

#define CT_KERNEL(name, Params, ...)                                        \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kGeneralCtas) \
      name(const __grid_constant__ Params params) {                         \
    __VA_ARGS__(params);                                                    \
  }
#define CT_FORWARD(name, method, coefs, measure) \
  CT_KERNEL(name, ForwardParams, forward_general<General##method, coefs, measure>)
#define CT_INVERSE(name, method, coefs, measure) \
  CT_KERNEL(name, InverseParams, inverse_general<General##method, coefs, measure>)

CT_GENERAL_FORWARD_KERNELS(CT_FORWARD)
CT_GENERAL_INVERSE_KERNELS(CT_INVERSE)
CT_DEEP_FORWARD_KERNELS(CT_FORWARD)
CT_DEEP_INVERSE_KERNELS(CT_INVERSE)

}  // namespace cudatransform::cuda
