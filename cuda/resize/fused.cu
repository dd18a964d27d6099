// Both passes of resampling in one kernel: a tile of 16 x 16 pixels of the output a CTA, or half of
// it, on tensor cores.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The first pass adds up along lines of samples, the second along lines of its results, which stay
// in shared memory as bytes. Lines are rows of the input, or its columns where the vertical pass
// comes first. Both passes are products of matrices: 16 lines of bytes by the weights of eight
// outputs, a band padded with zeros. Half a tile needs a smaller window in the second pass: of
// large reductions, or where whole ones are too few for the GPU.
#include "cuda/common/batch.h"
#include "cuda/common/ptx.cuh"
#include "cuda/resize/kernels.h"
#include "cuda/resize/mma.cuh"
#include "cuda/resize/pixels.cuh"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kTile = kResizeTile;
constexpr int32_t kStaged = 32;  // lines of the input that are in shared memory together
constexpr int32_t kWarps = kResizeFusedThreads / 32;
// Of a multiprocessor: squares of columns, which are rare, take more registers.
constexpr unsigned ctas_of(bool down_first) { return down_first ? 2 : 3; }
constexpr int32_t kHalves = kTile / kMmaOutputs, kTops = kStaged / kMmaLines;

// The weights of eight outputs for a step, as lanes take them, and for all steps.
using StepWeights = uint2[kDigits][32];
template <int kChannels>
using BandWeights = StepWeights[resize_band_steps(kChannels)];

template <int kChannels>
struct alignas(16) Shared {
  // Eight lines begin in different banks.
  static constexpr int32_t kInPitch = resize_window_pitch(kChannels);
  static constexpr int32_t kBetweenPitch = resize_between_pitch(kChannels);
  uint8_t in[kChannels][kStaged][kInPitch];
  // Results of the first pass: line i of the second has output i of the tile.
  uint8_t between[kChannels][kTile][kBetweenPitch];
  // Of both halves of the tile.
  BandWeights<kChannels> weights[2];
};
static_assert(sizeof(Shared<3>) <= 48 << 10 && sizeof(Shared<4>) <= 48 << 10);

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

// How the input is read: in words, of packed pixels or of planes, which may begin at any byte; or
// in bytes.
enum class Reads { kPacked, kPackedShifted, kPlanar, kPlanarShifted, kBytes };

template <int kChannels, Reads kReads>
struct Four {
  static constexpr bool kIsPacked = kReads == Reads::kPacked || kReads == Reads::kPackedShifted;
  static constexpr bool kIsShifted =
      kReads == Reads::kPackedShifted || kReads == Reads::kPlanarShifted;
  // Words in a row, and how many of these.
  static constexpr int kInRow = (kIsPacked ? kChannels : 1) + (kIsShifted ? 1 : 0);
  static constexpr int kRows = kIsPacked ? 1 : kChannels;

  // Loads four adjacent samples of each channel, in memory order. What is outside of the picture
  // has no weight: any word will do.
  __device__ __forceinline__ void load(const ResizeView& from, int32_t x, int32_t y) {
    if constexpr (kReads == Reads::kBytes) return load_bytes(from, x, y);
    x = min(x, from.width - 4);
    y = min(y, from.height - 1);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const uint8_t* at =
          from.data[row] + y * from.pitch[row] + int64_t{x} * (kIsPacked ? kChannels : 1);
      if constexpr (kIsShifted) {
        const auto beyond = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) % 4);
        shifts_[row] = 8 * beyond;
        at -= beyond;
      }
