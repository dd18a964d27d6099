// Synchronising and counting: a CTA for a tile of JPEG's bits, a thread for a subsequence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/jpeg/decode_fetch.cuh"

namespace cudatransform::cuda {

// Sums over the threads before, and over all: of a CTA of four warps.
class CtaScan {
 public:
  static constexpr uint32_t kWarps = kJpegSyncThreads / kWarp;
  __device__ __forceinline__ explicit CtaScan(uint32_t* shared) : warps_(shared) {}

  __device__ __forceinline__ uint32_t before(uint32_t value, uint32_t* all) const {
    const uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    uint32_t sum = value;
    for (uint32_t distance = 1; distance < kWarp; distance *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == kWarp - 1) warps_[warp] = sum;
    __syncthreads();
    uint32_t base = 0, total = 0;
    for (uint32_t i = 0; i < kWarps; ++i) {
      if (i < warp) base += warps_[i];
      total += warps_[i];
    }
    __syncthreads();
    *all = total;
    return base + sum - value;
  }

 private:
  uint32_t* warps_;
};

// Of the threads at which a segment begins the last up to `thread`; kJpegSyncThreads: none.
__device__ __forceinline__ uint32_t last_beginning(const uint32_t* begins, uint32_t thread) {
  for (int32_t warp = static_cast<int32_t>(thread / kWarp); warp >= 0; --warp) {
    uint32_t mask = begins[warp];
    if (static_cast<uint32_t>(warp) == thread / kWarp) mask &= ~0u >> (kWarp - 1 - thread % kWarp);
    if (mask != 0)
      return static_cast<uint32_t>(warp) * kWarp + kWarp - 1 -
             static_cast<uint32_t>(__clz(static_cast<int>(mask)));
  }
  return kJpegSyncThreads;
}

template <uint32_t kClasses>
struct AddDifference {
  static constexpr bool kWanted = true;
  const JpegScanPlan& scan;
  uint32_t (*sums)[kJpegSyncThreads];
  __device__ __forceinline__ void operator()(uint32_t window, uint32_t entry, uint32_t phase,
                                             uint32_t blocks) const {
    const uint32_t index =
        scan.knows_phases() ? scan.component[phase] : blocks % scan.blocks_in_mcu;
    sums[index][threadIdx.x] +=
        static_cast<uint32_t>(value_of(window, length_of(entry), size_of(entry)));
  }
};

// Zeros for the levels, of which only those that have codes are written.
__device__ __forceinline__ void clear_planes(const JpegDecodeParams& params) {
  for (uint32_t c = 0; c < params.components; ++c) {
    const JpegPlaneParams& plane = params.planes[c];
    const uint32_t units = plane.blocks_w * 8;  // of 16 bytes, in a row
    const bool is_dense = plane.stride == static_cast<int64_t>(units) * 16;
    const uint64_t row_units = is_dense ? static_cast<uint64_t>(units) * plane.blocks_h : units;
    for (uint32_t y = 0; y < (is_dense ? 1 : plane.blocks_h); ++y) {
      auto* row = reinterpret_cast<uint4*>(plane.data + y * plane.stride);
      for (uint64_t i = blockIdx.x * kJpegSyncThreads + threadIdx.x; i < row_units;
           i += static_cast<uint64_t>(gridDim.x) * kJpegSyncThreads)
        row[i] = make_uint4(0, 0, 0, 0);
    }
  }
}

// Where the tile has to begin: the tile before has ended there. One thread looks, because that tile
// may be about to change it. False: it has been decoded from there.
__device__ __forceinline__ bool is_to_fix(const JpegDecodeParams& params, uint32_t tile,
                                          uint32_t info, uint32_t* begin) {
  __shared__ uint32_t seen[2];
  if (threadIdx.x == 0) {
    seen[0] = begins_segment(info) ? 0 : params.tiles.states[tile - 1];
    seen[1] = begins_segment(info) || seen[0] == params.tiles.begins[tile] ? 0 : 1;
  }
  __syncthreads();
  *begin = seen[0];
  return seen[1] != 0;
}

template <uint32_t kSlots>
struct SyncTables {
  HuffmanRuns runs[kSlots];
  HuffmanSet sets[kSlots];
};
template <>
struct SyncTables<3> {
  HuffmanSet sets[3];
};

template <uint32_t kSlots>
__device__ __forceinline__ void synchronise(const JpegDecodeParams& params) {
  constexpr bool kRuns = kSlots < 3;  // for more there is no room
  constexpr uint32_t kClasses = kSlots == 1 ? kMostMcuBlocks : kScanComponents;
  constexpr uint32_t kWords = kJpegSyncThreads * kWordsInSubsequence + kWordsBehind;
  __shared__ SyncTables<kSlots> tables;
  __shared__ uint32_t shared_words[padded<kWordsInSubsequence>(kWords)];
  __shared__ uint32_t ends[kJpegSyncThreads + 1];
  __shared__ uint32_t sums[kClasses][kJpegSyncThreads];
  __shared__ uint32_t warps[CtaScan::kWarps], begins[CtaScan::kWarps];

  const uint32_t thread = threadIdx.x, tile = blockIdx.x;
  const uint32_t number = scan_of_tile(params, tile);
  const JpegScanPlan& scan = params.scans[number];
  const uint32_t* infos = infos_of(params, scan);
  const uint32_t first = (tile - scan.first_tile) * kTileSubsequences;
  const bool fixes = params.fixes != 0;
  uint32_t start = 0;
  if (fixes) {
    if (!is_to_fix(params, tile, infos[first], &start)) return;
  } else {
    clear_planes(params);
    if (tile == 0 && thread < 2) params.result[thread] = 0;
  }
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    const uint64_t set = params.slots[number][slot];
    fetch(params.block + params.sets_at + set * sizeof(HuffmanSet), &tables.sets[slot],
          sizeof(HuffmanSet));
    if constexpr (kRuns)
      fetch(params.block + params.runs_at + set * sizeof(HuffmanRuns), &tables.runs[slot],
            sizeof(HuffmanRuns));
  }
  fetch_words<kWordsInSubsequence>(
      params,
      (static_cast<int64_t>(scan.first_subsequence) + first - kWarmUp) * kWordsInSubsequence,
      kWords, shared_words);

