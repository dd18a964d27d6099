// Sparse quantized coefficients to coefficients in pyramids, a warp for each row of each band; and
// samples of a rendered picture to wider containers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A map has a bit for each coefficient that is not zero. Lanes read 32 words of it together and sum
// up how many quantized coefficients come before each; then the warp goes from word to word, two
// coefficients a lane, and finds each quantized coefficient by counting the bits before its own.
// Nearly all words of a predicted picture are zero: four of them cost a store.
#include "cuda/common/ptx.cuh"
#include "cuda/dirac/dequantize.cuh"
#include "cuda/dirac/kernels.h"

namespace cudatransform::cuda {
namespace {

template <typename Coef>
__device__ __forceinline__ Coef stored(int32_t value) {
  if constexpr (sizeof(Coef) == 2)
    return static_cast<Coef>(value);  // modulo 2^16
  else
    return value;
}

// The quantized coefficients of a row of a band.
template <typename Qcoef, typename Coef>
struct Row {
  const ExpandParams& params;
  const PackedBand& band;
  const uint32_t* factors;  // by quantizer index
  const uint8_t* quantizers;
  const Qcoef* qcoefs;
  Coef* to;
  bool in_pairs, in_eights;  // whether this many coefficients may be stored together

  struct alignas(16) Eight {
    Coef at[8];
  };

  __device__ __forceinline__ Row(const ExpandParams& all, const PackedBand& own,
                                 const uint32_t* table, int32_t y)
      : params(all), band(own), factors(table) {
    const auto grid_row =
        static_cast<int32_t>((static_cast<uint64_t>(y + 1) * static_cast<uint32_t>(band.rows) - 1) /
                             static_cast<uint32_t>(band.height));
    quantizers = params.packed + band.quantizers + static_cast<int64_t>(grid_row) * band.columns;
    const PyramidParams& pyramid = params.pyramids[band.component];
    to =
        reinterpret_cast<Coef*>(pyramid.data + (band.y + static_cast<int64_t>(y)) * pyramid.pitch) +
        band.x;
    in_pairs = reinterpret_cast<uintptr_t>(to) % (2 * sizeof(Coef)) == 0;
    in_eights = reinterpret_cast<uintptr_t>(to) % alignof(Eight) == 0;
    qcoefs = reinterpret_cast<const Qcoef*>(params.packed + band.qcoefs);
  }

  __device__ __forceinline__ int quantizer_of(int32_t x) const {
    int32_t column = 0;
    if (band.columns > 1)
      column = static_cast<int32_t>(
          (static_cast<uint64_t>(x + 1) * static_cast<uint32_t>(band.columns) - 1) /
          static_cast<uint32_t>(band.width));
    return max(quantizers[column] - band.matrix, 0);
  }
  __device__ __forceinline__ int32_t dequantized(int32_t qcoef, int32_t x) const {
    return narrowed(Quantizer(factors, quantizer_of(x), params.is_intra != 0).value_of(qcoef));
  }
  static __device__ __forceinline__ int32_t narrowed(int32_t value) {
    if constexpr (sizeof(Coef) < sizeof(Qcoef))
      return max(min(value, int32_t{INT16_MAX}), int32_t{INT16_MIN});
    else
      return value;
  }

  __device__ __forceinline__ void store(int32_t x, int32_t first, int32_t second) const {
    if (x + 1 < band.width && in_pairs) {
      struct alignas(2 * sizeof(Coef)) Pair {
        Coef first, second;
      };
      *reinterpret_cast<Pair*>(to + x) = {stored<Coef>(first), stored<Coef>(second)};
      return;
    }
    if (x < band.width) to[x] = stored<Coef>(first);
    if (x + 1 < band.width) to[x + 1] = stored<Coef>(second);
  }
  // The 64 coefficients of a word; `before`: quantized coefficients in front of them.
  __device__ __forceinline__ void expand(uint64_t word, uint32_t before, int32_t word_number,
                                         int32_t lane) const {
    const int32_t x = 64 * word_number + 2 * lane;
    const auto bits = static_cast<uint32_t>(word >> (2 * lane)) & 3;
    const uint64_t below = word & ((uint64_t{1} << (2 * lane)) - 1);
    const uint32_t at = before + static_cast<uint32_t>(__popcll(below));
    int32_t first = 0, second = 0;
    if ((bits & 1) != 0) first = dequantized(qcoefs[at], x);
    if ((bits & 2) != 0) second = dequantized(qcoefs[at + (bits & 1)], x + 1);
    store(x, first, second);
  }

