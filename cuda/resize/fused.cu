// Both passes of resampling in one kernel: a tile of the output a CTA, on tensor cores.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A tile's window of the input is copied to shared memory as it is. The first pass adds up along
// its rows, or down its columns where the vertical pass comes first; its results stay in shared
// memory as bytes. Both passes are products of matrices: 16 lines of bytes by the weights of eight
// outputs, a band padded with zeros. A tile has 16 x 16 pixels; or 32 x 32, where their window is
// small and they are many; or half of 16 x 16, where they are few or their window is large.
#include "cuda/common/batch.h"
#include "cuda/resize/kernels.h"
#include "cuda/resize/mma.cuh"
#include "cuda/resize/staging.cuh"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kMaxBands = kResizeLargeTile / kMmaOutputs;
constexpr int32_t kWarps = kResizeFusedThreads / 32;
static_assert(kMmaOutputs == kResizeBand && kMmaDepth == kResizeStep && kMmaLines == kResizeLines &&
              kDigits * 256 == kResizeStepWeights);

__device__ __forceinline__ uint8_t* dynamic_shared() {
#ifdef CT_EMULATED
  alignas(16) static uint8_t memory[227 << 10];
#else
  extern __shared__ __align__(16) uint8_t memory[];
#endif
  return memory;
}

// Eight outputs of a side: the samples that they take, as a warp's steps.
struct Band {
  int32_t begin, steps;
};

// Outputs of a pass.
struct Outputs {
  int32_t begin, end;
  Band bands[kMaxBands];
};

// A CTA's outputs, and the part of the input that they take. In shared memory, as no registers are
// left next to the sums.
struct Tile {
  // Of the input: rows, and bytes of them from an aligned one on, `lead` bytes in front of the
  // window.
  int32_t first_row, rows, first_byte, bytes, lead;
  Outputs across, down;
};

// The first of a CTA's shared memory: its barrier, its tile, and a copy of a batch job's
// parameters.
struct Head {
  uint64_t barrier;
  Tile tile;
  ResizeFusedParams params;
};
static_assert(sizeof(Head) <= kResizeHead);
__device__ __forceinline__ Head& head_of(uint8_t* shared) {
  return *reinterpret_cast<Head*>(shared);
}

template <bool kDownFirst>
__device__ __forceinline__ int32_t width_of(const ResizeFusedParams& params) {
  return kMmaOutputs << (kDownFirst ? params.second_log : params.first_log);
}
template <bool kDownFirst>
__device__ __forceinline__ int32_t height_of(const ResizeFusedParams& params) {
  return width_of<!kDownFirst>(params);
}

// By all threads: those of two warps wait for memory together.
template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void set_tile(const ResizeFusedParams& params, Tile* tile) {
  const auto warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t parts = warp == 0 ? kMaxBands : 1;
  if (warp > 1 || lane >= 2 * parts) return;
  const bool is_down = lane >= parts;
  const ResizeAxisView& axis = is_down ? params.y : params.x;
  const uint32_t down = divide(blockIdx.x, params.by_across);
  const auto place = static_cast<int32_t>(is_down ? down : blockIdx.x - down * params.across);
  const int32_t size = is_down ? height_of<kDownFirst>(params) : width_of<kDownFirst>(params);
  const int32_t begin = place * size;
  const int32_t end = min(begin + size, is_down ? params.to.height : params.to.width);
  if (warp == 0) {
    Outputs& outputs = is_down ? tile->down : tile->across;
    const auto i = static_cast<int32_t>(lane % kMaxBands);
    const int32_t first = begin + i * kResizeBand;
    if (i == 0) {
      outputs.begin = begin;
      outputs.end = end;
    }
    Band band = {};
    if (first < end) {
      band.begin = __ldg(axis.bands + first / kResizeBand * 2);
      const int32_t after = __ldg(axis.bands + first / kResizeBand * 2 + 1);
      band.steps = (after - band.begin + kMmaDepth - 1) / kMmaDepth;
    }
    outputs.bands[i] = band;
    return;
  }
  const int32_t bytes = params.is_packed && !is_down ? kChannels : 1;
  const int32_t from = __ldg(axis.bands + begin / kResizeBand * 2) * bytes;
  const int32_t to = __ldg(axis.bands + (end - 1) / kResizeBand * 2 + 1) * bytes;
  if (is_down) {
    tile->first_row = from;
    tile->rows = to - from;
  } else {
    tile->first_byte = from & -kResizeCopyAlignment;
    tile->bytes = to - tile->first_byte;
    tile->lead = from - tile->first_byte;
  }
}