  // The subsequence of this thread, if it has one.
  const uint32_t mine = first + thread - kWarmUp;
  const bool in_tile = thread >= kWarmUp;
  const bool is_there =
      first + thread >= kWarmUp && mine < scan.subsequences && (in_tile || !fixes);
  const uint32_t info = is_there ? infos[mine] : 0;
  const bool is_begin = is_there && begins_segment(info);
  // What the thread before finds does not matter to these.
  const bool is_fixed = is_begin || thread == (fixes ? kWarmUp : 0);
  if (is_begin || thread != kWarmUp) start = 0;
  const SharedWords<kWordsInSubsequence> words{shared_words};
  const uint32_t at = thread * kSubsequenceBits;
  uint32_t blocks = 0;
  for (uint32_t class_index = 0; class_index < kClasses; ++class_index)
    sums[class_index][thread] = 0;
  __syncthreads();
  for (bool again = is_there; __syncthreads_or(again ? 1 : 0) != 0;) {
    if (again) {
      blocks = 0;
      ends[thread + 1] =
          walk<kRuns>(words, tables, scan, start, at, at + bits_of(info), &blocks, NoDifference{});
    }
    __syncthreads();
    const uint32_t before = is_fixed || !is_there ? start : ends[thread];
    again = before != start;
    start = before;
  }

  // Blocks since a segment has begun, or else the tile.
  if (!in_tile || !is_there) blocks = 0;
  const uint32_t mask = __ballot_sync(~0u, is_begin && in_tile);
  if (thread % kWarp == 0) begins[thread / kWarp] = mask;
  const CtaScan cta(warps);
  __shared__ uint32_t before[kJpegSyncThreads];
  uint32_t all = 0;
  before[thread] = cta.before(blocks, &all);
  __syncthreads();
  const uint32_t from = last_beginning(begins, thread);
  const uint32_t last = last_beginning(begins, kJpegSyncThreads - 1);
  const bool in_segment = from != kJpegSyncThreads, ends_in_segment = last != kJpegSyncThreads;
  const uint32_t blocks_before = before[thread] - (in_segment ? before[from] : 0);
  const uint32_t subsequence = scan.first_subsequence + mine;
  if (is_there && in_tile) {
    params.subsequence.blocks[subsequence] = blocks_before | (in_segment ? kInSegment : 0);
    uint32_t state = start, counted = blocks_before;
    for (uint32_t r = 0; r < kRowsInSubsequence; ++r) {
      const uint32_t bits = row_bits(info, r);
      if (bits == 0) break;
      const uint32_t row = subsequence * kRowsInSubsequence + r;
      params.rows.states[row] = state;
      params.rows.blocks[row] = counted - blocks_before;
      for (uint32_t k = 0; k < scan.classes; ++k)
        params.rows.sums[k * params.rows.count + row] = sums[k][thread];
      const uint32_t begin = at + r * kRowBits;
      state = walk<kRuns>(words, tables, scan, state, begin, begin + bits, &counted,
                          AddDifference<kClasses>{scan, sums});
    }
    if (mine == min(first + kTileSubsequences, scan.subsequences) - 1)
      params.tiles.states[tile] = state;
  }
  if (thread == kWarmUp) {
    params.tiles.begins[tile] = start;
    params.tiles.blocks[tile] =
        (all - (ends_in_segment ? before[last] : 0)) | (ends_in_segment ? kInSegment : 0);
  }
  for (uint32_t k = 0; k < scan.classes; ++k) {
    __syncthreads();
    before[thread] = cta.before(sums[k][thread], &all);
    __syncthreads();
    if (is_there && in_tile)
      params.subsequence.sums[k * params.subsequence.count + subsequence] =
          before[thread] - (in_segment ? before[from] : 0);
    if (thread == kWarmUp)
      params.tiles.sums[k * params.tiles.count + tile] = all - (ends_in_segment ? before[last] : 0);
  }
}

}  // namespace cudatransform::cuda
