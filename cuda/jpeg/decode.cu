// Parallel decoding of JPEG scans: synchronising and counting, tile by tile; writing, row by row.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// jpeg/decode.cpp does the same steps one after the other, jpeg/huffman_steps.h has what both do at
// a code. A thread of a tile decodes a subsequence from a guess, and again as long as the thread
// before it ends elsewhere. Of one picture that takes as long as its longest chain of threads that
// wait for each other, so everything but the chain is kept out of these rounds.
#include "cuda/jpeg/decode_kernels.h"
#include "cuda/jpeg/decode_params.h"

namespace cudatransform::cuda {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kWordsInSubsequence = kSubsequenceBits / 32, kWordsInRow = kRowBits / 32;

// A thread's words begin one further from bank to bank than the thread's before.
template <uint32_t kStride>
struct SharedWords {
  const uint32_t* words;
  __device__ __forceinline__ uint32_t operator[](uint32_t i) const {
    return words[i + i / kStride];
  }
};
template <uint32_t kStride>
constexpr uint32_t padded(uint32_t words) {
  return words + words / kStride + 1;
}

// Brings `count` words from word `first` on, which may be before the first and behind the last.
template <uint32_t kStride>
__device__ __forceinline__ void fetch_words(const JpegDecodeParams& params, int64_t first,
                                            uint32_t count, uint32_t* to) {
  const auto* words = reinterpret_cast<const uint32_t*>(params.block + params.words_at);
  const int64_t all = static_cast<int64_t>(params.subsequences) * kWordsInSubsequence;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const int64_t at = first + i;
    const uint32_t word = at >= 0 && at < all ? words[at] : 0;
    to[i + i / kStride] = __byte_perm(word, 0, 0x0123);
  }
}

__device__ __forceinline__ void fetch(const uint8_t* from, void* to, uint32_t bytes) {
  for (uint32_t i = threadIdx.x; i < bytes / sizeof(uint4); i += blockDim.x)
    static_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
}

__device__ __forceinline__ const uint32_t* infos_of(const JpegDecodeParams& params,
                                                    const JpegScanPlan& scan) {
  return reinterpret_cast<const uint32_t*>(params.block + params.infos_at) + scan.first_subsequence;
}

__device__ __forceinline__ uint32_t scan_of_tile(const JpegDecodeParams& params, uint32_t tile) {
  uint32_t scan = 0;
  while (scan + 1 < params.scan_count && tile >= params.scans[scan + 1].first_tile) ++scan;
  return scan;
}

__device__ __forceinline__ uint32_t row_bits(uint32_t info, uint32_t row) {
  const uint32_t bits = bits_of(info), before = row * kRowBits;
  return bits > before ? min(bits - before, kRowBits) : 0;
}

// ---- Synchronising ----

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

// ---- Writing ----

// What comes before a tile in its segment.
struct TileBase {
  uint32_t blocks;
  uint32_t dc[kScanComponents];
};

// One warp, a tile a lane: from the last tile on in which a segment begins.
__device__ __forceinline__ void sum_tiles(const JpegDecodeParams& params, const JpegScanPlan& scan,
                                          uint32_t tile, TileBase* base) {
  const uint32_t lane = threadIdx.x;
  uint32_t from = tile;  // behind the tile in which the segment begins, or at this one
  for (uint32_t end = tile; end > scan.first_tile && from == tile;) {
    const uint32_t count = min(end - scan.first_tile, kWarp);
    end -= count;
    const bool begins = lane < count && (params.tiles.blocks[end + lane] & kInSegment) != 0;
    const uint32_t mask = __ballot_sync(~0u, begins);
    if (mask != 0) from = end + kWarp - 1 - static_cast<uint32_t>(__clz(static_cast<int>(mask)));
  }
  uint32_t blocks = 0, dc[kScanComponents] = {};
  for (; from < tile; from += kWarp) {
    const uint32_t mine = from + lane;
    const uint32_t counted = mine < tile ? params.tiles.blocks[mine] & ~kInSegment : 0;
    uint32_t sum = counted;
    for (uint32_t distance = 1; distance < kWarp; distance *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, sum, distance);
      if (lane >= distance) sum += other;
    }
    for (uint32_t k = 0; k < scan.classes; ++k) {
      const uint32_t difference =
          mine < tile ? params.tiles.sums[k * params.tiles.count + mine] : 0;
      const uint32_t component = scan.component_of_class(k, blocks + sum - counted);
      for (uint32_t c = 0; c < kScanComponents; ++c) dc[c] += c == component ? difference : 0;
    }
    blocks += __shfl_sync(~0u, sum, kWarp - 1);
  }
  for (uint32_t c = 0; c < kScanComponents; ++c) dc[c] = __reduce_add_sync(~0u, dc[c]);
  if (lane != 0) return;
  base->blocks = blocks;
  for (uint32_t c = 0; c < kScanComponents; ++c) base->dc[c] = dc[c];
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
  uint32_t dc[kScanComponents];
  for (uint32_t c = 0; c < kScanComponents; ++c) dc[c] = in_segment ? 0 : tile.dc[c];
  for (uint32_t k = 0; k < scan.classes; ++k) {
    const uint32_t difference =
        params.subsequence.sums[k * params.subsequence.count + subsequence] +
        params.rows.sums[k * params.rows.count + number];
    const uint32_t component = scan.component_of_class(k, base);
    for (uint32_t c = 0; c < kScanComponents; ++c) dc[c] += c == component ? difference : 0;
  }
  for (uint32_t c = 0; c < kScanComponents; ++c) row.dc[c] = static_cast<int32_t>(dc[c]);
  return row;
}

