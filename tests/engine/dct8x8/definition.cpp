// The textbook DCT, evaluated sample by sample.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/definition.h"

#include <array>
#include <cmath>
#include <numbers>

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

}  // namespace cudatransform::test
