// Writing quantized coefficients: a thread for a row of JPEG's bits, several CTAs for a tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/decode_fetch.cuh"

namespace cudatransform::cuda {

// The counts before a tile in its segment.
struct TileBase {
  uint32_t blocks;
  uint32_t dc[kJpegMaxComponents];
};

// One warp, a tile a lane: from the last tile on in which a segment begins.
__device__ __forceinline__ void sum_tiles(const JpegDecodeParams& params, const JpegScanPlan& scan,
                                          uint32_t tile, TileBase* base) {
  const uint32_t lane = threadIdx.x;
  uint32_t from = tile;  // after the tile in which the segment begins, or at this one
  for (uint32_t end = tile; end > scan.first_tile && from == tile;) {
    const uint32_t count = min(end - scan.first_tile, kWarp);
    end -= count;
    const bool begins = lane < count && (params.tiles.blocks[end + lane] & kInSegment) != 0;
    const uint32_t mask = __ballot_sync(kAllLanes, begins);
    if (mask != 0) from = end + kWarp - 1 - static_cast<uint32_t>(__clz(static_cast<int>(mask)));
  }
  uint32_t blocks = 0, dc[kJpegMaxComponents] = {};
  for (; from < tile; from += kWarp) {
    const uint32_t mine = from + lane;
    const uint32_t counted = mine < tile ? params.tiles.blocks[mine] & ~kInSegment : 0;
    const uint32_t sum = sum_up_to_lane(counted);
    for (uint32_t k = 0; k < scan.classes; ++k) {
      const uint32_t difference =
          mine < tile ? params.tiles.sums[k * params.tiles.count + mine] : 0;
      const uint32_t component = scan.component_of_class(k, blocks + sum - counted);
      for (uint32_t c = 0; c < kJpegMaxComponents; ++c) dc[c] += c == component ? difference : 0;
    }
    blocks += __shfl_sync(kAllLanes, sum, kWarp - 1);
  }
  for (uint32_t c = 0; c < kJpegMaxComponents; ++c)
    dc[c] = static_cast<uint32_t>(sum_of_warp(dc[c]));
  if (lane != 0) return;
  base->blocks = blocks;
  for (uint32_t c = 0; c < kJpegMaxComponents; ++c) base->dc[c] = dc[c];
}

__device__ __forceinline__ JpegRow row_at(const JpegDecodeParams& params, const JpegScanPlan& scan,
                                          const uint32_t* infos, uint32_t mine, uint32_t r,
                                          const TileBase& tile) {
  JpegRow row;
  const uint32_t info = infos[mine], next = infos[mine + 1];
  const uint32_t subsequence = scan.first_subsequence + mine;
  const uint32_t number = subsequence * kRowsInSubsequence + r;
  row.bits = row_bits(info, r);
  row.state = params.rows.states[number];
  row.segment = segment_of(info);
  row.segment_bits = bits_of(info) - r * kRowBits + (begins_segment(next) ? 0 : bits_of(next));
  const uint32_t counted = params.subsequence.blocks[subsequence];
  const bool in_segment = (counted & kInSegment) != 0;
  const uint32_t base = in_segment ? 0 : tile.blocks;
  row.block = base + (counted & ~kInSegment) + params.rows.blocks[number];
  uint32_t dc[kJpegMaxComponents];
  for (uint32_t c = 0; c < kJpegMaxComponents; ++c) dc[c] = in_segment ? 0 : tile.dc[c];
  for (uint32_t k = 0; k < scan.classes; ++k) {
    const uint32_t difference =
        params.subsequence.sums[k * params.subsequence.count + subsequence] +
        params.rows.sums[k * params.rows.count + number];
    const uint32_t component = scan.component_of_class(k, base);
    for (uint32_t c = 0; c < kJpegMaxComponents; ++c) dc[c] += c == component ? difference : 0;
  }
  for (uint32_t c = 0; c < kJpegMaxComponents; ++c) row.dc[c] = static_cast<int32_t>(dc[c]);
  return row;
}

__device__ __forceinline__ bool is_synchronized(const JpegDecodeParams& params,
                                                const JpegScanPlan& scan, uint32_t tile,
                                                const uint32_t* infos) {
  const uint32_t first = (tile - scan.first_tile) * kTileSubsequences;
  return begins_segment(infos[first]) || params.tiles.begins[tile] == params.tiles.states[tile - 1];
}

// Blocks that begin in a CTA, assembled in shared memory to be written line by line. Blocks that
// began before it, and blocks that do not fit, are written coefficient by coefficient.
inline constexpr uint32_t kStagedBlocks = 240,
                          kStagedWords = 33;  // of a block, to spread over banks

struct Stage {
  uint32_t words[kStagedBlocks][kStagedWords];
  uint32_t first;  // block, of the scan
  uint32_t end;    // after those that have ended here
  uint32_t begun;  // after the one that has not
};

template <bool kStages>
struct StageOf : Stage {};
template <>
struct StageOf<false> {};

__device__ __forceinline__ int16_t* qcoefs_of(const JpegPlaneParams& plane, uint32_t x,
                                              uint32_t y) {
  if (x >= plane.blocks_w || y >= plane.blocks_h) return nullptr;
  return reinterpret_cast<int16_t*>(plane.data + y * plane.stride) + static_cast<uint64_t>(x) * 64;
}

// Half a warp for each block. The next CTA writes the rest of the last one, which therefore gets
// only its quantized coefficients that are not zero.
__device__ __forceinline__ void write_blocks(const JpegDecodeParams& params,
                                             const JpegScanPlan& scan, const Stage& stage) {
  constexpr uint32_t kLanes = 16;
  static_assert(kJpegWriteThreads % kLanes == 0);
  const uint32_t end = min(max(stage.begun, stage.end), stage.first + kStagedBlocks);
  for (uint32_t block = stage.first + threadIdx.x / kLanes; block < end;
       block += kJpegWriteThreads / kLanes) {
    const JpegScanPlace place(scan, 0, block);
    int16_t* const qcoefs = qcoefs_of(params.planes[place.component()], place.x(), place.y());
    if (qcoefs == nullptr) continue;
    for (uint32_t i = threadIdx.x % kLanes; i < 32; i += kLanes) {
      const uint32_t two = stage.words[block - stage.first][i];
      if (block < stage.end) {
        reinterpret_cast<uint32_t*>(qcoefs)[i] = two;
        continue;
      }
      if ((two & 0xffff) != 0) qcoefs[2 * i] = static_cast<int16_t>(two & 0xffff);
      if (two >> 16 != 0) qcoefs[2 * i + 1] = static_cast<int16_t>(two >> 16);
    }
  }
}

template <uint32_t kSlots>
struct WriteTables {
  HuffmanSet sets[kSlots];
};

template <uint32_t kSlots>
struct WriteShared {
  static constexpr bool kStages = kSlots < 3;  // for more there is no room
  static constexpr uint32_t kWords = kJpegWriteSubsequences * kWordsInSubsequence + kWordsBehind;

