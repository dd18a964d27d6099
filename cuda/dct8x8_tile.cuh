// What the fast kernels move: rows of samples of one block, and blocks of coefficients by the warp.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dct8x8_adapters.cuh"

namespace cudatransform::cuda {

// Which block of which component. A thread beyond the plane's last block repeats that block and is
// not `active`.
struct FastPlace {
  int plane;
  int parity;      // which of the components that share the plane
  uint32_t index;  // of this thread's block in the plane's sequence, beyond the end too
  int bx, by;
  bool active;
};

// The first comparison that holds decides, so that the number stays in a uniform register and with
// it everything that is read of the plane.
__device__ __forceinline__ int plane_of_cta(const FastFrame& frame) {
  return blockIdx.x >= frame.first_cta[2] ? 2 : blockIdx.x >= frame.first_cta[1] ? 1 : 0;
}

// kPairs: whether there may be interleaved planes.
template <bool kPairs>
__device__ __forceinline__ FastPlace fast_place(const FastPlane& plane, int number,
                                                uint32_t index) {
  const bool active = index < plane.blocks;
  uint32_t block = active ? index : plane.blocks - 1;
  int parity = 0;
  if (kPairs && plane.interleaved) {
    parity = int(block & 1);
    block >>= 1;
  }
  const uint32_t by = divide(block, plane.by_blocks_w);
  return {number, parity, index, int(block - by * plane.blocks_w), int(by), active};
}

// The place of a thread that has a block to itself.
template <bool kPairs>
__device__ __forceinline__ FastPlace place_of_whole_block(const FastFrame& frame) {
  const int number = plane_of_cta(frame);
  return fast_place<kPairs>(frame.planes[number], number,
                            (blockIdx.x - frame.first_cta[number]) * kFusedThreads + threadIdx.x);
}

// The same, worked out anew: the special registers are read once more, and nothing of the first
// time is kept during the transform, which needs every register that there is.
template <bool kPairs>
__device__ __forceinline__ FastPlace place_again(const FastFrame& frame) {
  uint32_t thread, cta;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
  const int number = cta >= frame.first_cta[2] ? 2 : cta >= frame.first_cta[1] ? 1 : 0;
  return fast_place<kPairs>(frame.planes[number], number,
                            (cta - frame.first_cta[number]) * kFusedThreads + thread);
}

// Kernels of one stream may be launched before their predecessor has finished, and wait here before
// they touch memory; the predecessor lets its successor go as soon as all its CTAs run.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_successor_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// ---- Rows of eight samples ----

// Samples of 8 bits, or of up to 16 in 16-bit containers. kPairs: planes may be interleaved.
template <bool kMayBePairs>
struct ByteRow {
  using Words = uint2;
  static constexpr int kSampleBytes = 1;
  static constexpr bool kPairs = kMayBePairs;
};
template <bool kMayBePairs>
struct WordRow {
  using Words = uint4;
  static constexpr int kSampleBytes = 2;
  static constexpr bool kPairs = kMayBePairs;
};

template <typename Row>
__device__ __forceinline__ bool is_interleaved(const FastPlane& plane) {
  return Row::kPairs && plane.interleaved != 0;
}

__device__ __forceinline__ uint32_t& word_of(uint2& row, int i) { return i == 0 ? row.x : row.y; }
__device__ __forceinline__ uint32_t& word_of(uint4& row, int i) {
  return i == 0 ? row.x : i == 1 ? row.y : i == 2 ? row.z : row.w;
}

// Every second sample of sixteen.
__device__ __forceinline__ uint2 every_second(const uint2* from, int parity) {
  const uint4 all = *reinterpret_cast<const uint4*>(from);
  const uint32_t bytes = parity != 0 ? 0x7531 : 0x6420;
  return make_uint2(__byte_perm(all.x, all.y, bytes), __byte_perm(all.z, all.w, bytes));
}
__device__ __forceinline__ uint4 every_second(const uint4* from, int parity) {
  const uint4 low = from[0], high = from[1];
  const uint32_t bytes = parity != 0 ? 0x7632 : 0x5410;
  return make_uint4(__byte_perm(low.x, low.y, bytes), __byte_perm(low.z, low.w, bytes),
                    __byte_perm(high.x, high.y, bytes), __byte_perm(high.z, high.w, bytes));
}

__device__ __forceinline__ bool is_whole(const FastPlane& plane, const FastPlace& place) {
  return 8 * place.bx + 8 <= plane.width && 8 * place.by + 8 <= plane.rows;
}

template <typename Row>
__device__ __forceinline__ uint8_t* row_address(const FastPlane& plane, const FastPlace& place,
                                                int row) {
  const int scale = Row::kSampleBytes << int(is_interleaved<Row>(plane));
  return plane.samples + int64_t(row) * plane.pitch + int64_t(place.bx) * (8 * scale);
}

// A row at the right edge, sample by sample; the last one is repeated.
template <typename Row>
__device__ __forceinline__ typename Row::Words load_edge_row(const FastPlane& plane,
                                                             const FastPlace& place,
                                                             const uint8_t* row) {
  constexpr int kPerWord = 4 / Row::kSampleBytes;
  const int step = Row::kSampleBytes << int(is_interleaved<Row>(plane));
  const int last = plane.width - 8 * place.bx - 1;
  if (Row::kPairs) row += place.parity * Row::kSampleBytes;
  typename Row::Words words;
#pragma unroll
  for (int i = 0; i < 8 / kPerWord; ++i) {
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < kPerWord; ++k) {
      const uint8_t* sample = row + min(i * kPerWord + k, last) * step;
      const uint32_t value =
          Row::kSampleBytes == 1 ? *sample : *reinterpret_cast<const uint16_t*>(sample);
      word |= value << (8 * Row::kSampleBytes * k);
    }
    word_of(words, i) = word;
  }
  return words;
}

