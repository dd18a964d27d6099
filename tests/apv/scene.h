// A synthetic scene of 4:2:2, 10 bits, for measurements: stripes of many directions and widths,
// moving, in noise.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace cudatransform::test {

class ApvScene {
 public:
  // `noise`: its standard deviation, about.
  ApvScene(uint32_t width, uint32_t height, double noise)
      : width_(width), height_(height), noise_(0, noise) {}

  uint32_t width_of(int component) const { return component == 0 ? width_ : width_ / 2; }

  std::vector<uint16_t> draw(int frame, int component) {
    const uint32_t width = width_of(component);
    const double stretch = component == 0 ? 1 : 2;
    std::vector<uint16_t> plane(size_t{width} * height_);
    for (uint32_t y = 0; y < height_; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        const double value = sample(frame, component, stretch * x, y);
        plane[size_t{width} * y + x] =
            static_cast<uint16_t>(std::clamp(std::round(value) + 512, 0., 1023.));
      }
    }
    return plane;
  }

 private:
  double sample(int frame, int component, double x, double y) {
    const double far = std::hypot(x / width_ - .3, y / width_ - .3);
    const double value = std::sin(.05 * x + .02 * frame) * std::cos(.031 * y) * 90 +
                         std::sin(800 * far * far + .3 * frame) * 100 + 60 * std::sin(.003 * x * y);
    return (component == 0 ? value : value / 4) + (component == 0 ? 1 : .5) * noise_(random_);
  }

  const uint32_t width_, height_;
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
};

}  // namespace cudatransform::test
