// The split kernels, for small frames: several threads share an 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One thread a block leaves a small frame with a handful of warps on each SM, which all load, then
// all compute, then all store. With more threads the same work comes in smaller chunks that
// overlap. The arithmetic is that of the kernels with one thread a block, so that the bytes do not
// depend on the size of the frame. On the CPU, too, it is theirs: see fast_forward.cu and
// fast_inverse.cu.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {
namespace {

using Bytes = U8Row<Planes::kEdged>;

// ---- Inverse: a thread has one row of the block and one column, by way of shared memory ----

constexpr int kBlocksPerWarp = 32 / kSplitInverseThreads;
// Strides of values in shared memory that keep rows, written four values at a time, and columns,
// read one at a time, free of bank conflicts.
constexpr int kRowStride = 12, kBlockStride = 8 * kRowStride + 8;
constexpr int kWarps = kSplitInverseCtaThreads / 32;

struct SplitThread {
  int lane;
  int part;        // 0..7: this thread's row, then its column
  int block;       // of the warp's four
  uint32_t first;  // the warp's first block
};

__device__ __forceinline__ SplitThread split_thread(const FastFrame& frame, int number) {
  const int lane = threadIdx.x % 32;
  const uint32_t warp = (blockIdx.x - frame.first_cta[number]) * kWarps + threadIdx.x / 32;
  return {lane, lane % int(kSplitInverseThreads), lane / int(kSplitInverseThreads),
          warp * kBlocksPerWarp};
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

// float: rows first. A thread reads its row in place: 16 bytes, consecutive over the warp.
template <bool kTimed>
__device__ __forceinline__ void split_inverse_float(const FastInverseParams& params) {
  alignas(16) __shared__ float values[kWarps][kBlocksPerWarp * kBlockStride];
  const FastFrame& frame = params.frame;
  const int number = plane_of_cta(frame);
  const FastPlane& plane = frame.planes[number];
  const SplitThread thread = split_thread(frame, number);
  const WarpStage<128, kBlocksPerWarp, Planes::kEdged> stage{nullptr, thread.lane};
  wait_for_predecessor();
  note_begin<kTimed>(frame);
  uint4 words;
  stage.read(plane, thread.first, &words);
  const float4* table = reinterpret_cast<const float4*>(
      as_memory(params.tables[plane.component[0]].mul) + 8 * thread.part);
  const float4 low = table[0], high = table[1];
  const float mul[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  const FastPlace place = fast_place<Planes::kEdged>(plane, number, thread.first + thread.block);

  float* const block = values[threadIdx.x / 32] + thread.block * kBlockStride;
  float v[8];
  FloatDevice::from_qcoefs(words, v);
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

// islow: columns first, as libjpeg does. A thread dequantizes the row that it has loaded, which
// takes one instruction a value there, and again gets a row after its column.
template <bool kTimed>
__device__ __forceinline__ void split_inverse_islow(const FastInverseParams& params) {
  alignas(16) __shared__ int values[kWarps][kBlocksPerWarp * kBlockStride];
  const FastFrame& frame = params.frame;
  const int number = plane_of_cta(frame);
  const FastPlane& plane = frame.planes[number];
  const SplitThread thread = split_thread(frame, number);
  const FastInverseTable& table = params.tables[plane.component[0]];
  const WarpStage<128, kBlocksPerWarp, Planes::kEdged> stage{nullptr, thread.lane};
  wait_for_predecessor();
  note_begin<kTimed>(frame);
  uint4 words;
  stage.read(plane, thread.first, &words);
  uint4 q = reinterpret_cast<const uint4*>(as_memory(table.q))[thread.part];
  const uint4 limit = reinterpret_cast<const uint4*>(as_memory(table.limit))[thread.part];
  const FastPlace place = fast_place<Planes::kEdged>(plane, number, thread.first + thread.block);
  const bool saturate = exceeds_limits<1>(&words, limit);

  int* const block = values[threadIdx.x / 32] + thread.block * kBlockStride;
  int v[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = dequantize_low(word_of(words, i), word_of(q, i));
    v[2 * i + 1] = dequantize_high(word_of(words, i), word_of(q, i));
  }
  const auto saturate_all = [&] {
    if (!saturate) return;
#pragma unroll
    for (int y = 0; y < 8; ++y) v[y] = saturate16(v[y]);
  };
  saturate_all();
  put_row(block, thread.part, v);
  let_successor_launch();  // not before: it would wait for the loads by itself
  __syncwarp();
  get_column(block, thread.part, v);
  islow_inverse_direct<1, 1>(v, 0);
  saturate_all();
#pragma unroll
  for (int y = 0; y < 8; ++y) block[y * kRowStride + thread.part] = v[y];
  __syncwarp();
  const int4* const row = reinterpret_cast<const int4*>(block + thread.part * kRowStride);
  const int4 low = row[0], high = row[1];
  int w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  islow_inverse_direct<1, 2>(w, 128);
  if (place.active) *row_of(plane, place, thread.part) = FastIslow::finish<Bytes>(w, 0, 0);
  note_end<kTimed>(frame);
}

// islow from planes. A warp has a row of 32 blocks, then a column of them, then a row: it reads 512
// bytes and writes 256 of a row, and all its lanes have the same entries of the tables. Pieces of
// 64 bytes of eight rows, which four blocks to a warp would read, take a sixth longer.
__device__ __forceinline__ void split_inverse_islow_plane(const FastInverseParams& params) {
  constexpr unsigned kBlocks = kSplitPlaneCtaThreads / kSplitInverseThreads;
  static_assert(kBlocks == 32);
  __shared__ int values[64][kBlocks];
  const FastFrame& frame = params.frame;
  const int number = plane_of_cta(frame);
  const FastPlane& plane = frame.planes[number];
  const FastInverseTable& table = params.tables[plane.component[0]];
  const int lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const uint32_t first = (blockIdx.x - frame.first_cta[number]) * kBlocks;
  const FastPlace place = fast_place<Planes::kEdged>(plane, number, first + lane);
  uint4 q = reinterpret_cast<const uint4*>(table.q)[part];
  const uint4 limit = reinterpret_cast<const uint4*>(table.limit)[part];
  wait_for_predecessor();
  uint4 words = *plane_row(plane, place, part);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[8 * part + 2 * i][lane] = dequantize_low(word_of(words, i), word_of(q, i));
    values[8 * part + 2 * i + 1][lane] = dequantize_high(word_of(words, i), word_of(q, i));
  }
  const bool beyond = exceeds_limits<1>(&words, limit);
  let_successor_launch();  // not before: it would wait for the loads by itself
  const bool saturate = __syncthreads_or(beyond);
  int v[8];
  const auto saturate_all = [&] {
    if (!saturate) return;
#pragma unroll
    for (int y = 0; y < 8; ++y) v[y] = saturate16(v[y]);
  };
#pragma unroll
  for (int y = 0; y < 8; ++y) v[y] = values[8 * y + part][lane];
  saturate_all();
  islow_inverse_direct<1, 1>(v, 0);
  saturate_all();
#pragma unroll
  for (int y = 0; y < 8; ++y) values[8 * y + part][lane] = v[y];
  __syncthreads();
#pragma unroll
  for (int x = 0; x < 8; ++x) v[x] = values[8 * part + x][lane];
  islow_inverse_direct<1, 2>(v, 128);
  if (place.active) *row_of(plane, place, part) = FastIslow::finish<Bytes>(v, 0, 0);
}

template <typename M, Variant V>
__device__ __forceinline__ void split_inverse(const FastInverseParams& params) {
  constexpr bool kTimed = V == Variant::kTimed;
  if constexpr (std::is_same_v<M, FastFloat>)
    split_inverse_float<kTimed>(params);
  else
    split_inverse_islow<kTimed>(params);
}

// ---- Forward: two warps share 32 blocks ----

// A thread has four of its block's columns, and computes their part of the row pass. Both threads
// of a block read all its samples, the second one from the L1 cache, and exchange nothing.
template <int kHalf>
__device__ __forceinline__ void half_forward(const uint2* rows, const FastFrame&, int* v) {
#pragma unroll
  for (int y = 0; y < 8; ++y) islow_forward_half_row<kHalf>(rows[y], v + 4 * y);
#pragma unroll
  for (int x = 0; x < 4; ++x) islow_forward_column<4>(v + x, kHalf == 0 && x == 0 ? 128 : 0);
}
template <int kHalf>
__device__ __forceinline__ void half_forward(const uint2* rows, const FastFrame& frame, float* v) {
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    float row[8];
    FloatDevice::from_bytes(rows[y], row);
    float_forward_1d<1>(row);  // the compiler drops results that are not used
#pragma unroll
    for (int x = 0; x < 4; ++x) v[4 * y + x] = row[4 * kHalf + x];
  }
#pragma unroll
  for (int x = 0; x < 4; ++x) float_forward_1d<4>(v + x);
  if (kHalf == 0) v[0] -= frame.forward_dc;
}

// Stages half of a block's quantized coefficients for the CTA to write.
template <typename M, int kHalf>
__device__ __forceinline__ void put_half(const uint2* rows, const FastFrame& frame,
                                         const FastForwardTable& table, uint8_t* block) {
  typename M::Value v[32];
  half_forward<kHalf>(rows, frame, v);
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const float4 mul = *reinterpret_cast<const float4*>(table.mul + 8 * y + 4 * kHalf);
    const int32_t bits[4] = {M::rounded_bits(v[4 * y], mul.x), M::rounded_bits(v[4 * y + 1], mul.y),
                             M::rounded_bits(v[4 * y + 2], mul.z),
                             M::rounded_bits(v[4 * y + 3], mul.w)};
    reinterpret_cast<uint2*>(block)[2 * y + kHalf] =
        make_uint2(pair_of(bits[0], bits[1]), pair_of(bits[2], bits[3]));
  }
}

template <typename M, Variant V>
__device__ __forceinline__ void split_forward(const FastForwardParams& params) {
  constexpr bool kTimed = V == Variant::kTimed;
  constexpr uint32_t kBlocks = kSplitForwardCtaThreads / kSplitForwardThreads;
  static_assert(kBlocks == 32, "a block's two threads have the same lane of two warps");
  using Stage = WarpStage<128, kBlocks / 2, Planes::kEdged>;  // written by one of the two warps
  alignas(16) __shared__ uint8_t shared[2 * Stage::kBytes];
  const FastFrame& frame = params.frame;
  const int number = plane_of_cta(frame);
  const FastPlane& plane = frame.planes[number];
  const FastForwardTable& table = params.tables[plane.component[0]];
  const int lane = threadIdx.x % 32, half = threadIdx.x / 32;
  const uint32_t first = (blockIdx.x - frame.first_cta[number]) * kBlocks;
  wait_for_predecessor(frame);
  note_begin<kTimed>(frame);
  uint2 rows[8];
  load_rows<Bytes>(plane, fast_place<Planes::kEdged>(plane, number, first + lane), rows);
  uint8_t* const block = shared + lane * Stage::kStride;
  if (half == 0)
    put_half<M, 0>(rows, frame, table, block);
  else
    put_half<M, 1>(rows, frame, table, block);
  __syncthreads();
  const Stage stage{shared + half * Stage::kBytes, lane};
  stage.write(plane, first + half * (kBlocks / 2));
  note_end<kTimed>(frame);
}

}  // namespace

#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant)        \
  extern "C" __global__ void __launch_bounds__(kSplitInverseCtaThreads, kCtas_##name) \
      name(const __grid_constant__ FastInverseParams params) {                        \
    split_inverse<Fast##method, Variant::k##variant>(params);                         \
  }
CT_FAST_SPLIT_INVERSE_KERNELS(CT_INVERSE)

#define CT_PLANE(name, method, samples, coefs, arrangement, planes, variant)        \
  extern "C" __global__ void __launch_bounds__(kSplitPlaneCtaThreads, kCtas_##name) \
      name(const __grid_constant__ FastInverseParams params) {                      \
    split_inverse_islow_plane(params);                                              \
  }
CT_FAST_SPLIT_PLANE_KERNELS(CT_PLANE)

#define CT_FORWARD(name, method, samples, coefs, arrangement, planes, variant)        \
  extern "C" __global__ void __launch_bounds__(kSplitForwardCtaThreads, kCtas_##name) \
      name(const __grid_constant__ FastForwardParams params) {                        \
    split_forward<Fast##method, Variant::k##variant>(params);                         \
  }
CT_FAST_SPLIT_FORWARD_KERNELS(CT_FORWARD)

}  // namespace cudatransform::cuda