  __device__ __forceinline__ void expand_all(int32_t y, int32_t lane) const {
    const auto* map = reinterpret_cast<const uint64_t*>(params.packed + band.map) +
                      static_cast<int64_t>(y) * band.map_words;
    uint32_t before = reinterpret_cast<const uint32_t*>(params.packed + band.starts)[y];
    for (int32_t first = 0; first < band.map_words; first += 32) {
      const uint64_t own = first + lane < band.map_words ? map[first + lane] : 0;
      const auto count = static_cast<uint32_t>(__popcll(own));
      const uint32_t sum = sum_up_to_lane(count);
      const int32_t words = min(band.map_words - first, 32);
      const uint32_t zero = __ballot_sync(kAllLanes, own == 0);
#pragma unroll 1
      for (int32_t k = 0; k < words; ++k) {
        if ((zero >> k & 1) != 0) {
          const int32_t x = 64 * (first + k);
          if (in_eights && (zero >> k & 15) == 15 && x + 256 <= band.width) {
            *reinterpret_cast<Eight*>(to + x + 8 * lane) = {};
            k += 3;
          } else {
            store(x + 2 * lane, 0, 0);
          }
          continue;
        }
        const uint64_t word = __shfl_sync(kAllLanes, own, static_cast<uint32_t>(k));
        const uint32_t ahead = __shfl_sync(kAllLanes, sum - count, static_cast<uint32_t>(k));
        expand(word, before + ahead, first + k, lane);
      }
      before += __shfl_sync(kAllLanes, sum, 31u);
    }
  }
  __device__ __forceinline__ void copy_all(int32_t y, int32_t lane) const {
    const Qcoef* from = qcoefs + static_cast<int64_t>(y) * band.width;
    for (int32_t x = lane; x < band.width; x += 32) to[x] = stored<Coef>(narrowed(from[x]));
  }
};

template <typename Qcoef, typename Coef>
__device__ __forceinline__ void expand_qcoefs(const ExpandParams& params) {
  __shared__ uint32_t factors[kQuantIndices];
  let_successor_launch();  // it waits for the end before it reads anything
  fill_factors(factors);
  __syncthreads();
  const uint32_t row = blockIdx.x * (kExpandThreads / 32) + threadIdx.x / 32;
  if (row >= params.rows) return;
  const uint32_t lane = threadIdx.x % 32;
  const auto* bands = reinterpret_cast<const PackedBand*>(params.packed);
  uint32_t begun = 0;  // bands that have begun
  for (uint32_t first = 0; first < params.bands; first += 32) {
    const bool has = first + lane < params.bands && bands[first + lane].first_row <= row;
    begun += static_cast<uint32_t>(__popc(__ballot_sync(kAllLanes, has)));
  }
  const PackedBand& band = bands[begun - 1];
  const auto y = static_cast<int32_t>(row - band.first_row);
  const Row<Qcoef, Coef> own(params, band, factors, y);
  if (band.is_dense != 0)
    own.copy_all(y, static_cast<int32_t>(lane));
  else
    own.expand_all(y, static_cast<int32_t>(lane));
}

// A thread for each sample.
template <typename From, typename To>
__device__ __forceinline__ void store_sample(const StoreParams& params) {
  const uint32_t y = blockIdx.x / params.ctas_across;
  const uint32_t x = blockIdx.x % params.ctas_across * kExpandThreads + threadIdx.x;
  if (x >= params.width) return;
  const auto* from = reinterpret_cast<const From*>(params.from + y * params.from_pitch);
  auto* to = reinterpret_cast<To*>(params.to + y * params.to_pitch);
  to[x] = static_cast<To>(from[x] << params.shift);
}

}  // namespace

#define CT_EXPAND(name, qcoef, coef)                           \
  extern "C" __global__ void __launch_bounds__(kExpandThreads) \
      name(const __grid_constant__ ExpandParams params) {      \
    expand_qcoefs<qcoef, coef>(params);                        \
  }
CT_DIRAC_EXPAND_KERNELS(CT_EXPAND)

#define CT_STORE(name, from, to)                               \
  extern "C" __global__ void __launch_bounds__(kExpandThreads) \
      name(const __grid_constant__ StoreParams params) {       \
    store_sample<from, to>(params);                            \
  }
CT_DIRAC_STORE_KERNELS(CT_STORE)

}  // namespace cudatransform::cuda