#pragma unroll
      for (int i = 0; i < kInRow; ++i)
        words_[row][i] = __ldg(reinterpret_cast<const uint32_t*>(at) + i);
    }
  }

  // The samples, channel by channel.
  __device__ __forceinline__ void separate(uint32_t (&samples)[kChannels]) const {
    uint32_t words[kChannels];
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      const int row = kIsPacked ? 0 : c, i = kIsPacked ? c : 0;
      if constexpr (kIsShifted)
        words[c] = __funnelshift_r(words_[row][i], words_[row][i + 1], shifts_[row]);
      else
        words[c] = words_[row][i];
    }
    if constexpr (kIsPacked && kChannels == 2) {
      samples[0] = bytes_of(words[0], words[1], 0x6420);
      samples[1] = bytes_of(words[0], words[1], 0x7531);
    } else if constexpr (kIsPacked && kChannels == 3) {
      samples[0] = bytes_of(bytes_of(words[0], words[1], 0x0630), words[2], 0x5210);
      samples[1] = bytes_of(bytes_of(words[0], words[1], 0x0741), words[2], 0x6210);
      samples[2] = bytes_of(bytes_of(words[0], words[1], 0x0052), words[2], 0x7410);
    } else if constexpr (kIsPacked && kChannels == 4) {
      transpose_bytes(words, samples);
    } else {
#pragma unroll
      for (int c = 0; c < kChannels; ++c) samples[c] = words[c];
    }
  }

 private:
  // From any place, a byte at a time; zeros outside of the picture.
  __device__ __forceinline__ void load_bytes(const ResizeView& from, int32_t x, int32_t y) {
    const int32_t count = y < from.height ? min(4, from.width - x) : 0;
#pragma unroll
    for (int c = 0; c < kRows; ++c) {
      words_[c][0] = 0;
      const uint8_t* at = from.data[c] + y * from.pitch[c] + int64_t{x} * from.step;
      for (int32_t i = 0; i < count; ++i, at += from.step)
        words_[c][0] |= static_cast<uint32_t>(__ldg(at)) << (8 * i);
    }
  }

  uint32_t words_[kRows][kInRow];
  uint32_t shifts_[kIsShifted ? kRows : 1];
};

// The part of the input that goes to shared memory: lines from `first` on, `count` of them, and
// quadruples of samples from `begin` on.
struct Part {
  int32_t first, count, begin, quads;
};

// Rows.
template <int kChannels, Reads kReads>
__device__ __forceinline__ void stage_rows(const ResizeView& from, const Part& part,
                                           Shared<kChannels>& shared) {
  constexpr int kAtOnce = 2;  // loads in flight before the first is used
  constexpr int kFraction = 20;
  // Exact, as numbers times `quads` stay below 2^kFraction.
  static_assert(kStaged * (Shared<kChannels>::kInPitch / 4) * (Shared<kChannels>::kInPitch / 4) <
                1 << kFraction);
  const auto quads = static_cast<uint32_t>(part.quads);
  const uint32_t by_quads = ((1u << kFraction) + quads - 1) / quads;
  const uint32_t all = static_cast<uint32_t>(part.count) * quads;
#pragma unroll 1
  for (uint32_t begin = threadIdx.x; begin < all; begin += kAtOnce * kResizeFusedThreads) {
    Four<kChannels, kReads> fours[kAtOnce];
    uint32_t lines[kAtOnce], columns[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const uint32_t i = min(begin + u * kResizeFusedThreads, all - 1);
      lines[u] = i * by_quads >> kFraction;
      columns[u] = 4 * (i - lines[u] * quads);
      fours[u].load(from, part.begin + static_cast<int32_t>(columns[u]),
                    part.first + static_cast<int32_t>(lines[u]));
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (begin + u * kResizeFusedThreads >= all) break;
      uint32_t samples[kChannels];
      fours[u].separate(samples);
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        *reinterpret_cast<uint32_t*>(&shared.in[c][lines[u]][columns[u]]) = samples[c];
    }
  }
}

// Columns, in squares of four by four.
template <int kChannels, Reads kReads>
__device__ __forceinline__ void stage_columns(const ResizeView& from, const Part& part,
                                              Shared<kChannels>& shared) {
  constexpr int32_t kAcross = kStaged / 4;
  const int32_t across = 4 * static_cast<int32_t>(threadIdx.x % kAcross);
  if (across >= part.count) return;
#pragma unroll 1
  for (auto quad = static_cast<int32_t>(threadIdx.x / kAcross); quad < part.quads;
       quad += kResizeFusedThreads / kAcross) {
    Four<kChannels, kReads> fours[4];
    uint32_t words[4][kChannels];
#pragma unroll
    for (int row = 0; row < 4; ++row)
      fours[row].load(from, part.first + across, part.begin + 4 * quad + row);
#pragma unroll
    for (int row = 0; row < 4; ++row) fours[row].separate(words[row]);
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      const uint32_t rows[4] = {words[0][c], words[1][c], words[2][c], words[3][c]};
      uint32_t columns[4];
      transpose_bytes(rows, columns);
#pragma unroll
      for (int column = 0; column < 4; ++column)
        *reinterpret_cast<uint32_t*>(&shared.in[c][across + column][4 * quad]) = columns[column];
    }
  }
}

