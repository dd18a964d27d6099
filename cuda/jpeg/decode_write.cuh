// Writing quantized coefficients: a thread for a row of JPEG's bits, several CTAs for a tile; of a
// small picture a CTA for a part, and a thread for half of a row.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/decode_fetch.cuh"

namespace cudatransform::cuda {

// The work of a CTA: a tile's fourth, or a part. In small pictures only some of a warp's lanes have
// rows, because lanes at different kinds of codes wait for each other.
template <uint32_t kBits, uint32_t kCtaSubsequences, uint32_t kRowLanes>
struct WriteShape {
  static constexpr uint32_t kRowBits = kBits, kSubsequences = kCtaSubsequences, kLanes = kRowLanes;
  static constexpr uint32_t kRows = kSubsequenceBits / kRowBits;  // in a subsequence
  static constexpr uint32_t kThreads = kSubsequences * kRows * (kWarp / kLanes);
  static constexpr uint32_t kWordsInRow = kRowBits / 32;
};
using TileShape = WriteShape<kRowBits, kJpegWriteSubsequences, kWarp>;
using PartShape = WriteShape<kPartRowBits, kPartSubsequences, kPartRowLanes>;
static_assert(TileShape::kThreads == kJpegWriteThreads);
static_assert(PartShape::kThreads == kJpegPartWriteThreads);

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
  row.bits = row_bits<kRowBits>(info, r);
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

// The same of a small picture, whose counts are of segments.
__device__ __forceinline__ JpegRow half_row_at(const JpegDecodeParams& params,
                                               const JpegScanPlan& scan, const uint32_t* infos,
                                               uint32_t mine, uint32_t r) {
  JpegRow row;
  const uint32_t info = infos[mine], next = infos[mine + 1];
  const uint32_t number = (scan.first_subsequence + mine) * PartShape::kRows + r;
  row.bits = row_bits<kPartRowBits>(info, r);
  row.state = params.rows.states[number];
  row.segment = segment_of(info);
  row.segment_bits = bits_of(info) - r * kPartRowBits + (begins_segment(next) ? 0 : bits_of(next));
  row.block = params.rows.blocks[number];
  for (uint32_t c = 0; c < kJpegMaxComponents; ++c)
    row.dc[c] = c < scan.classes
                    ? static_cast<int32_t>(params.rows.sums[c * params.rows.count + number])
                    : 0;
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
template <typename Shape>
__device__ __forceinline__ void write_blocks(const JpegDecodeParams& params,
                                             const JpegScanPlan& scan, const Stage& stage) {
  constexpr uint32_t kLanes = 16;
  static_assert(Shape::kThreads % kLanes == 0);
  const uint32_t end = min(max(stage.begun, stage.end), stage.first + kStagedBlocks);
  for (uint32_t block = stage.first + threadIdx.x / kLanes; block < end;
       block += Shape::kThreads / kLanes) {
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

template <uint32_t kSlots, typename Shape>
struct WriteShared {
  static constexpr bool kStages = kSlots < 3;  // for more there is no room
  static constexpr uint32_t kWords = Shape::kSubsequences * kWordsInSubsequence + kWordsBehind;

  WriteTables<kSlots> tables;
  uint32_t words[padded<Shape::kWordsInRow>(kWords)];
  uint32_t natural[16];
  TileBase base;
  StageOf<kStages> stage;
};

template <uint32_t kSlots, typename Shape>
__device__ __forceinline__ void fetch_all(const JpegDecodeParams& params, uint32_t number,
                                          uint32_t first, WriteShared<kSlots, Shape>& shared) {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    // Slots that the scan does not use name the same set as others.
    if (slot > 0 && params.slots[number][slot] == params.slots[number][0]) continue;
    const uint64_t set = params.slots[number][slot];
    fetch(params.block + params.sets_at + set * sizeof(HuffmanSet), &shared.tables.sets[slot],
          sizeof(HuffmanSet));
  }
  const int64_t subsequence = static_cast<int64_t>(params.scans[number].first_subsequence) + first;
  fetch_words<Shape::kWordsInRow>(params, subsequence * kWordsInSubsequence,
                                  WriteShared<kSlots, Shape>::kWords, shared.words);
  if (threadIdx.x < 16) shared.natural[threadIdx.x] = params.natural[threadIdx.x];
  if constexpr (WriteShared<kSlots, Shape>::kStages) {
    for (uint32_t i = threadIdx.x; i < kStagedBlocks * kStagedWords; i += Shape::kThreads)
      (&shared.stage.words[0][0])[i] = 0;
  }
}

// Writes a row that is not empty, `before` blocks of the scan before its segment.
template <uint32_t kSlots, typename Shape>
__device__ __forceinline__ uint32_t write_thread_row(const JpegDecodeParams& params,
                                                     const JpegScanPlan& scan, const JpegRow& row,
                                                     uint32_t begin, uint32_t before,
                                                     WriteShared<kSlots, Shape>& shared,
                                                     uint32_t* segments) {
  constexpr bool kStages = WriteShared<kSlots, Shape>::kStages;
  const SharedWords<Shape::kWordsInRow> words{shared.words};
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
  const uint32_t damage =
      write_row(words, shared.tables, scan, row, begin, target, place, segments, &end);
  if constexpr (kStages) {
    if (row.block < scan.segment_blocks(row.segment)) {
      atomicMax(&shared.stage.end, before + end.block);
      if (end.is_inside) atomicMax(&shared.stage.begun, before + end.block + 1);
    }
  }
  return damage;
}

// The last CTA writes to the host's memory itself: a copy would be one call of the driver more.
__device__ __forceinline__ void report_result(const JpegDecodeParams& params, uint32_t ctas) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&params.result[2], 1) != ctas - 1) return;
  __threadfence();
  // It checks the second one.
  volatile uint32_t* const host_result = params.host_result;
  host_result[0] = atomicAdd(&params.result[0], 0);
  __threadfence_system();
  host_result[1] = atomicAdd(&params.result[1], 0);
}

