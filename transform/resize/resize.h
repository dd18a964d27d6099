// Resampling of pictures of 8 bits as Pillow does it, as jobs.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The samples are those of Pillow's Image.resize() and Image.reduce(). Every engine offers a
// ResizeOps; all of them write the same bytes. Weights are made on the host, in double precision
// (transform/resize/axis.h); pixels are sums of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transform/device/device.h"

namespace cudatransform {

inline constexpr int32_t kMaxResizeSide = 1 << 16;
inline constexpr int kMaxResizeChannels = 4;
inline constexpr int64_t kMaxReduction = 1 << 20;  // samples that become one

enum class ResizeFilter {
  kNearest,
  kBox,
  kBilinear,
  kHamming,
  kBicubic,
  kLanczos,
  kMks2013,  // "magic kernel sharp"; since Pillow 13
  kMks2021,
};
inline constexpr int kResizeFilterCount = 8;

// Which of the two passes comes first, which the rounding between them makes visible; and whether
// pictures with alpha take a reducing gap.
enum class ResizeOrder {
  kPillow13,  // rows (vertical) first where that is less work; gaps with alpha
  kPillow12,  // 12.2 and 12.3: columns first, except in pictures more than 100 times as high as
              // wide
  kPillow11,  // to 12.1: columns (horizontal) first
};
inline constexpr int kResizeOrderCount = 3;

// The type of output samples. Others than bytes come from a table of 256 values a channel.
enum class ResizeType { kU8, kF32, kF16, kBf16 };
inline constexpr int kResizeTypeCount = 4;

// A picture in memory: the sample of channel c at (x, y) is at data[c] + y * pitch[c] + x * step.
// So packed, planar and swapped channels are the same. Addresses are the engine's.
struct ResizePicture {
  int32_t width = 0, height = 0;
  int32_t step = 0;                          // bytes from a sample to its right neighbor
  void* data[kMaxResizeChannels] = {};       // input is only read
  ptrdiff_t pitch[kMaxResizeChannels] = {};  // bytes from one row to the next
};

// Image.reduce(): each sample is the mean of x times y of a part of the input; of the remainder
// after the last whole ones.
struct ResizeReduction {
  int32_t x = 1, y = 1;                              // 1 and 1: none
  int32_t left = 0, top = 0, right = 0, bottom = 0;  // the part; read if there is a reduction

  bool exists() const { return x > 1 || y > 1; }
};

// In samples of the picture, after its reduction. Rounded to float, as Pillow has it. Filters read
// beyond the box, as far as there is a picture.
struct ResizeBox {
  double left = 0, top = 0, right = 0, bottom = 0;
};

struct ResizeJob {
  int channels = 3;
  // The last channel is alpha, by which the others are multiplied before, and divided after, all
  // filters but kNearest.
  bool has_alpha = false;
  ResizePicture from, to;
  ResizeReduction reduction;
  ResizeBox box;
  ResizeFilter filter = ResizeFilter::kBicubic;
  ResizeOrder order = ResizeOrder::kPillow13;
  ResizeType type = ResizeType::kU8;
  // Host memory, 256 for each channel, that submit() reads before it returns; rounded to `type`.
  // Null for bytes.
  const float* table = nullptr;

  // The size that the box is in.
  int32_t reduced_width() const;
  int32_t reduced_height() const;
};

// The whole picture, reduced or not.
ResizeBox whole_box(const ResizeJob& job);

// Pillow's reducing_gap, at least 1: reduces the picture as far as `gap` times the output's size
// allows, and sets the box within the reduced picture. Sizes, filter and box are set, and there is
// no reduction yet.
Status set_reducing_gap(double gap, ResizeJob* job);

// Checks everything that an engine relies on.
Status validate(const ResizeJob& job);

// ---- Values: the floats that vision models take for bytes, by the recipes of common libraries
// ----

// How a byte x becomes a float, to the bit: all operations in float unless stated.
enum class ValueRecipe {
  kTorchvision,    // ToTensor, Normalize: x / 255, less the mean, by the deviation
  kTorchvisionV2,  // v2.ToDtype(scale=True): x * float(1 / 255), then the same
  kHf,             // Hugging Face's image processors: x / 255 in double, then the same
  kHfFast,         // their fast ones: (x - 255 mean) / (255 deviation)
};
inline constexpr int kValueRecipeCount = 4;

// 256 values for each of `channels` channels, as ResizeJob::table has them. `mean` and `deviation`
// have a number for each channel, or none: then values are only scaled.
Status make_values(ValueRecipe recipe, int channels, std::span<const double> mean,
                   std::span<const double> deviation, float* table);

// The operation of one engine, for a batch of pictures of any sizes, whose outputs do not overlap
// any of their memory. The call returns immediately; `fence` (may be null) is done when outputs are
// complete. If a job is refused, none is begun.
struct ResizeOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, std::span<const ResizeJob> jobs, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch), oneTBB over strips of rows.
const ResizeOps& host_resize_ops();

// The same with rows in portable C++. The vector code is tested against it.
const ResizeOps& portable_resize_ops();

}  // namespace cudatransform
