// The place of each thread's block in the fast kernels, and the rows of samples there.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: visible_extent() of transform/dct8x8/adapters.h, group_rows() and store_group() of
// simd_short_rows-inl.h.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/dct8x8/adapters.cuh"
#include "cuda/dct8x8/params.h"

namespace cudatransform::cuda {

// A thread's block and its component. A thread beyond the plane's last block repeats that block and
// is not `active`.
struct FastPlace {
  int plane;
  int parity;      // which of the components that share the plane
  uint32_t index;  // of this thread's block in the plane's sequence, beyond the end too
  uint32_t warp;   // among those of the plane
  int bx, by;
  bool active;
};

// The first comparison that holds decides, so that the number stays in a uniform register and with
// it everything that is read of the plane.
__device__ __forceinline__ int plane_of_cta(const FastFrame& frame) {
  return blockIdx.x >= frame.first_cta[2] ? 2 : blockIdx.x >= frame.first_cta[1] ? 1 : 0;
}

// Block `index` of a plane's sequence.
template <Planes P>
__device__ __forceinline__ FastPlace fast_place(const FastPlane& plane, int number,
                                                uint32_t index) {
  const bool active = P == Planes::kFull || index < plane.blocks;
  uint32_t block = active ? index : plane.blocks - 1;
  int parity = 0;
  if (P == Planes::kPairs && plane.interleaved) {
    parity = int(block & 1);
    block >>= 1;
  }
  const uint32_t by = divide(block, plane.by_blocks_w);
  return {number, parity, index, index / 32, int(block - by * plane.blocks_w), int(by), active};
}

// The place of a thread that has a block to itself. Full planes have a CTA's blocks or more: the
// last CTA takes the last of them, and those that it shares with the one before are computed twice,
// to the same bytes, but are `active` once.
template <Planes P>
__device__ __forceinline__ FastPlace place_of_whole_block(const FastFrame& frame, uint32_t cta,
                                                          uint32_t thread) {
  const int number = cta >= frame.first_cta[2] ? 2 : cta >= frame.first_cta[1] ? 1 : 0;
  const FastPlane& plane = frame.planes[number];
  const uint32_t first = (cta - frame.first_cta[number]) * kFusedBlocks;
  if constexpr (P != Planes::kFull) return fast_place<P>(plane, number, first + thread);
  const uint32_t from = min(first, plane.blocks - kFusedBlocks);
  FastPlace place = fast_place<P>(plane, number, from + thread);
  place.warp = (first + thread) / 32;
  place.active = from + thread >= first;
  return place;
}
template <Planes P>
__device__ __forceinline__ FastPlace place_of_whole_block(const FastFrame& frame) {
  return place_of_whole_block<P>(frame, blockIdx.x, threadIdx.x);
}

// The same, recomputed: the special registers are read again, and nothing is kept during the
// transform, which needs all registers.
template <Planes P>
__device__ __forceinline__ FastPlace place_again(const FastFrame& frame) {
  return place_of_whole_block<P>(frame, cta_of_grid_again(), thread_of_cta_again());
}

// Both, of kernels with one thread a block. A small frame is wholly on the device while it waits.
// If its successors were launched before the wait as well, waiting CTAs would fill the SMs. A large
// frame has no room for them until it ends.
__device__ __forceinline__ void wait_for_predecessor(const FastFrame& frame) {
  if (frame.successor_first) let_successor_launch();
  wait_for_predecessor();
  if (!frame.successor_first) let_successor_launch();
}

// ---- Rows of eight samples ----

// Samples of 8 bits, or of up to 16 in 16-bit containers.
template <Planes P>
struct U8Row {
  using Words = uint2;
  static constexpr int kSampleBytes = 1;
  static constexpr Planes kPlanes = P;
};
template <Planes P>
struct U16Row {
  using Words = uint4;
  static constexpr int kSampleBytes = 2;
  static constexpr Planes kPlanes = P;
};

template <typename Row>
__device__ __forceinline__ bool is_interleaved(const FastPlane& plane) {
  return Row::kPlanes == Planes::kPairs && plane.interleaved != 0;
}

__device__ __forceinline__ uint32_t& word_of(uint2& row, int i) { return i == 0 ? row.x : row.y; }
__device__ __forceinline__ uint32_t& word_of(uint4& row, int i) {
  return i == 0 ? row.x : i == 1 ? row.y : i == 2 ? row.z : row.w;
}

// Every second sample of sixteen.
__device__ __forceinline__ uint2 every_second(uint4 all, int parity) {
  const uint32_t bytes = parity != 0 ? 0x7531 : 0x6420;
  return make_uint2(__byte_perm(all.x, all.y, bytes), __byte_perm(all.z, all.w, bytes));
}
__device__ __forceinline__ uint2 every_second(const uint2* from, int parity) {
  return every_second(*reinterpret_cast<const uint4*>(from), parity);
}
__device__ __forceinline__ uint4 every_second(const uint4* from, int parity) {
  const uint4 low = from[0], high = from[1];
  const uint32_t bytes = parity != 0 ? 0x7632 : 0x5410;
  return make_uint4(__byte_perm(low.x, low.y, bytes), __byte_perm(low.z, low.w, bytes),
                    __byte_perm(high.x, high.y, bytes), __byte_perm(high.z, high.w, bytes));
}

template <Planes P>
__device__ __forceinline__ bool is_whole(const FastPlane& plane, const FastPlace& place) {
  return P == Planes::kFull || (8 * place.bx + 8 <= plane.width && 8 * place.by + 8 <= plane.rows);
}

template <typename Row>
__device__ __forceinline__ uint8_t* row_address(const FastPlane& plane, const FastPlace& place,
                                                int row) {
  const int scale = Row::kSampleBytes << int(is_interleaved<Row>(plane));
  return plane.samples + int64_t(row) * plane.pitch + int64_t(place.bx) * (8 * scale);
}

// A row at the right edge with 1 to 7 samples, the last of which is repeated. Reading no byte
// beyond them takes one load for each bit of their number. A load whose bit is not set reads from
// the block to the left instead, and is ignored: without branches the loads of all rows are on
// their way together. Planes that the fast kernels take are at least eight samples wide.
struct EdgeLoads {
  int valid;
  int four, two, one;  // offsets in samples
  __device__ __forceinline__ explicit EdgeLoads(int samples)
      : valid(samples),
        four(samples & 4 ? 0 : -8),
        two(samples & 2 ? samples & 4 : -8),
        one(samples & 1 ? samples & 6 : -8) {}
};

__device__ __forceinline__ uint2 load_edge_row(const uint8_t* row, const EdgeLoads& edge, uint2) {
  const uint64_t word = *reinterpret_cast<const uint32_t*>(row + edge.four);
  const uint64_t half = *reinterpret_cast<const uint16_t*>(row + edge.two);
  const uint64_t byte = row[edge.one];
  uint64_t bytes = edge.valid & 1 ? byte : 0;
  if (edge.valid & 2) bytes = bytes << 16 | half;
  if (edge.valid & 4) bytes = bytes << 32 | word;
  const uint64_t last = (bytes >> (8 * edge.valid - 8) & 255) * 0x0101010101010101ull;
  bytes |= last << (8 * edge.valid);
  return make_uint2(uint32_t(bytes), uint32_t(bytes >> 32));
}
// 16-bit units: samples, or pairs of 8-bit ones.
__device__ __forceinline__ uint4 load_edge_row(const uint8_t* row, const EdgeLoads& edge, uint4) {
  const uint16_t* units = reinterpret_cast<const uint16_t*>(row);
  const uint64_t four = *reinterpret_cast<const uint64_t*>(units + edge.four);
  const uint64_t two = *reinterpret_cast<const uint32_t*>(units + edge.two);
  const uint64_t one = units[edge.one];
  uint64_t rest = edge.valid & 1 ? one : 0;  // beyond the first four, if there are more
  if (edge.valid & 2) rest = rest << 32 | two;
  const bool more = edge.valid > 4;
  const uint64_t part = edge.valid & 4 ? (more ? rest : four) : rest;
  const int kept = more ? edge.valid - 4 : edge.valid;
  const uint64_t last = (part >> (16 * kept - 16) & 0xffff) * 0x0001000100010001ull;
  const uint64_t filled = kept == 4 ? part : part | last << (16 * kept);
  const uint64_t low = more ? four : filled, high = more ? filled : last;
  return make_uint4(uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32));
}

