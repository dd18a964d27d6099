// Motion compensation and half-sample positions of every job, a number at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8.
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/place.cuh"

namespace cudatransform::cuda {
namespace {

template <typename Sample>
__device__ __forceinline__ Sample* row_of(const ObmcPlaneParams& plane, int32_t y) {
  return reinterpret_cast<Sample*>(plane.data + y * plane.pitch);
}

// The sample at a half position, which may be outside of the picture.
template <typename Sample>
__device__ __forceinline__ int32_t half_position(const ObmcComponentParams& component,
                                                 int reference, int32_t row, int32_t column) {
  row = max(min(row, 2 * component.height - 2), 0);
  const ObmcPlaneParams* planes = component.references[reference] + 2 * (row & 1);
  const int32_t x = column >> 1;
  if (x < 0) return row_of<const Sample>(planes[0], row >> 1)[0];
  return row_of<const Sample>(planes[column & 1], row >> 1)[min(x, component.width - 1)];
}

// Around zero.
template <typename Sample>
__device__ __forceinline__ int32_t fetch(const ObmcComponentParams& component, int reference,
                                         const Pointed& to) {
  int32_t sum = 1 << to.shift >> 1;
  for (int dy = 0; dy <= (to.rest_y != 0); ++dy) {
    for (int dx = 0; dx <= (to.rest_x != 0); ++dx) {
      sum += to.weight(dx, dy) *
             half_position<Sample>(component, reference, to.row + dy, to.column + dx);
    }
  }
  return (sum >> to.shift) - (1 << (component.depth - 1));
}

template <typename Sample>
__device__ __forceinline__ int32_t predict(const ObmcParams& params,
                                           const ObmcComponentParams& component, int number,
                                           const ObmcBlock& block, int32_t x, int32_t y) {
  if (block.references == 0) return block.dc[number];
  const auto fetched = [&](int reference) {
    return fetch<Sample>(component, reference,
                         pointed_at(component, params.precision, block, reference, x, y));
  };
  const int32_t rounding = 1 << params.weight_bits >> 1;
  if (block.references == 3)
    return (params.weights[0] * fetched(0) + params.weights[1] * fetched(1) + rounding) >>
           params.weight_bits;
  const int32_t value = fetched(block.references == 2 ? 1 : 0);
  return ((params.weights[0] + params.weights[1]) * value + rounding) >> params.weight_bits;
}

template <typename Sample>
__device__ __forceinline__ void compensate(const ObmcParams& params) {
  __shared__ TileWindows windows;
  int number;
  const ObmcComponentParams& component = component_of_cta(params, blockIdx.x, &number);
  const uint32_t tile = blockIdx.x - component.first_cta;
  const auto tile_y = static_cast<int32_t>(tile / component.tiles_across) * kObmcTileRows;
  const auto tile_x = static_cast<int32_t>(tile % component.tiles_across) * kObmcTileColumns;
  if (params.blocks != nullptr) {
    fill_windows(component, tile_x, tile_y, &windows);
    __syncthreads();
  }
  const int32_t half = 1 << (component.depth - 1);
  // Columns one by one, so that a warp reads and writes neighbors.
  for (uint32_t at = threadIdx.x; at < kObmcTileColumns * kObmcTileRows; at += kObmcThreads) {
    const auto row = static_cast<int32_t>(at / kObmcTileColumns);
    const auto column = static_cast<int32_t>(at % kObmcTileColumns);
    const int32_t x = tile_x + column, y = tile_y + row, lane = column / kObmcColumns;
    if (x >= component.width || y >= component.height) continue;
    int32_t sum = 1 << (kObmcWindowShift - 1);
    if (params.blocks != nullptr) {
      const int32_t left = windows.first_column_block[lane];
      const int32_t group = row / kObmcRows, top = windows.first_row_block[group];
      for (int32_t j = top; j <= windows.last_row_block[group]; ++j) {
        const auto weight =
            static_cast<int32_t>(windows.rows[j - top][group] >> (8 * (row % kObmcRows)) & 255);
        if (weight == 0) continue;
        for (int32_t i = left; i <= windows.last_column_block[lane]; ++i) {
          const auto window = static_cast<int32_t>(
              windows.columns[i - left][lane] >> (8 * (column % kObmcColumns)) & 255);
          if (window == 0) continue;
          const ObmcBlock& block =
              params.blocks[static_cast<int64_t>(j) * component.across.axis.blocks + i];
          sum += window * weight * predict<Sample>(params, component, number, block, x, y);
        }
      }
    }
    int32_t value = sum >> kObmcWindowShift;
    if (component.residual.data != nullptr)
      value += row_of<const int16_t>(component.residual, y)[x];
    row_of<Sample>(component.samples, y)[x] =
        static_cast<Sample>(max(min(value, half - 1), -half) + half);
  }
}

// The half position among eight values; at(0) and at(1) are next to it.
template <typename At>
__device__ __forceinline__ int32_t half_sample(const At& at, int32_t peak) {
  constexpr int kTap0 = kObmcFilterTaps[0], kTap1 = kObmcFilterTaps[1];
  constexpr int kTap2 = kObmcFilterTaps[2], kTap3 = kObmcFilterTaps[3];
  const int32_t sum = kObmcFilterRounding + kTap0 * (at(0) + at(1)) + kTap1 * (at(-1) + at(2)) +
                      kTap2 * (at(-2) + at(3)) + kTap3 * (at(-3) + at(4));
  return max(min(sum >> kObmcFilterShift, peak), 0);
}

// The vertical half position below `y`, in column `x`; both within the picture.
template <typename Sample>
__device__ __forceinline__ int32_t below(const UpsampleComponentParams& component, int32_t x,
                                         int32_t y, int32_t peak) {
  const auto at = [&](int k) -> int32_t {
    return row_of<const Sample>(component.planes[0], max(min(y + k, component.height - 1), 0))[x];
  };
  return y + 1 == component.height ? at(0) : half_sample(at, peak);
}

template <typename Sample>
__device__ __forceinline__ void upsample(const UpsampleParams& params) {
  int number;
  const UpsampleComponentParams& component = component_of_cta(params, blockIdx.x, &number);
  const uint32_t tile = blockIdx.x - component.first_cta;
  const auto x =
      static_cast<int32_t>(tile % component.tiles_across * kUpsampleThreads + threadIdx.x);
  const auto y = static_cast<int32_t>(tile / component.tiles_across);
  if (x >= component.width) return;
  const int32_t peak = (1 << component.depth) - 1, last = component.width - 1;
  const auto clamped = [&](int k) { return max(min(x + k, last), 0); };
  const Sample* whole = row_of<const Sample>(component.planes[0], y);
  const int32_t under = below<Sample>(component, x, y, peak);
  const auto right = [&](int k) -> int32_t { return whole[clamped(k)]; };
  const auto right_below = [&](int k) { return below<Sample>(component, clamped(k), y, peak); };
  row_of<Sample>(component.planes[1], y)[x] =
      static_cast<Sample>(x == last ? whole[x] : half_sample(right, peak));
  row_of<Sample>(component.planes[2], y)[x] = static_cast<Sample>(under);
  row_of<Sample>(component.planes[3], y)[x] =
      static_cast<Sample>(x == last ? under : half_sample(right_below, peak));
}

}  // namespace

#define CT_COMPENSATE(name, sample)                          \
  extern "C" __global__ void __launch_bounds__(kObmcThreads) \
      name(const __grid_constant__ ObmcParams params) {      \
    compensate<sample>(params);                              \
  }
CT_OBMC_GENERAL_COMPENSATE_KERNELS(CT_COMPENSATE)

#define CT_UPSAMPLE(name, sample)                                \
  extern "C" __global__ void __launch_bounds__(kUpsampleThreads) \
      name(const __grid_constant__ UpsampleParams params) {      \
    upsample<sample>(params);                                    \
  }
CT_OBMC_GENERAL_UPSAMPLE_KERNELS(CT_UPSAMPLE)

}  // namespace cudatransform::cuda
