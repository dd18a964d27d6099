// Both passes of resampling in one kernel: a tile of 16 x 16 pixels of the output a CTA, on tensor
// cores.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The first pass adds up along lines of samples, the second along lines of its results, which stay
// in shared memory as bytes. Lines are rows of the input, or its columns where the vertical pass
// comes first. Both passes are products of matrices: 16 lines of bytes by the weights of eight
// outputs, a band with zeros beside it.
#include "cuda/common/batch.h"
#include "cuda/common/ptx.cuh"
#include "cuda/resize/kernels.h"
#include "cuda/resize/mma.cuh"
#include "cuda/resize/pixels.cuh"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kTile = kResizeTile;
constexpr int32_t kStaged = 32;  // lines of the input that are in shared memory together
constexpr uint32_t kWarps = kResizeFusedThreads / 32;
static_assert(kWarps * kMmaLines * kMmaOutputs == kStaged * kTile);

template <int kChannels>
struct alignas(16) Shared {
  // Eight lines begin in different banks.
  static constexpr int32_t kInPitch = resize_window_pitch(kChannels);
  uint8_t in[kChannels][kStaged][kInPitch];
  // Results of the first pass: line i of the second has output i of the tile.
  uint8_t between[kChannels][kTile][kResizeBetweenPitch];
};

// The samples that a tile's outputs take.
struct Window {
  int32_t begin, end;
  __device__ __forceinline__ int32_t size() const { return end - begin; }
};
__device__ __forceinline__ Window window_of(const ResizeAxisView& axis, int32_t first, int32_t last,
                                            int32_t alignment) {
  return {__ldg(axis.first + first) & -alignment,
          __ldg(axis.first + last) + __ldg(axis.count + last)};
}

// ---- The input ----

// Four samples of each channel that are beside each other; zeros outside.
template <int kChannels>
__device__ __forceinline__ void load_four(const ResizeFusedParams& params, int32_t x, int32_t y,
                                          uint32_t (&words)[kChannels]) {
  const ResizeView& from = params.from;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) words[c] = 0;
  if (x >= from.width || y >= from.height) return;
  const bool whole = x + 4 <= from.width;
  if (whole && params.words == ResizeWords::kPlanar) {
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      words[c] = *reinterpret_cast<const uint32_t*>(from.data[c] + y * from.pitch[c] + x);
    return;
  }
  if (kChannels >= 3 && whole && params.words == ResizeWords::kPacked) {
    const auto* at = reinterpret_cast<const uint32_t*>(from.data[0] + y * from.pitch[0] +
                                                       int64_t{x} * kChannels);
    uint32_t packed[kChannels];
#pragma unroll
    for (int c = 0; c < kChannels; ++c) packed[c] = at[c];
    if constexpr (kChannels == 3) {
      words[0] = bytes_of(bytes_of(packed[0], packed[1], 0x0630), packed[2], 0x5210);
      words[1] = bytes_of(bytes_of(packed[0], packed[1], 0x0741), packed[2], 0x6210);
      words[2] = bytes_of(bytes_of(packed[0], packed[1], 0x0052), packed[2], 0x7410);
    } else if constexpr (kChannels == 4) {
      transpose_bytes(packed, words);
    }
    return;
  }
  const int32_t count = min(4, from.width - x);
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const uint8_t* at = from.data[c] + y * from.pitch[c] + int64_t{x} * from.step;
    for (int32_t i = 0; i < count; ++i, at += from.step)
      words[c] |= static_cast<uint32_t>(__ldg(at)) << (8 * i);
  }
}

// Lines [first, first + kStaged) of the input, from `begin` on.
template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void stage(const ResizeFusedParams& params, int32_t first,
                                      const Window& window, Shared<kChannels>& shared) {
  const int32_t quads = (window.size() + 3) / 4;
  if constexpr (!kDownFirst) {
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < kStaged * quads;
         i += kResizeFusedThreads) {
      const int32_t line = i / quads, quad = i - line * quads;
      uint32_t words[kChannels];
      load_four<kChannels>(params, window.begin + 4 * quad, first + line, words);
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        *reinterpret_cast<uint32_t*>(&shared.in[c][line][4 * quad]) = words[c];
    }
  } else {
    // Squares of four rows and columns.
    constexpr int32_t kAcross = kStaged / 4;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < kAcross * quads;
         i += kResizeFusedThreads) {
      const int32_t quad = i / kAcross, across = i % kAcross;
      uint32_t words[4][kChannels];
#pragma unroll
      for (int row = 0; row < 4; ++row)
        load_four<kChannels>(params, first + 4 * across, window.begin + 4 * quad + row, words[row]);
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        const uint32_t rows[4] = {words[0][c], words[1][c], words[2][c], words[3][c]};
        uint32_t columns[4];
        transpose_bytes(rows, columns);
#pragma unroll
        for (int column = 0; column < 4; ++column)
          *reinterpret_cast<uint32_t*>(&shared.in[c][4 * across + column][4 * quad]) =
              columns[column];
      }
    }
  }
}

// ---- The passes ----

// Eight outputs from `output` on: the samples that they take, as a warp's steps.
struct Band {
  int32_t begin, steps;
};
__device__ __forceinline__ Band band_of(const ResizeAxisView& axis, int32_t output, int32_t outputs,
                                        const Window& window) {
  if (output >= outputs) return {window.begin, 0};
  const int32_t last = min(output + kMmaOutputs, outputs) - 1;
  const int32_t begin = window.begin + ((__ldg(axis.first + output) - window.begin) & -4);
  const int32_t end = __ldg(axis.first + last) + __ldg(axis.count + last);
  return {begin, (end - begin + kMmaDepth - 1) / kMmaDepth};
}

