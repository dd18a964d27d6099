// Kernels of the scaled inverse: stored coefficients to pictures of 1/2, 1/4 or 1/8 of the size,
// one thread per block of coefficients, which becomes 4x4, 2x2 or 1 samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// "Fast" takes quantized int16 in block layout and raster order to contiguous 8-bit samples;
// "general" takes everything. They read the coefficients that the result depends on (M::uses), as
// far as memory can be read in parts of 32 bytes: of a block of 128 bytes the whole for islow at
// 1/2 and 1/4, 64 bytes for float at 1/2, 32 bytes for float at 1/4 and for everything at 1/8. The
// arithmetic is transform/dct8x8/scaled.h's, which the CPU has in vectors as well
// (simd_scaled-inl.h).
#include "cuda/dct8x8/params.h"

#include <type_traits>

#include "cuda/common/ptx.cuh"
#include "cuda/dct8x8/adapters.cuh"
#include "cuda/dct8x8/islow.cuh"
#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/tile.cuh"
#include "transform/dct8x8/scaled.h"

namespace cudatransform::cuda {
namespace {

// The block of this thread. A thread beyond the end of the row is not `active`.
struct ScaledPlace {
  int component;
  int by;
  int first_bx;  // of the CTA's threads
  bool active;
  __device__ int bx() const { return first_bx + int(threadIdx.x); }
};

__device__ __forceinline__ ScaledPlace scaled_place(const ScaledParams& params) {
  const int component = plane_of_cta(params.planes);
  const ScaledPlaneParams& plane = params.planes[component];
  const uint32_t cta = blockIdx.x - plane.first_cta;
  const uint32_t by = cta / plane.ctas_per_row;
  const int first_bx = int((cta - by * plane.ctas_per_row) * kScaledThreads);
  return {component, int(by), first_bx, first_bx + int(threadIdx.x) < plane.blocks_w};
}

// ---- Coefficients ----

template <int kBytes>
struct Word;
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};

// The first kCount coefficients at an address that is aligned to 16 bytes.
template <int kCount, typename Coef>
struct alignas(kCount * sizeof(Coef) < 16 ? kCount * sizeof(Coef) : 16) Coefs {
  Coef c[kCount];
};
template <int kCount, typename Coef>
__device__ __forceinline__ Coefs<kCount, Coef> load_coefs(const uint8_t* address) {
  constexpr int kBytes = kCount * int(sizeof(Coef)), kStep = kBytes < 16 ? kBytes : 16;
  using Load = typename Word<kStep>::Type;
  Coefs<kCount, Coef> coefs;
#pragma unroll
  for (int i = 0; i < kBytes / kStep; ++i)
    reinterpret_cast<Load*>(&coefs)[i] = reinterpret_cast<const Load*>(address)[i];
  return coefs;
}

// The number of coefficients, from the left of a row, that hold all that the method uses.
template <typename M>
__device__ constexpr int coefs_of_row() {
  return M::uses(7) ? 8 : M::uses(3) ? 4 : M::uses(1) ? 2 : 1;
}

// Dequantizes the used ones of a row's first coefficients.
template <typename M, int kCount, typename Coef>
__device__ __forceinline__ void dequantize_row(const Coefs<kCount, Coef>& coefs, int row,
                                               const InverseTable& table, typename M::Value* v) {
#pragma unroll
  for (int u = 0; u < kCount; ++u)
    if (M::uses(u)) v[8 * row + u] = M::load(coefs.c[u], table, 8 * row + u);
}

// All coefficients of the block at `from` that the method uses.
template <typename M, typename Coef>
__device__ __forceinline__ void load_block(const uint8_t* from, int64_t group_step, Order order,
                                           const InverseTable& table, typename M::Value* v) {
  constexpr int kCount = coefs_of_row<M>();
  if (order == Order::kZigzag) {
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      if (M::uses(i / 8) && M::uses(i % 8))
        v[i] = M::load(reinterpret_cast<const Coef*>(from)[zigzag_of_natural(i)], table, i);
    }
  } else {
#pragma unroll
    for (int row = 0; row < 8; ++row) {
      if (M::uses(row))
        dequantize_row<M>(load_coefs<kCount, Coef>(from + row * group_step), row, table, v);
    }
  }
}

// Moves a warp's blocks of 64 int16 into its threads. A thread that read its own block would touch
// another cache line in every instruction than its neighbors. Instead, as many lanes as a block has
// rows to be read take 16 bytes each: 4, 8 or 16 blocks an instruction. 16 bytes more from block to
// block keep accesses to shared memory free of bank conflicts. As in WarpStage, loads go through
// registers.
template <typename M>
struct ScaledStage {
  static constexpr int kRows = M::uses(7) ? 8 : M::uses(3) ? 4 : 2;
  static constexpr int kBlockBytes = 16 * kRows + 16;
  alignas(16) uint8_t bytes[kScaledThreads * kBlockBytes];

