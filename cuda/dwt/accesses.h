// The memory that the wavelet kernels read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

inline void add_values(const ValuesParams& values, int64_t width, int64_t rows, int64_t bytes,
                       bool is_written, AccessList* list) {
  list->add(values.data, values.pitch, width * bytes, rows, is_written);
}

inline void add_samples(const SamplesParams& samples, bool is_written, AccessList* list) {
  const int64_t width = int64_t{samples.width - 1} * samples.stride + samples.bytes;
  list->add({samples.data, samples.pitch, width, samples.memory_rows, is_written, samples.bytes,
             samples.stride});
}

// The side of a launch that is not bands: values, or the samples of the picture. `Place` is a
// segment or a tile, `Params` are those that have it.
template <typename Place, typename Params>
void add_whole(const Place& place, const Params& params, int64_t width, int64_t rows, int64_t bytes,
               bool inverse, AccessList* list) {
  if (params.at_samples == 0) {
    add_values(place.full, width, rows, bytes, inverse, list);
    return;
  }
  add_samples(place.samples, inverse, list);
  if (params.measure.sse != 0) add_samples(place.reference, false, list);
}

inline void dwt_pass_accesses(const PassParams& pass, bool rows, int64_t bytes, Direction direction,
                              AccessList* list) {
  const bool inverse = direction == Direction::kInverse;
  for (int i = 0; i < pass.segment_count; i++) {
    const SegmentParams& segment = pass.segments[i];
    const int64_t pairs = segment.pairs, lines = segment.lines;
    for (const ValuesParams& half : {segment.low, segment.high})
      add_values(half, rows ? pairs : lines, rows ? lines : pairs, bytes, !inverse, list);
    add_whole(segment, pass, rows ? 2 * pairs : lines, rows ? lines : 2 * pairs, bytes, inverse,
              list);
  }
  list->add_numbers(pass.measure.sums, sizeof(PictureSums), false);
}

inline void dwt_level_accesses(const FusedParams& fused, int64_t bytes, Direction direction,
                               AccessList* list) {
  const bool inverse = direction == Direction::kInverse;
  for (const TileParams& tile : fused.tiles) {
    if (tile.first_cta == UINT32_MAX) continue;
    for (const ValuesParams& band : tile.bands)
      add_values(band, tile.pairs_x, tile.pairs_y, bytes, !inverse, list);
    add_whole(tile, fused, 2 * int64_t{tile.pairs_x}, 2 * int64_t{tile.pairs_y}, bytes, inverse,
              list);
  }
  list->add_numbers(fused.measure.sums, sizeof(PictureSums), false);
}

// The result of the coarser level, which is the finest one's low band, may be written and then
// read.
inline void dwt_two_levels_accesses(const TwoLevelParams& params, AccessList* list) {
  for (int c = 0; c < kMaxComponents; c++) {
    const TileParams &fine = params.tiles[c], &coarse = params.coarse[c];
    if (fine.first_cta == UINT32_MAX) continue;
    for (const ValuesParams& band : coarse.bands)
      add_values(band, coarse.pairs_x, coarse.pairs_y, 2, false, list);
    add_values(coarse.full, 2 * int64_t{coarse.pairs_x}, 2 * int64_t{coarse.pairs_y}, 2, true,
               list);
    for (int i = 1; i < 4; i++)
      add_values(fine.bands[i], fine.pairs_x, fine.pairs_y, 2, false, list);
    add_samples(fine.samples, true, list);
  }
}

// ---- By kernel ----

#define CT_PASS(name, lines, wavelet, direction, coef)                             \
  CT_ACCESSES(name, PassParams, dwt_pass_accesses, #lines[0] == 'r', sizeof(coef), \
              Direction::k##direction)
#define CT_FUSED(name, wavelet, direction, coef, pairs) \
  CT_ACCESSES(name, FusedParams, dwt_level_accesses, sizeof(coef), Direction::k##direction)
#define CT_FAST(name, wavelet, direction, pairs, at_samples) \
  CT_ACCESSES(name, FusedParams, dwt_level_accesses, 2, Direction::k##direction)
#define CT_TWO_LEVELS(name, wavelet) CT_ACCESSES(name, TwoLevelParams, dwt_two_levels_accesses)

inline constexpr KernelAccesses kDwtAccesses[] = {CT_DWT_PASS_KERNELS(CT_PASS)            //
                                                  CT_DWT_FUSED_FORWARD_KERNELS(CT_FUSED)  //
                                                  CT_DWT_FUSED_INVERSE_KERNELS(CT_FUSED)  //
                                                  CT_DWT_FAST_FORWARD_KERNELS(CT_FAST)    //
                                                  CT_DWT_FAST_INVERSE_KERNELS(CT_FAST)    //
                                                  CT_DWT_TWO_LEVELS_KERNELS(CT_TWO_LEVELS)};

#undef CT_PASS
#undef CT_FUSED
#undef CT_FAST
#undef CT_TWO_LEVELS

}  // namespace cudatransform::cuda
