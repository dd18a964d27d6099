// Fused forward kernels: samples to stored coefficients in one launch, one thread per 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// "Fast" takes contiguous 8-bit samples to quantised int16 in block layout and raster order;
// "general" takes everything. With kMeasure the quantised values are transformed back in registers
// and compared with the source, which is still in the cache.
#include "cuda/dct8x8_fused.cuh"

namespace cudatransform::cuda {
namespace {

// Reads the values back to samples and adds up what was measured. Every thread calls it.
template <typename M>
__device__ __forceinline__ void measure_forward(const ForwardParams& params,
                                                const BlockPlace& place, int zeros,
                                                typename M::Value* v) {
  const FrameParams& frame = params.frame;
  const PlaneParams& plane = frame.planes[place.component];
  if (frame.measure & kMeasureSse) {
    M::inverse(v, plane.level_shift);
    const uint64_t error =
        squared_error<M>(plane.samples, place, plane.low, plane.high, frame.peak, v);
    add_to_sum(place.active ? error : 0, &frame.sums->sse[place.component]);
  }
  if (frame.measure & kMeasureZeros)
    add_to_sum(place.active ? zeros : 0, &frame.sums->zeros[place.component]);
}

template <typename M, bool kMeasure>
__device__ __forceinline__ void forward_fast(const ForwardParams& params) {
  __shared__ BlockStage stage;
  const BlockPlace place = place_of_thread(params.frame);
  const PlaneParams& plane = params.frame.planes[place.component];
  typename M::Value v[64];
  load_bytes(plane.samples, place, v);
  M::forward(v, plane.level_shift);
  int zeros = 0;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    int16_t c[8];
    zeros += quantize_eight<M, int16_t, kMeasure>(
        v, params.tables[place.component], &params.inverse_tables[place.component],
        [g](int k) { return 8 * g + k; }, c);
    *stage.group(threadIdx.x, g) = pack(c);
  }
  stage.flush(place.active ? block_address(plane.coefs, place) : nullptr);
  if constexpr (kMeasure) measure_forward<M>(params, place, zeros, v);
}

template <typename M, typename Coef, bool kMeasure>
__device__ __forceinline__ void forward_general(const ForwardParams& params) {
  const BlockPlace place = place_of_thread(params.frame);
  const PlaneParams& plane = params.frame.planes[place.component];
  typename M::Value v[64];
  load_samples(plane.samples, place, params.frame.peak, v);
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
  if (params.frame.order == Order::kZigzag)
    store_all([](int k) { return natural_of_zigzag(k); });
  else
    store_all([](int k) { return k; });
  if constexpr (kMeasure) measure_forward<M>(params, place, zeros, v);
}

}  // namespace

#define CT_KERNEL(name, ...)                                  \
  extern "C" __global__ void __launch_bounds__(kFusedThreads) \
      name(const __grid_constant__ ForwardParams params) {    \
    __VA_ARGS__(params);                                      \
  }
#define CT_KERNELS(method, M)                                                  \
  CT_KERNEL(forward_##method##_fast, forward_fast<M, false>)                   \
  CT_KERNEL(forward_##method##_fast_measure, forward_fast<M, true>)            \
  CT_KERNEL(forward_##method##_s16, forward_general<M, int16_t, false>)        \
  CT_KERNEL(forward_##method##_s16_measure, forward_general<M, int16_t, true>) \
  CT_KERNEL(forward_##method##_s32, forward_general<M, int32_t, false>)        \
  CT_KERNEL(forward_##method##_s32_measure, forward_general<M, int32_t, true>) \
  CT_KERNEL(forward_##method##_f32, forward_general<M, float, false>)          \
  CT_KERNEL(forward_##method##_f32_measure, forward_general<M, float, true>)

CT_KERNELS(islow, IslowMethod)
CT_KERNELS(float, FloatMethod)

}  // namespace cudatransform::cuda
