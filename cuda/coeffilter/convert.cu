// Coefficients from any arrangement to any other, and from one kind of number to another.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/coeffilter/coeffilter.cuh"
#include "cuda/coeffilter/convert_places.cuh"
#include "cuda/coeffilter/kernels.h"
#include "cuda/coeffilter/params.h"
#include "cuda/common/ptx.cuh"

namespace cudatransform::cuda {
namespace {

// ---- The tile in shared memory ----

// Row 8 u + v has coefficient (u, v) of all blocks, and 16 bytes after it: so eight rows v and
// pairs of eight blocks meet no bank twice.
template <typename Number>
struct Tile {
  static constexpr int kStride = kConvertBlocks + 16 / sizeof(Number);

  alignas(16) Number numbers[64 * kStride];

  __device__ __forceinline__ Pair<Number>& pair(int u, int v, int block) {
    return *reinterpret_cast<Pair<Number>*>(numbers + (8 * u + v) * kStride + block);
  }
  __device__ __forceinline__ Number* blocks_of(int row, int first) {
    return numbers + row * kStride + first;
  }
};

// Numbers that a warp's lanes read at different addresses, which constant memory serializes.
template <typename Factor>
struct ConvertTables {
  static constexpr unsigned kOfPart = 16 / sizeof(Factor);

  // Of the tile's component, eight by eight in the order of the input. 16-byte parts of all eights
  // are adjacent: lanes that load them have no bank conflicts.
  uint4 parts[8 / kOfPart][8];
  alignas(8) uint8_t natural_of_zigzag[64];

  __device__ __forceinline__ Factor& at(unsigned eight, unsigned k) {
    return reinterpret_cast<Factor*>(&parts[k / kOfPart][eight])[k % kOfPart];
  }
  __device__ __forceinline__ Eight<Factor> all_of(unsigned eight) const {
    Eight<Factor> all;
#pragma unroll
    for (unsigned i = 0; i < 8 / kOfPart; ++i) reinterpret_cast<uint4*>(&all)[i] = parts[i][eight];
    return all;
  }
};

__device__ __forceinline__ bool is_band(CoefArrangement side) {
  return side == CoefArrangement::kBand;
}
__device__ __forceinline__ bool is_zigzag(CoefArrangement side) {
  return side == CoefArrangement::kZigzagBlock;
}

// A thread's entries of the tables: it loads them while it waits for the preceding kernel, and
// stores them while it waits for its coefficients.
template <typename From, typename To>
struct Entries {
  uint16_t divisor = 1;
  uint8_t natural = 0;

  __device__ __forceinline__ void fetch(const ConvertParams& params, int component) {
    const unsigned i = threadIdx.x;
    if (i >= 64) return;
    natural = as_memory(params.natural_of_zigzag)[i];
    divisor = as_memory(params.divisors[component])[is_zigzag(params.from) ? natural : i];
  }
  // Called by all threads, or by none.
  __device__ __forceinline__ void put(ConvertTables<Factor<From, To>>& tables) const {
    const unsigned i = threadIdx.x;
    if (i < 64) {
      tables.at(i / 8, i % 8) = factor_of<From, To>(divisor);
      tables.natural_of_zigzag[i] = natural;
    }
    __syncthreads();
  }
};

// ---- A thread's eights ----

template <typename From, typename To>
class Converter {
  using FromNumber = typename From::Stored;
  using ToNumber = typename To::Stored;
  using Factors = Eight<Factor<From, To>>;

 public:
  __device__ Converter(const ConvertParams& params, Tile<ToNumber>& tile,
                       ConvertTables<Factor<From, To>>& tables)
      : params_(params), tile_(tile), tables_(tables) {}

  template <typename Place>
  __device__ __forceinline__ void load(const Side& side, const Place& place) {
#pragma unroll
    for (int i = 0; i < 2; ++i) loaded_[i] = side.template load<FromNumber>(params_, place, i);
  }
  template <typename Place>
  __device__ __forceinline__ void store(const Side& side, const Place& place) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) side.store(params_, place, i, eights_[i]);
  }