// Interleaved samples of 16 bits: one by one.
__device__ __forceinline__ uint4 load_edge_pairs(const uint8_t* row, int valid, int parity) {
  const uint16_t* samples = reinterpret_cast<const uint16_t*>(row) + parity;
  uint4 words;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    word_of(words, i) =
        samples[2 * min(2 * i, valid - 1)] | uint32_t(samples[2 * min(2 * i + 1, valid - 1)]) << 16;
  }
  return words;
}

template <typename Row>
__device__ __forceinline__ typename Row::Words load_edge(const FastPlane& plane,
                                                         const FastPlace& place, const uint8_t* row,
                                                         const EdgeLoads& edge) {
  if (!is_interleaved<Row>(plane)) return load_edge_row(row, edge, typename Row::Words{});
  if constexpr (Row::kSampleBytes == 1) {
    return every_second(load_edge_row(row, edge, uint4{}), place.parity);
  } else {
    return load_edge_pairs(row, edge.valid, place.parity);
  }
}

// All rows of a block; beyond the last row that one is repeated.
template <typename Row>
__device__ __forceinline__ void load_rows(const FastPlane& plane, const FastPlace& place,
                                          typename Row::Words* rows) {
  using Words = typename Row::Words;
  if (is_whole<Row::kPlanes>(plane, place)) {
    const uint8_t* first = row_address<Row>(plane, place, 8 * place.by);
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const Words* row = reinterpret_cast<const Words*>(first + int64_t(y) * plane.pitch);
      rows[y] = is_interleaved<Row>(plane) ? every_second(row, place.parity) : *row;
    }
    return;
  }
  const int last = plane.rows - 1;
  if (8 * place.bx + 8 <= plane.width) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const Words* row = reinterpret_cast<const Words*>(
          row_address<Row>(plane, place, min(8 * place.by + y, last)));
      rows[y] = is_interleaved<Row>(plane) ? every_second(row, place.parity) : *row;
    }
    return;
  }
  const EdgeLoads edge(plane.width - 8 * place.bx);
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    rows[y] = load_edge<Row>(plane, place,
                             row_address<Row>(plane, place, min(8 * place.by + y, last)), edge);
  }
}

