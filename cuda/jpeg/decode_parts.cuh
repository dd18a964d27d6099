// Synchronizing and counting a small picture: a CTA for a part of a tile, and for each row of its
// bits as many threads as there are phases.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A decoder that begins at a wrong bit soon steps from code to code as the right one does, but it
// takes long until its phase is right, too. So trails begin at every row in every phase, and a
// trail ends where it meets one that began later. All have met after a few rows, where guesses of
// one phase take tens; that is several times the work, and worthwhile while the device has room.
// A part does not know where the one before it ends: it maps every trail at its beginning to one at
// its end, and these maps are composed.
#pragma once

#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/decode_sync.cuh"

namespace cudatransform::cuda {

// A node is a trail, by row and phase of its beginning.
inline constexpr uint32_t kPartEnd = kPartWarmUp + kPartRows;
inline constexpr uint32_t kNodes = (kPartEnd + 1) * kPartPhases, kNoNode = 255;
static_assert(kPartEnd * kPartPhases == kJpegPartThreads && kNodes <= kNoNode);
inline constexpr uint32_t kTrailRows = 16;                        // a longer one is given up
inline constexpr uint32_t kPartWarps = kJpegPartThreads / kWarp;  // that are whole

// A state at the beginning of a row, or that a trail is not, or no longer, there.
inline constexpr uint16_t kNoState = 0xffff;
__device__ __forceinline__ uint16_t packed(uint32_t state) {
  return static_cast<uint16_t>(bit_of(state) | index_of(state) << 5 | phase_of(state) << 11);
}
__device__ __forceinline__ uint32_t unpacked(uint16_t state) {
  return huffman_state(state & 31, state >> 5 & 63, state >> 11);
}

struct PartShared {
  static constexpr uint32_t kWords = kPartEnd * kWordsInRow + kWordsBehind;
  static constexpr uint32_t kCounts = 1 + kJpegMaxComponents;  // blocks, DC differences by class

  SyncTables<2> tables;
  uint32_t words[padded<kWordsInRow>(kWords)];
  uint32_t counts[kCounts][kWarp];  // of rows
  uint32_t halves[kCounts][kWarp];  // of their first halves
  uint32_t base[kCounts];           // of the parts before
  uint32_t from, damage;
  uint16_t rows[kPartEnd + 1];              // bits, and whether a segment begins
  uint16_t states[kTrailRows + 1][kNodes];  // of a trail after so many rows
  uint8_t met[kNodes], ends[kNodes];        // the trail that it meets, and before which row
  uint8_t entries[kPartTrails];             // trails at the part's beginning
  uint8_t ranks[kNodes];                    // of trails at its end
  uint8_t trails[kPartRows][kPartTrails];   // at a row, by the trail at the part's beginning
  alignas(16) uint8_t maps[kPartWarps][kWarp][kPartTrails];  // of parts before
};

class PartSync {
 public:
  __device__ __forceinline__ PartSync(const JpegDecodeParams& params, PartShared& shared)
      : params_(params),
        shared_(shared),
        thread_(threadIdx.x),
        row_(thread_ / kPartPhases),
        phase_(thread_ % kPartPhases),
        number_(scan_of_part(params)),
        scan_(params.scans[number_]),
        part_(blockIdx.x - params.first_part[number_]),
        before_(params.parts + params.first_part[number_]) {}

