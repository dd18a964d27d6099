// Fused inverse kernels: stored coefficients to samples in one launch, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// "Fast" takes quantised int16 in block layout and raster order to contiguous 8-bit samples;
// "general" takes everything. With kMeasure the output is compared with reference planes.
#include "cuda/dct8x8_fused.cuh"

namespace cudatransform::cuda {
namespace {

template <typename M>
__device__ __forceinline__ void measure_inverse(const FrameParams& frame, const BlockPlace& place,
                                                int zeros, const typename M::Value* v) {
  const PlaneParams& plane = frame.planes[place.component];
  if (frame.measure & kMeasureSse) {
    const uint64_t error =
        squared_error<M>(plane.reference, place, plane.low, plane.high, frame.peak, v);
    add_to_sum(place.active ? error : 0, &frame.sums->sse[place.component]);
  }
  if (frame.measure & kMeasureZeros)
    add_to_sum(place.active ? zeros : 0, &frame.sums->zeros[place.component]);
}

// Eight coefficients to transform values; returns how many are zero.
template <typename M, typename Coef, typename Natural>
__device__ __forceinline__ int dequantize_eight(const Coef* c, const InverseTable& table,
                                                Natural&& natural, typename M::Value* v) {
  int zeros = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = natural(k);
    v[i] = M::load(c[k], table, i);
    zeros += c[k] == Coef(0);
  }
  return zeros;
}

template <typename M, bool kMeasure>
__device__ __forceinline__ void inverse_fast(const InverseParams& params) {
  __shared__ BlockStage stage;
  const BlockPlace place = place_of_thread(params.frame);
  const PlaneParams& plane = params.frame.planes[place.component];
  stage.fetch(block_address(plane.coefs, place));
  typename M::Value v[64];
  int zeros = 0;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    int16_t c[8];
    unpack(*stage.group(threadIdx.x, g), c);
    zeros += dequantize_eight<M>(
        c, params.tables[place.component], [g](int k) { return 8 * g + k; }, v);
  }
  M::inverse(v, plane.level_shift);
  if (place.active) store_bytes<M>(plane.samples, place, v);
  if constexpr (kMeasure) measure_inverse<M>(params.frame, place, zeros, v);
}

template <typename M, typename Coef, bool kMeasure>
__device__ __forceinline__ void inverse_general(const InverseParams& params) {
  const BlockPlace place = place_of_thread(params.frame);
  const PlaneParams& plane = params.frame.planes[place.component];
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
  if (params.frame.order == Order::kZigzag)
    load_all([](int k) { return natural_of_zigzag(k); });
  else
    load_all([](int k) { return k; });
  M::inverse(v, plane.level_shift);
  if (place.active) store_samples<M>(plane.samples, place, plane.low, plane.high, v);
  if constexpr (kMeasure) measure_inverse<M>(params.frame, place, zeros, v);
}

}  // namespace

#define CT_KERNEL(name, ...)                                  \
  extern "C" __global__ void __launch_bounds__(kFusedThreads) \
      name(const __grid_constant__ InverseParams params) {    \
    __VA_ARGS__(params);                                      \
  }
#define CT_KERNELS(method, M)                                                  \
  CT_KERNEL(inverse_##method##_fast, inverse_fast<M, false>)                   \
  CT_KERNEL(inverse_##method##_fast_measure, inverse_fast<M, true>)            \
  CT_KERNEL(inverse_##method##_s16, inverse_general<M, int16_t, false>)        \
  CT_KERNEL(inverse_##method##_s16_measure, inverse_general<M, int16_t, true>) \
  CT_KERNEL(inverse_##method##_s32, inverse_general<M, int32_t, false>)        \
  CT_KERNEL(inverse_##method##_s32_measure, inverse_general<M, int32_t, true>) \
  CT_KERNEL(inverse_##method##_f32, inverse_general<M, float, false>)          \
  CT_KERNEL(inverse_##method##_f32_measure, inverse_general<M, float, true>)

CT_KERNELS(islow, IslowMethod)
CT_KERNELS(float, FloatMethod)

}  // namespace cudatransform::cuda
