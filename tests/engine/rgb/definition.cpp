// RGB of planes, and planes of RGB, a sample after another: the judge of engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Written from real numbers: filters have the weights 3/4 and 1/4, and color the coefficients of
// JFIF with 16 bits of fraction. libjpeg-turbo judges it (tests/jpeg/rgb_test.cpp).
#include "tests/engine/rgb/definition.h"

#include <algorithm>
#include <cmath>

namespace cudatransform::test {
namespace {

int divide_up(int a, int b) { return (a + b - 1) / b; }

int64_t floor_divide(int64_t a, int64_t b) { return a < 0 ? -((-a + b - 1) / b) : a / b; }

int64_t fixed(double coefficient) { return std::llround(coefficient * 65536); }

int clamped(const Plane& plane, int x, int y) {
  return plane.at(std::clamp(x, 0, plane.width - 1), std::clamp(y, 0, plane.rows - 1));
}

// The next sample from the one that contains position `at`, transposed.
int beside(int at) { return at / 2 + (at % 2 == 0 ? -1 : 1); }

int upsampled(const Plane& plane, const RgbSubsampling& by, ChromaUpsampling how, int x, int y) {
  const int column = x / by.x, row = y / by.y;
  const bool fancy = how == ChromaUpsampling::kFancy && by.x <= 2 && by.y <= 2;
  if (!fancy || (by.x == 2 && plane.width <= 2)) return plane.at(column, row);
  const auto of_rows = [&](int at) {
    return by.y == 1 ? plane.at(at, row) : 3 * plane.at(at, row) + clamped(plane, at, beside(y));
  };
  if (by.x == 1) return by.y == 1 ? plane.at(x, y) : (of_rows(x) + (y % 2 == 0 ? 1 : 2)) / 4;
  const int next = std::clamp(beside(x), 0, plane.width - 1);
  const int sum = 3 * of_rows(column) + of_rows(next);
  if (by.y == 1) return (sum + (x % 2 == 0 ? 1 : 2)) / 4;
  return (sum + (x % 2 == 0 ? 8 : 7)) / 16;
}

int64_t rounded(int64_t fixed_point) { return floor_divide(fixed_point + 32768, 65536); }

void put_rgb(int y, int cb, int cr, int x, int row, Picture* to) {
  const int64_t b = cb - 128, r = cr - 128;
  const int64_t values[3] = {y + rounded(fixed(1.402) * r),
                             y + rounded(-fixed(.34414) * b - fixed(.71414) * r),
                             y + rounded(fixed(1.772) * b)};
  for (size_t c = 0; c < 3; ++c)
    (*to)[c].at(x, row) = static_cast<int>(std::clamp<int64_t>(values[c], 0, 255));
}

// The component at full size.
Plane converted(const Picture& rgb, RgbColor color, int component) {
  if (color == RgbColor::kRgb) return rgb[static_cast<size_t>(component)];
  static constexpr double kWeights[3][3] = {
      {.299, .587, .114}, {-.16874, -.33126, .5}, {.5, -.41869, -.08131}};
  const double* weights = kWeights[component];
  Plane to(rgb[0].width, rgb[0].rows);
  for (size_t i = 0; i < to.samples.size(); ++i) {
    int64_t sum = component == 0 ? 0 : 128 * 65536 - 1;
    for (size_t c = 0; c < 3; ++c) {
      const int64_t weight = fixed(std::abs(weights[c])) * (weights[c] < 0 ? -1 : 1);
      sum += weight * rgb[c].samples[i];
    }
    to.samples[i] = static_cast<int>(rounded(sum));
  }
  return to;
}

int downsampled(const Plane& full, const RgbSubsampling& by, int column, int row) {
  int sum = 0;
  for (int y = 0; y < by.y; ++y)
    for (int x = 0; x < by.x; ++x) sum += clamped(full, column * by.x + x, row * by.y + y);
  const int count = by.x * by.y;
  if (by.x == 2 && by.y <= 2) return (sum + count / 2 - (column % 2 == 0 ? 1 : 0)) / count;
  return (sum + count / 2) / count;
}

}  // namespace

Picture rgb_planes(const RgbCase& of, bool in_blocks) {
  Picture planes;
  for (int c = 0; c < of.components(); ++c) {
    const int width = divide_up(of.width, of.subsampling[c].x);
    const int height = divide_up(of.height, of.subsampling[c].y);
    planes.emplace_back(in_blocks ? divide_up(width, 8) * 8 : width,
                        in_blocks ? divide_up(height, 8) * 8 : height);
  }
  return planes;
}

Picture define_rgb(const RgbCase& of, const Picture& planes) {
  Picture rgb(3, Plane(of.width, of.height));
  for (int y = 0; y < of.height; ++y) {
    for (int x = 0; x < of.width; ++x) {
      int values[3] = {};
      for (int c = 0; c < 3; ++c) {
        const int from = c < of.components() ? c : 0;
        values[c] =
            upsampled(planes[static_cast<size_t>(from)], of.subsampling[from], of.upsampling, x, y);
      }
      if (of.color == RgbColor::kYcbcr)
        put_rgb(values[0], values[1], values[2], x, y, &rgb);
      else
        for (size_t c = 0; c < 3; ++c) rgb[c].at(x, y) = values[c];
    }
  }
  return rgb;
}

Picture define_planes(const RgbCase& of, const Picture& rgb) {
  Picture planes = rgb_planes(of, true);
  for (int c = 0; c < of.components(); ++c) {
    const RgbSubsampling& by = of.subsampling[c];
    const Plane full = converted(rgb, of.color, c);
    Plane& to = planes[static_cast<size_t>(c)];
    // Columns after the picture are samples of its last column. Rows after the component are its
    // last row.
    for (int y = 0; y < to.rows; ++y)
      for (int x = 0; x < to.width; ++x)
        to.at(x, y) = downsampled(full, by, x, std::min(y, divide_up(of.height, by.y) - 1));
  }
  return planes;
}

}  // namespace cudatransform::test
