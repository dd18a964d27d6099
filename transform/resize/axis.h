// The weights of a filter along one side of a picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// In double precision, each operation rounded (no fused multiply-add), with the C library's sin()
// and cos(): an ulp more or less may change a weight. So both engines take them from here. Vectors
// compute with other roundings, and find out where these matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
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
  std::span<const int32_t> first, count, weights;
  // Of each kBand outputs the first sample, rounded down to a multiple of kBandAlignment, and the
  // end of the last one's samples.
  std::span<const int32_t> bands;
  // All of them, one after the other, each at a multiple of 16 bytes.
  std::span<const int32_t> all;
  std::unique_ptr<int32_t[]> memory;

  // The samples that outputs depend on.
  int32_t begin() const { return first.front(); }
  int32_t end() const { return first.back() + count.back(); }
};

double resize_support(ResizeFilter filter);

// What weights are made of, and where they go: as ResizeAxis has them.
struct ResizeWeighing {
  ResizeFilter filter;
  int32_t in, out, taps;
  // Output o is centered at from + (o + .5) * scale, and has the samples within `reach` of it,
  // whose distance is multiplied by `narrow`.
  double from, scale, reach, narrow;
  int32_t *first, *count, *weights;  // with room for a multiple of kResizeWeighed outputs
};
inline constexpr size_t kResizeWeighed = 8;

// Of the outputs from `begin` to `end`, by Pillow's operations.
void weigh_resize_outputs(const ResizeWeighing& of, int32_t begin, int32_t end);

// Computes the same weights, of all outputs, with this CPU's vectors.
using ResizeWeigher = void (*)(const ResizeWeighing& of);
ResizeWeigher resize_weigher();

// From `from` to `to` of `in` samples to `out`. Not kNearest.
ResizeAxis make_resize_axis(ResizeFilter filter, int32_t in, double from, double to, int32_t out,
                            ResizeWeigher weigh = resize_weigher());

// Axes that have been used: video and data sets of one size have the same again and again, and
// weights take long. For one thread.
class ResizeAxisCache {
 public:
  explicit ResizeAxisCache(size_t max_bytes) : max_bytes_(max_bytes) {}
  // As make_resize_axis().
  std::shared_ptr<const ResizeAxis> axis(ResizeFilter filter, int32_t in, double from, double to,
                                         int32_t out);

 private:
  using Key = std::tuple<int, int32_t, double, double, int32_t>;
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  const size_t max_bytes_;
  std::unordered_map<Key, std::shared_ptr<const ResizeAxis>, Hash> axes_;
  size_t bytes_ = 0;
};

// The sample of each output with kNearest; -1 where there is none.
std::vector<int32_t> nearest_positions(int32_t in, double from, double to, int32_t out);

}  // namespace cudatransform
