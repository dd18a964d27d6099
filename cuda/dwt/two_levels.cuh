// The two finest inverse levels in one walk, with two values in each word.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The results of the coarse level stay in registers, where the fine one reads its low band: a lane
// that has two pairs of columns of the coarse level has four of the fine one. A pair of rows of the
// coarse level makes two of the fine one. Where a strip begins, more rows of the coarse level are
// made than by a separate launch, and long filters would lose lanes at the sides of a strip to both
// levels; so this is for short ones.
#pragma once

#include "cuda/dwt/packed.cuh"

namespace cudatransform::cuda {

template <Wavelet kWavelet>
struct TwoLevels {
  using Coarse = PackedInverse<kWavelet, 2, false, true>;
  using Fine = PackedInverse<kWavelet, 4, true, true>;
  using Window = typename Fine::Window;
  static constexpr int kLag = Window::kLag;
  // As in ring.cuh: short filters load to registers.
  static constexpr bool kCopies = has_four_taps(lifting(kWavelet).steps[1]);
  using CoarseRing = RowRing<4, 4>;
  using FineRing = RowRing<6, 8>;
  static constexpr int kAhead = kCopies ? CoarseRing::kRowsAhead : 1;
  static constexpr int32_t kRead = Fine::Line::kRead.even;
  struct Raw {
    typename Coarse::Raw coarse;
    typename Fine::Raw fine[2];
  };

  const TwoLevelParams& params;
  const typename Fine::Place& place;
  const typename Coarse::Place& above;
  Coarse coarse;
  Fine fine;
  Raw ahead;  // where there are no copies
  std::conditional_t<kCopies, CoarseRing, NoRing> coarse_ring;
  std::conditional_t<kCopies, FineRing, NoRing> fine_ring;
  const int32_t coarse_pairs, fine_pairs;  // of rows
  uint8_t* const to;                       // the lane's first sample
  const uint32_t pitch;
  const uint32_t whole_rows, cut_rows;  // as those of the fine level, from the strip's first row on
  uint32_t handed[2][2];  // rows of the coarse level as lanes of the fine level's low band

  __device__ __forceinline__ TwoLevels(const TwoLevelParams& all, const typename Fine::Place& own,
                                       const typename Coarse::Place& of_coarse)
      : params(all),
        place(own),
        above(of_coarse),
        coarse(all, above, all.coarse[own.component]),
        fine(all, own),
        coarse_pairs(coarse.tile.pairs_y),
        fine_pairs(fine.tile.pairs_y),
        to(fine.tile.samples.data + 2 * own.x),
        pitch(static_cast<uint32_t>(fine.tile.samples.pitch)),
        whole_rows(static_cast<uint32_t>(max(fine.whole_rows - 2 * own.first, 0))),
        cut_rows(static_cast<uint32_t>(max(fine.cut_rows - 2 * own.first, 0))) {}
  // The strip's place in the coarse level; its `first` is the first pair whose rows the fine level
  // reads.
  static __device__ __forceinline__ typename Coarse::Place coarse_place(
      const TwoLevelParams& params, const typename Fine::Place& place) {
    typename Coarse::Place above(params.coarse[place.component], place, place.begin / 2, INT32_MAX);
    above.first = first_taken(place.first) / 2;
    return above;
  }
  // The first pair that results from `first` on need. None but the first of a line may be one that
  // fills a window.
  static __device__ __forceinline__ int32_t first_taken(int32_t first) {
    const int32_t begin = first - Window::kSteps.before;
    return begin <= kLag ? 0 : begin;
  }
  __device__ __forceinline__ bool is_outside() const {
    return coarse.is_outside() || fine.is_outside();
  }

