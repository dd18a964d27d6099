// The teaching kernels: one for each of the steps 1 to 5 of docs/kernels.md, and the definition in
// double precision. Each has a direction: samples to coefficients, or back.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A method is its algorithm and nothing else; teaching.cuh knows the formats. CTAs have 256
// threads: four blocks where a thread has one value, 32 where it has a row. On the CPU: the types
// NaiveMethod to ReferenceMethod of transform/dct8x8/teaching.h and block.h, in portable.cpp.
//
// A method here is a type with
//   Values         how its values become coefficients and samples (transform/dct8x8/block.h)
//   kValues        how many of a block's values a thread has: 1 or 8, a row
//   kReadsBlock    whether a thread reads the whole block from global memory by itself; then
//                  transform() takes that, indexed from 0 to 63, and returns the thread's result
//   Shared         the memory that a block's threads share, if any
//   transform<kForward>(v, first, level_shift, shared)   the thread's values, in place; `first` is
//                  the natural index of the first of them. All threads of a CTA call it.
#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/teaching.cuh"
#include "cuda/dct8x8/transpose.cuh"
#include "transform/dct8x8/teaching.h"

namespace cudatransform::cuda {
namespace {

struct Nothing {};

// naive: every thread computes one output from the formula, cosines and all, straight from global
// memory.
struct Naive {
  using Values = FloatValues;
  static constexpr int kValues = 1;
  static constexpr bool kReadsBlock = true;
  using Shared = Nothing;
  template <bool kForward, typename Block>
  static __device__ __forceinline__ float transform(const Block& block, int i, float level_shift) {
    return kForward ? naive_forward_value(block, i % 8, i / 8, level_shift)
                    : naive_inverse_value(block, i % 8, i / 8, level_shift);
  }
};

// matrix: the product with the cosine table from one side, then from the other; a thread computes
// one element of each product, and the blocks wait in shared memory.
struct Matrix {
  using Values = FloatValues;
  static constexpr int kValues = 1;
  static constexpr bool kReadsBlock = false;
  struct Shared {
    float block[64], half[64];
  };
  template <bool kForward>
  static __device__ __forceinline__ void transform(float* v, int i, float level_shift,
                                                   Shared* shared) {
    const int row = i / 8, column = i % 8;
    shared->block[i] = *v - (kForward ? level_shift : 0.0f);
    __syncthreads();
    shared->half[i] = kForward ? times_dct_transposed(shared->block, row, column)
                               : times_dct(shared->block, row, column);
    __syncthreads();
    *v = kForward ? dct_times(shared->half, row, column)
                  : dct_transposed_times(shared->half, row, column) + level_shift;
  }
};

// separable: rows, then columns, in place in shared memory.
struct Separable {
  using Values = FloatValues;
  static constexpr int kValues = 1;
  static constexpr bool kReadsBlock = false;
  struct Shared {
    float block[64];
  };
  // One output of a one-dimensional transform of f[0], f[stride], ... by the table.
  template <bool kForward>
  static __device__ __forceinline__ float table_1d(const float* f, int stride, int out) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      sum += f[i * stride] * (kForward ? dct_matrix<float>(out, i) : dct_matrix<float>(i, out));
    return sum;
  }
  template <bool kForward>
  static __device__ __forceinline__ void transform(float* v, int i, float level_shift,
                                                   Shared* shared) {
    float* f = shared->block;
    f[i] = *v - (kForward ? level_shift : 0.0f);
    __syncthreads();
    const float result = table_1d<kForward>(f + i / 8 * 8, 1, i % 8);
    __syncthreads();
    f[i] = result;
    __syncthreads();
    *v = table_1d<kForward>(f + i % 8, 8, i / 8) + (kForward ? 0.0f : level_shift);
  }
};

// reference: the same in double precision, with the factors of the definition where the definition
// has them, so that DC is exact.
struct Reference {
  using Values = ReferenceMethod;
  static constexpr int kValues = 1;
  static constexpr bool kReadsBlock = false;
  struct Shared {
    double block[64], rows[64];
  };
  template <bool kForward>
  static __device__ __forceinline__ void transform(double* v, int i, float level_shift,
                                                   Shared* shared) {
    const int x = i % 8, y = i / 8;
    const double norm = ReferenceMethod::norm(x, y);
    shared->block[i] = kForward ? *v - double(level_shift) : norm * *v;
    __syncthreads();
    double sum = 0.0;
    for (int k = 0; k < 8; ++k) {
      sum += shared->block[8 * y + k] *
             (kForward ? cosine_matrix<double>(x, k) : cosine_matrix<double>(k, x));
    }
    shared->rows[i] = sum;
    __syncthreads();
    sum = 0.0;
    for (int k = 0; k < 8; ++k) {
      sum += shared->rows[8 * k + x] *
             (kForward ? cosine_matrix<double>(y, k) : cosine_matrix<double>(k, y));
    }
    *v = kForward ? norm * sum : sum + double(level_shift);
  }
};

// Shared by decomposed and shuffle: Sung's eight taps for a whole row, then for a whole column.
// They differ in how rows become columns, and columns rows.
template <bool kForward, typename There, typename Back>
__device__ __forceinline__ void by_rows(float* v, float level_shift, There&& there, Back&& back) {
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] -= kForward ? level_shift : 0.0f;
  kForward ? decomposed_forward_1d<1>(v) : decomposed_inverse_1d<1>(v);
  there();
  kForward ? decomposed_forward_1d<1>(v) : decomposed_inverse_1d<1>(v);
  back();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] += kForward ? 0.0f : level_shift;
}

