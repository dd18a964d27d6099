// The split kernels, the fast inverse for small frames: eight threads share an 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One thread a block leaves a small frame with a handful of warps on each SM, which all load, then
// all compute, then all store. With eight times the threads the same work comes in small pieces
// that overlap. A thread has one row, then, by way of shared memory, one column. The arithmetic is
// that of the kernels with one thread a block, so that the bytes do not depend on the size of the
// frame.
#include "cuda/dct8x8/fast.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {
namespace {

using Bytes = U8Row<false>;

constexpr int kBlocksPerWarp = 32 / kSplitThreads;
// Strides of values in shared memory that keep rows, written four values at a time, and columns,
// read one at a time, free of bank conflicts.
constexpr int kRowStride = 12, kBlockStride = 8 * kRowStride + 8;
constexpr int kWarps = kSplitCtaThreads / 32;

struct SplitThread {
  int lane;
  int part;        // 0..7: this thread's row, then its column
  int block;       // of the warp's four
  uint32_t first;  // the warp's first block
};

__device__ __forceinline__ SplitThread split_thread(const FastFrame& frame, int number) {
  const int lane = threadIdx.x % 32;
  const uint32_t warp = (blockIdx.x - frame.first_cta[number]) * kWarps + threadIdx.x / 32;
  return {lane, lane % int(kSplitThreads), lane / int(kSplitThreads), warp * kBlocksPerWarp};
}

// Planes are whole blocks wide and high.
__device__ __forceinline__ uint2* row_of(const FastPlane& plane, const FastPlace& place, int y) {
  return reinterpret_cast<uint2*>(row_address<Bytes>(plane, place, 8 * place.by + y));
}

template <typename V>
__device__ __forceinline__ void put_row(V* block, int row, const V* v) {
  static_assert(sizeof(V) == 4);
  uint4* to = reinterpret_cast<uint4*>(block + row * kRowStride);
  const auto word = [&](int i) { return reinterpret_cast<const uint32_t&>(v[i]); };
  to[0] = make_uint4(word(0), word(1), word(2), word(3));
  to[1] = make_uint4(word(4), word(5), word(6), word(7));
}
template <typename V>
__device__ __forceinline__ void get_column(const V* block, int column, V* v) {
#pragma unroll
  for (int y = 0; y < 8; ++y) v[y] = block[y * kRowStride + column];
}

// float: rows first. A thread reads its row where it lies: 16 bytes, consecutive over the warp.
template <bool kTimed>
__device__ __forceinline__ void split_inverse_float(const FastInverseParams& params) {
  alignas(16) __shared__ float values[kWarps][kBlocksPerWarp * kBlockStride];
  const FastFrame& frame = params.frame;
  const int number = plane_of_cta(frame);
  const FastPlane& plane = frame.planes[number];
  const SplitThread thread = split_thread(frame, number);
  const WarpStage<128, kBlocksPerWarp, false> stage{nullptr, thread.lane};
  wait_for_predecessor();
  note_begin<kTimed>(frame);
  uint4 words;
  stage.read(plane, thread.first, &words);
  const float4* table = reinterpret_cast<const float4*>(
      as_memory(params.tables[plane.component[0]].mul) + 8 * thread.part);
  const float4 low = table[0], high = table[1];
  const float mul[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  const FastPlace place = fast_place<false>(plane, number, thread.first + thread.block);

  float* const block = values[threadIdx.x / 32] + thread.block * kBlockStride;
  float v[8];
  FloatDevice::from_levels(words, v);
  FloatDevice::inverse_row(v, mul, thread.part == 0 ? frame.inverse_dc : 0.0f);
  put_row(block, thread.part, v);
  let_successor_launch();  // not before: it would wait for the loads by itself
  __syncwarp();
  get_column(block, thread.part, v);
  __syncwarp();
  FloatDevice::inverse_column<1, true>(v);
  uint8_t* const bytes = reinterpret_cast<uint8_t*>(block);
#pragma unroll
  for (int y = 0; y < 8; ++y)
    bytes[8 * y + thread.part] = uint8_t(FloatDevice::sample_bits(v[y], 255.0f));
  __syncwarp();
  if (place.active)
    *row_of(plane, place, thread.part) = reinterpret_cast<const uint2*>(bytes)[thread.part];
  note_end<kTimed>(frame);
}

// islow: columns first, as libjpeg does. The table is bytes, a column's eight consecutive. Both the
// levels and the results of pass 1 have 16 bits, and take each other's place in shared memory.
template <bool kTimed>
__device__ __forceinline__ void split_inverse_islow(const FastInverseParams& params) {
  using Stage = WarpStage<128, kBlocksPerWarp, false>;
  alignas(16) __shared__ uint8_t shared[kWarps][Stage::kBytes];
  const FastFrame& frame = params.frame;
  const int number = plane_of_cta(frame);
  const FastPlane& plane = frame.planes[number];
  const SplitThread thread = split_thread(frame, number);
  const FastInverseTable& table = params.tables[plane.component[0]];
  const Stage stage{shared[threadIdx.x / 32], thread.lane};
  wait_for_predecessor();
  note_begin<kTimed>(frame);
  uint4 words;
  stage.read(plane, thread.first, &words);
  const uint2 q = reinterpret_cast<const uint2*>(as_memory(table.q))[thread.part];
  const uint4 limit = reinterpret_cast<const uint4*>(as_memory(table.limit))[thread.part];
  const FastPlace place = fast_place<false>(plane, number, thread.first + thread.block);
  const bool saturate = exceeds_limits<1>(&words, limit);
  stage.put(&words);
  let_successor_launch();

  int v[8];
  int16_t* const column = reinterpret_cast<int16_t*>(stage.group(thread.block, 0)) + thread.part;
  constexpr int kStride = 8;
#pragma unroll
  for (int y = 0; y < 8; ++y)
    v[y] = column[kStride * y] * int((y < 4 ? q.x : q.y) >> (8 * (y % 4)) & 255);
  if (saturate) {
#pragma unroll
    for (int y = 0; y < 8; ++y) v[y] = saturate16(v[y]);
  }
  islow_inverse_direct<1, 1>(v, 0);
  if (saturate) {
#pragma unroll
    for (int y = 0; y < 8; ++y) v[y] = saturate16(v[y]);
  }
#pragma unroll
  for (int y = 0; y < 8; ++y) column[kStride * y] = int16_t(v[y]);
  __syncwarp();
  uint4 row = *stage.group(thread.block, thread.part);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = int16_t(word_of(row, i));
    v[2 * i + 1] = int32_t(word_of(row, i)) >> 16;
  }
  islow_inverse_direct<1, 2>(v, 128);
  if (place.active) *row_of(plane, place, thread.part) = FastIslow::finish<Bytes>(v, 0, 0);
  note_end<kTimed>(frame);
}

template <typename M, Variant V>
__device__ __forceinline__ void split_inverse(const FastInverseParams& params) {
  constexpr bool kTimed = V == Variant::kTimed;
  if constexpr (std::is_same_v<M, FastFloat>)
    split_inverse_float<kTimed>(params);
  else
    split_inverse_islow<kTimed>(params);
}

}  // namespace

// CTAs on an SM: all the threads that it can hold.
#if defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define CT_SPLIT_CTAS 16
#else
#define CT_SPLIT_CTAS 8
#endif
#define CT_KERNEL(name, method, samples, coefs, arrangement, pairs, variant, ctas) \
  extern "C" __global__ void __launch_bounds__(kSplitCtaThreads, ctas)             \
      name(const __grid_constant__ FastInverseParams params) {                     \
    split_inverse<Fast##method, Variant::k##variant>(params);                      \
  }
CT_FAST_SPLIT_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