  WriteTables<kSlots> tables;
  uint32_t words[padded<kWordsInRow>(kWords)];
  uint32_t natural[16];
  TileBase base;
  StageOf<kStages> stage;
};

template <uint32_t kSlots>
__device__ __forceinline__ void fetch_all(const JpegDecodeParams& params, uint32_t number,
                                          uint32_t first, WriteShared<kSlots>& shared) {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    // Slots that the scan does not use name the same set as others.
    if (slot > 0 && params.slots[number][slot] == params.slots[number][0]) continue;
    const uint64_t set = params.slots[number][slot];
    fetch(params.block + params.sets_at + set * sizeof(HuffmanSet), &shared.tables.sets[slot],
          sizeof(HuffmanSet));
  }
  const int64_t subsequence = static_cast<int64_t>(params.scans[number].first_subsequence) + first;
  fetch_words<kWordsInRow>(params, subsequence * kWordsInSubsequence, WriteShared<kSlots>::kWords,
                           shared.words);
  if (threadIdx.x < 16) shared.natural[threadIdx.x] = params.natural[threadIdx.x];
  if constexpr (WriteShared<kSlots>::kStages) {
    for (uint32_t i = threadIdx.x; i < kStagedBlocks * kStagedWords; i += kJpegWriteThreads)
      (&shared.stage.words[0][0])[i] = 0;
  }
}

