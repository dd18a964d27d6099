// The DCT's definition, and pictures for it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/definition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace cudatransform::test {

namespace {

// basis[8 v + u][8 y + x]: the contribution of coefficient (u,v) = 1 to sample (x,y).
struct Basis {
  double value[64][64];
};

const Basis& basis() {
  static const Basis table = [] {
    Basis t;
    for (int v = 0; v < 8; ++v)
      for (int u = 0; u < 8; ++u)
        for (int y = 0; y < 8; ++y)
          for (int x = 0; x < 8; ++x) {
            const double cu = u == 0 ? std::sqrt(0.5) : 1.0;
            const double cv = v == 0 ? std::sqrt(0.5) : 1.0;
            t.value[8 * v + u][8 * y + x] = 0.25 * cu * cv *
                                            std::cos((2 * x + 1) * u * std::numbers::pi / 16) *
                                            std::cos((2 * y + 1) * v * std::numbers::pi / 16);
          }
    return t;
  }();
  return table;
}

std::array<int, 64> walk_zigzag() {
  std::array<int, 64> order{};
  int u = 0, v = 0;
  for (int k = 0; k < 64; ++k) {
    order[k] = 8 * v + u;
    const bool up = (u + v) % 2 == 0;
    if (up ? u == 7 : v == 7) {
      (up ? v : u)++;
    } else if (up ? v == 0 : u == 0) {
      (up ? u : v)++;
    } else {
      u += up ? 1 : -1;
      v -= up ? 1 : -1;
    }
  }
  return order;
}

}  // namespace

void definition_dct(const double samples[64], double coefs[64]) {
  const Basis& b = basis();
  for (int k = 0; k < 64; ++k) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += samples[i] * b.value[k][i];
    coefs[k] = sum;
  }
}

void definition_idct(const double coefs[64], double samples[64]) {
  const Basis& b = basis();
  for (int i = 0; i < 64; ++i) samples[i] = 0;
  for (int k = 0; k < 64; ++k) {
    if (coefs[k] == 0) continue;
    for (int i = 0; i < 64; ++i) samples[i] += coefs[k] * b.value[k][i];
  }
}

void definition_low_frequencies(const double coefs[64], int n, double* samples) {
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      double sum = 0;
      for (int v = 0; v < n; ++v)
        for (int u = 0; u < n; ++u) {
          const double cu = u == 0 ? std::sqrt(0.5) : 1.0;
          const double cv = v == 0 ? std::sqrt(0.5) : 1.0;
          sum += 0.25 * cu * cv * coefs[8 * v + u] *
                 std::cos((2 * x + 1) * u * std::numbers::pi / (2 * n)) *
                 std::cos((2 * y + 1) * v * std::numbers::pi / (2 * n));
        }
      samples[n * y + x] = sum;
    }
}

void definition_means(const double coefs[64], int n, double* samples) {
  double full[64];
  definition_idct(coefs, full);
  const int step = 8 / n;
  for (int i = 0; i < n * n; ++i) samples[i] = 0;
  for (int i = 0; i < 64; ++i) samples[i / 8 / step * n + i % 8 / step] += full[i] / (step * step);
}

double round_half_away(double value) {
  return value < 0 ? -std::floor(-value + 0.5) : std::floor(value + 0.5);
}

double distance_to_tie(double value) {
  const double magnitude = std::fabs(value);
  return std::fabs(magnitude - std::floor(magnitude) - 0.5);
}

int natural_of_zigzag(int k) {
  static const std::array<int, 64> order = walk_zigzag();
  return order[k];
}

namespace {

int divide_up(int a, int b) { return (a + b - 1) / b; }

void fill_photo(Plane& plane, int peak, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const double phase = 6.28 * unit(random), slope = 8 + 20 * unit(random);
  const double grain = 0.5 + 2 * unit(random);
  std::normal_distribution<double> noise(0, 0.01);
  for (int y = 0; y < plane.rows; ++y)
    for (int x = 0; x < plane.width; ++x) {
      const double smooth = 0.3 * std::sin(x / slope + phase) + 0.2 * std::cos(y / 13.0 - x / 61.0);
      const double texture = 0.15 * std::sin(grain * x) * std::cos(1.3 * grain * y + phase) *
                             std::max(0.0, std::sin(x / 23.0 + y / 31.0));
      const double edge = (x + 2 * y) % 83 < 20 ? 0.12 : 0.0;
      const double value = 0.5 + smooth + texture + edge + noise(random);
      plane.at(x, y) = std::clamp(static_cast<int>(std::lround(value * peak)), 0, peak);
    }
}

void fill_noise(Plane& plane, int peak, std::mt19937& random) {
  std::uniform_int_distribution<int> any(0, peak);
  for (int& sample : plane.samples) sample = any(random);
}

// Each block is all lowest, all highest, or the sign of a random basis function, which makes that
// coefficient as large as possible.
void fill_extreme(Plane& plane, int peak, std::mt19937& random) {
  std::uniform_int_distribution<int> pick(-2, 127);
  for (int by = 0; by < plane.rows; by += 8)
    for (int bx = 0; bx < plane.width; bx += 8) {
      const int kind = pick(random);
      double coefs[64] = {}, samples[64];
      coefs[kind < 0 ? 0 : kind % 64] = (kind < 64 && kind != -2) ? 1 : -1;
      definition_idct(coefs, samples);
      for (int y = by; y < std::min(by + 8, plane.rows); ++y)
        for (int x = bx; x < std::min(bx + 8, plane.width); ++x)
          plane.at(x, y) = samples[8 * (y - by) + x - bx] > 0 ? peak : 0;
    }
}

}  // namespace

