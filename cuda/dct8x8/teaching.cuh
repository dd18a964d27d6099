// The teaching kernels' access to the frame: a thread reads and writes one value of a block, or a
// row of eight, as samples and coefficients of every format, layout and order.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: forward_row() and inverse_row() of transform/dct8x8/portable.cpp.
//
// The branches on formats are the same for all threads of a CTA, and are outside of loops.
#pragma once

#include "cuda/dct8x8/adapters.cuh"
#include "transform/dct8x8/block.h"

namespace cudatransform::cuda {

// The place of a thread that has kValues of a block's 64 values: values first ..
// first + kValues - 1, in natural order.
template <int kValues>
struct TeachingPlace {
  BlockPlace block;
  int in_cta;  // which of the CTA's blocks
  int first;

  __device__ explicit TeachingPlace(const FrameParams& frame) {
    constexpr unsigned kThreads = 64 / kValues;
    const int component = plane_of_cta(frame.planes);
    const uint32_t cta = blockIdx.x - frame.planes[component].first_cta;
    in_cta = int(threadIdx.x / kThreads);
    first = kValues * int(threadIdx.x % kThreads);
    block = place_in_plane(frame, component, cta * (kTeachingThreads / kThreads) + in_cta);
  }
};

// ---- Samples ----

// A block's samples by natural index; beyond the last column and row those are repeated.
template <typename Container, typename Value>
struct BlockSamples {
  const SampleParams& plane;
  const BlockPlace& place;
  int32_t peak;

  __device__ __forceinline__ Value operator[](int i) const {
    const int x = min(8 * place.bx + i % 8, plane.width - 1);
    const int y = min(8 * place.by + i / 8, plane.rows - 1);
    return Value(read_sample<Container>(plane.data + y * plane.pitch + int64_t(x) * plane.stride,
                                        plane.shift, peak));
  }
};

// Calls function(samples), which are indexed from 0 to 63.
template <typename Value, typename Function>
__device__ __forceinline__ void with_samples(const SampleParams& plane, const BlockPlace& place,
                                             int32_t peak, Function&& function) {
  with_container(plane.type, [&](auto container) {
    function(BlockSamples<decltype(container), Value>{plane, place, peak});
  });
}

// Whether a row of eight bytes from `address` on is one aligned word of 64 bits.
__device__ __forceinline__ bool is_word(const SampleParams& plane, const uint8_t* address, int x) {
  return plane.type == SampleType::kU8 && plane.stride == 1 &&
         reinterpret_cast<uintptr_t>(address) % 8 == 0 && x + 8 <= plane.width;
}

template <int kValues, typename Value>
__device__ __forceinline__ void load_samples(const SampleParams& plane,
                                             const TeachingPlace<kValues>& place, int32_t peak,
                                             Value* v) {
  if constexpr (kValues == 8) {
    const int x = 8 * place.block.bx, y = min(8 * place.block.by + place.first / 8, plane.rows - 1);
    const uint8_t* row = plane.data + y * plane.pitch + x;
    if (is_word(plane, row, x)) {
      const uint2 word = *reinterpret_cast<const uint2*>(row);
#pragma unroll
      for (int k = 0; k < 8; ++k)
        v[k] = Value(int32_t((k < 4 ? word.x : word.y) >> (8 * (k % 4)) & 255));
      return;
    }
  }
  with_samples<Value>(plane, place.block, peak, [&](const auto& samples) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) v[k] = samples[place.first + k];
  });
}

// Writes the visible ones. sample(k) is the thread's k-th one, rounded and clamped.
template <int kValues, typename Sample>
__device__ __forceinline__ void store_samples(const SampleParams& plane,
                                              const TeachingPlace<kValues>& place,
                                              Sample&& sample) {
  if (!place.block.active) return;
  const int x = 8 * place.block.bx + place.first % 8;
  const int first = (8 * place.block.by + place.first / 8) * plane.row_repeat;
  for (int line = first; line < min(first + plane.row_repeat, plane.height); ++line) {
    uint8_t* row = plane.data + line * plane.pitch;
    if constexpr (kValues == 8) {
      if (is_word(plane, row + x, x)) {
        uint32_t word[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < 8; ++k) word[k / 4] |= uint32_t(sample(k)) << (8 * (k % 4));
        *reinterpret_cast<uint2*>(row + x) = make_uint2(word[0], word[1]);
        continue;
      }
    }
    with_container(plane.type, [&](auto container) {
      using Container = decltype(container);
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        if (x + k < plane.width) {
          *reinterpret_cast<Container*>(row + int64_t(x + k) * plane.stride) =
              Container((sample(k) - plane.bias) << plane.shift);
        }
      }
    });
  }
}

