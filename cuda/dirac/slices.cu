// High quality slices of VC-2 to coefficients in pyramids: a thread for each component of a slice.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clause 13.5.4. A slice's codes are one chain, so that a thread has to follow it
// from its beginning; slices depend on nothing else, and a 1080p picture has some ten thousand
// chains. Pyramids are zero before, and what is not zero is dequantised and stored.
#include "cuda/dirac/bits.cuh"
#include "cuda/dirac/dequantise.cuh"
#include "cuda/dirac/kernels.h"

namespace cudatransform::cuda {
namespace {

// Part `index` of `count` into which `size` is divided: dirac_part() of dirac/levels.h.
__device__ __forceinline__ int32_t part(int32_t size, int32_t index, int32_t count) {
  return static_cast<int32_t>(static_cast<uint64_t>(size) * static_cast<uint32_t>(index) /
                              static_cast<uint32_t>(count));
}

template <typename Coef>
__device__ __forceinline__ void read_band(const SliceParams& params, const SliceBandParams& band,
                                          const PyramidParams& pyramid, int32_t column, int32_t row,
                                          const Quantiser& quantiser, SliceBits& bits) {
  const int32_t x_begin = part(band.width, column, params.columns);
  const int32_t y_begin = part(band.height, row, params.rows);
  const int32_t width = part(band.width, column + 1, params.columns) - x_begin;
  const int32_t height = part(band.height, row + 1, params.rows) - y_begin;
  uint8_t* to = pyramid.data + (band.y + static_cast<int64_t>(y_begin)) * pyramid.pitch +
                (band.x + static_cast<int64_t>(x_begin)) * static_cast<int64_t>(sizeof(Coef));
  int32_t row_begin = 0;  // of the row that `to` is at
  bits.signed_codes(width * height, [&](int32_t i, int32_t code) {
    const auto level = static_cast<Coef>(code);
    if (level == 0) return;
    for (; i - row_begin >= width; row_begin += width) to += pyramid.pitch;
    reinterpret_cast<Coef*>(to)[i - row_begin] = static_cast<Coef>(quantiser.value_of(level));
  });
}

template <typename Coef>
__device__ __forceinline__ void read_slices(const SliceParams& params) {
  __shared__ uint32_t factors[kQuantIndices];
  fill_factors(factors);
  __syncthreads();
  const auto slices = static_cast<uint32_t>(params.columns) * static_cast<uint32_t>(params.rows);
  const uint32_t ctas = (slices + kExpandThreads - 1) / kExpandThreads;  // of a component
  const uint32_t component = blockIdx.x / ctas;
  const uint32_t slice = blockIdx.x % ctas * kExpandThreads + threadIdx.x;
  if (slice >= slices) return;
  const auto* places = reinterpret_cast<const uint2*>(params.packed + params.places);
  const uint2 place = places[slice];
  if (place.x == place.y) return;
  const uint8_t* data = params.packed + params.data;
  uint32_t at = place.x + params.prefix_bytes;
  const int index = data[at++];
  uint32_t bytes = 0;
  for (uint32_t c = 0;; ++c) {
    if (at >= place.y) return;
    bytes = data[at++] * params.size_scaler;
    if (c == component) break;
    at += bytes;
  }
  SliceBits bits(data, at, min(at + bytes, place.y));
  const auto column = static_cast<int32_t>(slice % static_cast<uint32_t>(params.columns));
  const auto row = static_cast<int32_t>(slice / static_cast<uint32_t>(params.columns));
  for (int32_t b = 0; b < params.bands && !bits.at_end(); ++b) {
    const SliceBandParams& band = params.band[component][b];
    const Quantiser quantiser(factors, max(index - band.matrix, 0), true);
    read_band<Coef>(params, band, params.pyramids[component], column, row, quantiser, bits);
  }
}

}  // namespace

#define CT_SLICES(name, coef)                                  \
  extern "C" __global__ void __launch_bounds__(kExpandThreads) \
      name(const __grid_constant__ SliceParams params) {       \
    read_slices<coef>(params);                                 \
  }
CT_DIRAC_SLICE_KERNELS(CT_SLICES)

}  // namespace cudatransform::cuda