// This thread's half of two interleaved rows: the neighboring thread has the other component. All
// threads of the warp take part.
__device__ __forceinline__ uint2 interleave(uint2 row, int parity) {
  const uint32_t got = __shfl_xor_sync(kAllLanes, parity != 0 ? row.x : row.y, 1);
  const uint32_t first = parity != 0 ? got : row.x, second = parity != 0 ? row.y : got;
  return make_uint2(__byte_perm(first, second, 0x5140), __byte_perm(first, second, 0x7362));
}
__device__ __forceinline__ uint4 interleave(uint4 row, int parity) {
  const uint32_t got_x = __shfl_xor_sync(kAllLanes, parity != 0 ? row.x : row.z, 1);
  const uint32_t got_y = __shfl_xor_sync(kAllLanes, parity != 0 ? row.y : row.w, 1);
  const uint32_t first_x = parity != 0 ? got_x : row.x, first_y = parity != 0 ? got_y : row.y;
  const uint32_t second_x = parity != 0 ? row.z : got_x, second_y = parity != 0 ? row.w : got_y;
  return make_uint4(__byte_perm(first_x, second_x, 0x5410), __byte_perm(first_x, second_x, 0x7632),
                    __byte_perm(first_y, second_y, 0x5410), __byte_perm(first_y, second_y, 0x7632));
}

// The first `valid` samples of a row, by one store for each bit of their number.
__device__ __forceinline__ void store_edge_row(uint8_t* row, int valid, uint2 words) {
  uint64_t bytes = uint64_t(words.y) << 32 | words.x;
  if (valid & 4) *reinterpret_cast<uint32_t*>(row) = uint32_t(bytes), bytes >>= 32;
  if (valid & 2) {
    *reinterpret_cast<uint16_t*>(row + (valid & 4)) = uint16_t(bytes);
    bytes >>= 16;
  }
  if (valid & 1) row[valid & 6] = uint8_t(bytes);
}
__device__ __forceinline__ void store_edge_row(uint8_t* row, int valid, uint4 words) {
  uint64_t rest = uint64_t(words.y) << 32 | words.x;
  if (valid & 4) {
    *reinterpret_cast<uint2*>(row) = make_uint2(words.x, words.y);
    rest = uint64_t(words.w) << 32 | words.z;
  }
  if (valid & 2) {
    *reinterpret_cast<uint32_t*>(row + 2 * (valid & 4)) = uint32_t(rest);
    rest >>= 32;
  }
  if (valid & 1) *reinterpret_cast<uint16_t*>(row + 2 * (valid & 6)) = uint16_t(rest);
}
template <typename Row>
__device__ __forceinline__ void store_edge_pairs(uint8_t* row, int valid, int parity,
                                                 typename Row::Words words) {
  constexpr int kPerWord = 4 / Row::kSampleBytes;
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    if (x >= valid) break;
    const uint32_t value = word_of(words, x / kPerWord) >> (8 * Row::kSampleBytes * (x % kPerWord));
    if constexpr (Row::kSampleBytes == 1)
      row[2 * x + parity] = uint8_t(value);
    else
      reinterpret_cast<uint16_t*>(row)[2 * x + parity] = uint16_t(value);
  }
}

// Writes the visible samples of all rows. The warp takes the first way that suits all its blocks,
// and all its threads call this.
template <typename Row>
__device__ __forceinline__ void store_rows(const FastPlane& plane, const FastPlace& place,
                                           const typename Row::Words* rows) {
  using Words = typename Row::Words;
  uint8_t* first = row_address<Row>(plane, place, 8 * place.by);
  if (Row::kPlanes != Planes::kFull &&
      !__all_sync(kAllLanes, place.active && is_whole<Row::kPlanes>(plane, place))) {
    const int valid = plane.width - 8 * place.bx;
    const int visible = place.active ? plane.rows - 8 * place.by : 0;
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      uint8_t* row = first + int64_t(y) * plane.pitch;
      Words out = rows[y];
      int half = 0;
      if (is_interleaved<Row>(plane)) {
        out = interleave(out, place.parity);
        half = place.parity;
      }
      if (y >= visible) continue;
      if (valid >= 8)
        reinterpret_cast<Words*>(row)[half] = out;
      else if (is_interleaved<Row>(plane))
        store_edge_pairs<Row>(row, valid, place.parity, rows[y]);
      else
        store_edge_row(row, valid, rows[y]);
    }
    return;
  }
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    Words* row = reinterpret_cast<Words*>(first + int64_t(y) * plane.pitch);
    if (is_interleaved<Row>(plane))
      row[place.parity] = interleave(rows[y], place.parity);
    else
      *row = rows[y];
  }
}

}  // namespace cudatransform::cuda