  __device__ __forceinline__ void fetch_all() {
    clear_planes(params_, params_.part_count, kJpegPartThreads);
    const uint32_t* infos = infos_of(params_, scan_);
    if (thread_ <= kPartEnd) {
      const uint32_t row = part_ * kPartRows + thread_;  // plus kPartWarmUp
      const uint32_t subsequence = (row - kPartWarmUp) / kRowsInSubsequence;
      const uint32_t r = row % kRowsInSubsequence;
      const bool is_there = row >= kPartWarmUp && subsequence < scan_.subsequences;
      const uint32_t info = is_there ? infos[subsequence] : 0;
      const bool begins = !is_there || (r == 0 && begins_segment(info));
      shared_.rows[thread_] =
          static_cast<uint16_t>(row_bits<kRowBits>(info, r) | (begins ? kBeginsSegment : 0));
    }
    for (uint32_t slot = 0; slot < 2; ++slot) {
      const uint64_t set = params_.slots[number_][slot];
      fetch(params_.block + params_.sets_at + set * sizeof(HuffmanSet), &shared_.tables.sets[slot],
            sizeof(HuffmanSet));
      fetch(params_.block + params_.runs_at + set * sizeof(HuffmanRuns), &shared_.tables.runs[slot],
            sizeof(HuffmanRuns));
    }
    const int64_t first = static_cast<int64_t>(scan_.first_subsequence) * kRowsInSubsequence +
                          part_ * kPartRows - kPartWarmUp;
    fetch_words<kWordsInRow>(params_, first * kWordsInRow, PartShared::kWords, shared_.words);
    for (uint32_t i = thread_; i < (kTrailRows + 1) * kNodes; i += kJpegPartThreads)
      (&shared_.states[0][0])[i] = kNoState;
    for (uint32_t i = thread_; i < kNodes; i += kJpegPartThreads) {
      shared_.ends[i] = kNoNode;
      shared_.ranks[i] = kPartTrails - 1;
    }
    if (thread_ < kPartTrails) shared_.entries[thread_] = kNoNode;
    if (thread_ < PartShared::kCounts * kWarp)
      (&shared_.counts[0][0])[thread_] = (&shared_.halves[0][0])[thread_] = 0;
    if (thread_ < PartShared::kCounts) shared_.base[thread_] = 0;
    if (thread_ == 0) shared_.from = shared_.damage = 0;
    __syncthreads();
    for (uint32_t i = thread_; i < kNodes; i += kJpegPartThreads) {
      const uint32_t phase = i % kPartPhases;
      if (begins(i / kPartPhases) ? phase == 0 : phase < scan_.period)
        shared_.states[0][i] = packed(huffman_state(0, 0, phase));
    }
  }

  // Follows all trails until they meet others, or the part ends.
  __device__ __forceinline__ void follow() {
    const SharedWords<kWordsInRow> words{shared_.words};
    uint32_t state = huffman_state(0, 0, phase_);
    bool goes_on = begins(row_) ? phase_ == 0 : phase_ < scan_.period;
    bool has_met = false;
    for (uint32_t passed = 1; passed <= kTrailRows; ++passed) {
      const uint32_t row = row_ + passed;  // where it arrives
      if (goes_on) {
        const uint32_t bits = shared_.rows[row - 1] & (kBeginsSegment - 1);
        const uint32_t begin = (row - 1) * kRowBits;
        uint32_t blocks = 0;
        if (bits != 0)
          state = walk<true>(words, shared_.tables, scan_, state, begin, begin + bits, &blocks,
                             NoDifference{});
        if (begins(row)) state = 0;
        shared_.states[passed][thread_] = packed(state);
      }
      __syncthreads();
      has_met = goes_on && meets(row, passed, packed(state));
      goes_on = goes_on && !has_met && row < kPartEnd;
      const bool others_go_on = __syncthreads_or(goes_on ? 1 : 0) != 0;
      if (has_met) shared_.states[passed][thread_] = kNoState;
      if (!others_go_on) break;
    }
    __syncthreads();
  }

  // The trail at every row, by the trail at the part's beginning; the trail at the end.
  __device__ __forceinline__ void map() {
    const uint32_t warp = thread_ / kWarp, lane = thread_ % kWarp;
    if (warp == 0) {
      rank(kPartWarmUp, [&](uint32_t node, uint32_t rank) {
        shared_.entries[rank] = static_cast<uint8_t>(node);
      });
    } else if (warp == 1) {
      rank(kPartEnd,
           [&](uint32_t node, uint32_t rank) { shared_.ranks[node] = static_cast<uint8_t>(rank); });
    }
    __syncthreads();
    if (warp != 0) return;
    shared_.maps[0][0][lane] = static_cast<uint8_t>(trace(lane));
    __syncwarp();
    JpegPart& part = before_[part_];
    if (lane < kPartTrails / 4)
      part.map[lane] = reinterpret_cast<const uint32_t*>(shared_.maps[0][0])[lane];
    __threadfence();
    __syncwarp();
    if (lane == 0) flags()[2 * part_] = 1;
  }

  // Which trail at this part's beginning is the right one: of all parts before, by their maps.
  // Here and in finish() a CTA waits for those of lower blockIdx.x. It assumes that the GPU starts
  // CTAs in the order of their number, as all do although CUDA does not promise it: what a CTA
  // waits for has then begun, keeps its SM, and waits only for lower ones.
  __device__ __forceinline__ void look_back() {
    const uint32_t warp = thread_ / kWarp, lane = thread_ % kWarp;
    uint32_t trail = 0;
    for (uint32_t group = 0; group < part_; group += kPartWarps * kWarp) {
      __syncthreads();
      const uint32_t first = group + warp * kWarp;
      const uint32_t count = first < part_ ? min(part_ - first, kWarp) : 0;
      if (warp < kPartWarps && lane < count) {
        while (flags()[2 * (first + lane)] == 0) {
        }
        __threadfence();
        const volatile uint32_t* const map = before_[first + lane].map;
        auto* const to = reinterpret_cast<uint32_t*>(shared_.maps[warp][lane]);
        for (uint32_t i = 0; i < kPartTrails / 4; ++i) to[i] = map[i];
      }
      __syncthreads();
      uint32_t to = lane;
      for (uint32_t i = 0; warp < kPartWarps && i < count; ++i) to = shared_.maps[warp][i][to];
      __syncthreads();
      if (warp < kPartWarps) shared_.maps[warp][0][lane] = static_cast<uint8_t>(to);
      __syncthreads();
      for (uint32_t i = 0; i < kPartWarps; ++i) trail = shared_.maps[i][0][trail];
    }
    trail_ = trail;
  }

