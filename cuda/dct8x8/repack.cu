// Repack kernels, one thread per sample: between frames and the plain sequence of blocks of values
// that the methods of teaching.cu work on.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// `values` holds blocks params.first .. + params.count - 1 of the frame, 64 values each, rows
// first. The CPU's counterpart are the adapters of transform/dct8x8/adapters.h.
#include <type_traits>

#include "cuda/dct8x8/adapters.cuh"
#include "cuda/dct8x8/kernels.h"
#include "transform/dct8x8/block.h"

namespace cudatransform::cuda {
namespace {

// One sample or coefficient of one block.
struct ElementPlace {
  BlockPlace block;
  uint32_t n;  // index into `values`
  int i;       // 0..63 in the block
  bool active;
  __device__ int x() const { return 8 * block.bx + i % 8; }
  __device__ int y() const { return 8 * block.by + i / 8; }
};

__device__ __forceinline__ ElementPlace place_of_element(const RepackParams& params) {
  const FrameParams& frame = params.job.frame;
  const uint32_t n = blockIdx.x * kRepackThreads + threadIdx.x;
  const bool active = n / 64 < params.count;
  const uint32_t block = params.first + (active ? n / 64 : 0);
  const int component =
      (block >= frame.planes[1].first_block) + (block >= frame.planes[2].first_block);
  return {place_in_plane(frame, component, block - frame.planes[component].first_block), n,
          int(n % 64), active};
}

// Adds to each component's sum what its threads bring: a CTA may have blocks of several planes.
__device__ __forceinline__ void add_by_component(uint64_t value, int component, uint64_t* sums) {
  for (int c = 0; c < 3; ++c) add_to_sum(component == c ? value : 0, &sums[c]);
}

__device__ __forceinline__ int32_t sample_at(const SampleParams& plane, int x, int y,
                                             int32_t peak) {
  const uint8_t* address = plane.data + min(y, plane.rows - 1) * plane.pitch +
                           int64_t(min(x, plane.width - 1)) * plane.stride;
  if (plane.type == SampleType::kU8) return read_sample<uint8_t>(address, 0, peak);
  return read_sample<uint16_t>(address, plane.shift, peak);
}

template <typename M>
__device__ __forceinline__ void load_samples(const RepackParams& params,
                                             typename M::Value* values) {
  const ElementPlace place = place_of_element(params);
  const FrameParams& frame = params.job.frame;
  const SampleParams& plane = frame.planes[place.block.component].samples;
  if (place.active)
    values[place.n] = typename M::Value(sample_at(plane, place.x(), place.y(), frame.peak));
}

template <typename Coef>
__device__ __forceinline__ Coef* coef_address(const FrameParams& frame, const ElementPlace& place) {
  const CoefParams& coefs = frame.planes[place.block.component].coefs;
  const int at = frame.order == Order::kZigzag ? zigzag_of_natural(place.i) : place.i;
  return reinterpret_cast<Coef*>(block_address(coefs, place.block) + at / 8 * coefs.group_step) +
         at % 8;
}

// Calls function(Coef{}) for the type of coefficient.
template <typename Function>
__device__ __forceinline__ void with_coef(CoefType type, Function&& function) {
  if (type == CoefType::kS16)
    function(int16_t{});
  else if (type == CoefType::kS32)
    function(int32_t{});
  else
    function(float{});
}

// Quantises and stores; where the SSE is measured, leaves in `values` what a decoder will read.
template <typename M>
__device__ __forceinline__ void store_coefs(const RepackParams& params, typename M::Value* values) {
  const ElementPlace place = place_of_element(params);
  const FrameParams& frame = params.job.frame;
  const int component = place.block.component;
  uint64_t zeros = 0;
  with_coef(frame.type, [&](auto type) {
    using Coef = decltype(type);
    if (!place.active) return;
    const Coef c = M::template store<Coef>(values[place.n], params.job.tables[component], place.i);
    *coef_address<Coef>(frame, place) = c;
    zeros = c == Coef(0);
    if (frame.measure & kMeasureSse)
      values[place.n] = M::load(c, params.job.inverse_tables[component], place.i);
  });
  if (frame.measure & kMeasureZeros) add_by_component(zeros, component, frame.sums->zeros);
}

template <typename M>
__device__ __forceinline__ void load_coefs(const RepackParams& params, typename M::Value* values) {
  const ElementPlace place = place_of_element(params);
  const FrameParams& frame = params.job.frame;
  const int component = place.block.component;
  uint64_t zeros = 0;
  with_coef(frame.type, [&](auto type) {
    using Coef = decltype(type);
    if (!place.active) return;
    const Coef c = *coef_address<Coef>(frame, place);
    values[place.n] = M::load(c, params.job.inverse_tables[component], place.i);
    zeros = c == Coef(0);
  });
  if (frame.measure & kMeasureZeros) add_by_component(zeros, component, frame.sums->zeros);
}

template <typename M>
__device__ __forceinline__ uint64_t error_at(const PlaneParams& plane, const SampleParams& other,
                                             const ElementPlace& place, int32_t peak,
                                             typename M::Value value) {
  if (!place.active || place.x() >= other.width || place.y() >= other.rows) return 0;
  const int64_t error =
      M::sample(value, plane.low, plane.high) - sample_at(other, place.x(), place.y(), peak);
  return uint64_t(error * error);
}

// Writes samples and compares them with the reference.
template <typename M>
__device__ __forceinline__ void store_samples(const RepackParams& params,
                                              const typename M::Value* values) {
  const ElementPlace place = place_of_element(params);
  const FrameParams& frame = params.job.frame;
  const PlaneParams& plane = frame.planes[place.block.component];
  const SampleParams& out = plane.samples;
  const typename M::Value value = place.active ? values[place.n] : typename M::Value{};
  if (place.active && place.x() < out.width) {
    const int32_t sample = (M::sample(value, plane.low, plane.high) - out.bias) << out.shift;
    const int first = place.y() * out.row_repeat;
    for (int line = first; line < min(first + out.row_repeat, out.height); ++line) {
      uint8_t* address = out.data + line * out.pitch + int64_t(place.x()) * out.stride;
      if (out.type == SampleType::kU8)
        *address = uint8_t(sample);
      else
        *reinterpret_cast<uint16_t*>(address) = uint16_t(sample);
    }
  }
  if (frame.measure & kMeasureSse) {
    add_by_component(error_at<M>(plane, plane.reference, place, frame.peak, value),
                     place.block.component, frame.sums->sse);
  }
}

// Compares a reconstruction with the source of a forward transform.
template <typename M>
__device__ __forceinline__ void compare_samples(const RepackParams& params,
                                                const typename M::Value* values) {
  const ElementPlace place = place_of_element(params);
  const FrameParams& frame = params.job.frame;
  const PlaneParams& plane = frame.planes[place.block.component];
  const typename M::Value value = place.active ? values[place.n] : typename M::Value{};
  add_by_component(error_at<M>(plane, plane.samples, place, frame.peak, value),
                   place.block.component, frame.sums->sse);
}

// How the methods with a type of value store and load coefficients.
template <typename Value>
using ValuesOf = std::conditional_t<
    std::is_same_v<Value, int>, IntegerValues,
    std::conditional_t<std::is_same_v<Value, float>, FloatValues, ReferenceMethod>>;

}  // namespace

#define CT_KERNEL(name, step, value)                                                      \
  extern "C" __global__ void __launch_bounds__(kRepackThreads)                            \
      name(const __grid_constant__ RepackParams params, ValuesOf<value>::Value* values) { \
    step<ValuesOf<value>>(params, values);                                                \
  }
CT_REPACK_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
