// Rows in flight from global to shared memory while others are lifted.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rows that are loaded into registers come no earlier than they are needed: a loop of two rows
// waits for both by the same one of six barriers that a warp has (seen in CUDA 13.0's code), and
// one of a single row moves what it loaded. Copies are waited for by their number. A thread reads
// what it copied itself, so no other wait is needed.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// kPieces chunks of kBytes for each row and thread.
template <int kPieces, int kBytes>
struct RowRing {
  static constexpr uint32_t kPieceBytes = kBytes * kDwtThreads, kRowBytes = kPieces * kPieceBytes;
  static constexpr int kRowsAhead = 3;
  static constexpr uint32_t kSlots = 4;  // a power of two above kRowsAhead

  SharedAddress first;

  __device__ __forceinline__ RowRing() {
    alignas(16) __shared__ uint8_t rows[kSlots * kRowBytes];
    first = shared_address(rows) + threadIdx.x * kBytes;
  }
  // The place of row `n`.
  __device__ __forceinline__ SharedAddress place(int32_t n) const {
    return first + static_cast<uint32_t>(n) % kSlots * kRowBytes;
  }
  // Waits for row `n`, kRowsAhead rows before the last one whose copy began.
  template <typename Words>
  __device__ __forceinline__ void load(int32_t n, Words (&pieces)[kPieces]) const {
    wait_for_copies<kRowsAhead>();
    const SharedAddress from = place(n);
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
      load_shared(from + piece * kPieceBytes, pieces[piece].at);
  }
};

struct NoRing {};

}  // namespace cudatransform::cuda