__device__ __forceinline__ bool is_synchronised(const JpegDecodeParams& params,
                                                const JpegScanPlan& scan, uint32_t tile,
                                                const uint32_t* infos) {
  const uint32_t first = (tile - scan.first_tile) * kTileSubsequences;
  return begins_segment(infos[first]) || params.tiles.begins[tile] == params.tiles.states[tile - 1];
}

// Blocks that begin in a CTA, put together in shared memory to be written line by line. What has
// begun before it, and what does not fit, is written level by level.
constexpr uint32_t kStagedBlocks = 240, kStagedWords = 33;  // of a block, to spread over banks

struct Stage {
  uint32_t words[kStagedBlocks][kStagedWords];
  uint32_t first;  // block, of the scan
  uint32_t end;    // behind those that have ended here
  uint32_t begun;  // behind the one that has not
};

template <bool kStages>
struct StageOf : Stage {};
template <>
struct StageOf<false> {};

__device__ __forceinline__ int16_t* levels_of(const JpegPlaneParams& plane, uint32_t x,
                                              uint32_t y) {
  if (x >= plane.blocks_w || y >= plane.blocks_h) return nullptr;
  return reinterpret_cast<int16_t*>(plane.data + y * plane.stride) + static_cast<uint64_t>(x) * 64;
}

// Half a warp for each block. Of the last one the next CTA writes the rest: it gets the levels
// alone that are not zero.
__device__ __forceinline__ void write_blocks(const JpegDecodeParams& params,
                                             const JpegScanPlan& scan, const Stage& stage) {
  constexpr uint32_t kLanes = 16;
  static_assert(kJpegWriteThreads % kLanes == 0);
  const uint32_t end = min(max(stage.begun, stage.end), stage.first + kStagedBlocks);
  for (uint32_t block = stage.first + threadIdx.x / kLanes; block < end;
       block += kJpegWriteThreads / kLanes) {
    const JpegBlockPlace place(scan, 0, block);
    int16_t* const levels = levels_of(params.planes[place.component()], place.x(), place.y());
    if (levels == nullptr) continue;
    for (uint32_t i = threadIdx.x % kLanes; i < 32; i += kLanes) {
      const uint32_t two = stage.words[block - stage.first][i];
      if (block < stage.end) {
        reinterpret_cast<uint32_t*>(levels)[i] = two;
        continue;
      }
      if ((two & 0xffff) != 0) levels[2 * i] = static_cast<int16_t>(two & 0xffff);
      if (two >> 16 != 0) levels[2 * i + 1] = static_cast<int16_t>(two >> 16);
    }
  }
}

template <uint32_t kSlots>
struct WriteTables {
  HuffmanSet sets[kSlots];
};

