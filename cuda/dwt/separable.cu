// Wavelets in one direction a launch, after van der Laan, Jalba and Roerdink (2009): rows with
// shuffles, columns with a window that slides down a slab. They take every filter and format.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernels.h"
#include "cuda/dwt/lift.cuh"
#include "cuda/dwt/memory.cuh"

namespace cudatransform::cuda {
namespace {

__device__ __forceinline__ int segment_of_cta(const PassParams& params) {
  int segment = 0;
  for (int i = 1; i < params.segment_count; ++i)
    segment += blockIdx.x >= params.segments[i].first_cta;
  return segment;
}

// Reads and writes the pairs of a pass, for lines that are rows or columns.
template <typename Coef, bool kVertical>
struct PairAccess {
  const PassParams& params;
  const SegmentParams& segment;
  uint32_t zeros = 0;
  uint64_t error = 0;

  __device__ __forceinline__ PairAccess(const PassParams& pass, const SegmentParams& own)
      : params(pass), segment(own) {}

  static __device__ __forceinline__ Coef* at(const ValuesParams& values, int32_t along,
                                             int32_t line) {
    return kVertical ? address_of<Coef>(values, line, along)
                     : address_of<Coef>(values, along, line);
  }

  // `counted`: the pair is this thread's own, not one that it reads for its neighbors.
  __device__ __forceinline__ int32_t read_band(const ValuesParams& band, int32_t n, int32_t line,
                                               bool counted) {
    const int32_t level = *at(band, n, line);
    if (band.counts != 0) zeros += counted && level == 0;
    return quantizes(band) ? dequantized<Coef>(level, band) : level;
  }
  __device__ __forceinline__ void write_band(const ValuesParams& band, int32_t n, int32_t line,
                                             int32_t value) {
    const int32_t level = quantizes(band) ? quantized<Coef>(value, band) : value;
    if (band.counts != 0) zeros += level == 0;
    *at(band, n, line) = static_cast<Coef>(level);
  }
  __device__ __forceinline__ int32_t read_full(int32_t along, int32_t line) {
    int32_t value;
    if (params.at_samples != 0)
      value = kVertical ? centered_sample<Coef>(segment.samples, line, along)
                        : centered_sample<Coef>(segment.samples, along, line);
    else
      value = *at(segment.full, along, line);
    return params.shift != 0 ? shifted_up<Coef>(value) : value;
  }
  __device__ __forceinline__ void write_full(int32_t along, int32_t line, int32_t value) {
    if (params.shift != 0) value = shifted_down<Coef>(value);
    if (params.at_samples != 0)
      error += finish_sample(value, segment.samples, segment.reference, params.measure.sse != 0,
                             kVertical ? line : along, kVertical ? along : line);
    else
      *at(segment.full, along, line) = static_cast<Coef>(value);
  }
};

template <typename Coef, Wavelet kWavelet, Direction kDirection>
__device__ __forceinline__ void lift_columns(const PassParams& params) {
  using Window = Walk<Coef, kWavelet, kDirection>;
  constexpr bool kInverse = kDirection == Direction::kInverse;
  const SegmentParams& segment = params.segments[segment_of_cta(params)];
  const uint32_t cta = blockIdx.x - segment.first_cta;
  const int32_t line = static_cast<int32_t>(cta % segment.tiles_across * kDwtThreads + threadIdx.x);
  const int32_t first = static_cast<int32_t>(cta / segment.tiles_across) * params.run;
  const int32_t end = min(first + params.run, segment.pairs);
  PairAccess<Coef, true> access(params, segment);
  if (line < segment.lines) {
    Window window = {};
    for (int32_t n = max(first - Window::kSteps.before, 0); n < end + Window::kLag; ++n) {
      int32_t even = 0, odd = 0;
      if (n < segment.pairs) {
        if constexpr (kInverse) {
          const bool own = n >= first && n < end;
          even = access.read_band(segment.low, n, line, own);
          odd = access.read_band(segment.high, n, line, own);
        } else {
          even = access.read_full(2 * n, line);
          odd = access.read_full(2 * n + 1, line);
        }
      }
      window.template take<true>(even, odd, n, segment.pairs);
      const int32_t done = n - Window::kLag;
      if (done < first) continue;
      if constexpr (kInverse) {
        access.write_full(2 * done, line, window.even());
        access.write_full(2 * done + 1, line, window.odd());
      } else {
        access.write_band(segment.low, done, line, window.even());
        access.write_band(segment.high, done, line, window.odd());
      }
    }
  }
  add_measured(params.measure, segment.component, access.zeros, access.error);
}

// A warp holds a part of a row, a pair in each lane; those at its sides are there for the others.
template <typename Coef, Wavelet kWavelet, Direction kDirection>
__device__ __forceinline__ void lift_rows(const PassParams& params) {
  constexpr bool kInverse = kDirection == Direction::kInverse;
  constexpr Pipeline steps = kPipeline<kWavelet, kDirection>;
  constexpr int32_t kOwn = 32 - steps.before - steps.after;
  const SegmentParams& segment = params.segments[segment_of_cta(params)];
  const uint32_t cta = blockIdx.x - segment.first_cta;
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t line =
      static_cast<int32_t>(cta / segment.tiles_across * kDwtWarps + threadIdx.x / 32);
  const int32_t start = static_cast<int32_t>(cta % segment.tiles_across) * kOwn - steps.before;
  const int32_t n = start + lane;
  const bool inside = line < segment.lines && n >= 0 && n < segment.pairs;
  const bool own = inside && lane >= steps.before && lane < steps.before + kOwn;
  PairAccess<Coef, false> access(params, segment);
  int32_t even[1] = {0}, odd[1] = {0};
  if (inside) {
    if constexpr (kInverse) {
      even[0] = access.read_band(segment.low, n, line, own);
      odd[0] = access.read_band(segment.high, n, line, own);
    } else {
      even[0] = access.read_full(2 * n, line);
      odd[0] = access.read_full(2 * n + 1, line);
    }
  }
  const LaneEdges edges = lane_edges(lane, max(-start, 0), min(segment.pairs - 1 - start, 31));
  lift_row<Coef, kWavelet, kDirection, 1>(even, odd, lane, edges);
  if (own) {
    if constexpr (kInverse) {
      access.write_full(2 * n, line, even[0]);
      access.write_full(2 * n + 1, line, odd[0]);
    } else {
      access.write_band(segment.low, n, line, even[0]);
      access.write_band(segment.high, n, line, odd[0]);
    }
  }
  add_measured(params.measure, segment.component, access.zeros, access.error);
}

}  // namespace

#define CT_KERNEL(name, lines, wavelet, direction, coef)                      \
  extern "C" __global__ void __launch_bounds__(kDwtThreads)                   \
      name(const __grid_constant__ PassParams params) {                       \
    lift_##lines<coef, Wavelet::k##wavelet, Direction::k##direction>(params); \
  }
CT_DWT_PASS_KERNELS(CT_KERNEL)

}  // namespace cudatransform::cuda