// Row `y` of a block; beyond the last row that one is repeated.
template <typename Row>
__device__ __forceinline__ typename Row::Words load_row(const FastPlane& plane,
                                                        const FastPlace& place, int y, bool whole) {
  using Words = typename Row::Words;
  const uint8_t* row = row_address<Row>(plane, place, min(8 * place.by + y, plane.rows - 1));
  if (!whole && 8 * place.bx + 8 > plane.width) return load_edge_row<Row>(plane, place, row);
  const Words* words = reinterpret_cast<const Words*>(row);
  return is_interleaved<Row>(plane) ? every_second(words, place.parity) : *words;
}

template <typename Row>
__device__ __forceinline__ void load_rows(const FastPlane& plane, const FastPlace& place,
                                          typename Row::Words* rows) {
  if (is_whole(plane, place) && !is_interleaved<Row>(plane)) {
    const uint8_t* row = row_address<Row>(plane, place, 8 * place.by);
#pragma unroll
    for (int y = 0; y < 8; ++y)
      rows[y] = *reinterpret_cast<const typename Row::Words*>(row + int64_t(y) * plane.pitch);
  } else {
#pragma unroll
    for (int y = 0; y < 8; ++y) rows[y] = load_row<Row>(plane, place, y, false);
  }
}

// This thread's half of two interleaved rows: the neighbouring thread has the other component. All
// threads of the warp take part.
__device__ __forceinline__ uint2 interleave(uint2 row, int parity) {
  const uint32_t got = __shfl_xor_sync(0xffffffffu, parity != 0 ? row.x : row.y, 1);
  const uint32_t first = parity != 0 ? got : row.x, second = parity != 0 ? row.y : got;
  return make_uint2(__byte_perm(first, second, 0x5140), __byte_perm(first, second, 0x7362));
}
__device__ __forceinline__ uint4 interleave(uint4 row, int parity) {
  const uint32_t got_x = __shfl_xor_sync(0xffffffffu, parity != 0 ? row.x : row.z, 1);
  const uint32_t got_y = __shfl_xor_sync(0xffffffffu, parity != 0 ? row.y : row.w, 1);
  const uint32_t first_x = parity != 0 ? got_x : row.x, first_y = parity != 0 ? got_y : row.y;
  const uint32_t second_x = parity != 0 ? row.z : got_x, second_y = parity != 0 ? row.w : got_y;
  return make_uint4(__byte_perm(first_x, second_x, 0x5410), __byte_perm(first_x, second_x, 0x7632),
                    __byte_perm(first_y, second_y, 0x5410), __byte_perm(first_y, second_y, 0x7632));
}

