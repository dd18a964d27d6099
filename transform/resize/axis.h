// The weights of a filter along one side of a picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// In double precision, each operation rounded (no fused multiply-add), with the C library's sin()
// and cos(): an ulp more or less may change a weight. So both engines take them from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "transform/resize/resize.h"

namespace cudatransform {

inline constexpr int kResizeFraction = 22;  // bits of weights
inline constexpr int32_t kResizeHalf = 1 << (kResizeFraction - 1);

// A sum of weighted samples, begun with kResizeHalf. It fits in 32 bits for every filter: |weights|
// add up to less than 1.58, so |sums| stay below .65 of 2^31.
inline uint8_t resize_byte(int32_t sum) {
  const int32_t value = sum >> kResizeFraction;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

// Output o is the sum of the samples from first[o] on, `count[o]` of them, by weights[o * taps +
// i]; weights after these are 0.
struct ResizeAxis {
  static constexpr int32_t kBand = 8, kBandAlignment = 4;

  int32_t in = 0, out = 0;
  int32_t taps = 0;  // the most that an output has
  std::vector<int32_t> first, count, weights;
  // Of each kBand outputs the first sample, rounded down to a multiple of kBandAlignment, and the
  // end of the last one's samples.
  std::vector<int32_t> bands;

  // The samples that outputs depend on.
  int32_t begin() const { return first.front(); }
  int32_t end() const { return first.back() + count.back(); }
};

double resize_support(ResizeFilter filter);

// From `from` to `to` of `in` samples to `out`. Not kNearest.
ResizeAxis make_resize_axis(ResizeFilter filter, int32_t in, double from, double to, int32_t out);

// Axes that have been used: video and data sets of one size have the same again and again, and
// sines take long. For one thread.
class ResizeAxisCache {
 public:
  explicit ResizeAxisCache(size_t max_bytes) : max_bytes_(max_bytes) {}
  // As make_resize_axis().
  std::shared_ptr<const ResizeAxis> axis(ResizeFilter filter, int32_t in, double from, double to,
                                         int32_t out);

 private:
  using Key = std::tuple<int, int32_t, double, double, int32_t>;

  const size_t max_bytes_;
  std::map<Key, std::shared_ptr<const ResizeAxis>> axes_;
  size_t bytes_ = 0;
};

// The sample of each output with kNearest; -1 where there is none.
std::vector<int32_t> nearest_positions(int32_t in, double from, double to, int32_t out);

}  // namespace cudatransform