  // Returns how many numbers were saturated.
  template <typename Place>
  __device__ __forceinline__ uint32_t convert(const Place& place) {
    if constexpr (std::is_same_v<From, To>) {
      eights_[0] = loaded_[0];
      eights_[1] = loaded_[1];
      return 0;
    } else {
      Factors factors[2];
      find_factors(place, factors);
      if constexpr (kByFloat<From, To>) {
        const bool first = halves_of<From>(loaded_[0], factors[0], &eights_[0]);
        const bool second = halves_of<From>(loaded_[1], factors[1], &eights_[1]);
        if (first && second) return 0;
      }
      uint32_t saturated = 0;
#pragma unroll
      for (int i = 0; i < 2; ++i)
        eights_[i] = converted_eight<From, To>(loaded_[i], factors[i], &saturated);
      return saturated;
    }
  }

  // Into the tile, and out of it.
  __device__ __forceinline__ void put(const Side&, const PlaceInBands& place) {
#pragma unroll
    for (int i = 0; i < 2; ++i) eights_[i].store(tile_.blocks_of(place.v_of(i), place.block));
  }
  __device__ __forceinline__ void put(const Side& side, const PlaceInBlocks& place) {
#pragma unroll
    for (int k = 0; k < 8; ++k)
      pair(side, place, k) = Pair<ToNumber>::of(eights_[0], eights_[1], k);
  }
  __device__ __forceinline__ void take(const Side&, const PlaceInBands& place) {
#pragma unroll
    for (int i = 0; i < 2; ++i) eights_[i].load(tile_.blocks_of(place.v_of(i), place.block));
  }
  __device__ __forceinline__ void take(const Side& side, const PlaceInBlocks& place) {
#pragma unroll
    for (int w = 0; w < 4; ++w)
      Pair<ToNumber>::split(pair(side, place, 2 * w), pair(side, place, 2 * w + 1), w, &eights_[0],
                            &eights_[1]);
  }

 private:
  __device__ __forceinline__ Pair<ToNumber>& pair(const Side& side, const PlaceInBlocks& place,
                                                  int k) {
    if (!is_zigzag(side.arrangement)) return tile_.pair(k, place.v, place.block);
    const unsigned natural = tables_.natural_of_zigzag[8 * place.v + k];
    return tile_.pair(static_cast<int>(natural % 8), static_cast<int>(natural / 8), place.block);
  }

  __device__ __forceinline__ void find_factors(const PlaceInBlocks& place, Factors* factors) const {
    factors[0] = factors[1] = tables_.all_of(static_cast<unsigned>(place.v));
  }
  __device__ __forceinline__ void find_factors(const PlaceInBands& place, Factors* factors) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto row = static_cast<unsigned>(place.v_of(i));
      const auto factor = tables_.at(row % 8, row / 8);
#pragma unroll
      for (int k = 0; k < 8; ++k) factors[i].at[k] = factor;
    }
  }

  const ConvertParams& params_;
  Tile<ToNumber>& tile_;
  ConvertTables<Factor<From, To>>& tables_;
  Packed<FromNumber> loaded_[2];
  Packed<ToNumber> eights_[2];
};

// Floats hold everything, and 32 bits a quantized coefficient of 16 bits times its divisor.
template <typename From, typename To>
inline constexpr bool kMaySaturate =
    !std::is_same_v<From, To> && !std::is_same_v<To, ValueF32> &&
    !(std::is_same_v<From, Qcoef16> && std::is_same_v<To, Value32>);