  // Blocks and DC differences of the part's rows.
  __device__ __forceinline__ void count() {
    const SharedWords<kWordsInRow> words{shared_.words};
    __syncthreads();
    if (is_mine()) {
      const uint32_t own = row_ - kPartWarmUp, begin = row_ * kRowBits;
      const uint32_t node = shared_.trails[own][trail_];
      const uint32_t bits = shared_.rows[row_] & (kBeginsSegment - 1);
      uint32_t state = 0;
      if (node == kNoNode)
        shared_.damage = kJpegNotSynchronized;
      else
        state = unpacked(shared_.states[row_ - node / kPartPhases][node]);
      uint32_t blocks = 0;
      for (uint32_t half = 0; half < 2; ++half) {
        const uint32_t before = half * kPartRowBits;
        if (bits <= before) break;
        const uint32_t half_bits = min(bits - before, kPartRowBits);
        params_.rows.states[first_row() + 2 * own + half] = state;
        if (half != 0)
          for (uint32_t k = 0; k < PartShared::kCounts; ++k)
            shared_.halves[k][own] = k == 0 ? blocks : shared_.counts[k][own];
        state = walk<true>(words, shared_.tables, scan_, state, begin + before,
                           begin + before + half_bits, &blocks,
                           AddDifference<kWarp>{scan_, &shared_.counts[1][own]});
      }
      shared_.counts[0][own] = blocks;
    }
    __syncthreads();
    if (thread_ == 0 && shared_.damage != 0) atomicOr(&params_.result[0], shared_.damage);
    add_up();
  }

  // The counts of the parts before are known: all are of segments now.
  __device__ __forceinline__ void finish() {
    for (uint32_t i = thread_; i < part_; i += kJpegPartThreads) {
      uint32_t flag = 0;
      while ((flag = flags()[2 * i + 1]) == 0) {
      }
      if ((flag & kInPartBegins) != 0) atomicMax(&shared_.from, i);
    }
    __threadfence();
    __syncthreads();
    for (uint32_t i = shared_.from + thread_; i < part_; i += kJpegPartThreads) {
      const volatile uint32_t* const counts = before_[i].counts;
      for (uint32_t k = 0; k <= scan_.classes; ++k) atomicAdd(&shared_.base[k], counts[k]);
    }
    __syncthreads();
    const uint32_t k = thread_ / kWarp, lane = thread_ % kWarp;
    if (k <= scan_.classes && lane < kPartRows && is_row(lane)) {
      const uint32_t sum = shared_.counts[k][lane] + (in_segment_ ? 0 : shared_.base[k]);
      const uint32_t row = first_row() + 2 * lane;
      uint32_t* const to = k == 0 ? params_.rows.blocks + row
                                  : params_.rows.sums + (k - 1) * params_.rows.count + row;
      to[0] = sum;
      to[1] = sum + shared_.halves[k][lane];
    }
  }

 private:
  static constexpr uint32_t kBeginsSegment = 1u << 15, kInPartBegins = 2;

  __device__ __forceinline__ volatile uint32_t* flags() const {
    return params_.part_flags + 2 * params_.first_part[number_];
  }
  __device__ __forceinline__ bool begins(uint32_t row) const {
    return (shared_.rows[row] & kBeginsSegment) != 0;
  }
  // Of the part: a row of its own.
  __device__ __forceinline__ bool is_row(uint32_t own) const {
    return part_ * kPartSubsequences + own / kRowsInSubsequence < scan_.subsequences;
  }
  __device__ __forceinline__ bool is_mine() const {
    return phase_ == 0 && row_ >= kPartWarmUp && is_row(row_ - kPartWarmUp);
  }
  __device__ __forceinline__ uint32_t first_row() const {
    return 2 * (scan_.first_subsequence * kRowsInSubsequence + part_ * kPartRows);
  }

