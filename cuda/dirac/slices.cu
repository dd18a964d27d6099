// Slices of VC-2 to coefficients in pyramids: three threads a slice, one a component; in low delay
// pictures two, because Cb and Cr share one chain of codes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clauses 13.5.3 and 13.5.4. A slice's codes are one chain, so that a thread has
// to follow it from its beginning; slices depend on nothing else, and a 1080p picture has some ten
// thousand chains. Pyramids are zero before, and quantized coefficients that are not zero are
// dequantized and stored.
#include "cuda/common/ptx.cuh"
#include "cuda/dirac/bits.cuh"
#include "cuda/dirac/dequantize.cuh"
#include "cuda/dirac/kernels.h"

namespace cudatransform::cuda {
namespace {

// Part `index` of `count` into which `size` is divided: dirac_part() of dirac/qcoefs.h.
__device__ __forceinline__ int32_t part(int32_t size, int32_t index, int32_t count) {
  return static_cast<int32_t>(static_cast<uint64_t>(size) * static_cast<uint32_t>(index) /
                              static_cast<uint32_t>(count));
}

// The codes of a slice: of `component` alone, or of it and the next alternately.
struct Chain {
  uint32_t component;
  bool has_both;
  int32_t column, row;  // of the slice
  int index;            // of the quantizer
};

template <typename Coef>
__device__ __forceinline__ void read_band(const SliceParams& params, const SliceBandParams& band,
                                          const Chain& chain, const Quantizer& quantizer,
                                          SliceBits& bits) {
  const int32_t column = chain.column, row = chain.row;
  const PyramidParams& pyramid = params.pyramids[chain.component];
  const int32_t x_begin = part(band.width, column, params.columns);
  const int32_t y_begin = part(band.height, row, params.rows);
  const int32_t width = part(band.width, column + 1, params.columns) - x_begin;
  const int32_t height = part(band.height, row + 1, params.rows) - y_begin;
  uint8_t* to = pyramid.data + (band.y + static_cast<int64_t>(y_begin)) * pyramid.pitch +
                (band.x + static_cast<int64_t>(x_begin)) * static_cast<int64_t>(sizeof(Coef));
  // Both chroma pyramids differ only in their place.
  const int64_t other =
      chain.has_both ? params.pyramids[chain.component + 1].data - pyramid.data : 0;
  const int shift = chain.has_both ? 1 : 0;
  int32_t row_begin = 0;  // of the row that `to` is at
  bits.signed_codes(width * height << shift, [&](int32_t i, int32_t code) {
    const auto qcoef = static_cast<Coef>(code);
    if (qcoef == 0) return;
    const int64_t turn = (i & shift) != 0 ? other : 0;
    for (i >>= shift; i - row_begin >= width; row_begin += width) to += pyramid.pitch;
    reinterpret_cast<Coef*>(to + turn)[i - row_begin] =
        static_cast<Coef>(quantizer.value_of(qcoef));
  });
}

__device__ __forceinline__ SliceBits high_quality_bits(const SliceParams& params,
                                                       const uint8_t* data, uint2 place,
                                                       Chain& chain) {
  uint32_t at = place.x + params.prefix_bytes;
  chain.index = data[at++];
  for (uint32_t c = 0; at < place.y; ++c) {
    const uint32_t bytes = data[at++] * params.size_scaler;
    if (c == chain.component)
      return SliceBits(data, uint64_t{8} * at, uint64_t{8} * min(at + bytes, place.y));
    at += bytes;
  }
  return SliceBits(data, 0, 0);
}

// The bits of luma, whose number the slice states, and the remainder.
__device__ __forceinline__ SliceBits low_delay_bits(const uint8_t* data, uint2 place,
                                                    Chain& chain) {
  const uint64_t end = uint64_t{8} * place.y;
  SliceBits head(data, uint64_t{8} * place.x, end);
  chain.index = static_cast<int>(head.number(7));
  const uint64_t most = uint64_t{8} * (place.y - place.x) - 8;
  const uint64_t luma = most == 0 ? 0 : head.number(64 - __clzll(static_cast<long long>(most)));
  const uint64_t middle = min(head.position() + luma, end);
  return chain.component == 0 ? SliceBits(data, head.position(), middle)
                              : SliceBits(data, middle, end);
}

template <typename Coef>
__device__ __forceinline__ void read_slices(const SliceParams& params) {
  __shared__ uint32_t factors[kQuantIndices];
  fill_factors(factors);
  __syncthreads();
  const auto slices = static_cast<uint32_t>(params.columns) * static_cast<uint32_t>(params.rows);
  const uint32_t ctas = (slices + kExpandThreads - 1) / kExpandThreads;  // of a chain
  const uint32_t slice = blockIdx.x % ctas * kExpandThreads + threadIdx.x;
  if (slice >= slices) return;
  const auto* places = reinterpret_cast<const uint2*>(params.packed + params.places);
  const uint2 place = places[slice];
  if (place.x == place.y) return;
  Chain chain;
  chain.component = blockIdx.x / ctas;
  chain.has_both = params.is_low_delay != 0 && chain.component > 0;
  chain.column = static_cast<int32_t>(slice % static_cast<uint32_t>(params.columns));
  chain.row = static_cast<int32_t>(slice / static_cast<uint32_t>(params.columns));
  const uint8_t* data = params.packed + params.data;
  SliceBits bits = params.is_low_delay != 0 ? low_delay_bits(data, place, chain)
                                            : high_quality_bits(params, data, place, chain);
  for (int32_t b = 0; b < params.bands && !bits.at_end(); ++b) {
    const SliceBandParams& band = params.band[chain.component][b];
    const int index = min(max(chain.index - band.matrix, 0), kQuantIndices - 1);
    const Quantizer quantizer(factors, index, true);
    read_band<Coef>(params, band, chain, quantizer, bits);
  }
}

// Rounded down.
template <typename Sum>
__device__ __forceinline__ Sum third_of(Sum sum) {
  return (sum - (sum < 0 ? 2 : 0)) / 3;
}

// Level 0 of low delay pictures, whose coefficients were coded as the differences to their
// neighbors: a warp for a component. A lane has a row, and lags a column behind the lane that has
// the row above.
template <typename Coef, typename Sum>
__device__ __forceinline__ void predict_dc(const SliceParams& params) {
  const PyramidParams& pyramid = params.pyramids[blockIdx.x];
  const int32_t width = params.band[blockIdx.x][0].width;
  const int32_t height = params.band[blockIdx.x][0].height;
  const auto lane = static_cast<int32_t>(threadIdx.x);
  for (int32_t first = 0; first < height; first += 32) {
    const int32_t y = first + lane;
    auto* row = reinterpret_cast<Coef*>(pyramid.data + static_cast<int64_t>(y) * pyramid.pitch);
    const auto* before = reinterpret_cast<const Coef*>(
        pyramid.data + static_cast<int64_t>(first - 1) * pyramid.pitch);
    int32_t value = 0, above_left = 0;
    for (int32_t step = 0; step < width + 31; ++step) {
      const int32_t x = step - lane;
      const bool is_inside = x >= 0 && x < width && y < height;
      int32_t above = __shfl_up_sync(kAllLanes, value, 1u);
      if (lane == 0) above = first > 0 && is_inside ? before[x] : 0;
      if (is_inside) {
        Sum prediction = 0;
        if (y == 0)
          prediction = x > 0 ? value : 0;
        else if (x == 0)
          prediction = above;
        else
          prediction = third_of(static_cast<Sum>(value) + above_left + above + 1);
        value =
            static_cast<Coef>(static_cast<uint32_t>(row[x]) + static_cast<uint32_t>(prediction));
        row[x] = static_cast<Coef>(value);
      }
      above_left = above;
    }
    __syncwarp();
  }
}

}  // namespace

#define CT_SLICES(name, coef)                                  \
  extern "C" __global__ void __launch_bounds__(kExpandThreads) \
      name(const __grid_constant__ SliceParams params) {       \
    read_slices<coef>(params);                                 \
  }
CT_DIRAC_SLICE_KERNELS(CT_SLICES)

// Sums of three coefficients of 32 bits need more.
template <typename Coef>
struct SumOf {
  using Type = int64_t;
};
template <>
struct SumOf<int16_t> {
  using Type = int32_t;
};
#define CT_PREDICT(name, coef)                           \
  extern "C" __global__ void __launch_bounds__(32)       \
      name(const __grid_constant__ SliceParams params) { \
    predict_dc<coef, SumOf<coef>::Type>(params);         \
  }
CT_DIRAC_PREDICT_KERNELS(CT_PREDICT)

}  // namespace cudatransform::cuda
