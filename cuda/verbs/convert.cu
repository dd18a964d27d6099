// Coefficients from any arrangement to any other, and from one kind of number to another.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <type_traits>

#include "cuda/common/ptx.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/verbs/convert_kernels.h"
#include "cuda/verbs/convert_params.h"
#include "cuda/verbs/eight.cuh"
#include "transform/verbs/numbers.h"

namespace cudatransform::cuda {
namespace {

// ---- The tile in shared memory ----
//
// Row 8 u + v has coefficient (u, v) of all blocks. Rows are padded by a word: threads that write
// or read a row of blocks, or eight rows and blocks kStep apart, meet no bank twice.

template <typename Number>
struct Tile {
  static constexpr int kPad = 4 / sizeof(Number);
  static constexpr int kStride = kConvertBlocks + kPad;
  static constexpr int kStep = 8 * kPad;

  Number numbers[64 * kStride];

  __device__ __forceinline__ Number& at(int u, int v, int block) {
    return numbers[(8 * u + v) * kStride + block];
  }
  // Eight blocks of a row, from a multiple of eight on: whole words.
  __device__ __forceinline__ uint32_t* words_of(int row, int block) {
    return reinterpret_cast<uint32_t*>(numbers + row * kStride + block);
  }
};

// Which eight numbers of a tile a thread reads or writes: of block `block`, row `v` (in zigzag
// order, the eight from 8 v on); in bands, of row `row` of the tile, eight blocks.
template <typename Number>
__device__ __forceinline__ void place_in_block(int* block, int* v) {
  constexpr int kStep = Tile<Number>::kStep;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  *v = lane % 8;
  *block = warp / kStep * 4 * kStep + lane / 8 * kStep + warp % kStep;
}
__device__ __forceinline__ void place_in_plane(int* block, int* v) {
  *v = static_cast<int>(threadIdx.x) / kConvertBlocks;
  *block = static_cast<int>(threadIdx.x) % kConvertBlocks;
}
__device__ __forceinline__ void place_in_bands(int* block, int* row) {
  *row = static_cast<int>(threadIdx.x) / (kConvertBlocks / 8);
  *block = static_cast<int>(threadIdx.x) % (kConvertBlocks / 8) * 8;
}

// ---- The two sides in global memory ----

struct Side {
  uint8_t* data;
  int64_t pitch;
  int32_t y, blocks_h;  // of blocks
  int32_t first;        // block of the tile
  int32_t count;        // of its blocks, that are there

  template <typename Number>
  __device__ __forceinline__ uint8_t* in_block(int block, int v) const {
    return data + y * pitch + (int64_t{first + block} * 64 + 8 * v) * sizeof(Number);
  }
  template <typename Number>
  __device__ __forceinline__ uint8_t* in_plane(int block, int v) const {
    return data + (int64_t{8} * y + v) * pitch + int64_t{first + block} * 8 * sizeof(Number);
  }
  template <typename Number>
  __device__ __forceinline__ uint8_t* in_band(int block, int k) const {
    return data + (int64_t{k} * blocks_h + y) * pitch + int64_t{first + block} * sizeof(Number);
  }
};

// Numbers that a warp's lanes ask for at different places, which constant memory gives one by one.
struct alignas(16) ConvertTables {
  uint16_t divisors[64];  // of the tile's component
  uint8_t natural_of_zigzag[64];

  // Called by all threads, or by none.
  __device__ __forceinline__ void fill(const ConvertParams& params, int component) {
    const auto* from = reinterpret_cast<const uint32_t*>(params.divisors[component]);
    const auto* orders = reinterpret_cast<const uint32_t*>(params.natural_of_zigzag);
    constexpr unsigned kWords = sizeof(divisors) / 4, kOrders = sizeof(natural_of_zigzag) / 4;
    if (threadIdx.x < kWords)
      reinterpret_cast<uint32_t*>(divisors)[threadIdx.x] = from[threadIdx.x];
    else if (threadIdx.x < kWords + kOrders)
      reinterpret_cast<uint32_t*>(natural_of_zigzag)[threadIdx.x - kWords] =
          orders[threadIdx.x - kWords];
    __syncthreads();
  }
};

template <typename From, typename To>
class Converter {
  using FromNumber = typename From::Stored;
  using ToNumber = typename To::Stored;
  static constexpr bool kCopies = std::is_same_v<From, To>;