// decomposed: by way of shared memory.
struct Decomposed {
  using Values = FloatValues;
  static constexpr int kValues = 8;
  static constexpr bool kReadsBlock = false;
  using Shared = PaddedBlock;
  template <bool kForward>
  static __device__ __forceinline__ void transform(float* v, int first, float level_shift,
                                                   Shared* shared) {
    const auto barrier = [] { __syncthreads(); };
    by_rows<kForward>(
        v, level_shift, [&] { transpose_by_shared_memory<false>(v, first / 8, shared, barrier); },
        [&] { transpose_by_shared_memory<true>(v, first / 8, shared, barrier); });
  }
};

// shuffle: without leaving the registers.
struct Shuffle {
  using Values = FloatValues;
  static constexpr int kValues = 8;
  static constexpr bool kReadsBlock = false;
  using Shared = Nothing;
  template <bool kForward>
  static __device__ __forceinline__ void transform(float* v, int first, float level_shift,
                                                   Shared*) {
    const auto transpose = [&] { transpose_by_shuffles(v, first / 8); };
    by_rows<kForward>(v, level_shift, transpose, transpose);
  }
};

template <typename M>
using Place = TeachingPlace<M::kValues>;
template <typename M>
using Value = typename M::Values::Value;

template <typename M>
__device__ __forceinline__ void transform_samples(const FrameParams& frame, const Place<M>& place,
                                                  typename M::Shared* shared, Value<M>* v) {
  const PlaneParams& plane = frame.planes[place.block.component];
  const float level_shift = float(plane.level_shift);
  if constexpr (M::kReadsBlock) {
    with_samples<Value<M>>(plane.samples, place.block, frame.peak, [&](const auto& samples) {
      *v = M::template transform<true>(samples, place.first, level_shift);
    });
  } else {
    load_samples(plane.samples, place, frame.peak, v);
    M::template transform<true>(v, place.first, level_shift, shared + place.in_cta);
  }
}

template <typename M>
__device__ __forceinline__ void transform_coefs(const FrameParams& frame, const Place<M>& place,
                                                const InverseTable& table,
                                                typename M::Shared* shared, Value<M>* v) {
  const float level_shift = float(frame.planes[place.block.component].level_shift);
  if constexpr (M::kReadsBlock) {
    with_coefs(frame, place.block, [&](const auto& coefs) {
      const BlockValues<typename M::Values, std::decay_t<decltype(coefs)>> values = {coefs, table};
      *v = M::template transform<false>(values, place.first, level_shift);
    });
  } else {
    load_coefs<typename M::Values>(frame, place, table, v);
    M::template transform<false>(v, place.first, level_shift, shared + place.in_cta);
  }
}

// Every thread calls it.
template <typename M>
__device__ __forceinline__ void add_measured(const FrameParams& frame, const Place<M>& place,
                                             uint64_t error) {
  const int component = place.block.component;
  if (frame.measure & kMeasureSse) add_to_sum(error, &frame.sums->sse[component]);
  if (frame.measure & kMeasureZeros)
    add_to_sum(uint64_t(count_zeros(frame, place)), &frame.sums->zeros[component]);
}

// To measure the SSE, the CTA reads its stored coefficients again, as a decoder will.
template <typename M>
__device__ __forceinline__ void teach_forward(const ForwardParams& params,
                                              typename M::Shared* shared) {
  const FrameParams& frame = params.frame;
  const Place<M> place(frame);
  const PlaneParams& plane = frame.planes[place.block.component];
  Value<M> v[M::kValues];
  transform_samples<M>(frame, place, shared, v);
  store_coefs<typename M::Values>(frame, place, params.tables[place.block.component], v);
  if (frame.measure == 0) return;
  uint64_t error = 0;
  if (frame.measure & kMeasureSse) {
    __syncthreads();
    transform_coefs<M>(frame, place, params.inverse_tables[place.block.component], shared, v);
    error = squared_error(plane.samples, place, frame.peak,
                          [&](int k) { return M::Values::sample(v[k], plane.low, plane.high); });
  }
  add_measured<M>(frame, place, error);
}

template <typename M>
__device__ __forceinline__ void teach_inverse(const InverseParams& params,
                                              typename M::Shared* shared) {
  const FrameParams& frame = params.frame;
  const Place<M> place(frame);
  const PlaneParams& plane = frame.planes[place.block.component];
  Value<M> v[M::kValues];
  transform_coefs<M>(frame, place, params.tables[place.block.component], shared, v);
  const auto sample = [&](int k) { return M::Values::sample(v[k], plane.low, plane.high); };
  store_samples(plane.samples, place, sample);
  if (frame.measure == 0) return;
  const uint64_t error =
      frame.measure & kMeasureSse ? squared_error(plane.reference, place, frame.peak, sample) : 0;
  add_measured<M>(frame, place, error);
}

}  // namespace

#define CT_KERNEL(name, Params, method, function)                              \
  extern "C" __global__ void __launch_bounds__(kTeachingThreads)               \
      name(const __grid_constant__ Params params) {                            \
    __shared__ method::Shared shared[kTeachingThreads * method::kValues / 64]; \
    function<method>(params, shared);                                          \
  }
#define CT_FORWARD(name, method) CT_KERNEL(name, ForwardParams, method, teach_forward)
#define CT_INVERSE(name, method) CT_KERNEL(name, InverseParams, method, teach_inverse)

CT_TEACHING_FORWARD_KERNELS(CT_FORWARD)
CT_TEACHING_INVERSE_KERNELS(CT_INVERSE)

}  // namespace cudatransform::cuda
