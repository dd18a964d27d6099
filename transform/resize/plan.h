// The plan of a job: its passes, their order and their weights, for both engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/resize/resize.h"

namespace cudatransform {

// A side of the picture: filtered, or moved.
struct ResizeSide {
  bool is_filtered;
  int32_t in, out;
  double from, to;  // the box's edges; where it is not filtered, `from` is the first sample
};

struct ResizePlan {
  // Samples are picked, not added up: kNearest.
  bool picks = false;
  ResizeSide x, y;
  bool rows_first = false;  // the vertical pass, where there are two
  bool premultiplies = false;

  bool filters() const { return !picks && (x.is_filtered || y.is_filtered); }
};

// Of a job that validate() has passed.
ResizePlan plan_resize(const ResizeJob& job);

// ---- The arithmetic around the passes, which kernels share ----

// A color multiplied by alpha, and back.
constexpr uint32_t premultiplied(uint32_t color, uint32_t alpha) {
  const uint32_t product = color * alpha + 128;
  return (product + (product >> 8)) >> 8;
}
constexpr uint32_t divided_by_alpha(uint32_t color, uint32_t alpha) {
  if (alpha == 0 || alpha == 255) return color;
  const uint32_t value = 255 * color / alpha;
  return value < 255 ? value : 255;
}

// The mean of `count` samples: (sum + count / 2) * multiplier >> 24, in 32 bits.
constexpr uint32_t reduction_multiplier(uint32_t count) {
  return static_cast<uint32_t>(4294967296.f / static_cast<float>(256 * count));
}
constexpr uint32_t reduced_mean(uint32_t sum, uint32_t count, uint32_t multiplier) {
  return ((sum + count / 2) * multiplier) >> 24;
}

// The bits of a number of 16 that is nearest, of two the even one.
uint16_t float16_bits(float value);
uint16_t bfloat16_bits(float value);

}  // namespace cudatransform
