// Load and store adapters of the 8x8 DCT kernels: samples and coefficients in memory from and to 64
// values in a thread's registers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: load_samples() to store_coefs() of transform/dct8x8/adapters.h.
//
// Arrays of 64 values stay in registers because every loop over them is unrolled and every index is
// a constant.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dct8x8/params.h"

namespace cudatransform::cuda {

// The zigzag order (ITU-T T.81, figure 5): constants when the index is one, else a table. On the
// CPU: kNaturalOfZigzag of transform/dct8x8/quant_table.h.
struct ZigzagTables {
  uint8_t natural_of_zigzag[64];
  uint8_t zigzag_of_natural[64];
};

// Walks the diagonals: up to the right on even ones, down to the left on odd ones.
constexpr ZigzagTables make_zigzag() {
  ZigzagTables tables{};
  int k = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int step = 0; step <= diagonal; ++step) {
      const int u = diagonal % 2 == 0 ? step : diagonal - step;
      const int v = diagonal - u;
      if (u > 7 || v > 7) continue;
      tables.natural_of_zigzag[k] = static_cast<uint8_t>(8 * v + u);
      tables.zigzag_of_natural[8 * v + u] = static_cast<uint8_t>(k);
      ++k;
    }
  }
  return tables;
}

__device__ __forceinline__ int natural_of_zigzag(int k) {
  static constexpr ZigzagTables kTables = make_zigzag();
  return kTables.natural_of_zigzag[k];
}
__device__ __forceinline__ int zigzag_of_natural(int i) {
  static constexpr ZigzagTables kTables = make_zigzag();
  return kTables.zigzag_of_natural[i];
}

// The types of coefficients, by their names in kernels.h.
using S16 = int16_t;
using S32 = int32_t;
using F32 = float;

// One 8x8 block of one plane. A thread beyond the plane's last block repeats that block and is not
// `active`: it takes part in shuffles and barriers but must not store or count.
struct BlockPlace {
  int component;
  int bx, by;
  bool active;
};

__device__ __forceinline__ BlockPlace place_in_plane(const FrameParams& frame, int component,
                                                     uint32_t index) {
  const PlaneParams& plane = frame.planes[component];
  const bool active = index < plane.blocks;
  const uint32_t clamped = active ? index : plane.blocks - 1;
  const uint32_t by = divide(clamped, plane.by_blocks_w);
  return {component, int(clamped - by * plane.blocks_w), int(by), active};
}

// ---- Samples ----

template <typename Container>
__device__ __forceinline__ int32_t read_sample(const uint8_t* address, int shift, int32_t peak) {
  if constexpr (sizeof(Container) == 1) return *address;
  return unpack_sample16(*reinterpret_cast<const uint16_t*>(address), shift, peak);
}

// Calls function(Container{}) for the container of `type`: one branch around an unrolled loop in
// place of one in every step.
template <typename Function>
__device__ __forceinline__ void with_container(SampleType type, Function&& function) {
  if (type == SampleType::kU8)
    function(uint8_t{});
  else
    function(uint16_t{});  // kS16 too, which is only ever written: truncation is the same
}

// All 64 samples of a block; beyond the last column and row those are repeated, not read.
template <typename Value>
__device__ __forceinline__ void load_samples(const SampleParams& plane, const BlockPlace& place,
                                             int32_t peak, Value* v) {
  with_container(plane.type, [&](auto container) {
    int64_t column[8];
#pragma unroll
    for (int x = 0; x < 8; ++x)
      column[x] = int64_t(min(8 * place.bx + x, plane.width - 1)) * plane.stride;
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const uint8_t* row = plane.data + min(8 * place.by + y, plane.rows - 1) * plane.pitch;
#pragma unroll
      for (int x = 0; x < 8; ++x)
        v[8 * y + x] = Value(read_sample<decltype(container)>(row + column[x], plane.shift, peak));
    }
  });
}

// Writes the visible samples of a block. sample(i) is the i-th one, rounded and clamped.
template <typename Sample>
__device__ __forceinline__ void store_samples(const SampleParams& plane, const BlockPlace& place,
                                              Sample&& sample) {
  with_container(plane.type, [&](auto container) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const int first = (8 * place.by + y) * plane.row_repeat;
      for (int line = first; line < min(first + plane.row_repeat, plane.height); ++line) {
        uint8_t* row = plane.data + line * plane.pitch;
#pragma unroll
        for (int x = 0; x < 8; ++x) {
          const int column = 8 * place.bx + x;
          if (column < plane.width) {
            *reinterpret_cast<decltype(container)*>(row + int64_t(column) * plane.stride) =
                decltype(container)((sample(8 * y + x) - plane.bias) << plane.shift);
          }
        }
      }
    }
  });
}

