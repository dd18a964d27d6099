// Moving pictures for encoders, made from numbers alone: the same on every machine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/dirac/group.h"

#include <algorithm>
#include <cstdlib>

namespace cudatransform::test {

namespace {

constexpr int kThings = 8, kShapes = 90, kGrain = 2;

// A number that looks random, from three.
uint32_t mixed(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

int between(uint32_t a, uint32_t b, uint32_t c, int from, int to) {
  return from + static_cast<int>(mixed(a, b, c) % static_cast<uint32_t>(to - from + 1));
}

// Forth and back over 0 to `most`.
int to_and_fro(int at, int most) {
  if (most <= 0) return 0;
  const int period = 2 * most;
  const int place = (at % period + period) % period;
  return place <= most ? place : period - place;
}

// Values at the corners of cells, interpolated between them, in 1/256ths.
int value_noise(uint32_t seed, int x, int y, int cell) {
  const auto corner = [&](int i, int j) {
    return static_cast<int>(mixed(seed, static_cast<uint32_t>(i), static_cast<uint32_t>(j)) & 0xff);
  };
  const int i = x / cell, j = y / cell, u = x % cell * 256 / cell, v = y % cell * 256 / cell;
  const int above = corner(i, j) * (256 - u) + corner(i + 1, j) * u;
  const int below = corner(i, j + 1) * (256 - u) + corner(i + 1, j + 1) * u;
  return ((above >> 8) * (256 - v) + (below >> 8) * v) >> 8;
}

// Octaves whose strength falls with their size, as in photographs.
int cloud(uint32_t seed, int x, int y, int largest, int smallest, int strength) {
  int sum = 0;
  for (int cell = largest; cell >= smallest; cell /= 2, strength = strength * 5 / 8)
    sum += (value_noise(seed + static_cast<uint32_t>(cell), x, y, cell) - 128) * strength;
  return sum >> 8;
}

uint8_t clipped(int value) { return static_cast<uint8_t>(std::clamp(value, 4, 251)); }

// Boxes and discs with hard edges.
void add_shapes(BasicPlane<uint8_t>* plane, int component, int scale) {
  for (uint32_t s = 0; s < kShapes; ++s) {
    const int radius = between(s, 1, 7, 10, 90) / scale;
    const int cx = between(s, 2, 7, 0, plane->width * scale) / scale;
    const int cy = between(s, 3, 7, 0, plane->rows * scale) / scale;
    const int most = component == 0 ? 45 : 14;
    const int step = between(s, 4 + static_cast<uint32_t>(component), 7, -most, most);
    for (int y = std::max(cy - radius, 0); y < std::min(cy + radius, plane->rows); ++y) {
      for (int x = std::max(cx - radius, 0); x < std::min(cx + radius, plane->width); ++x) {
        const bool inside =
            s % 2 == 0 || (x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius;
        if (inside) plane->at(x, y) = clipped(plane->at(x, y) + step);
      }
    }
  }
}

// The canvas at quarter samples.
int sampled(const BasicPlane<uint8_t>& canvas, int x, int y) {
  const int i = std::clamp(x >> 2, 0, canvas.width - 2), j = std::clamp(y >> 2, 0, canvas.rows - 2);
  const int u = x & 3, v = y & 3;
  const uint8_t* a =
      canvas.samples.data() + static_cast<size_t>(j) * static_cast<size_t>(canvas.width) + i;
  const uint8_t* b = a + canvas.width;
  return ((a[0] * (4 - u) + a[1] * u) * (4 - v) + (b[0] * (4 - u) + b[1] * u) * v + 8) >> 4;
}

}  // namespace

Scene::Scene(SceneKind kind, int width, int height) : kind_(kind), width_(width), height_(height) {
  if (kind == SceneKind::kPhotograph) paint();
}

void Scene::paint() {
  const int width = width_ + width_ / 4 + 16, height = height_ + height_ / 4 + 16;
  for (int c = 0; c < 3; ++c) {
    const int scale = c == 0 ? 1 : 2;
    BasicPlane<uint8_t>& plane = canvas_.emplace_back(width / scale, height / scale);
    for (int y = 0; y < plane.rows; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const int value = c == 0 ? cloud(1, x, y, 256, 2, 160)
                                 : cloud(static_cast<uint32_t>(1000 * c), x, y, 128, 8, 36);
        plane.at(x, y) = clipped(128 + value);
      }
    }
    add_shapes(&plane, c, scale);
  }
}

Scene::Window Scene::camera(int number) const {
  return {to_and_fro(9 * number, width_), to_and_fro(3 * number, height_)};
}

void Scene::draw_photograph(int number, std::vector<BasicPlane<uint8_t>>* planes) const {
  const Window window = camera(number);
  for (int c = 0; c < 3; ++c) {
    BasicPlane<uint8_t>& plane = (*planes)[static_cast<size_t>(c)];
    const BasicPlane<uint8_t>& canvas = canvas_[static_cast<size_t>(c)];
    const int shift = c == 0 ? 0 : 1;
    for (int y = 0; y < plane.rows; ++y) {
      for (int x = 0; x < plane.width; ++x)
        plane.at(x, y) = static_cast<uint8_t>(
            sampled(canvas, 4 * x + (window.x >> shift), 4 * y + (window.y >> shift)));
    }
    // Objects show another part of the canvas, and move on their own.
    for (uint32_t t = 0; t < kThings; ++t) {
      const int w = width_ / between(t, 1, 3, 8, 14), h = height_ / between(t, 2, 3, 6, 10);
      const int speed_x = between(t, 3, 3, 3, 15), speed_y = between(t, 4, 3, 1, 9);
      const int left =
          to_and_fro(between(t, 5, 3, 0, 8 * width_) + speed_x * number, 4 * (width_ - w));
      const int top =
          to_and_fro(between(t, 6, 3, 0, 8 * height_) + speed_y * number, 4 * (height_ - h));
      const int from_x = between(t, 7, 3, 0, width_ / 4), from_y = between(t, 8, 3, 0, height_ / 4);
      for (int y = (top >> 2 >> shift); y < (top >> 2 >> shift) + (h >> shift); ++y) {
        for (int x = (left >> 2 >> shift); x < (left >> 2 >> shift) + (w >> shift); ++x)
          plane.at(x, y) = static_cast<uint8_t>(
              sampled(canvas, 4 * (x + (from_x >> shift)) - (left >> shift) + width_,
                      4 * (y + (from_y >> shift)) - (top >> shift) + height_));
      }
    }
  }
}

void Scene::add_grain(int number, BasicPlane<uint8_t>* plane) const {
  for (int y = 0; y < plane->rows; ++y) {
    uint32_t state = mixed(static_cast<uint32_t>(number), static_cast<uint32_t>(y), 99) | 1;
    for (int x = 0; x < plane->width; ++x) {
      state = state * 1664525u + 1013904223u;
      // The sum of two even numbers is more often small than large.
      const int grain = static_cast<int>((state >> 24) % (kGrain + 1)) -
                        static_cast<int>((state >> 16 & 0xff) % (kGrain + 1));
      plane->at(x, y) = clipped(plane->at(x, y) + grain);
    }
  }
}

std::vector<BasicPlane<uint8_t>> Scene::picture(int number) const {
  std::vector<BasicPlane<uint8_t>> planes;
  for (int c = 0; c < 3; ++c)
    planes.emplace_back((width_ + (c > 0)) >> (c > 0), (height_ + (c > 0)) >> (c > 0));
  if (kind_ == SceneKind::kPhotograph) {
    draw_photograph(number, &planes);
    for (auto& plane : planes) add_grain(number, &plane);
    return planes;
  }
  for (int c = 0; c < 3; ++c) {
    BasicPlane<uint8_t>& plane = planes[static_cast<size_t>(c)];
    for (int y = 0; y < plane.rows; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const auto noise = mixed(static_cast<uint32_t>(3 * number + c), static_cast<uint32_t>(x),
                                 static_cast<uint32_t>(y));
        const int ramp = to_and_fro((x + 2 * number) / 2 + (c + 1) * (y - number) / 3, 240) + 8;
        plane.at(x, y) =
            kind_ == SceneKind::kNoise ? static_cast<uint8_t>(noise) : static_cast<uint8_t>(ramp);
      }
    }
  }
  return planes;
}

}  // namespace cudatransform::test