// Writes a row that is not empty, `before` blocks of the scan before its segment.
template <uint32_t kSlots>
__device__ __forceinline__ uint32_t write_thread_row(const JpegDecodeParams& params,
                                                     const JpegScanPlan& scan, const JpegRow& row,
                                                     uint32_t before, WriteShared<kSlots>& shared,
                                                     uint32_t* segments) {
  constexpr bool kStages = WriteShared<kSlots>::kStages;
  const SharedWords<kWordsInRow> words{shared.words};
  const auto target = [&](uint32_t c, uint32_t x, uint32_t y, uint32_t block) -> int16_t* {
    if constexpr (kStages) {
      const uint32_t slot = before + block - shared.stage.first;
      if (slot < kStagedBlocks) return reinterpret_cast<int16_t*>(shared.stage.words[slot]);
    }
    return qcoefs_of(params.planes[c], x, y);
  };
  const auto place = [&](uint32_t index) {
    return static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(shared.natural)[index]);
  };
  JpegRowEnd end;
  const uint32_t damage = write_row(words, shared.tables, scan, row, threadIdx.x * kRowBits, target,
                                    place, segments, &end);
  if constexpr (kStages) {
    if (row.block < scan.segment_blocks(row.segment)) {
      atomicMax(&shared.stage.end, before + end.block);
      if (end.is_inside) atomicMax(&shared.stage.begun, before + end.block + 1);
    }
  }
  return damage;
}

// The last CTA writes to the host's memory itself: a copy would be one call of the driver more.
__device__ __forceinline__ void report_result(const JpegDecodeParams& params) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&params.result[2], 1) != params.tiles.count * kJpegWriteCtas - 1) return;
  __threadfence();
  // It checks the second one.
  volatile uint32_t* const host_result = params.host_result;
  host_result[0] = atomicAdd(&params.result[0], 0);
  __threadfence_system();
  host_result[1] = atomicAdd(&params.result[1], 0);
}

template <uint32_t kSlots>
__device__ __forceinline__ void write_part(const JpegDecodeParams& params) {
  constexpr bool kStages = WriteShared<kSlots>::kStages;
  __shared__ WriteShared<kSlots> shared;
  const uint32_t thread = threadIdx.x, tile = blockIdx.x / kJpegWriteCtas;
  const uint32_t number = scan_of_tile(params, tile);
  const JpegScanPlan& scan = params.scans[number];
  const uint32_t* infos = infos_of(params, scan);
  const uint32_t first = (tile - scan.first_tile) * kTileSubsequences +
                         blockIdx.x % kJpegWriteCtas * kJpegWriteSubsequences;
  if (first >= scan.subsequences) return;
  fetch_all(params, number, first, shared);
  if (thread < kWarp) sum_tiles(params, scan, tile, &shared.base);
  __syncthreads();

  const uint32_t mine = first + thread / kRowsInSubsequence, r = thread % kRowsInSubsequence;
  const bool is_there = mine < scan.subsequences && row_bits(infos[mine], r) != 0;
  uint32_t damage = 0, segments = 0, before = 0;
  JpegRow row = {};
  if (is_there) {
    row = row_at(params, scan, infos, mine, r, shared.base);
    before = row.segment * scan.interval * scan.blocks_in_mcu;
  }
  if (thread == 0 && !is_synchronized(params, scan, tile, infos)) damage = kJpegNotSynchronized;
  if constexpr (kStages) {
    if (thread == 0) {
      shared.stage.first = before + row.block + (index_of(row.state) != 0 ? 1 : 0);
      shared.stage.end = shared.stage.begun = 0;
    }
    __syncthreads();
  }
  if (is_there) damage |= write_thread_row(params, scan, row, before, shared, &segments);
  if (damage != 0) atomicOr(&params.result[0], damage);
  if (segments != 0) atomicAdd(&params.result[1], segments);
  if constexpr (kStages) {
    __syncthreads();
    write_blocks(params, scan, shared.stage);
  }
}

template <uint32_t kSlots>
__device__ __forceinline__ void write(const JpegDecodeParams& params) {
  write_part<kSlots>(params);
  report_result(params);
}

}  // namespace cudatransform::cuda