  __device__ __forceinline__ uint4* row(int thread, int r) {
    return reinterpret_cast<uint4*>(bytes + thread * kBlockBytes + 16 * r);
  }
  static __device__ __forceinline__ int owner(int step) {
    const int lane = threadIdx.x % 32, first = int(threadIdx.x) - lane;
    return first + 32 / kRows * step + lane / kRows;
  }
  // `from`: the block of the CTA's first thread; `count` blocks from there on exist. Threads beyond
  // take the last one's.
  __device__ __forceinline__ void read(const uint8_t* from, int count, uint4* words) const {
#pragma unroll
    for (int step = 0; step < kRows; ++step) {
      const uint8_t* block = from + 128 * min(owner(step), count - 1);
      words[step] = reinterpret_cast<const uint4*>(block)[threadIdx.x % kRows];
    }
  }
  __device__ __forceinline__ void put(const uint4* words) {
#pragma unroll
    for (int step = 0; step < kRows; ++step) *row(owner(step), threadIdx.x % kRows) = words[step];
    __syncwarp();
  }
};

// ---- Samples ----

// Rows of a block as contiguous bytes, aligned to kSize.
template <typename M, int kSize>
__device__ __forceinline__ void store_bytes(const ScaledPlaneParams& plane,
                                            const ScaledPlace& place, const typename M::Value* v) {
  const int valid = plane.width - kSize * place.bx();
  uint8_t* corner = plane.samples + kSize * place.bx();
#pragma unroll
  for (int y = 0; y < kSize; ++y) {
    uint32_t bytes = 0;
#pragma unroll
    for (int x = 0; x < kSize; ++x) bytes |= uint32_t(M::sample(v[8 * y + x], 0, 255)) << (8 * x);
    if (kSize * place.by + y >= plane.rows) continue;
    uint8_t* row = corner + int64_t(kSize * place.by + y) * plane.pitch;
    if (valid >= kSize) {
      if constexpr (kSize == 4) *reinterpret_cast<uint32_t*>(row) = bytes;
      if constexpr (kSize == 2) *reinterpret_cast<uint16_t*>(row) = uint16_t(bytes);
      if constexpr (kSize == 1) *row = uint8_t(bytes);
    } else {
      for (int x = 0; x < valid; ++x, bytes >>= 8) row[x] = uint8_t(bytes);
    }
  }
}

// Any samples. Container: uint8_t or uint16_t.
template <typename M, int kSize, typename Container>
__device__ __forceinline__ void store_samples(const ScaledPlaneParams& plane,
                                              const ScaledPlace& place,
                                              const typename M::Value* v) {
#pragma unroll
  for (int y = 0; y < kSize; ++y) {
    const int first = (kSize * place.by + y) * plane.row_repeat;
    for (int line = first; line < min(first + plane.row_repeat, plane.height); ++line) {
      uint8_t* row = plane.samples + line * plane.pitch;
#pragma unroll
      for (int x = 0; x < kSize; ++x) {
        const int column = kSize * place.bx() + x;
        if (column < plane.width) {
          *reinterpret_cast<Container*>(row + int64_t(column) * plane.stride) = Container(
              (M::sample(v[8 * y + x], plane.low, plane.high) - plane.bias) << plane.shift);
        }
      }
    }
  }
}

// ---- Kernels ----

template <typename M, int kSize>
__device__ __forceinline__ void scaled_fast_staged(const ScaledParams& params) {
  const ScaledPlace place = scaled_place(params);
  const ScaledPlaneParams& plane = params.planes[place.component];
  const InverseTable& table = params.tables[place.component];
  const uint8_t* from = plane.coefs + place.by * plane.row_step + int64_t(128) * place.first_bx;
  typename M::Value v[64];
  if constexpr (kSize == 1) {
    if (!place.active) return;
    v[0] = M::load(reinterpret_cast<const int16_t*>(from)[64 * threadIdx.x], table, 0);
  } else {
    using Stage = ScaledStage<M>;
    __shared__ Stage stage;
    uint4 words[Stage::kRows];
    stage.read(from, plane.blocks_w - place.first_bx, words);
    stage.put(words);
    if (!place.active) return;
#pragma unroll
    for (int row = 0; row < 8; ++row) {
      if (M::uses(row)) {
        const uint8_t* stored = reinterpret_cast<const uint8_t*>(stage.row(threadIdx.x, row));
        dequantize_row<M>(load_coefs<8, int16_t>(stored), row, table, v);
      }
    }
  }
  M::inverse(v, plane.level_shift);
  store_bytes<M, kSize>(plane, place, v);
}

// Dequantizes a block in shared memory and runs pass 1 with limit14() everywhere, in place, where
// each result takes a quantized coefficient's place. A loop, because this rarely runs: see
// InverseIslow::saturating_columns().
template <int kSize>
__device__ __forceinline__ void limited_columns(int16_t* values, const FastInverseTable& table) {
  const uint8_t* const q = reinterpret_cast<const uint8_t*>(as_memory(table.q));
#pragma unroll 1
  for (int x = 0; x < 8; ++x) {
    int v[8];
#pragma unroll
    for (int y = 0; y < 8; ++y)
      v[y] = limit14(int(values[8 * y + x]) * int(q[2 * (8 * y + x) + x % 2]));
    ScaledIslow<kSize>::template column<1, true>(v);
#pragma unroll
    for (int y = 0; y < kSize; ++y) values[8 * y + x] = int16_t(v[y]);
  }
}