template <typename Row>
__device__ __forceinline__ void store_edge_row(const FastPlane& plane, const FastPlace& place,
                                               uint8_t* row, typename Row::Words words) {
  constexpr int kPerWord = 4 / Row::kSampleBytes;
  const int step = Row::kSampleBytes << int(is_interleaved<Row>(plane));
  const int valid = plane.width - 8 * place.bx;
  if (Row::kPairs) row += place.parity * Row::kSampleBytes;
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    if (x >= valid) break;
    const uint32_t value = word_of(words, x / kPerWord) >> (8 * Row::kSampleBytes * (x % kPerWord));
    if constexpr (Row::kSampleBytes == 1)
      row[x * step] = uint8_t(value);
    else
      *reinterpret_cast<uint16_t*>(row + x * step) = uint16_t(value);
  }
}

// Writes what is visible of row `y`. All threads of the warp call it.
template <typename Row>
__device__ __forceinline__ void store_row(const FastPlane& plane, const FastPlace& place, int y,
                                          typename Row::Words words) {
  using Words = typename Row::Words;
  const bool fits = 8 * place.bx + 8 <= plane.width;
  uint8_t* row = row_address<Row>(plane, place, 8 * place.by + y);
  const bool visible = place.active && 8 * place.by + y < plane.rows;
  Words* to = reinterpret_cast<Words*>(row);
  Words out = words;
  if (is_interleaved<Row>(plane)) {
    out = interleave(words, place.parity);
    to += place.parity;
  }
  if (!visible) return;
  if (fits)
    *to = out;
  else
    store_edge_row<Row>(plane, place, row, words);
}

// rows(y) makes row y.
template <typename Row, typename Rows>
__device__ __forceinline__ void store_rows(const FastPlane& plane, const FastPlace& place,
                                           Rows&& rows) {
  const bool simple = place.active && is_whole(plane, place) && !is_interleaved<Row>(plane);
  if (__all_sync(0xffffffffu, simple)) {
    uint8_t* row = row_address<Row>(plane, place, 8 * place.by);
#pragma unroll
    for (int y = 0; y < 8; ++y)
      *reinterpret_cast<typename Row::Words*>(row + int64_t(y) * plane.pitch) = rows(y);
  } else {
#pragma unroll
    for (int y = 0; y < 8; ++y) store_row<Row>(plane, place, y, rows(y));
  }
}

// ---- Blocks of coefficients ----

// A block is 128 or 256 consecutive bytes, so threads that each read or wrote their own would touch
// 32 cache lines an instruction. Instead a warp moves its blocks through shared memory, 512 bytes
// an instruction. 16 bytes between blocks keep 16-byte accesses free of bank conflicts. Reading
// goes by way of registers: asynchronous copies to shared memory reach 4 to 6 % less of the
// memory's speed here.
template <int kBlockBytes, int kBlocks, bool kPairs>
struct WarpStage {
  static constexpr int kStride = kBlockBytes + 16;
  static constexpr int kLanes = kBlockBytes / 16;    // that move one block
  static constexpr int kPerStep = 32 / kLanes;       // blocks an instruction
  static constexpr int kSteps = kBlocks / kPerStep;  // instructions
  static constexpr int kBytes = kBlocks * kStride;