// The squared difference of a block's visible samples, sample(i) as above, to those of `plane`.
template <typename Sample>
__device__ __forceinline__ uint64_t squared_error(const SampleParams& plane,
                                                  const BlockPlace& place, int32_t peak,
                                                  Sample&& sample) {
  uint64_t sum = 0;
  with_container(plane.type, [&](auto container) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      if (8 * place.by + y >= plane.rows) break;
      const uint8_t* row = plane.data + (8 * place.by + y) * plane.pitch;
#pragma unroll
      for (int x = 0; x < 8; ++x) {
        const int column = 8 * place.bx + x;
        if (column < plane.width) {
          const int64_t error =
              sample(8 * y + x) - read_sample<decltype(container)>(
                                      row + int64_t(column) * plane.stride, plane.shift, peak);
          sum += uint64_t(error * error);
        }
      }
    }
  });
  return sum;
}

// ---- Coefficients ----

__device__ __forceinline__ uint8_t* block_address(const CoefParams& coefs,
                                                  const BlockPlace& place) {
  return coefs.data + place.by * coefs.row_step + place.bx * coefs.block_step;
}

__device__ __forceinline__ uint4 pack(const int16_t* c) {
  uint32_t word[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    word[i] = uint32_t(uint16_t(c[2 * i])) | uint32_t(uint16_t(c[2 * i + 1])) << 16;
  return make_uint4(word[0], word[1], word[2], word[3]);
}
__device__ __forceinline__ void unpack(uint4 words, int16_t* c) {
  const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) c[i] = int16_t(word[i / 2] >> (16 * (i % 2)));
}

__device__ __forceinline__ void store_eight(uint8_t* address, const int16_t* c) {
  *reinterpret_cast<uint4*>(address) = pack(c);
}
__device__ __forceinline__ void store_eight(uint8_t* address, const int32_t* c) {
  int4* out = reinterpret_cast<int4*>(address);
  out[0] = make_int4(c[0], c[1], c[2], c[3]);
  out[1] = make_int4(c[4], c[5], c[6], c[7]);
}
__device__ __forceinline__ void store_eight(uint8_t* address, const float* c) {
  float4* out = reinterpret_cast<float4*>(address);
  out[0] = make_float4(c[0], c[1], c[2], c[3]);
  out[1] = make_float4(c[4], c[5], c[6], c[7]);
}
__device__ __forceinline__ void load_eight(const uint8_t* address, int16_t* c) {
  unpack(*reinterpret_cast<const uint4*>(address), c);
}
__device__ __forceinline__ void load_eight(const uint8_t* address, int32_t* c) {
  const int4* in = reinterpret_cast<const int4*>(address);
  const int4 a = in[0], b = in[1];
  c[0] = a.x, c[1] = a.y, c[2] = a.z, c[3] = a.w;
  c[4] = b.x, c[5] = b.y, c[6] = b.z, c[7] = b.w;
}
__device__ __forceinline__ void load_eight(const uint8_t* address, float* c) {
  const float4* in = reinterpret_cast<const float4*>(address);
  const float4 a = in[0], b = in[1];
  c[0] = a.x, c[1] = a.y, c[2] = a.z, c[3] = a.w;
  c[4] = b.x, c[5] = b.y, c[6] = b.z, c[7] = b.w;
}

// Stores eight transform values as coefficients and returns how many of these are zero. With
// kReconstruct, the values become those that a decoder will reconstruct. natural(k) is the natural
// index of the group's k-th coefficient.
template <typename M, typename Coef, bool kReconstruct, typename Natural>
__device__ __forceinline__ int quantize_eight(typename M::Value* v, const ForwardTable& table,
                                              const InverseTable* inverse, Natural&& natural,
                                              Coef* c) {
  int zeros = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = natural(k);
    c[k] = M::template store<Coef>(v[i], table, i);
    zeros += c[k] == Coef(0);
    if constexpr (kReconstruct) v[i] = M::template load<Coef>(c[k], *inverse, i);
  }
  return zeros;
}

// ---- Sums ----

// Adds every thread's `value` to *sum. All threads of the CTA call it: whole warps, eight at most.
__device__ __forceinline__ void add_to_sum(uint64_t value, uint64_t* sum) {
  __shared__ uint64_t of_warp[8];
  value = sum_of_warp(value);
  __syncthreads();  // of_warp may still be read for an earlier sum
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) value += of_warp[warp];
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), value);
}

}  // namespace cudatransform::cuda