  // Whether this trail, which arrives at `row`, is another's from there on: the youngest's that
  // is there, or of those of its age one of lower phase. Trails that begin there count only where
  // their state is no guess.
  __device__ __forceinline__ bool meets(uint32_t row, uint32_t passed, uint16_t state) {
    for (uint32_t age = begins(row) ? 0 : 1; age <= passed; ++age) {
      const uint32_t other = (row - age) * kPartPhases;
      const uint32_t end = age < passed ? scan_.period : phase_;
      for (uint32_t phase = 0; phase < end; ++phase) {
        if (shared_.states[age][other + phase] != state) continue;
        shared_.met[thread_] = static_cast<uint8_t>(other + phase);
        shared_.ends[thread_] = static_cast<uint8_t>(row);
        return true;
      }
    }
    return false;
  }

  // Numbers the trails at a row, as the next part does, whose warm-up it is.
  template <typename Take>
  __device__ __forceinline__ void rank(uint32_t row, const Take& take) const {
    constexpr uint32_t kItems = kPartWarmUp * kPartPhases;
    const uint32_t lane = thread_ % kWarp;
    if (begins(row)) {
      if (lane == 0) take(row * kPartPhases, 0);
      return;
    }
    uint32_t before = 0;
    for (uint32_t i = lane; i < (kItems + kWarp - 1) / kWarp * kWarp; i += kWarp) {
      const uint32_t age = 1 + i / kPartPhases;
      const uint32_t node = (row - age) * kPartPhases + i % kPartPhases;
      const bool is_there = i < kItems && shared_.states[age][node] != kNoState;
      const uint32_t mask = __ballot_sync(kAllLanes, is_there);
      const uint32_t rank = before + __popc(mask & ((1u << lane) - 1));
      if (is_there && rank < kPartTrails - 1) take(node, rank);
      before += __popc(mask);
    }
  }

  // From a trail at the part's beginning, by rank, to that at its end; kPartTrails - 1: none known.
  __device__ __forceinline__ uint32_t trace(uint32_t rank) {
    uint32_t node = shared_.entries[rank], row = kPartWarmUp;
    while (node != kNoNode) {
      const uint32_t end = shared_.ends[node];
      const uint32_t longest = node / kPartPhases + kTrailRows;
      for (; row < kPartEnd && row < end && row <= longest; ++row)
        shared_.trails[row - kPartWarmUp][rank] = static_cast<uint8_t>(node);
      if (end == kNoNode) {
        if (longest >= kPartEnd) return shared_.ranks[node];
        break;
      }
      node = shared_.met[node];
    }
    for (; row < kPartEnd; ++row) shared_.trails[row - kPartWarmUp][rank] = kNoNode;
    return kPartTrails - 1;
  }

  // Sums of the rows before, in their segment or in the part, a warp for a count.
  __device__ __forceinline__ void add_up() {
    const uint32_t k = thread_ / kWarp, lane = thread_ % kWarp;
    JpegPart& part = before_[part_];
    const bool is_row = lane < kPartRows;
    const uint32_t mask =
        k <= scan_.classes ? __ballot_sync(kAllLanes, is_row && begins(kPartWarmUp + lane)) : 0;
    if (k <= scan_.classes) {
      const uint32_t value = shared_.counts[k][lane];
      const uint32_t sum = sum_up_to_lane(value);
      const uint32_t begun = mask & (0xffffffffu >> (kWarp - 1 - lane));
      const uint32_t at =
          begun != 0 ? kWarp - 1 - static_cast<uint32_t>(__clz(static_cast<int>(begun))) : lane;
      const uint32_t before = __shfl_sync(kAllLanes, sum - value, at);
      in_segment_ = begun != 0;
      shared_.counts[k][lane] = sum - value - (in_segment_ ? before : 0);
      if (lane == kWarp - 1) {
        part.counts[k] = sum - (in_segment_ ? before : 0);
        __threadfence();
      }
    }
    __syncthreads();
    if (thread_ == 0) flags()[2 * part_ + 1] = 1 | (mask != 0 ? kInPartBegins : 0);
  }

  const JpegDecodeParams& params_;
  PartShared& shared_;
  const uint32_t thread_, row_, phase_, number_;
  const JpegScanPlan& scan_;
  const uint32_t part_;      // of the scan
  JpegPart* const before_;   // the scan's
  uint32_t trail_ = 0;       // at the part's beginning, by rank
  bool in_segment_ = false;  // a segment has begun in the part, at this lane's row or before
};

__device__ __forceinline__ void synchronize_parts(const JpegDecodeParams& params) {
  __shared__ PartShared shared;
  let_successor_launch();
  PartSync part(params, shared);
  part.fetch_all();
  __syncthreads();
  part.follow();
  part.map();
  part.look_back();
  part.count();
  part.finish();
}

}  // namespace cudatransform::cuda