// A pass of a tile, and its weights in shared memory.
struct Pass {
  const ResizeAxisView& axis;
  const Outputs& outputs;
  int32_t log;                    // of the number of its bands, to base 2
  int32_t steps;                  // of a band, at most
  uint2 (*weights)[kDigits][32];  // of each step, as lanes take them

  __device__ __forceinline__ int32_t begin() const { return outputs.bands[0].begin; }
  __device__ __forceinline__ int32_t band_of(int32_t unit) const { return unit & ((1 << log) - 1); }

  // Called by all warps before the weights are used.
  __device__ __forceinline__ void stage_weights() const {
    const auto lane = static_cast<int32_t>(threadIdx.x % 32);
#pragma unroll 1
    for (auto i = static_cast<int32_t>(threadIdx.x / 32); i < steps << log; i += kWarps) {
      const int32_t band = band_of(i), step = i >> log;
      const Band of = outputs.bands[band];
      if (step >= of.steps) continue;
      const int32_t output = outputs.begin + band * kMmaOutputs + lane / 4;
      const MmaWeights by =
          OutputWeights(axis, output, outputs.end).at(of.begin + kMmaDepth * step + 4 * (lane % 4));
#pragma unroll
      for (int digit = 0; digit < kDigits; ++digit)
        weights[band * steps + step][digit][lane] =
            make_uint2(by.digits[digit][0], by.digits[digit][1]);
    }
  }
};

template <bool kDown>
__device__ __forceinline__ Pass pass_of(const ResizeFusedParams& params, int32_t log, int32_t steps,
                                        uint8_t* weights, uint8_t* shared) {
  const Tile& tile = head_of(shared).tile;
  return {kDown ? params.y : params.x, kDown ? tile.down : tile.across, log, steps,
          reinterpret_cast<uint2(*)[kDigits][32]>(weights)};
}
template <bool kDownFirst>
__device__ __forceinline__ Pass first_of(const ResizeFusedParams& params, uint8_t* shared) {
  return pass_of<kDownFirst>(params, params.first_log, params.first_steps, shared + params.weights,
                             shared);
}
template <bool kDownFirst>
__device__ __forceinline__ Pass second_of(const ResizeFusedParams& params, uint8_t* shared) {
  const int32_t before = (params.first_steps << params.first_log) * kResizeStepWeights;
  return pass_of<!kDownFirst>(params, params.second_log, params.second_steps,
                              shared + params.weights + before, shared);
}

// Adds up a step of eight outputs: of kCount products of matrices.
template <int kCount>
__device__ __forceinline__ void add_step(const uint2 (&weights)[kDigits][32],
                                         const MmaLines (&lines)[kCount], MmaSums (&sums)[kCount]) {
#pragma unroll
  for (int digit = 0; digit < kDigits; ++digit) {
    const uint2 both = weights[digit][threadIdx.x % 32];
    const uint32_t by[2] = {both.x, both.y};
#pragma unroll
    for (int i = 0; i < kCount; ++i) multiply_add(lines[i], by, sums[i].digits[digit]);
  }
}

// ---- The first pass ----

// Along rows, `count` of which are in shared memory, from row `first` of the window on. Results are
// transposed: between[channel][output][row].
template <int kChannels, bool kPacked>
__device__ __forceinline__ void add_along(const ResizeFusedParams& params, const Pass& pass,
                                          int32_t lead, int32_t first, int32_t count,
                                          uint8_t* shared) {
  constexpr int32_t kBytes = kPacked ? kChannels : 1;  // from a sample to the next
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t pitch = params.raw_pitch, origin = lead - pass.begin() * kBytes;
#pragma unroll 1
  for (auto unit = static_cast<int32_t>(threadIdx.x / 32);; unit += kWarps) {
    const int32_t number = pass.band_of(unit), top = (unit >> pass.log) * kMmaLines;
    if (top >= count) break;
    const Band band = pass.outputs.bands[number];
    const auto* weights = pass.weights + number * pass.steps;
    const uint8_t* at = shared + kResizeHead + (top + lane / 4) * pitch + origin +
                        (band.begin + 4 * (lane % 4)) * kBytes;
    MmaSums sums[kChannels];
#pragma unroll
    for (int c = 0; c < kChannels; ++c) sums[c] = empty_sums();
#pragma unroll 1
    for (const auto* const end = weights + band.steps; weights != end;
         ++weights, at += kMmaDepth * kBytes) {
      MmaLines lines[kChannels];
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        uint32_t samples[kChannels];
        load_four<kChannels, kPacked>(at + part % 2 * 8 * pitch + part / 2 * 16 * kBytes,
                                      params.raw_segment, samples);
#pragma unroll
        for (int c = 0; c < kChannels; ++c) lines[c].words[part] = samples[c];
      }
      add_step(*weights, lines, sums);
    }
    // Computed again, so that fewer registers are in use before.
    const auto own = static_cast<int32_t>(thread_of_cta_again() % 32);
    int32_t same = unit;
    keep_in_register(same);
    uint8_t* to = shared + params.between +
                  (pass.band_of(same) * kMmaOutputs + own % 4 * 2) * params.between_pitch + first +
                  (same >> pass.log) * kMmaLines + own / 4;
#pragma unroll
    for (int c = 0; c < kChannels; ++c, to += params.between_segment)
#pragma unroll
      for (int line = 0; line < 2; ++line) {
        const uint32_t both =
            pack_clamped(sum_of_digits(sums[c], 2 * line + 1), sum_of_digits(sums[c], 2 * line), 0);
        to[8 * line] = static_cast<uint8_t>(both);
        to[8 * line + params.between_pitch] = static_cast<uint8_t>(both >> 8);
      }
  }
}