template <int kChannels, bool kDownFirst, Reads kReads>
__device__ __forceinline__ void stage_as(const ResizeView& from, const Part& part,
                                         Shared<kChannels>& shared) {
  if constexpr (kDownFirst)
    stage_columns<kChannels, kReads>(from, part, shared);
  else
    stage_rows<kChannels, kReads>(from, part, shared);
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void stage(const ResizeFusedParams& params, const Part& part,
                                      Shared<kChannels>& shared) {
  const ResizeView& from = params.from;
  const int32_t along_end = part.begin + 4 * part.quads, lines_end = part.first + part.count;
  const int32_t right = ((kDownFirst ? lines_end : along_end) + 3) / 4 * 4;
  const int32_t bottom = kDownFirst ? along_end : lines_end;
  // Words are inside the picture or outside; shifted ones use the next word, too.
  const bool whole = from.width % 4 == 0 || right <= from.width;
  const bool inner = whole && (bottom < from.height || right + 4 <= from.width);
  if (kChannels >= 2 && whole && params.words == ResizeWords::kPacked)
    stage_as<kChannels, kDownFirst, Reads::kPacked>(from, part, shared);
  else if (kChannels >= 2 && inner && params.words == ResizeWords::kPackedShifted)
    stage_as<kChannels, kDownFirst, Reads::kPackedShifted>(from, part, shared);
  else if (whole && params.words == ResizeWords::kPlanar)
    stage_as<kChannels, kDownFirst, Reads::kPlanar>(from, part, shared);
  else if (inner && params.words == ResizeWords::kPlanarShifted)
    stage_as<kChannels, kDownFirst, Reads::kPlanarShifted>(from, part, shared);
  else
    stage_as<kChannels, kDownFirst, Reads::kBytes>(from, part, shared);
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

// The weights of a tile's outputs, from `output` on: `halves` times eight.
template <int kChannels>
__device__ __forceinline__ void stage_weights(const ResizeAxisView& axis, int32_t output,
                                              int32_t outputs, const Window& window, int32_t halves,
                                              BandWeights<kChannels>* to) {
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const auto warp = static_cast<int32_t>(threadIdx.x / 32);
  const int32_t half = warp % halves, first = output + half * kMmaOutputs;
  const Band band = band_of(axis, first, outputs, window);
  const OutputWeights weights(axis, first + lane / 4, outputs);
#pragma unroll 1
  for (int32_t step = warp / halves; step < band.steps; step += kWarps / halves) {
    const MmaWeights by = weights.at(band.begin + kMmaDepth * step + 4 * (lane % 4));
#pragma unroll
    for (int digit = 0; digit < kDigits; ++digit)
      to[half][step][digit][lane] = make_uint2(by.digits[digit][0], by.digits[digit][1]);
  }
}

// Sixteen lines, whose samples begin at the window.
__device__ __forceinline__ MmaSums add_band(const Band& band, const Window& window,
                                            const StepWeights* weights, const uint8_t* lines,
                                            int32_t pitch) {
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  int32_t at = lane / 4 * pitch + band.begin - window.begin + 4 * (lane % 4);
  MmaSums sums = {};
#pragma unroll 1
  for (int32_t step = 0; step < band.steps; ++step, at += kMmaDepth) {
    MmaWeights by;
#pragma unroll
    for (int digit = 0; digit < kDigits; ++digit) {
      const uint2 both = weights[step][digit][lane];
      by.digits[digit][0] = both.x;
      by.digits[digit][1] = both.y;
    }
    add_products(load_lines(lines + at, pitch), by, &sums);
  }
  return sums;
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void first_pass(const ResizeFusedParams& params, int32_t output,
                                           const Window& along, const Window& lines,
                                           Shared<kChannels>& shared) {
  const ResizeAxisView& axis = kDownFirst ? params.y : params.x;
  const int32_t outputs = kDownFirst ? params.to.height : params.to.width;
  const auto warp = static_cast<int32_t>(threadIdx.x / 32);
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const Band low = band_of(axis, output, outputs, along);
  const Band high = band_of(axis, output + kMmaOutputs, outputs, along);
  stage_weights<kChannels>(axis, output, outputs, along, kHalves, shared.weights);
#pragma unroll 1
  for (int32_t first = 0; first < lines.size(); first += kStaged) {
    __syncthreads();  // all have used the lines before
    const int32_t count = min(kStaged, lines.size() - first);
    stage<kChannels, kDownFirst>(
        params, {lines.begin + first, count, along.begin, (along.size() + 3) / 4}, shared);
    __syncthreads();
#pragma unroll 1
    for (int32_t unit = warp; unit < kTops * kHalves * kChannels; unit += kWarps) {
      const int32_t c = unit % kChannels, half = unit / kChannels % kHalves;
      const int32_t top = unit / (kChannels * kHalves) * kMmaLines;
      if (top >= count) break;
      const Band band = {half == 0 ? low.begin : high.begin, half == 0 ? low.steps : high.steps};
      const MmaSums sums = add_band(band, along, shared.weights[half], &shared.in[c][top][0],
                                    Shared<kChannels>::kInPitch);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        shared.between[c][half * kMmaOutputs + lane % 4 * 2 + i % 2]
                      [first + top + lane / 4 + i / 2 * 8] = byte_of_digits(sums, i);
    }
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
  const int32_t halves = params.tile / kMmaOutputs;
  stage_weights<kChannels>(axis, output, outputs, lines, halves, shared.weights);
  __syncthreads();
#pragma unroll 1
  for (int32_t unit = static_cast<int32_t>(threadIdx.x / 32); unit < halves * kChannels;
       unit += kWarps) {
    const int32_t channel = unit % kChannels, half = unit / kChannels;
    const MmaSums sums = add_band(band_of(axis, output + half * kMmaOutputs, outputs, lines), lines,
                                  shared.weights[half], &shared.between[channel][0][0],
                                  Shared<kChannels>::kBetweenPitch);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      results[channel][lane / 4 + i / 2 * 8][half * kMmaOutputs + lane % 4 * 2 + i % 2] =
          byte_of_digits(sums, i);
  }
  __syncthreads();
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void resize_tile(const ResizeFusedParams& params) {
  __shared__ Shared<kChannels> shared;
  const uint32_t down = divide(blockIdx.x, params.by_across);
  const int32_t width = kDownFirst ? params.tile : kTile, height = kDownFirst ? kTile : params.tile;
  const auto x = static_cast<int32_t>(blockIdx.x - down * params.across) * width;
  const int32_t y = static_cast<int32_t>(down) * height;
  const Window columns =
      window_of(params.x, x, min(x + width, params.to.width) - 1, kResizeAlignment);
  const Window rows =
      window_of(params.y, y, min(y + height, params.to.height) - 1, kResizeAlignment);
  const Window& along = kDownFirst ? rows : columns;
  const Window& lines = kDownFirst ? columns : rows;
  first_pass<kChannels, kDownFirst>(params, kDownFirst ? y : x, along, lines, shared);
  auto* results = reinterpret_cast<uint8_t(*)[kTile][kTile]>(&shared.in[0][0][0]);
  second_pass<kChannels, kDownFirst>(params, kDownFirst ? x : y, lines, shared, results);
  for (auto i = static_cast<int32_t>(threadIdx.x); i < width * height; i += kResizeFusedThreads) {
    // `width` is a power of two.
    const int32_t column = i & (width - 1), row = i / width;
    if (x + column >= params.to.width || y + row >= params.to.height) continue;
    ResizePixel pixel = {};
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      pixel.of[c] = kDownFirst ? results[c][row][column] : results[c][column][row];
    put_pixel(params, x + column, y + row, pixel);
  }
}

}  // namespace

#define CT_DEFINE(name, channels, down_first)                                            \
  extern "C" __global__ void __launch_bounds__(kResizeFusedThreads, ctas_of(down_first)) \
      name(const __grid_constant__ ResizeFusedParams params) {                           \
    resize_tile<channels, down_first>(params);                                           \
  }
CT_RESIZE_FUSED_KERNELS(CT_DEFINE)
#undef CT_DEFINE

#define CT_DEFINE(name, channels, down_first)                                                    \
  extern "C" __global__ void __launch_bounds__(kResizeFusedThreads, ctas_of(down_first))         \
      name(const __grid_constant__ BatchParams<ResizeFusedParams> batch) {                       \
    run_job(batch,                                                                               \
            [](const ResizeFusedParams& params) { resize_tile<channels, down_first>(params); }); \
  }
CT_RESIZE_FUSED_BATCH_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
