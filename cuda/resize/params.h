// Parameters of the resampling kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "transform/resize/resize.h"

namespace cudatransform::cuda {

// In the order of CT_RESIZE_PASS_KERNELS.
enum class ResizePass { kReduce, kAlong, kDown, kPick };

// A CTA has kResizeAcross pixels of kResizeRows rows.
inline constexpr uint32_t kResizeAcross = 32, kResizeRows = 4;
inline constexpr uint32_t kResizeThreads = kResizeAcross * kResizeRows;

// As ResizePicture.
struct ResizeView {
  uint8_t* data[kMaxResizeChannels];
  int64_t pitch[kMaxResizeChannels];
  int32_t width, height, step;
};

// A filter along one side: as ResizeAxis. Device addresses.
struct ResizeAxisView {
  const int32_t *first, *count, *weights;
  int32_t taps;
};

struct ResizePassParams {
  ResizeView from, to;
  int32_t channels;
  // kAlong and kDown.
  ResizeAxisView axis;
  // kPick: the sample of each column and row, -1 where there is none; or the samples from `left`
  // and `top` on where these are null.
  const int32_t *columns, *rows;
  // kReduce: as ResizeReduction.
  int32_t left, top, right, bottom, reduce_x, reduce_y;
  bool premultiplies;
  // Of the last pass: after it, colors are divided by alpha, and samples become the values of a
  // table.
  bool divides;
  ResizeType type;
  const void* table;
  // CTAs side by side.
  uint32_t across;
  Divider by_across;
};

// ---- Both passes in one kernel ----

// A CTA has a square of this many pixels, or half of it: of the second pass, less outputs.
inline constexpr int32_t kResizeTile = 16, kResizeSmallTile = 8;
inline constexpr uint32_t kResizeFusedThreads = 256;
// Windows of tiles begin at multiples of this.
inline constexpr int32_t kResizeAlignment = 4;
// Bytes of shared memory for a line of the first pass, and of the second.
constexpr int32_t resize_window_pitch(int channels) { return channels == 4 ? 208 : 272; }
constexpr int32_t resize_between_pitch(int channels) { return channels == 4 ? 208 : 240; }
// A step of 32 samples reads this many beyond a window.
inline constexpr int32_t kResizeBeyond = 32;
// The most steps that eight outputs may take.
constexpr int32_t resize_band_steps(int channels) { return channels == 4 ? 6 : 7; }

// Whether four samples are read as words of 32 bits: aligned ones, or from any byte on.
enum class ResizeWords { kNone, kPlanar, kPlanarShifted, kPacked, kPackedShifted };

struct ResizeFusedParams {
  ResizeView from, to;
  int32_t channels;
  ResizeAxisView x, y;
  ResizeWords words;
  int32_t tile;  // outputs of the second pass
  // As in ResizePassParams.
  bool divides;
  ResizeType type;
  const void* table;
  uint32_t across;
  Divider by_across;
};

}  // namespace cudatransform::cuda
