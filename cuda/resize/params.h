// Parameters of the resampling kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/divider.h"
#include "transform/resize/axis.h"
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
  const int32_t *first, *count, *weights, *bands;
  int32_t taps;

  bool operator==(const ResizeAxisView&) const = default;
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

inline constexpr int32_t kResizeBand = ResizeAxis::kBand;
// Outputs of a CTA's passes: of small tiles, the second has less than the first.
inline constexpr int32_t kResizeTile = 16, kResizeSmallTile = 8, kResizeLargeTile = 32;
inline constexpr uint32_t kResizeFusedThreads = 256;
// CTAs of a multiprocessor: four products of matrices at a time take more registers.
constexpr int resize_ctas(int channels, bool down_first) {
  return down_first || channels == 4 ? 2 : 3;
}
// Copies of rows begin at multiples of so many bytes.
inline constexpr int32_t kResizeCopyAlignment = 16;
// A step adds up 32 samples by weights of three digits for eight outputs.
inline constexpr int32_t kResizeStep = 32, kResizeStepWeights = 3 * 256;
// What a warp adds up together: lines, or columns of bytes where the vertical pass comes first.
inline constexpr int32_t kResizeLines = 16, kResizeGroup = 64;
// Of shared memory, for a CTA's barrier, tile and parameters.
inline constexpr int32_t kResizeHead = 768;

// How the input's rows get to shared memory: in aligned copies of whole rows (of 16 bytes on GPUs
// that have no others), of 16 or 4 bytes; in words that begin at any byte; or sample by sample.
enum class ResizeCopies { kRows, kSixteen, kFour, kShifted, kSamples };

// A picture and its result, where all else is as in the first one's parameters (have_one_shape() in
// engine.cpp compares it).
struct ResizeAddresses {
  uint8_t *from[kMaxResizeChannels], *to[kMaxResizeChannels];
};

struct ResizeFusedParams {
  // The input has a channel of the kernel for each byte of its pixels, or for each of its planes.
  ResizeView from, to;
  ResizeAxisView x, y;
  ResizeCopies copies;
  bool is_packed;
  int32_t row_bytes;              // of the input, up to its last sample
  int32_t first_log, second_log;  // of the bands of a tile's passes, to base 2
  // Shared memory behind kResizeHead, in this order: rows of the window as they are in memory; the
  // first pass's results; the weights of both passes; and the second pass's results. Steps read
  // beyond windows, by less than what is between these and the last.
  int32_t raw_pitch, raw_segment;  // from row to row, from plane to plane
  int32_t between, between_pitch, between_segment;
  int32_t weights, first_steps, second_steps;  // steps of a band, at most
  int32_t results;
  // Rows, or bytes of them where the vertical pass comes first, that are there together.
  int32_t round;
  // Channels of the output; and which of them a channel of the kernel is, -1 for none.
  int32_t channels;
  int32_t channel_of[kMaxResizeChannels];
  // As in ResizePassParams.
  bool divides;
  ResizeType type;
  const void* table;
  uint32_t across;
  Divider by_across;
  // Pictures of one shape, of which a CTA has its tile in `walk` one after the other. Null where
  // there is one.
  const ResizeAddresses* pictures;
  uint32_t count, walk;
};

}  // namespace cudatransform::cuda