  // Pair `m` of rows of the coarse level, and the two of the fine one that it finishes. Each copy
  // has a separate place, also of the last rows, which are loaded again.
  __device__ __forceinline__ int32_t row_of_fine(int32_t m, int part) const {
    return max(min(2 * (m - kLag) + part, fine_pairs - 1), 0);
  }
  template <int kBand>
  __device__ __forceinline__ void load_high(int32_t m) {
    const int32_t row = min(m, coarse_pairs - 1);
    if constexpr (kCopies) {
      begin_copy<4>(coarse_ring.place(m) + kBand * CoarseRing::kPieceBytes,
                    coarse.template row_of<kBand>(row));
#pragma unroll
      for (int part = 0; part < 2; ++part)
        begin_copy<8>(fine_ring.place(m) + (3 * part + kBand - 1) * FineRing::kPieceBytes,
                      fine.template row_of<kBand>(row_of_fine(m, part)));
    } else {
      coarse.template load<kBand>(row, &ahead.coarse);
#pragma unroll
      for (int part = 0; part < 2; ++part)
        fine.template load<kBand>(row_of_fine(m, part), &ahead.fine[part]);
    }
  }
  __device__ __forceinline__ void load_early(int32_t m) {
    load_high<1>(m);
    load_high<2>(m);
    load_high<3>(m);
  }
  __device__ __forceinline__ void load_late(int32_t m) {
    const int32_t row = min(m, coarse_pairs - 1);
    if constexpr (kCopies) {
      begin_copy<4>(coarse_ring.place(m), coarse.template row_of<0>(row));
      end_group_of_copies();
    } else {
      coarse.template load<0>(row, &ahead.coarse);
    }
  }
  __device__ __forceinline__ Raw next(int32_t m) {
    Raw raw = ahead;
    load_early(m + kAhead);
    load_late(m + kAhead);
    if constexpr (kCopies) {
      RawValues<4> rows[6];
      coarse_ring.load(m, raw.coarse.bands);
      fine_ring.load(m, rows);
#pragma unroll
      for (int i = 0; i < 6; ++i) raw.fine[i / 3].bands[1 + i % 3] = rows[i];
    }
    return raw;
  }