// Down columns of bytes, `count` of which are in shared memory, from byte `first` of the window's
// rows on. Results are rows like those of the input: between[output][byte].
template <int kPlanes>
__device__ __forceinline__ void add_down(const ResizeFusedParams& params, const Pass& pass,
                                         int32_t first, int32_t count, uint8_t* shared) {
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const int32_t pitch = params.raw_pitch, groups = (count + kResizeGroup - 1) / kResizeGroup;
  const int32_t units = groups * (params.is_packed ? 1 : kPlanes) << pass.log;
#pragma unroll 1
  for (auto unit = static_cast<int32_t>(threadIdx.x / 32); unit < units; unit += kWarps) {
    const int32_t number = pass.band_of(unit), plane = (unit >> pass.log) / groups;
    const int32_t column = ((unit >> pass.log) - plane * groups) * kResizeGroup + 4 * (lane / 4);
    const Band band = pass.outputs.bands[number];
    const auto* weights = pass.weights + number * pass.steps;
    const uint8_t* at = shared + kResizeHead +
                        (band.begin - pass.begin() + 4 * (lane % 4)) * pitch +
                        plane * params.raw_segment + column;
    MmaSums sums[4];  // of bytes 0 to 3 of words
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) sums[byte] = empty_sums();
#pragma unroll 1
    for (const auto* const end = weights + band.steps; weights != end;
         ++weights, at += kMmaDepth * pitch) {
      MmaLines lines[4];
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const uint8_t* words = at + part % 2 * (kResizeGroup / 2) + part / 2 * 16 * pitch;
        uint32_t rows[4], columns[4];
#pragma unroll
        for (int row = 0; row < 4; ++row)
          rows[row] = *reinterpret_cast<const uint32_t*>(words + row * pitch);
        transpose_bytes(rows, columns);
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) lines[byte].words[part] = columns[byte];
      }
      add_step(*weights, lines, sums);
    }
    uint8_t* to = shared + params.between +
                  (number * kMmaOutputs + lane % 4 * 2) * params.between_pitch +
                  plane * params.between_segment + first + column;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      *reinterpret_cast<uint32_t*>(to + i % 2 * params.between_pitch + i / 2 * (kResizeGroup / 2)) =
          pack_four_clamped(sum_of_digits(sums[0], i), sum_of_digits(sums[1], i),
                            sum_of_digits(sums[2], i), sum_of_digits(sums[3], i));
  }
}

// A CTA's pictures, one after the other; a job of a batch has one.
template <bool kWalks>
struct Walk {
  const ResizeFusedParams& params;
  uint32_t state = 0;  // twice the picture's number; and whether an odd number of parts was awaited

  __device__ __forceinline__ explicit Walk(const ResizeFusedParams& of) : params(of) {
    if (kWalks) state = 2 * blockIdx.y * params.walk;
  }
  // Of the part that begins with `first`: 0 and 1 in turn. Where only one picture's are counted, no
  // register has it between them.
  __device__ __forceinline__ uint32_t phase(int32_t first) {
    if (!kWalks) return static_cast<uint32_t>(first) / static_cast<uint32_t>(params.round) % 2;
    state ^= 1;
    return ~state & 1;
  }
  __device__ __forceinline__ uint32_t picture() const { return kWalks ? state / 2 : 0; }
  __device__ __forceinline__ bool is_last() const {
    const uint32_t next = picture() + 1;
    return !kWalks || next >= params.count || next % params.walk == 0;
  }
  __device__ __forceinline__ uint8_t* const* from(uint32_t number) const {
    return kWalks && params.pictures != nullptr ? params.pictures[number].from : params.from.data;
  }
  __device__ __forceinline__ uint8_t* const* to() const {
    return kWalks && params.pictures != nullptr ? params.pictures[picture()].to : params.to.data;
  }
};