Picture empty_scaled_picture(const Picture& picture, int scale) {
  Picture scaled;
  for (const Plane& plane : picture)
    scaled.emplace_back(divide_up(plane.width, scale), divide_up(plane.rows, scale));
  return scaled;
}

Coefficients empty_coefficients(const Picture& picture) {
  Coefficients coefs;
  for (const Plane& plane : picture)
    coefs.emplace_back(divide_up(plane.width, 8), divide_up(plane.rows, 8));
  return coefs;
}

Picture make_picture(Sampling sampling, int width, int height, int depth, Content content,
                     uint32_t seed) {
  std::mt19937 random(seed);
  Picture picture = empty_picture(sampling, width, height);
  const int peak = (1 << depth) - 1;
  for (Plane& plane : picture) switch (content) {
      case Content::kPhoto:
        fill_photo(plane, peak, random);
        break;
      case Content::kNoise:
        fill_noise(plane, peak, random);
        break;
      case Content::kExtreme:
        fill_extreme(plane, peak, random);
        break;
    }
  return picture;
}

Coefficients definition_forward(const Picture& picture, int depth) {
  Coefficients result = empty_coefficients(picture);
  const double shift = 1 << (depth - 1);
  for (size_t c = 0; c < picture.size(); ++c) {
    const Plane& plane = picture[c];
    for (int by = 0; by < result[c].blocks_h; ++by)
      for (int bx = 0; bx < result[c].blocks_w; ++bx) {
        double samples[64];
        for (int i = 0; i < 64; ++i)
          samples[i] = plane.at(std::min(8 * bx + i % 8, plane.width - 1),
                                std::min(8 * by + i / 8, plane.rows - 1)) -
                       shift;
        definition_dct(samples, result[c].block(bx, by));
      }
  }
  return result;
}

Coefficients quantize(const Coefficients& values, std::span<const QuantTable> tables) {
  Coefficients qcoefs = values;
  for (size_t c = 0; c < qcoefs.size(); ++c)
    for (size_t i = 0; i < qcoefs[c].values.size(); ++i)
      qcoefs[c].values[i] = round_half_away(qcoefs[c].values[i] / tables[c].q[i % 64]);
  return qcoefs;
}

Coefficients dequantize(const Coefficients& qcoefs, std::span<const QuantTable> tables) {
  Coefficients values = qcoefs;
  for (size_t c = 0; c < values.size(); ++c)
    for (size_t i = 0; i < values[c].values.size(); ++i) values[c].values[i] *= tables[c].q[i % 64];
  return values;
}

namespace {

// Blocks of n x n samples, each by inverse(coefs, samples).
template <typename Inverse>
RealPicture by_blocks(const Coefficients& values, const Picture& like, int n,
                      const Inverse& inverse) {
  RealPicture result;
  for (size_t c = 0; c < values.size(); ++c) {
    BasicPlane<double> plane(like[c].width, like[c].rows);
    for (int by = 0; by < values[c].blocks_h; ++by)
      for (int bx = 0; bx < values[c].blocks_w; ++bx) {
        double samples[64];
        inverse(values[c].block(bx, by), samples);
        for (int i = 0; i < n * n; ++i) {
          const int x = n * bx + i % n, y = n * by + i / n;
          if (x < plane.width && y < plane.rows) plane.at(x, y) = samples[i];
        }
      }
    result.push_back(std::move(plane));
  }
  return result;
}

}  // namespace

RealPicture definition_inverse(const Coefficients& values, const Picture& like) {
  return by_blocks(values, like, 8, definition_idct);
}

RealPicture definition_scaled_inverse(const Coefficients& values, const Picture& like, int scale,
                                      ScaledBy way) {
  const int n = 8 / scale;
  return by_blocks(values, like, n, [&](const double* coefs, double* samples) {
    (way == ScaledBy::kMeans ? definition_means : definition_low_frequencies)(coefs, n, samples);
  });
}

}  // namespace cudatransform::test
