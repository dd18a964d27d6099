// The 16-bit kernel of NVIDIA's DCT8x8 whitepaper, written our way: forward, quantized, eight
// threads a block, two values in a word at any place in memory. Its bytes are those of ifast.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A value between the passes is the sum of eight samples at the most, or a product of such a sum by
// less than two: 16 bits hold it, so storing it is lossless.
#include "cuda/dct8x8/adapters.cuh"
#include "tests/bench/gpu/params.h"
#include "transform/dct8x8/block.h"

namespace cudatransform::bench {
namespace {

constexpr unsigned kThreads = 256;
// Words of a row, the last of which is unused: rows of four blocks begin in 32 different banks.
constexpr int kRow = 5, kBlock = 8 * kRow;

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    whitepaper_short(const __grid_constant__ PaperParams p) {
  __shared__ uint32_t words[kThreads / 8 * kBlock];
  const uint32_t place = blockIdx.x * (kThreads / 8) + threadIdx.x / 8;
  const uint32_t block = min(place, p.blocks - 1);
  const int line = threadIdx.x % 8;
  uint32_t* shared = words + threadIdx.x / 8 * kBlock;
  int16_t* column = reinterpret_cast<int16_t*>(shared) + line;

  const uint32_t by = block / p.blocks_w;
  const uint2 bytes = *reinterpret_cast<const uint2*>(
      p.samples + int64_t(8 * by + line) * p.sample_pitch + 8 * (block - by * p.blocks_w));
  int32_t v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = int32_t((k < 4 ? bytes.x : bytes.y) >> (8 * (k % 4)) & 255);
  aan_forward_1d<1>(v);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    shared[kRow * line + k] = __byte_perm(uint32_t(v[2 * k]), uint32_t(v[2 * k + 1]), 0x5410);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = column[2 * kRow * k];
  aan_forward_1d<1>(v);
  if (line == 0) v[0] -= 64 * 128;
  const ForwardTable& table = *cuda::as_memory(&p.forward);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    column[2 * kRow * k] = IntegerValues::store<int16_t>(wrap16(v[k]), table, 8 * k + line);
  }
  __syncthreads();
  if (place >= p.blocks) return;
  const uint32_t* row = shared + kRow * line;
  *reinterpret_cast<uint4*>(p.coefs + size_t(block) * 64 + 8 * line) =
      make_uint4(row[0], row[1], row[2], row[3]);
}

}  // namespace cudatransform::bench