// Begins to copy what a round of the first pass takes, from row or byte `first` of the window on.
template <int kChannels, bool kDownFirst, bool kWalks>
__device__ __forceinline__ void begin_round(const Walk<kWalks>& walk, uint32_t picture,
                                            int32_t first, uint8_t* shared) {
  const ResizeFusedParams& params = walk.params;
  const Tile& tile = head_of(shared).tile;
  ResizePart part = {walk.from(picture), tile.first_row, tile.rows, tile.first_byte, tile.bytes};
  if constexpr (kDownFirst) {
    part.first_byte += first;
    part.bytes = min(params.round, part.bytes - first);
  } else {
    part.first_row += first;
    part.rows = min(params.round, part.rows - first);
  }
  begin_part<kChannels>(params, part, shared);
}

// All rounds of the first pass; the first one's copies are under way.
template <int kChannels, bool kDownFirst, bool kWalks>
__device__ __forceinline__ void first_pass(Walk<kWalks>& walk, uint8_t* shared) {
  const ResizeFusedParams& params = walk.params;
#pragma unroll 1
  for (int32_t first = 0;;) {
    wait_for_part(params, walk.phase(first), shared);
    __syncthreads();
    const Tile& tile = head_of(shared).tile;
    const int32_t left = (kDownFirst ? tile.bytes : tile.rows) - first;
    const int32_t count = min(params.round, left);
    if constexpr (kDownFirst)
      add_down<kChannels>(params, first_of<true>(params, shared), first, count, shared);
    else if (kChannels > 1 && params.is_packed)
      add_along<kChannels, true>(params, first_of<false>(params, shared), tile.lead, first, count,
                                 shared);
    else
      add_along<kChannels, false>(params, first_of<false>(params, shared), tile.lead, first, count,
                                  shared);
    __syncthreads();
    if (left <= params.round) break;
    first += params.round;
    begin_round<kChannels, kDownFirst>(walk, walk.picture(), first, shared);
  }
}

// ---- The second pass ----

// Samples of 16 lines of the first pass's results, of one channel: its outputs' rows; or its rows,
// which are like those of the input.
template <int kChannels, bool kDownFirst>
__device__ __forceinline__ MmaLines load_between(const ResizeFusedParams& params, const uint8_t* at,
                                                 int32_t channel) {
  if constexpr (kDownFirst && kChannels > 1) {
    if (params.is_packed) {
      MmaLines lines;
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        uint32_t samples[kChannels];
        load_four<kChannels, true>(
            at + part % 2 * 8 * params.between_pitch + part / 2 * 16 * kChannels, 0, samples);
        lines.words[part] = samples[0];
#pragma unroll
        for (int c = 1; c < kChannels; ++c)
          if (channel == c) lines.words[part] = samples[c];
      }
      return lines;
    }
  }
  return load_lines(at, params.between_pitch);
}