// Writes the rows of a CTA, that of its first thread first. `damage`: more that is known.
template <uint32_t kSlots, typename Shape>
__device__ __forceinline__ void write_rows(const JpegDecodeParams& params, const JpegScanPlan& scan,
                                           const JpegRow& row, uint32_t index, uint32_t damage,
                                           WriteShared<kSlots, Shape>& shared) {
  constexpr bool kStages = WriteShared<kSlots, Shape>::kStages;
  const uint32_t before = row.segment * scan.interval * scan.blocks_in_mcu;
  if constexpr (kStages) {
    if (threadIdx.x == 0) {
      shared.stage.first = before + row.block + (index_of(row.state) != 0 ? 1 : 0);
      shared.stage.end = shared.stage.begun = 0;
    }
    __syncthreads();
  }
  uint32_t segments = 0;
  if (row.bits != 0)
    damage |=
        write_thread_row(params, scan, row, index * Shape::kRowBits, before, shared, &segments);
  if (damage != 0) atomicOr(&params.result[0], damage);
  if (segments != 0) atomicAdd(&params.result[1], segments);
  if constexpr (kStages) {
    __syncthreads();
    write_blocks<Shape>(params, scan, shared.stage);
  }
}

template <uint32_t kSlots>
__device__ __forceinline__ void write_tile_part(const JpegDecodeParams& params) {
  __shared__ WriteShared<kSlots, TileShape> shared;
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
  JpegRow row = {};
  if (mine < scan.subsequences && row_bits<kRowBits>(infos[mine], r) != 0)
    row = row_at(params, scan, infos, mine, r, shared.base);
  uint32_t damage = 0;
  if (thread == 0 && !is_synchronized(params, scan, tile, infos)) damage = kJpegNotSynchronized;
  write_rows(params, scan, row, thread, damage, shared);
}

template <uint32_t kSlots>
__device__ __forceinline__ void write(const JpegDecodeParams& params) {
  write_tile_part<kSlots>(params);
  report_result(params, params.tiles.count * kJpegWriteCtas);
}

__device__ __forceinline__ void write_parts(const JpegDecodeParams& params) {
  __shared__ WriteShared<2, PartShape> shared;
  const uint32_t number = scan_of_part(params);
  const JpegScanPlan& scan = params.scans[number];
  const uint32_t first = (blockIdx.x - params.first_part[number]) * kPartSubsequences;
  fetch_all(params, number, first, shared);
  wait_for_predecessor();
  __syncthreads();

  const uint32_t lane = threadIdx.x % kWarp;
  const uint32_t index = threadIdx.x / kWarp * PartShape::kLanes + lane;
  const uint32_t mine = first + index / PartShape::kRows, r = index % PartShape::kRows;
  const uint32_t* infos = infos_of(params, scan);
  JpegRow row = {};
  if (lane < PartShape::kLanes && mine < scan.subsequences &&
      row_bits<kPartRowBits>(infos[mine], r) != 0)
    row = half_row_at(params, scan, infos, mine, r);
  write_rows(params, scan, row, index, 0, shared);
  report_result(params, params.part_count);
}

}  // namespace cudatransform::cuda