 public:
  __device__ Converter(const ConvertParams& params, Tile<ToNumber>& tile,
                       const ConvertTables& tables)
      : params_(params), tile_(tile), tables_(tables) {}

  // Brings a side's numbers into the tile, and returns how many were saturated.
  __device__ __forceinline__ uint32_t load(const Side& side) {
    uint32_t saturated = 0;
    int block, v;
    if (params_.from == CoefArrangement::kBand) {
      int row;
      place_in_bands(&block, &row);
      load_band(side, block, row, &saturated);
    } else if (params_.from == CoefArrangement::kPlane) {
      place_in_plane(&block, &v);
      if (block < side.count)
        put(load_eight<FromNumber>(side.template in_plane<FromNumber>(block, v)), block, v,
            &saturated);
    } else {
      place_in_block<ToNumber>(&block, &v);
      if (block < side.count) {
        const auto eight = load_eight<FromNumber>(side.template in_block<FromNumber>(block, v));
        if (params_.from == CoefArrangement::kBlock)
          put(eight, block, v, &saturated);
        else
          put_zigzag(eight, block, v, &saturated);
      }
    }
    return saturated;
  }

  // Brings the tile's numbers to a side.
  __device__ __forceinline__ void store(const Side& side) {
    int block, v;
    if (params_.to == CoefArrangement::kBand) {
      int row;
      place_in_bands(&block, &row);
      store_band(side, block, row);
    } else if (params_.to == CoefArrangement::kPlane) {
      place_in_plane(&block, &v);
      if (block < side.count)
        store_eight(side.template in_plane<ToNumber>(block, v), taken(block, v));
    } else {
      place_in_block<ToNumber>(&block, &v);
      if (block >= side.count) return;
      store_eight(side.template in_block<ToNumber>(block, v),
                  params_.to == CoefArrangement::kBlock ? taken(block, v) : taken_zigzag(block, v));
    }
  }

 private:
  __device__ __forceinline__ ToNumber number(FromNumber from, int natural, uint32_t* saturated) {
    return converted<From, To>(from, kCopies ? uint16_t{1} : tables_.divisors[natural], saturated);
  }

  __device__ __forceinline__ void put(const Eight<FromNumber>& eight, int block, int v,
                                      uint32_t* saturated) {
#pragma unroll
    for (int u = 0; u < 8; ++u) tile_.at(u, v, block) = number(eight.at[u], 8 * v + u, saturated);
  }
  __device__ __forceinline__ void put_zigzag(const Eight<FromNumber>& eight, int block, int v,
                                             uint32_t* saturated) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int natural = tables_.natural_of_zigzag[8 * v + i];
      tile_.at(natural % 8, natural / 8, block) = number(eight.at[i], natural, saturated);
    }
  }
  __device__ __forceinline__ Eight<ToNumber> taken(int block, int v) {
    Eight<ToNumber> eight;
#pragma unroll
    for (int u = 0; u < 8; ++u) eight.at[u] = tile_.at(u, v, block);
    return eight;
  }
  __device__ __forceinline__ Eight<ToNumber> taken_zigzag(int block, int v) {
    Eight<ToNumber> eight;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int natural = tables_.natural_of_zigzag[8 * v + i];
      eight.at[i] = tile_.at(natural % 8, natural / 8, block);
    }
    return eight;
  }

  // A row of the tile has the coefficients (row / 8, row % 8).
  __device__ __forceinline__ static int natural_of_row(int row) { return row % 8 * 8 + row / 8; }

  __device__ __forceinline__ void load_band(const Side& side, int block, int row,
                                            uint32_t* saturated) {
    if (block >= side.count) return;
    const int natural = natural_of_row(row);
    const auto* from = reinterpret_cast<const FromNumber*>(
        side.template in_band<FromNumber>(block, params_.zigzag_of_natural[natural]));
    if (block + 8 > side.count) {
      for (int i = 0; block + i < side.count; ++i)
        tile_.at(row / 8, row % 8, block + i) = number(from[i], natural, saturated);
      return;
    }
    const auto eight = load_eight<FromNumber>(from);
    union {
      Eight<ToNumber> numbers;
      uint32_t words[2 * sizeof(ToNumber)];
    } result;
#pragma unroll
    for (int i = 0; i < 8; ++i) result.numbers.at[i] = number(eight.at[i], natural, saturated);
    uint32_t* to = tile_.words_of(row, block);
#pragma unroll
    for (int i = 0; i < int(2 * sizeof(ToNumber)); ++i) to[i] = result.words[i];
  }

  __device__ __forceinline__ void store_band(const Side& side, int block, int row) {
    if (block >= side.count) return;
    auto* to = reinterpret_cast<ToNumber*>(
        side.template in_band<ToNumber>(block, params_.zigzag_of_natural[natural_of_row(row)]));
    if (block + 8 > side.count) {
      for (int i = 0; block + i < side.count; ++i) to[i] = tile_.at(row / 8, row % 8, block + i);
      return;
    }
    union {
      uint32_t words[2 * sizeof(ToNumber)];
      Eight<ToNumber> numbers;
    } eight;
    const uint32_t* from = tile_.words_of(row, block);
#pragma unroll
    for (int i = 0; i < int(2 * sizeof(ToNumber)); ++i) eight.words[i] = from[i];
    store_eight(to, eight.numbers);
  }

  const ConvertParams& params_;
  Tile<ToNumber>& tile_;
  const ConvertTables& tables_;
};