template <uint32_t kSlots>
__device__ __forceinline__ void write(const JpegDecodeParams& params) {
  constexpr bool kStages = kSlots < 3;  // for more there is no room
  constexpr uint32_t kWords = kJpegWriteSubsequences * kWordsInSubsequence + kWordsBehind;
  __shared__ WriteTables<kSlots> tables;
  __shared__ uint32_t shared_words[padded<kWordsInRow>(kWords)];
  __shared__ uint32_t natural[16];
  __shared__ TileBase base;
  __shared__ StageOf<kStages> stage[1];

  const uint32_t thread = threadIdx.x, tile = blockIdx.x / kJpegWriteCtas;
  const uint32_t number = scan_of_tile(params, tile);
  const JpegScanPlan& scan = params.scans[number];
  const uint32_t* infos = infos_of(params, scan);
  const uint32_t first = (tile - scan.first_tile) * kTileSubsequences +
                         blockIdx.x % kJpegWriteCtas * kJpegWriteSubsequences;
  if (first >= scan.subsequences) return;
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    // Slots that the scan does not use name the same set as others.
    if (slot > 0 && params.slots[number][slot] == params.slots[number][0]) continue;
    fetch(params.block + params.sets_at +
              static_cast<uint64_t>(params.slots[number][slot]) * sizeof(HuffmanSet),
          &tables.sets[slot], sizeof(HuffmanSet));
  }
  fetch_words<kWordsInRow>(
      params, (static_cast<int64_t>(scan.first_subsequence) + first) * kWordsInSubsequence, kWords,
      shared_words);
  if (thread < 16) natural[thread] = params.natural[thread];
  if constexpr (kStages) {
    for (uint32_t i = thread; i < kStagedBlocks * kStagedWords; i += kJpegWriteThreads)
      (&stage[0].words[0][0])[i] = 0;
  }
  if (thread < kWarp) sum_tiles(params, scan, tile, &base);
  __syncthreads();

  const uint32_t mine = first + thread / kRowsInSubsequence, r = thread % kRowsInSubsequence;
  const bool is_there = mine < scan.subsequences && row_bits(infos[mine], r) != 0;
  uint32_t damage = 0, segments = 0, before = 0;
  JpegRow row = {};
  if (is_there) {
    row = row_at(params, scan, infos, mine, r, base);
    before = row.segment * scan.interval * scan.blocks_in_mcu;
  }
  if (thread == 0 && !is_synchronised(params, scan, tile, infos)) damage = kJpegNotSynchronised;
  if constexpr (kStages) {
    if (thread == 0) {
      stage[0].first = before + row.block + (index_of(row.state) != 0 ? 1 : 0);
      stage[0].end = stage[0].begun = 0;
    }
    __syncthreads();
  }
  if (is_there) {
    const SharedWords<kWordsInRow> words{shared_words};
    const auto target = [&](uint32_t c, uint32_t x, uint32_t y, uint32_t block) -> int16_t* {
      if constexpr (kStages) {
        const uint32_t slot = before + block - stage[0].first;
        if (slot < kStagedBlocks) return reinterpret_cast<int16_t*>(stage[0].words[slot]);
      }
      return levels_of(params.planes[c], x, y);
    };
    const auto place = [&](uint32_t index) {
      return static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(natural)[index]);
    };
    JpegRowEnd end;
    damage |=
        write_row(words, tables, scan, row, thread * kRowBits, target, place, &segments, &end);
    if constexpr (kStages) {
      if (row.block < scan.segment_blocks(row.segment)) {
        atomicMax(&stage[0].end, before + end.block);
        if (end.is_inside) atomicMax(&stage[0].begun, before + end.block + 1);
      }
    }
  }
  if (damage != 0) atomicOr(&params.result[0], damage);
  if (segments != 0) atomicAdd(&params.result[1], segments);
  if constexpr (kStages) {
    __syncthreads();
    write_blocks(params, scan, stage[0]);
  }
}

}  // namespace

#define CT_SYNC(name, slots)                                     \
  extern "C" __global__ void __launch_bounds__(kJpegSyncThreads) \
      name(const __grid_constant__ JpegDecodeParams params) {    \
    synchronise<slots>(params);                                  \
  }
CT_JPEG_SYNC_KERNELS(CT_SYNC)

#define CT_WRITE(name, slots)                                     \
  extern "C" __global__ void __launch_bounds__(kJpegWriteThreads) \
      name(const __grid_constant__ JpegDecodeParams params) {     \
    write<slots>(params);                                         \
  }
CT_JPEG_WRITE_KERNELS(CT_WRITE)

}  // namespace cudatransform::cuda