// To results[channel of the output][line][output].
template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void second_pass(const ResizeFusedParams& params, uint8_t* shared) {
  const Pass pass = second_of<kDownFirst>(params, shared);
  const int32_t lead = kDownFirst ? head_of(shared).tile.lead : 0;
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  const bool packed = kDownFirst && params.is_packed;
  const int32_t bytes = packed ? kChannels : 1, pitch = params.between_pitch;
#pragma unroll 1
  for (auto unit = static_cast<int32_t>(threadIdx.x / 32);
       unit < kChannels << (params.first_log - 1 + pass.log); unit += kWarps) {
    const int32_t channel = unit % kChannels, number = pass.band_of(unit / kChannels);
    const int32_t line = (unit / kChannels >> pass.log) * kMmaLines + lane / 4;
    const int32_t to = params.channel_of[channel];
    if (to < 0) continue;
    const Band band = pass.outputs.bands[number];
    const auto* weights = pass.weights + number * pass.steps;
    const int32_t plane = packed ? 0 : channel * params.between_segment;
    const uint8_t* at = shared + params.between + line * pitch + plane + lead +
                        (band.begin - pass.begin() + 4 * (lane % 4)) * bytes;
    MmaSums sums[1] = {empty_sums()};
#pragma unroll 1
    for (const auto* const end = weights + band.steps; weights != end;
         ++weights, at += kMmaDepth * bytes) {
      const MmaLines lines[1] = {load_between<kChannels, kDownFirst>(params, at, channel)};
      add_step(*weights, lines, sums);
    }
    uint8_t* result = shared + params.results +
                      (((to * kMmaOutputs << params.first_log) + line) * kMmaOutputs << pass.log) +
                      number * kMmaOutputs + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      *reinterpret_cast<uint16_t*>(result + (8 * i * kMmaOutputs << pass.log)) =
          static_cast<uint16_t>(
              pack_clamped(sum_of_digits(sums[0], 2 * i + 1), sum_of_digits(sums[0], 2 * i), 0));
  }
  __syncthreads();
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void put_results(const ResizeFusedParams& params, uint8_t* const* planes,
                                            uint8_t* shared) {
  const Outputs &across = head_of(shared).tile.across, &down = head_of(shared).tile.down;
  const int32_t height = height_of<kDownFirst>(params), width = width_of<kDownFirst>(params);
  const int32_t width_log = 3 + (kDownFirst ? params.second_log : params.first_log);
  const uint8_t* results = shared + params.results;
#pragma unroll 1
  for (auto i = static_cast<int32_t>(threadIdx.x); i < width * height; i += kResizeFusedThreads) {
    const int32_t column = i & (width - 1), row = i >> width_log;
    if (across.begin + column >= across.end || down.begin + row >= down.end) continue;
    ResizePixel pixel = {};
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      pixel.of[c] = results[c * width * height + (kDownFirst ? i : column * height + row)];
    put_pixel(params, planes, across.begin + column, down.begin + row, pixel);
  }
}

// The next picture's window is copied during the second pass of the one before.
template <int kChannels, bool kDownFirst, bool kWalks>
__device__ __forceinline__ void resize_tiles(const ResizeFusedParams& params) {
  uint8_t* const shared = dynamic_shared();
  set_tile<kChannels, kDownFirst>(params, &head_of(shared).tile);
  if (has_bulk_copies(params) && threadIdx.x == 64) bulk_copies(shared).init();
  __syncthreads();
  Walk<kWalks> walk(params);
  begin_round<kChannels, kDownFirst>(walk, walk.picture(), 0, shared);
  first_of<kDownFirst>(params, shared).stage_weights();
  second_of<kDownFirst>(params, shared).stage_weights();
#pragma unroll 1
  for (;;) {
    first_pass<kChannels, kDownFirst>(walk, shared);
    const bool is_last = walk.is_last();
    if (!is_last) begin_round<kChannels, kDownFirst>(walk, walk.picture() + 1, 0, shared);
    second_pass<kChannels, kDownFirst>(params, shared);
    put_results<kChannels, kDownFirst>(params, walk.to(), shared);
    if (is_last) break;
    walk.state += 2;
  }
}

template <int kChannels, bool kDownFirst>
__device__ __forceinline__ void resize_tile(const ResizeFusedParams& job) {
  ResizeFusedParams& params = head_of(dynamic_shared()).params;
  static_assert(sizeof params % sizeof(uint64_t) == 0);
  for (uint32_t i = threadIdx.x; i < sizeof params / sizeof(uint64_t); i += kResizeFusedThreads)
    reinterpret_cast<uint64_t*>(&params)[i] = __ldg(reinterpret_cast<const uint64_t*>(&job) + i);
  __syncthreads();
  resize_tiles<kChannels, kDownFirst, false>(params);
}

}  // namespace

#define CT_DEFINE(name, channels, down_first)                                     \
  extern "C" __global__ void __launch_bounds__(kResizeFusedThreads,               \
                                               resize_ctas(channels, down_first)) \
      name(const __grid_constant__ ResizeFusedParams params) {                    \
    resize_tiles<channels, down_first, true>(params);                             \
  }
CT_RESIZE_FUSED_KERNELS(CT_DEFINE)
#undef CT_DEFINE

#define CT_DEFINE(name, channels, down_first)                                                    \
  extern "C" __global__ void __launch_bounds__(kResizeFusedThreads,                              \
                                               resize_ctas(channels, down_first))                \
      name(const __grid_constant__ BatchParams<ResizeFusedParams> batch) {                       \
    run_job(batch,                                                                               \
            [](const ResizeFusedParams& params) { resize_tile<channels, down_first>(params); }); \
  }
CT_RESIZE_FUSED_BATCH_KERNELS(CT_DEFINE)
#undef CT_DEFINE

}  // namespace cudatransform::cuda
