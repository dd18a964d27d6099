// Synchronizing and counting: a CTA for a tile of JPEG's bits, a thread for a subsequence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/decode_fetch.cuh"

namespace cudatransform::cuda {

// Sums over the threads before, and over all: of a CTA of four warps.
class CtaScan {
 public:
  static constexpr uint32_t kWarps = kJpegSyncThreads / kWarp;
  __device__ __forceinline__ explicit CtaScan(uint32_t* shared) : warps_(shared) {}

  __device__ __forceinline__ uint32_t before(uint32_t value, uint32_t* all) const {
    const uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const uint32_t sum = sum_up_to_lane(value);
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

// The last thread up to `thread` at which a segment begins; kJpegSyncThreads: none.
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

// `sums`: a thread's, of each class one further by kStride.
template <uint32_t kStride>
struct AddDifference {
  static constexpr bool kWanted = true;
  const JpegScanPlan& scan;
  uint32_t* sums;
  __device__ __forceinline__ void operator()(uint32_t window, uint32_t entry, uint32_t phase,
                                             uint32_t blocks) const {
    const uint32_t index =
        scan.knows_phases() ? scan.component[phase] : blocks % scan.blocks_in_mcu;
    sums[index * kStride] +=
        static_cast<uint32_t>(value_of(window, length_of(entry), size_of(entry)));
  }
};

// Clears the quantized coefficients: only those that have codes are written later.
__device__ __forceinline__ void clear_planes(const JpegDecodeParams& params, uint32_t ctas,
                                             uint32_t threads) {
  for (uint32_t c = 0; c < params.components; ++c) {
    const JpegPlaneParams& plane = params.planes[c];
    const uint32_t units = plane.blocks_w * 8;  // of 16 bytes, in a row
    const bool is_dense = plane.stride == static_cast<int64_t>(units) * 16;
    const uint64_t row_units = is_dense ? static_cast<uint64_t>(units) * plane.blocks_h : units;
    for (uint32_t y = 0; y < (is_dense ? 1 : plane.blocks_h); ++y) {
      auto* row = reinterpret_cast<uint4*>(plane.data + y * plane.stride);
      for (uint64_t i = blockIdx.x * threads + threadIdx.x; i < row_units;
           i += static_cast<uint64_t>(ctas) * threads)
        row[i] = make_uint4(0, 0, 0, 0);
    }
  }
}

// The tile has to begin where the tile before has ended. One thread reads it, because that tile may
// be about to change its end. False: this tile has been decoded from there.
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
struct SyncShared {
  static constexpr uint32_t kClasses = kSlots == 1 ? kMaxMcuBlocks : kJpegMaxComponents;
  static constexpr uint32_t kWords = kJpegSyncThreads * kWordsInSubsequence + kWordsBehind;

  SyncTables<kSlots> tables;
  uint32_t words[padded<kWordsInSubsequence>(kWords)];
  uint32_t ends[kJpegSyncThreads + 1];  // where the thread before has ended
  uint32_t sums[kClasses][kJpegSyncThreads];
  uint32_t before[kJpegSyncThreads];  // sums over the threads before
  uint32_t warps[CtaScan::kWarps], begins[CtaScan::kWarps];
};

// A thread of a tile, and its subsequence.
template <uint32_t kSlots>
class TileSync {
 public:
  __device__ __forceinline__ TileSync(const JpegDecodeParams& params, bool fixes,
                                      SyncShared<kSlots>& shared)
      : params_(params),
        shared_(shared),
        fixes_(fixes),
        thread_(threadIdx.x),
        tile_(blockIdx.x),
        number_(scan_of_tile(params, tile_)),
        scan_(params.scans[number_]),
        infos_(infos_of(params, scan_)),
        first_((tile_ - scan_.first_tile) * kTileSubsequences),
        mine_(first_ + thread_ - kWarmUp) {}

  // False: there is nothing to do.
  __device__ __forceinline__ bool begin() {
    if (fixes_) {
      if (!is_to_fix(params_, tile_, infos_[first_], &start_)) return false;
    } else {
      clear_planes(params_, params_.tiles.count, kJpegSyncThreads);
      if (tile_ == 0 && thread_ < 3) params_.result[thread_] = 0;
    }
    const bool in_tile = thread_ >= kWarmUp;
    const bool is_there =
        first_ + thread_ >= kWarmUp && mine_ < scan_.subsequences && (in_tile || !fixes_);
    info_ = is_there ? infos_[mine_] : 0;
    is_there_ = is_there;
    counts_ = is_there && in_tile;
    is_begin_ = is_there && begins_segment(info_);
    is_fixed_ = is_begin_ || !is_there || thread_ == (fixes_ ? kWarmUp : 0);
    if (is_begin_ || thread_ != kWarmUp) start_ = 0;
    return true;
  }

  __device__ __forceinline__ void fetch_all() {
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      const uint64_t set = params_.slots[number_][slot];
      fetch(params_.block + params_.sets_at + set * sizeof(HuffmanSet), &shared_.tables.sets[slot],
            sizeof(HuffmanSet));
      if constexpr (kRuns)
        fetch(params_.block + params_.runs_at + set * sizeof(HuffmanRuns),
              &shared_.tables.runs[slot], sizeof(HuffmanRuns));
    }
    const int64_t first = static_cast<int64_t>(scan_.first_subsequence) + first_ - kWarmUp;
    fetch_words<kWordsInSubsequence>(params_, first * kWordsInSubsequence,
                                     SyncShared<kSlots>::kWords, shared_.words);
    for (uint32_t k = 0; k < SyncShared<kSlots>::kClasses; ++k) shared_.sums[k][thread_] = 0;
    __syncthreads();
  }

  // Until every thread has begun where the one before it has ended.
  __device__ __forceinline__ void synchronize() {
    const SharedWords<kWordsInSubsequence> words{shared_.words};
    for (bool again = is_there_; __syncthreads_or(again ? 1 : 0) != 0;) {
      if (again) {
        blocks_ = 0;
        shared_.ends[thread_ + 1] = walk<kRuns>(words, shared_.tables, scan_, start_, at(),
                                                at() + bits_of(info_), &blocks_, NoDifference{});
      }
      __syncthreads();
      const uint32_t before = is_fixed_ ? start_ : shared_.ends[thread_];
      again = before != start_;
      start_ = before;
    }
  }

  // Blocks, then DC differences, since a segment has begun or else the tile.
  __device__ __forceinline__ void count() {
    const uint32_t mask = __ballot_sync(kAllLanes, is_begin_ && counts_);
    if (thread_ % kWarp == 0) shared_.begins[thread_ / kWarp] = mask;
    uint32_t all = 0;
    const uint32_t blocks = sum_before(counts_ ? blocks_ : 0, &all);
    from_ = last_beginning(shared_.begins, thread_);
    last_ = last_beginning(shared_.begins, kJpegSyncThreads - 1);
    const uint32_t blocks_before = blocks - sum_at(from_);
    if (counts_) {
      params_.subsequence.blocks[subsequence()] = blocks_before | (from_ != kNone ? kInSegment : 0);
      count_rows(blocks_before);
    }
    if (thread_ == kWarmUp) {
      params_.tiles.begins[tile_] = start_;
      params_.tiles.blocks[tile_] = (all - sum_at(last_)) | (last_ != kNone ? kInSegment : 0);
    }
    for (uint32_t k = 0; k < scan_.classes; ++k) count_differences(k);
  }

 private:
  static constexpr bool kRuns = kSlots < 3;  // for more there is no room
  static constexpr uint32_t kNone = kJpegSyncThreads;

  __device__ __forceinline__ uint32_t at() const { return thread_ * kSubsequenceBits; }
  __device__ __forceinline__ uint32_t subsequence() const {
    return scan_.first_subsequence + mine_;
  }
  // For all threads; sum_at() has it for others until the next.
  __device__ __forceinline__ uint32_t sum_before(uint32_t value, uint32_t* all) {
    __syncthreads();
    const uint32_t sum = CtaScan(shared_.warps).before(value, all);
    shared_.before[thread_] = sum;
    __syncthreads();
    return sum;
  }
  __device__ __forceinline__ uint32_t sum_at(uint32_t thread) const {
    return thread != kNone ? shared_.before[thread] : 0;
  }

  __device__ __forceinline__ void count_rows(uint32_t blocks_before) {
    using Difference = AddDifference<kJpegSyncThreads>;
    const SharedWords<kWordsInSubsequence> words{shared_.words};
    uint32_t state = start_, counted = blocks_before;
    for (uint32_t r = 0; r < kRowsInSubsequence; ++r) {
      const uint32_t bits = row_bits<kRowBits>(info_, r);
      if (bits == 0) break;
      const uint32_t row = subsequence() * kRowsInSubsequence + r;
      params_.rows.states[row] = state;
      params_.rows.blocks[row] = counted - blocks_before;
      for (uint32_t k = 0; k < scan_.classes; ++k)
        params_.rows.sums[k * params_.rows.count + row] = shared_.sums[k][thread_];
      const uint32_t begin = at() + r * kRowBits;
      state = walk<kRuns>(words, shared_.tables, scan_, state, begin, begin + bits, &counted,
                          Difference{scan_, &shared_.sums[0][thread_]});
    }
    if (mine_ == min(first_ + kTileSubsequences, scan_.subsequences) - 1)
      params_.tiles.states[tile_] = state;
  }

  __device__ __forceinline__ void count_differences(uint32_t k) {
    uint32_t all = 0;
    const uint32_t sum = sum_before(shared_.sums[k][thread_], &all);
    if (counts_)
      params_.subsequence.sums[k * params_.subsequence.count + subsequence()] = sum - sum_at(from_);
    if (thread_ == kWarmUp)
      params_.tiles.sums[k * params_.tiles.count + tile_] = all - sum_at(last_);
  }

  const JpegDecodeParams& params_;
  SyncShared<kSlots>& shared_;
  const bool fixes_;
  const uint32_t thread_, tile_, number_;
  const JpegScanPlan& scan_;
  const uint32_t* infos_;
  const uint32_t first_, mine_;  // subsequences of the scan: the tile's first, this thread's
  uint32_t info_ = 0;
  bool is_there_ = false;  // there is one, and it is to be looked at
  bool counts_ = false;    // and it is not there to warm up
  bool is_begin_ = false;
  bool is_fixed_ = false;  // where the thread before ends does not matter
  uint32_t start_ = 0, blocks_ = 0;
  uint32_t from_ = kNone, last_ = kNone;  // threads at which segments begin
};

// `fixes`: whether the results of the tile before are known.
template <uint32_t kSlots>
__device__ __forceinline__ void synchronize(const JpegDecodeParams& params, bool fixes) {
  __shared__ SyncShared<kSlots> shared;
  TileSync<kSlots> tile(params, fixes, shared);
  if (!tile.begin()) return;
  tile.fetch_all();
  tile.synchronize();
  tile.count();
}

}  // namespace cudatransform::cuda