  uint8_t* shared;  // kBytes
  int lane;

  __device__ __forceinline__ uint4* group(int block, int g) const {
    return reinterpret_cast<uint4*>(shared + block * kStride + 16 * g);
  }
  __device__ __forceinline__ uint4* share(int step) const {
    return group(kPerStep * step + lane / kLanes, lane % kLanes);
  }

  // Where block `index` of the plane's sequence is.
  static __device__ __forceinline__ uint8_t* address(const FastPlane& plane, uint32_t index) {
    if (!kPairs || !plane.interleaved) return plane.coefs[0] + int64_t(index) * kBlockBytes;
    return plane.coefs[index & 1] + int64_t(index >> 1) * kBlockBytes;
  }

  // This lane's share of the kBlocks blocks from `first` on. Blocks beyond the last repeat it.
  __device__ __forceinline__ void read(const FastPlane& plane, uint32_t first, uint4* words) const {
    if (first + kBlocks <= plane.blocks && !(kPairs && plane.interleaved)) {
      const uint4* from =
          reinterpret_cast<const uint4*>(plane.coefs[0] + int64_t(first) * kBlockBytes) + lane;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) words[step] = from[32 * step];
      return;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t index = min(first + kPerStep * step + lane / kLanes, plane.blocks - 1);
      words[step] = reinterpret_cast<const uint4*>(address(plane, index))[lane % kLanes];
    }
  }
  __device__ __forceinline__ void put(const uint4* words) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) *share(step) = words[step];
    __syncwarp();
  }
  // Writes what this warp's threads have put into their groups.
  __device__ __forceinline__ void write(const FastPlane& plane, uint32_t first) const {
    __syncwarp();
    if (first + kBlocks <= plane.blocks && !(kPairs && plane.interleaved)) {
      uint4* to = reinterpret_cast<uint4*>(plane.coefs[0] + int64_t(first) * kBlockBytes) + lane;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) to[32 * step] = *share(step);
      return;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t index = first + kPerStep * step + lane / kLanes;
      if (index < plane.blocks)
        reinterpret_cast<uint4*>(address(plane, index))[lane % kLanes] = *share(step);
    }
  }
};

// Row `v` of a block in plane layout.
__device__ __forceinline__ uint4* plane_row(const FastPlane& plane, const FastPlace& place, int v) {
  return reinterpret_cast<uint4*>(plane.coefs[place.parity] + place.by * plane.row_step +
                                  int64_t(v) * plane.coef_pitch) +
         place.bx;
}

// ---- Sums ----

// Adds every thread's values to the frame's sums. The CTA that is last hands them over to the host
// and leaves zeros for the next frame: no memset before the kernel and no copy behind it.
__device__ __forceinline__ void add_and_finish(const FastFrame& frame, const FastPlane& plane,
                                               const FastPlace& place, uint64_t sse,
                                               uint32_t zeros) {
  Dct8x8Sums& sums = frame.progress->sums;
  for (int parity = 0; parity <= int(plane.interleaved); ++parity) {
    const bool mine = place.active && place.parity == parity;
    const uint32_t component = plane.component[parity];
    if (frame.measure & kMeasureSse) add_to_sum(mine ? sse : 0, &sums.sse[component]);
    if (frame.measure & kMeasureZeros) add_to_sum(mine ? zeros : 0, &sums.zeros[component]);
  }
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&frame.progress->finished_ctas, 1u) != frame.ctas - 1) return;
  __threadfence();
  frame.progress->finished_ctas = 0;
  const auto take = [](uint64_t* sum) {
    return atomicExch(reinterpret_cast<unsigned long long*>(sum), 0ull);
  };
  for (int c = 0; c < 3; ++c) {
    frame.sums->sse[c] = take(&sums.sse[c]);
    frame.sums->zeros[c] = take(&sums.zeros[c]);
  }
  __threadfence_system();
}

}  // namespace cudatransform::cuda
