// A plane of 16 bits in separate memory, as jobs of engines take it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transform/picture.h"

namespace cudatransform::test {

// Not copied: the plane points into it. It may be moved.
class WidePlane {
 public:
  WidePlane(int width, int height, SampleType type)
      : data_(static_cast<size_t>(width) * static_cast<size_t>(height)) {
    plane.data = data_.data();
    plane.type = type;
    plane.stride = 2;
    plane.width = width;
    plane.height = height;
    plane.pitch = ptrdiff_t{2} * width;
  }
  WidePlane(WidePlane&&) = default;
  WidePlane(const WidePlane&) = delete;
  WidePlane& operator=(const WidePlane&) = delete;

  void set(int x, int y, int64_t value) {
    data_[static_cast<size_t>(y) * static_cast<size_t>(plane.width) + static_cast<size_t>(x)] =
        static_cast<uint16_t>(value);
  }
  SamplePlane plane;

 private:
  std::vector<uint16_t> data_;
};

// The prediction of the coefficient at (x, y) of an intra picture's coarsest band, from the ones
// left of, above, and above to the left of it.
template <typename Coefficients>
int64_t dc_prediction(const Coefficients& known, int x, int y) {
  if (x == 0 && y == 0) return 0;
  if (y == 0) return known.at(x - 1, y);
  if (x == 0) return known.at(x, y - 1);
  const int64_t sum = int64_t{known.at(x - 1, y)} + known.at(x - 1, y - 1) + known.at(x, y - 1) + 1;
  return sum >= 0 ? sum / 3 : -((-sum + 2) / 3);
}

}  // namespace cudatransform::test
