// Streaming kernels: read and write given numbers of bytes, as fast as the memory allows; and two
// helpers of benchmarks, a checksum and an empty kernel.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A unit is 16 bytes. A tile is what a group of lanes (a CTA, or a warp) moves simultaneously: each
// lane reads up to R units and then writes up to W. What is written depends on everything that was
// read, so that no load can be left out. Names: stream_<how>_<R>_<W>, how being
//   cta   one tile a CTA, plain loads and stores
//   warp  one tile a warp, with the hint that nothing is used again (ld.global.cs, st.global.cs)
//   loop  as cta, but with as many CTAs as fit, which take one tile after the other
#include "tests/bench/gpu/params.h"

namespace cudatransform::bench {
namespace {

template <bool kHint>
__device__ __forceinline__ uint4 read(const uint4* from) {
  if constexpr (kHint) return __ldcs(from);
  return *from;
}

template <bool kHint>
__device__ __forceinline__ void write(uint4* to, uint4 unit) {
  if constexpr (kHint)
    __stcs(to, unit);
  else
    *to = unit;
}

// The unit that a lane writes as its j-th: each of its inputs goes into some unit.
template <int R, int W>
__device__ __forceinline__ uint4 combine(const uint4 (&read)[R], int j) {
  uint4 unit = read[j % R];
  unit.x ^= uint32_t(j);
#pragma unroll
  for (int i = j + W; i < R; i += W) {
    unit.x ^= read[i].x;
    unit.y ^= read[i].y;
    unit.z ^= read[i].z;
    unit.w ^= read[i].w;
  }
  return unit;
}

template <int R, int W, bool kHint>
__device__ __forceinline__ void move_tile(const StreamParams& p, uint32_t tile, uint32_t lane,
                                          uint32_t lanes) {
  const uint4* in = static_cast<const uint4*>(p.in) + tile * p.in_tile;
  uint4* out = static_cast<uint4*>(p.out) + tile * p.out_tile;
  uint4 units[R];
  // Nearly all tiles where the traffic is R to W.
  if (p.in_tile == R * lanes && p.out_tile == W * lanes && (tile + 1) * p.in_tile <= p.in_units &&
      (tile + 1) * p.out_tile <= p.out_units) {
#pragma unroll
    for (int i = 0; i < R; ++i) units[i] = read<kHint>(in + i * lanes + lane);
#pragma unroll
    for (int j = 0; j < W; ++j) write<kHint>(out + j * lanes + lane, combine<R, W>(units, j));
    return;
  }
  const uint32_t in_left = min(p.in_tile, p.in_units - min(p.in_units, tile * p.in_tile));
  const uint32_t out_left = min(p.out_tile, p.out_units - min(p.out_units, tile * p.out_tile));
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const uint32_t at = i * lanes + lane;
    units[i] = at < in_left ? read<kHint>(in + at) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int j = 0; j < W; ++j) {
    const uint32_t at = j * lanes + lane;
    if (at < out_left) write<kHint>(out + at, combine<R, W>(units, j));
  }
}

}  // namespace

#define CT_STREAM_KERNELS(R, W)                                                              \
  extern "C" __global__ void stream_cta_##R##_##W(const __grid_constant__ StreamParams p) {  \
    move_tile<R, W, false>(p, blockIdx.x, threadIdx.x, blockDim.x);                          \
  }                                                                                          \
  extern "C" __global__ void stream_warp_##R##_##W(const __grid_constant__ StreamParams p) { \
    const uint32_t tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                      \
    if (tile < p.tiles) move_tile<R, W, true>(p, tile, threadIdx.x % 32, 32);                \
  }                                                                                          \
  extern "C" __global__ void stream_loop_##R##_##W(const __grid_constant__ StreamParams p) { \
    for (uint32_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x)                      \
      move_tile<R, W, false>(p, tile, threadIdx.x, blockDim.x);                              \
  }

CT_STREAM_KERNELS(1, 2)
CT_STREAM_KERNELS(2, 4)
CT_STREAM_KERNELS(4, 8)
CT_STREAM_KERNELS(2, 1)
CT_STREAM_KERNELS(4, 2)
CT_STREAM_KERNELS(8, 4)
CT_STREAM_KERNELS(1, 1)
CT_STREAM_KERNELS(2, 2)
CT_STREAM_KERNELS(4, 4)
CT_STREAM_KERNELS(1, 4)
CT_STREAM_KERNELS(2, 8)
CT_STREAM_KERNELS(4, 16)
CT_STREAM_KERNELS(4, 1)
CT_STREAM_KERNELS(8, 2)
CT_STREAM_KERNELS(16, 4)

// Adds to *sum a number that depends on every byte of `rows` rows and on where it stands. CTAs take
// rows, so that a picture of any width keeps the device busy.
extern "C" __global__ void bench_checksum(const uint8_t* data, int64_t pitch, int64_t row_bytes,
                                          int64_t rows, uint64_t salt, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (int64_t y = blockIdx.x; y < rows; y += gridDim.x) {
    for (int64_t x = threadIdx.x; x < row_bytes; x += blockDim.x) {
      // Odd multiples of the golden ratio's bits, folded: neighbors get unrelated factors.
      uint64_t factor = (uint64_t(y * row_bytes + x) + salt) * 0x9E3779B97F4A7C15ull;
      factor ^= factor >> 31;
      mine += (data[y * pitch + x] + 1ull) * (factor | 1);
    }
  }
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xFFFFFFFFu, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// Does nothing. In a profile its grid size says which case begins or ends there.
extern "C" __global__ void bench_marker() {}

}  // namespace cudatransform::bench