// The squared difference of the thread's visible samples, sample(k) as above, to those of `plane`.
template <int kValues, typename Sample>
__device__ __forceinline__ uint64_t squared_error(const SampleParams& plane,
                                                  const TeachingPlace<kValues>& place, int32_t peak,
                                                  Sample&& sample) {
  uint64_t sum = 0;
  if (!place.block.active || 8 * place.block.by + place.first / 8 >= plane.rows) return 0;
  with_samples<int32_t>(plane, place.block, peak, [&](const auto& samples) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      if (8 * place.block.bx + (place.first + k) % 8 < plane.width) {
        const int64_t error = sample(k) - samples[place.first + k];
        sum += uint64_t(error * error);
      }
    }
  });
  return sum;
}

// ---- Coefficients ----

// The addresses of a block's coefficients, by natural index.
template <typename Coef, bool kZigzag>
struct BlockCoefs {
  uint8_t* block;
  int64_t group_step;

  __device__ BlockCoefs(const CoefParams& coefs, const BlockPlace& place)
      : block(block_address(coefs, place)), group_step(coefs.group_step) {}
  __device__ __forceinline__ Coef& operator[](int i) const {
    const int at = kZigzag ? zigzag_of_natural(i) : i;
    return reinterpret_cast<Coef*>(block + at / 8 * group_step)[at % 8];
  }
};

// Calls function(coefs).
template <typename Function>
__device__ __forceinline__ void with_coefs(const FrameParams& frame, const BlockPlace& place,
                                           Function&& function) {
  const CoefParams& coefs = frame.planes[place.component].coefs;
  const auto with_order = [&](auto coef) {
    using Coef = decltype(coef);
    if (frame.order == Order::kZigzag)
      function(BlockCoefs<Coef, true>(coefs, place));
    else
      function(BlockCoefs<Coef, false>(coefs, place));
  };
  if (frame.type == CoefType::kS16)
    with_order(S16{});
  else if (frame.type == CoefType::kS32)
    with_order(S32{});
  else
    with_order(F32{});
}

// A block's dequantized coefficients by natural index.
template <typename M, typename Coefs>
struct BlockValues {
  const Coefs& coefs;
  const InverseTable& table;

  __device__ __forceinline__ typename M::Value operator[](int i) const {
    return M::load(coefs[i], table, i);
  }
};

// A row in raster order is one access, or two.
template <typename Coef>
__device__ __forceinline__ void load_row(const BlockCoefs<Coef, false>& coefs, int first, Coef* c) {
  load_eight(reinterpret_cast<const uint8_t*>(&coefs[first]), c);
}
template <typename Coef>
__device__ __forceinline__ void load_row(const BlockCoefs<Coef, true>& coefs, int first, Coef* c) {
#pragma unroll
  for (int k = 0; k < 8; ++k) c[k] = coefs[first + k];
}
template <typename Coef>
__device__ __forceinline__ void store_row(const BlockCoefs<Coef, false>& coefs, int first,
                                          const Coef* c) {
  store_eight(reinterpret_cast<uint8_t*>(&coefs[first]), c);
}
template <typename Coef>
__device__ __forceinline__ void store_row(const BlockCoefs<Coef, true>& coefs, int first,
                                          const Coef* c) {
#pragma unroll
  for (int k = 0; k < 8; ++k) coefs[first + k] = c[k];
}

template <typename M, int kValues>
__device__ __forceinline__ void load_coefs(const FrameParams& frame,
                                           const TeachingPlace<kValues>& place,
                                           const InverseTable& table, typename M::Value* v) {
  with_coefs(frame, place.block,
             [&]<typename Coef, bool kZigzag>(const BlockCoefs<Coef, kZigzag>& coefs) {
               Coef c[kValues];
               if constexpr (kValues == 8)
                 load_row(coefs, place.first, c);
               else
                 c[0] = coefs[place.first];
#pragma unroll
               for (int k = 0; k < kValues; ++k)
                 v[k] = M::load(c[k], *as_memory(&table), place.first + k);
             });
}

template <typename M, int kValues>
__device__ __forceinline__ void store_coefs(const FrameParams& frame,
                                            const TeachingPlace<kValues>& place,
                                            const ForwardTable& table, const typename M::Value* v) {
  if (!place.block.active) return;
  with_coefs(frame, place.block,
             [&]<typename Coef, bool kZigzag>(const BlockCoefs<Coef, kZigzag>& coefs) {
               Coef c[kValues];
#pragma unroll
               for (int k = 0; k < kValues; ++k)
                 c[k] = M::template store<Coef>(v[k], *as_memory(&table), place.first + k);
               if constexpr (kValues == 8)
                 store_row(coefs, place.first, c);
               else
                 coefs[place.first] = c[0];
             });
}

template <int kValues>
__device__ __forceinline__ int count_zeros(const FrameParams& frame,
                                           const TeachingPlace<kValues>& place) {
  int zeros = 0;
  if (!place.block.active) return 0;
  with_coefs(frame, place.block, [&](const auto& coefs) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) zeros += coefs[place.first + k] == 0;
  });
  return zeros;
}

}  // namespace cudatransform::cuda
