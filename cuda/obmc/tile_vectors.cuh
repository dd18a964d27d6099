// The targets of the vectors of a tile's blocks, worked out once for all threads, in shared memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/obmc/place.cuh"

namespace cudatransform::cuda {

// The target of one vector of a block, seen from the component's first sample. A lane adds the
// distance of its first sample from that one.
struct alignas(16) VectorEnd {
  // By half position around the end, number `right + 2 * down`: the word with its first byte.
  uint64_t at[4];
  int32_t column, row;     // in half samples
  uint32_t weights;        // of the four positions, a byte each
  uint32_t bits_in_front;  // in those words before that byte: left ones, and from bit 16 right ones

  __device__ __forceinline__ uint32_t weight(int position) const {
    return weights >> (8 * position) & 0xffu;
  }
  __device__ __forceinline__ uint32_t in_front(int position) const {
    return (position & 1) != 0 ? bits_in_front >> 16 : bits_in_front & 0xffffu;
  }
};

// The blocks over some rows of a tile, row by row.
struct TileBlocks {
  // Luma at the usual 16 samples has 30 of them; only small blocks take more than one iteration.
  static constexpr int32_t kMax = 96;
  // They begin every two columns at least, and one is in front of the tile's first, or two.
  static_assert(kObmcTileColumns / 2 + 2 <= kMax);
  static constexpr uint32_t kReferencesBit = 16;

  VectorEnd ends[kMaxObmcReferences][kMax];
  uint32_t heads[kMax];  // the prediction of a block without references; its references above
};

// The blocks that a tile needs. Each thread works them out. TileWindows has them as well, but a
// thread that takes them from there has to wait for it.
struct TileSpan {
  int32_t left, right, top, bottom;

  __device__ __forceinline__ TileSpan(const ObmcComponentParams& component, int32_t tile_x,
                                      int32_t tile_y)
      : left(first_block_over(component.across, tile_x)),
        right(
            last_block_over(component.across, min(tile_x + kObmcTileColumns, component.width) - 1)),
        top(first_block_over(component.down, tile_y)),
        bottom(last_block_over(component.down, min(tile_y + kObmcTileRows, component.height) - 1)) {
  }

  __device__ __forceinline__ int32_t across() const { return right - left + 1; }
  // How many rows of blocks there is room for.
  __device__ __forceinline__ int32_t rows_at_once() const {
    const int32_t rows = bottom - top + 1;
    return rows * across() <= TileBlocks::kMax ? rows : TileBlocks::kMax / across();
  }
};

__device__ __forceinline__ VectorEnd vector_end(const ObmcParams& params,
                                                const ObmcComponentParams& component,
                                                const ObmcBlock& block, int reference) {
  const Pointed to = pointed_at(component, params.precision, block, reference, 0, 0);
  const ObmcPlaneParams* planes = component.references[reference];
  VectorEnd end;
  end.column = to.column;
  end.row = to.row;
  end.weights = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int32_t row = to.row + (k >> 1), column = to.column + (k & 1);
    const int32_t byte = column >> 1;
    // The target may be far from the plane: a lane reads only if its own samples are in there.
    const int64_t offset = (row >> 1) * planes[0].pitch + (byte & ~3);
    end.at[k] = reinterpret_cast<uint64_t>(planes[2 * (row & 1) + (column & 1)].data) +
                static_cast<uint64_t>(offset);
    end.weights |= static_cast<uint32_t>(to.weight(k & 1, k >> 1)) << (8 * k);
    if (k < 2) {
      const auto bits = static_cast<uint32_t>(8 * (byte & 3));
      end.bits_in_front = k == 0 ? bits : end.bits_in_front | bits << 16;
    }
  }
  return end;
}

// Rows `top` to `bottom` of `span`. Filled by all threads of the CTA, which have to synchronize
// afterwards.
__device__ __forceinline__ void fill_blocks(const ObmcParams& params,
                                            const ObmcComponentParams& component, int number,
                                            const TileSpan& span, int32_t top, int32_t bottom,
                                            TileBlocks* blocks) {
  const int32_t across = span.across(), count = (bottom - top + 1) * across;
  // The last threads work first: the first ones have windows to fill.
#pragma unroll 1
  for (auto task = static_cast<int32_t>(kObmcThreads - 1 - threadIdx.x);
       task < kMaxObmcReferences * count; task += kObmcThreads) {
    const int reference = task >= count ? 1 : 0;
    const int32_t index = task - reference * count, row = index / across;
    const ObmcBlock& block =
        params.blocks[static_cast<int64_t>(top + row) * component.across.axis.blocks + span.left +
                      index - row * across];
    const uint32_t used = block.references;
    if (reference == 0)
      blocks->heads[index] = static_cast<uint32_t>(block.dc[number] + 128) & 0xffu |
                             used << TileBlocks::kReferencesBit;
    if ((used >> reference & 1) != 0)
      blocks->ends[reference][index] = vector_end(params, component, block, reference);
  }
}

}  // namespace cudatransform::cuda