// Sixteen lines of each channel of `lines`, which begin at `window`, to kOf sums.
template <int kOf, typename Line>
__device__ __forceinline__ void add_band(const ResizeAxisView& axis, int32_t output,
                                         int32_t outputs, const Window& window, int32_t pitch,
                                         const Line& line, MmaSums (&sums)[kOf]) {
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const Band band = band_of(axis, output, outputs, window);
  const OutputWeights weights(axis, output + lane / 4, outputs);
#pragma unroll
  for (int i = 0; i < kOf; ++i) sums[i] = {};
#pragma unroll 1
  for (int32_t step = 0; step < band.steps; ++step) {
    const int32_t at = band.begin + kMmaDepth * step + 4 * (lane % 4);
    const MmaWeights by = weights.at(at);
#pragma unroll
    for (int i = 0; i < kOf; ++i)
      add_products(load_lines(line(i) + lane / 4 * pitch + at - window.begin, pitch), by, &sums[i]);
  }
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void first_pass(const ResizeFusedParams& params, int32_t output,
                                           const Window& along, const Window& lines,
                                           Shared<kChannels>& shared) {
  const ResizeAxisView& axis = kDownFirst ? params.y : params.x;
  const int32_t outputs = kDownFirst ? params.to.height : params.to.width;
  const auto warp = static_cast<int32_t>(threadIdx.x / 32);
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t group = warp % 2 * kMmaOutputs, top = warp / 2 * kMmaLines;
#pragma unroll 1
  for (int32_t first = 0; first < lines.size(); first += kStaged) {
    __syncthreads();  // all have used the lines before
    stage<kChannels, kDownFirst>(params, lines.begin + first, along, shared);
    __syncthreads();
    MmaSums sums[kChannels];
    add_band(
        axis, output + group, outputs, along, Shared<kChannels>::kInPitch,
        [&](int c) { return &shared.in[c][top][0]; }, sums);
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        shared.between[c][group + lane % 4 * 2 + i % 2][first + top + lane / 4 + i / 2 * 8] =
            byte_of_digits(sums[c], i);
  }
  __syncthreads();
}

// To results[channel][line][output], in the place of the input.
template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void second_pass(const ResizeFusedParams& params, int32_t output,
                                            const Window& lines, Shared<kChannels>& shared,
                                            uint8_t (*results)[kTile][kTile]) {
  const ResizeAxisView& axis = kDownFirst ? params.x : params.y;
  const int32_t outputs = kDownFirst ? params.to.width : params.to.height;
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
#pragma unroll 1
  for (int32_t unit = static_cast<int32_t>(threadIdx.x / 32); unit < 2 * kChannels;
       unit += kWarps) {
    const int32_t channel = unit / 2, group = unit % 2 * kMmaOutputs;
    MmaSums sums[1];
    add_band(
        axis, output + group, outputs, lines, kResizeBetweenPitch,
        [&](int) { return &shared.between[channel][0][0]; }, sums);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      results[channel][lane / 4 + i / 2 * 8][group + lane % 4 * 2 + i % 2] =
          byte_of_digits(sums[0], i);
  }
  __syncthreads();
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void resize_tile(const ResizeFusedParams& params) {
  __shared__ Shared<kChannels> shared;
  const uint32_t down = divide(blockIdx.x, params.by_across);
  const auto x = static_cast<int32_t>(blockIdx.x - down * params.across) * kTile;
  const int32_t y = static_cast<int32_t>(down) * kTile;
  const Window columns =
      window_of(params.x, x, min(x + kTile, params.to.width) - 1, kResizeAlignment);
  const Window rows =
      window_of(params.y, y, min(y + kTile, params.to.height) - 1, kResizeAlignment);
  const Window& along = kDownFirst ? rows : columns;
  const Window& lines = kDownFirst ? columns : rows;
  first_pass<kChannels, kDownFirst>(params, kDownFirst ? y : x, along, lines, shared);
  auto* results = reinterpret_cast<uint8_t(*)[kTile][kTile]>(&shared.in[0][0][0]);
  second_pass<kChannels, kDownFirst>(params, kDownFirst ? x : y, lines, shared, results);
  for (auto i = static_cast<int32_t>(threadIdx.x); i < kTile * kTile; i += kResizeFusedThreads) {
    const int32_t column = i % kTile, row = i / kTile;
    if (x + column >= params.to.width || y + row >= params.to.height) continue;
    ResizePixel pixel = {};
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      pixel.of[c] = kDownFirst ? results[c][row][column] : results[c][column][row];
    put_pixel(params, x + column, y + row, pixel);
  }
}

}  // namespace

#define CT_DEFINE(name, channels, down_first)                       \
  extern "C" __global__ void __launch_bounds__(kResizeFusedThreads) \
      name(const __grid_constant__ ResizeFusedParams params) {      \
    resize_tile<channels, down_first>(params);                      \
  }
CT_RESIZE_FUSED_KERNELS(CT_DEFINE)
#undef CT_DEFINE

#define CT_DEFINE(name, channels, down_first)                                                    \
  extern "C" __global__ void __launch_bounds__(kResizeFusedThreads)                              \
      name(const __grid_constant__ BatchParams<ResizeFusedParams> batch) {                       \
    run_job(batch,                                                                               \
            [](const ResizeFusedParams& params) { resize_tile<channels, down_first>(params); }); \
  }
CT_RESIZE_FUSED_BATCH_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
