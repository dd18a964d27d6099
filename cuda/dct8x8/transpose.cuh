// Transposing an 8x8 block of which each of eight neighboring lanes holds a row: through shared
// memory, and by shuffles.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: transpose() of transform/dct8x8/simd-inl.h.
#pragma once

#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {

// Rows of nine floats give each of a warp's 32 threads, which have four blocks, a separate bank:
// element k of row r of block b is in bank (72 b + 9 r + k) mod 32, which takes 32 values both for
// a fixed k (rows) and for a fixed r (columns).
struct PaddedBlock {
  static constexpr int kRow = 9;
  float values[8 * kRow];
};

// There: a row goes in, a column comes out. Back: the other way round, and since a thread writes
// the very words that it has read, no barrier is needed between the two. `barrier` waits for the
// block's threads at least.
template <bool kBack, typename Barrier>
__device__ __forceinline__ void transpose_by_shared_memory(float* v, int line, PaddedBlock* block,
                                                           Barrier&& barrier) {
  constexpr int kRow = PaddedBlock::kRow;
#pragma unroll
  for (int k = 0; k < 8; ++k) block->values[kBack ? kRow * k + line : kRow * line + k] = v[k];
  barrier();
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = block->values[kBack ? kRow * line + k : kRow * k + line];
}

// Step s swaps bit s of the row number with that of the column number: lanes s apart exchange the
// halves that are on the wrong side of the diagonal.
__device__ __forceinline__ void transpose_by_shuffles(float* v, int line) {
#pragma unroll
  for (int s = 1; s < 8; s *= 2) {
    const bool upper = (line & s) != 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i & s) continue;
      const float received = __shfl_xor_sync(kAllLanes, upper ? v[i] : v[i + s], s);
      if (upper)
        v[i] = received;
      else
        v[i + s] = received;
    }
  }
}

}  // namespace cudatransform::cuda