// Table entries to 255. A warp whose quantized coefficients are small enough, by `limit`, goes
// without limit14().
template <int kSize>
__device__ __forceinline__ void scaled_fast_islow(const ScaledParams& params) {
  using M = ScaledIslow<kSize>;
  using Stage = ScaledStage<M>;
  static_assert(Stage::kRows == 8);
  __shared__ Stage stage;
  const ScaledPlace place = scaled_place(params);
  const ScaledPlaneParams& plane = params.planes[place.component];
  const FastInverseTable& table = params.islow_tables[place.component];
  uint4 words[8];
  stage.read(plane.coefs + place.by * plane.row_step + int64_t(128) * place.first_bx,
             plane.blocks_w - place.first_bx, words);
  const uint4* limits = reinterpret_cast<const uint4*>(as_memory(table.limit));
  const bool limit = exceeds_limits<8>(words, limits[threadIdx.x % 8]);
  stage.put(words);
  if (!place.active) return;

  int v[64];
  if (limit) {
    int16_t* const values = reinterpret_cast<int16_t*>(stage.row(threadIdx.x, 0));
    limited_columns<kSize>(values, table);
#pragma unroll
    for (int i = 0; i < 8 * kSize; ++i) v[i] = values[i];
  } else {
#pragma unroll
    for (int row = 0; row < 8; ++row) {
      if (!M::uses(row)) continue;
      uint4 qcoefs = *stage.row(threadIdx.x, row);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t q = table.q[4 * row + i];
        v[8 * row + 2 * i] = dequantize_low(word_of(qcoefs, i), q);
        v[8 * row + 2 * i + 1] = dequantize_high(word_of(qcoefs, i), q);
      }
    }
    M::template columns<false>(v);
  }
  M::rows(v, 128);
  store_bytes<M, kSize>(plane, place, v);
}

// islow needs all of a block at 1/2 and 1/4, and may have to saturate there.
template <template <int> class M, int kSize>
__device__ __forceinline__ void scaled_fast(const ScaledParams& params) {
  if constexpr (kSize > 1 && std::is_same_v<M<kSize>, ScaledIslow<kSize>>)
    scaled_fast_islow<kSize>(params);
  else
    scaled_fast_staged<M<kSize>, kSize>(params);
}

template <typename M, int kSize, typename Coef>
__device__ __forceinline__ void scaled_general(const ScaledParams& params) {
  const ScaledPlace place = scaled_place(params);
  const ScaledPlaneParams& plane = params.planes[place.component];
  if (!place.active) return;
  typename M::Value v[64];
  load_block<M, Coef>(plane.coefs + place.by * plane.row_step + place.bx() * plane.block_step,
                      plane.group_step, params.order, params.tables[place.component], v);
  M::inverse(v, plane.level_shift);
  if (params.sample_type == SampleType::kU8)
    store_samples<M, kSize, uint8_t>(plane, place, v);
  else
    store_samples<M, kSize, uint16_t>(plane, place, v);  // kS16 too: truncation is the same
}

// Adds up the zeros among all stored coefficients, by component.
template <typename Coef>
__device__ __forceinline__ void scaled_zeros(const ScaledParams& params) {
  const ScaledPlace place = scaled_place(params);
  const ScaledPlaneParams& plane = params.planes[place.component];
  unsigned zeros = 0;
  if (place.active) {
    const uint8_t* from = plane.coefs + place.by * plane.row_step + place.bx() * plane.block_step;
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const Coefs<8, Coef> coefs = load_coefs<8, Coef>(from + g * plane.group_step);
#pragma unroll
      for (int k = 0; k < 8; ++k) zeros += coefs.c[k] == Coef(0);
    }
  }
  zeros = static_cast<unsigned>(sum_of_warp(zeros));
  if (threadIdx.x % 32 == 0 && zeros != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&params.sums->zeros[place.component]),
              static_cast<unsigned long long>(zeros));
}

}  // namespace

#define CT_KERNEL(name, ...)                                   \
  extern "C" __global__ void __launch_bounds__(kScaledThreads) \
      name(const __grid_constant__ ScaledParams params) {      \
    __VA_ARGS__(params);                                       \
  }
#define CT_FAST(name, method, scale) CT_KERNEL(name, scaled_fast<Scaled##method, 8 / scale>)
#define CT_GENERAL(name, method, scale, coefs) \
  CT_KERNEL(name, scaled_general<Scaled##method<8 / scale>, 8 / scale, coefs>)
#define CT_ZEROS(name, coefs) CT_KERNEL(name, scaled_zeros<coefs>)

CT_SCALED_FAST_KERNELS(CT_FAST)
CT_SCALED_GENERAL_KERNELS(CT_GENERAL)
CT_SCALED_DEEP_KERNELS(CT_GENERAL)
CT_SCALED_ZEROS_KERNELS(CT_ZEROS)

}  // namespace cudatransform::cuda