template <bool kMay>
__device__ __forceinline__ void count_saturated(const ConvertParams& params, uint32_t mine) {
  if (!kMay || !__any_sync(kAllLanes, mine != 0) || params.saturated == nullptr) return;
  const uint64_t all = sum_of_warp(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(params.saturated, static_cast<unsigned long long>(all));
}

template <typename From, typename To>
__device__ __forceinline__ void convert(const ConvertParams& params,
                                        Tile<typename To::Stored>& tile,
                                        ConvertTables<Factor<From, To>>& tables) {
  int component = 0;
  while (component + 1 < params.components && blockIdx.x >= params.planes[component + 1].first)
    ++component;
  const ConvertPlane& plane = params.planes[component];
  const uint32_t number = blockIdx.x - plane.first;
  const uint32_t row = divide(number, plane.by_across);
  const int32_t first = static_cast<int32_t>(number - row * plane.across) * kConvertBlocks;
  const int32_t count = min(kConvertBlocks, plane.blocks_w - first);
  const auto side = [&](CoefArrangement lie, uint8_t* data, const CoefSteps& steps) {
    return Side{lie, data + row * steps.down + int64_t{first} * steps.across, steps, count};
  };
  const Side from = side(params.from, plane.from, plane.from_steps);
  const Side to = side(params.to, plane.to, plane.to_steps);
  // Numbers that stay adjacent need no tile.
  const bool stay = is_band(from.arrangement) == is_band(to.arrangement) &&
                    is_zigzag(from.arrangement) == is_zigzag(to.arrangement);

  const bool needs_tables =
      !std::is_same_v<From, To> || is_zigzag(params.from) || is_zigzag(params.to);
  Entries<From, To> entries;
  if (needs_tables) entries.fetch(params, component);
  wait_for_predecessor();
  let_successor_launch();
  Converter<From, To> converter(params, tile, tables);
  const auto bring = [&](const auto& place) {
    converter.load(from, place);
    if (needs_tables) entries.put(tables);
    count_saturated<kMaySaturate<From, To>>(params, converter.convert(place));
    if (stay)
      converter.store(to, place);
    else
      converter.put(from, place);
  };
  if (is_band(from.arrangement))
    bring(place_in_bands());
  else
    bring(place_in_blocks(!stay));
  if (stay) return;
  __syncthreads();
  const auto leave = [&](const auto& place) {
    converter.take(to, place);
    converter.store(to, place);
  };
  if (is_band(to.arrangement))
    leave(place_in_bands());
  else
    leave(place_in_blocks(true));
}

// Whether numbers pass through double precision, whose registers are pairs.
template <typename From, typename To>
inline constexpr bool kIsWide =
    !From::kIsQcoef && (To::kIsQcoef || std::is_same_v<To, Value32>)&&!std::is_same_v<From, To>;

// CTAs of an SM: as many as their registers leave room for, and the oldest SMs' 1,024 threads.
template <typename From, typename To>
inline constexpr int kCtasByRegisters = kIsWide<From, To>               ? (To::kIsQcoef ? 3 : 2)
                                        : std::is_same_v<From, Qcoef32> ? 4
                                        : sizeof(typename From::Stored) == 2 &&
                                                sizeof(typename To::Stored) == 2
                                            ? 6
                                            : 5;
#if __CUDA_ARCH__ == 750
inline constexpr int kMaxCtas = 1024 / kConvertThreads;
#else
inline constexpr int kMaxCtas = 1536 / kConvertThreads;
#endif
template <typename From, typename To>
inline constexpr int kCtas =
    kCtasByRegisters<From, To> < kMaxCtas ? kCtasByRegisters<From, To> : kMaxCtas;

}  // namespace

#define CT_KERNEL(name, From, To)                                                  \
  extern "C" __global__ void __launch_bounds__(kConvertThreads, (kCtas<From, To>)) \
      name(const __grid_constant__ ConvertParams params) {                         \
    __shared__ Tile<To::Stored> tile;                                              \
    __shared__ ConvertTables<Factor<From, To>> tables;                             \
    convert<From, To>(params, tile, tables);                                       \
  }
CT_CONVERT_KERNELS(CT_KERNEL)
#undef CT_KERNEL

}  // namespace cudatransform::cuda