// Floats hold everything, and 32 bits a level of 16 bits times its divisor.
template <typename From, typename To>
inline constexpr bool kMaySaturate =
    !std::is_same_v<From, To> && !std::is_same_v<To, ValueF32> &&
    !(std::is_same_v<From, Level16> && std::is_same_v<To, Value32>);

template <typename From, typename To>
__device__ __forceinline__ void convert(const ConvertParams& params,
                                        Tile<typename To::Stored>& tile, ConvertTables& tables) {
  int component = 0;
  while (component + 1 < params.components && blockIdx.x >= params.planes[component + 1].first)
    ++component;
  const ConvertPlane& plane = params.planes[component];
  const uint32_t number = blockIdx.x - plane.first;
  const uint32_t row = divide(number, plane.by_across);
  const auto y = static_cast<int32_t>(row);
  const int32_t first = static_cast<int32_t>(number - row * plane.across) * kConvertBlocks;
  const int32_t count = min(kConvertBlocks, plane.blocks_w - first);

  const auto is_zigzag = [](CoefArrangement side) { return side == CoefArrangement::kZigzagBlock; };
  if (!std::is_same_v<From, To> || is_zigzag(params.from) || is_zigzag(params.to))
    tables.fill(params, component);
  wait_for_predecessor();
  let_successor_launch();
  Converter<From, To> converter(params, tile, tables);
  const uint32_t saturated =
      converter.load({plane.from, plane.from_pitch, y, plane.blocks_h, first, count});
  if constexpr (kMaySaturate<From, To>) {
    const uint64_t all = sum_of_warp(saturated);
    if (all != 0 && threadIdx.x % 32 == 0 && params.saturated != nullptr)
      atomicAdd(params.saturated, static_cast<unsigned long long>(all));
  }
  __syncthreads();
  converter.store({plane.to, plane.to_pitch, y, plane.blocks_h, first, count});
}

// Whether numbers pass through double precision, whose registers are pairs.
template <typename From, typename To>
inline constexpr bool kIsWide =
    !From::kIsLevel && (To::kIsLevel || std::is_same_v<To, Value32>)&&!std::is_same_v<From, To>;

// CTAs of an SM: as many as it has threads for, unless more registers are needed than these leave.
template <typename From, typename To>
inline constexpr int kCtas = kIsWide<From, To>                                             ? 2
                             : std::is_same_v<From, Level16>&& std::is_same_v<To, Level16> ? 4
                                                                                           : 3;

}  // namespace

#define CT_KERNEL(name, From, To)                                                  \
  extern "C" __global__ void __launch_bounds__(kConvertThreads, (kCtas<From, To>)) \
      convert_##name(const __grid_constant__ ConvertParams params) {               \
    __shared__ Tile<To::Stored> tile;                                              \
    __shared__ ConvertTables tables;                                               \
    convert<From, To>(params, tile, tables);                                       \
  }
CT_CONVERT_KERNELS(CT_KERNEL)
#undef CT_KERNEL

}  // namespace cudatransform::cuda