  // After the shift of the level, with the bias that the fine one reads. A value outside of its
  // limit may borrow from the lane above, but is seen.
  template <int32_t kBias>
  __device__ __forceinline__ uint32_t as_read(uint32_t lanes) const {
    if (!shifts_levels<kWavelet>(params)) return lanes + in_lanes(kRead - kBias);
    constexpr int32_t kRounds = kBias % 2 == 0 ? 1 : 0;
    return shifted_and<1>(lanes + in_lanes(kRounds), in_lanes(kRead - (kBias + kRounds) / 2));
  }
  template <bool kOdd>
  __device__ __forceinline__ void hand_row() {
    constexpr LaneBias kBias = Coarse::template kRowBias<kOdd>;
    uint32_t even[1], odd[1];
    coarse.template finish_row<kOdd>(even, odd);
    const uint32_t low = as_read<kBias.even>(even[0]), high = as_read<kBias.odd>(odd[0]);
    handed[kOdd][0] = __byte_perm(low, high, 0x5410);
    handed[kOdd][1] = __byte_perm(low, high, 0x7632);
  }
  template <bool kEdges>
  __device__ __forceinline__ void take_coarse(int32_t m, const typename Coarse::Raw& raw) {
    uint32_t lanes[4][1];
    coarse.read(raw.bands[0], 0, false, lanes[0]);
    coarse.template read_high<true>(raw, lanes);
    coarse.template lift_columns<kEdges>(m, lanes);
    hand_row<false>();
    hand_row<true>();
  }
  // Pair `n`, of which `part` is the last bit. Writes samples to `rows`: of the pair kLag before.
  template <bool kEdges>
  __device__ __forceinline__ void take_fine(int32_t n, int part, const typename Fine::Raw& raw,
                                            ValueVector<uint32_t, 2>* rows) {
    uint32_t lanes[4][2];
    const bool exists = !kEdges || n < fine_pairs;
#pragma unroll
    for (int w = 0; w < 2; ++w) lanes[0][w] = exists ? handed[part][w] : in_lanes(kRead);
    fine.template read_high<true>(raw, lanes);
    fine.template lift_columns<kEdges>(n, lanes);
    uint32_t even[2], odd[2];
    fine.template finish_row<false>(even, odd);
    rows[0] = fine.template samples_of<false>(even, odd);
    fine.template finish_row<true>(even, odd);
    rows[1] = fine.template samples_of<true>(even, odd);
  }
  // Four rows of samples from `y` on, of which those before the strip are not its own.
  __device__ __forceinline__ void store(int32_t y,
                                        const ValueVector<uint32_t, 2> (&rows)[4]) const {
    const auto at = [&](int r) { return to + static_cast<uint32_t>(y + r) * pitch; };
    const uint32_t below = static_cast<uint32_t>(y - 2 * place.first);
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (below + r < whole_rows) *reinterpret_cast<ValueVector<uint32_t, 2>*>(at(r)) = rows[r];
    if (cut_rows == 0) return;
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (below + r < cut_rows)
        store_first_bytes<4>(at(r), fine.tile.samples.width - 2 * place.x, rows[r]);
  }
  template <bool kEdges>
  __device__ __forceinline__ void take(int32_t m) {
    const Raw raw = next(m);
    take_coarse<kEdges>(m, raw.coarse);
    const int32_t n = 2 * (m - kLag);
    ValueVector<uint32_t, 2> rows[4];
#pragma unroll
    for (int part = 0; part < 2; ++part)
      take_fine<kEdges>(n + part, part, raw.fine[part], rows + 2 * part);
    store(2 * (n - kLag), rows);
  }
  __device__ __forceinline__ void walk() {
    const int32_t end = kLag + (place.end + kLag + 1) / 2;
    const int32_t inside = min(end, coarse_pairs);
    int32_t m = first_taken(above.first);
#pragma unroll
    for (int a = 0; a < kAhead; ++a) load_early(m + a);
    wait_for_predecessor();
#pragma unroll
    for (int a = 0; a < kAhead; ++a) load_late(m + a);
#pragma unroll 1
    for (; m < above.first + kLag; ++m) take_coarse<true>(m, next(m).coarse);
    int32_t edge = above.first == 0 ? min(end, m + kLag / 2 + 1) : m;
    for (;;) {
#pragma unroll 1
      for (; m < edge; ++m) take<true>(m);
#pragma unroll 1
      for (; m < inside; ++m) take<false>(m);
      if (m >= end) return;
      edge = end;
    }
  }
};

// The same with a value in each word, and the results of the coarse level in memory. Adjacent warps
// write some of them twice: the same values.
template <Wavelet kWavelet>
__device__ __forceinline__ void walk_two_values(const TwoLevelParams& params) {
  using Wide = typename TwoLevels<kWavelet>::Fine::Place;
  using Level = FastLevel<kWavelet, Direction::kInverse, 2, false>;
  using Narrow = typename Level::Place;
  constexpr int32_t kSide = 2 * Wide::kLanesBefore;
  uint32_t block = blockIdx.x;
  keep_in_register(block);
  Wide wide(params, block);
  const TileParams& tile = params.coarse[wide.component];
  const int32_t limit = min((wide.begin + Wide::kShape.own_pairs) / 2 + kSide, tile.pairs_x);
  wide.first = max(wide.first - Level::Window::kSteps.before, 0) / 2;
  wide.end = min((wide.end + Level::Window::kLag) / 2 + 1, tile.pairs_y);
#pragma unroll 1
  for (int32_t x = max(wide.begin / 2 - kSide, 0); x < limit; x += Narrow::kShape.own_pairs) {
    const Narrow place(tile, wide, x, limit);
    Level level(params, place, tile);
    walk_strip(level);
  }
  __syncwarp();
  walk_values<kWavelet, Direction::kInverse, true, Wide>(params);
}

template <Wavelet kWavelet>
__device__ __forceinline__ void transform_two_levels(const TwoLevelParams& params) {
  const typename TwoLevels<kWavelet>::Fine::Place place(params, blockIdx.x);
  begin_level(params);
  if (!place.exists) return;
  const auto above = TwoLevels<kWavelet>::coarse_place(params, place);
  TwoLevels<kWavelet> levels(params, place, above);
  levels.walk();
  if constexpr (TwoLevels<kWavelet>::kCopies) wait_for_copies<0>();  // none is in flight at the end
  // Orders the lanes' earlier writes before the later ones of other lanes.
  if (__any_sync(kAllLanes, levels.is_outside()) != 0) walk_two_values<kWavelet>(params);
}

}  // namespace cudatransform::cuda
