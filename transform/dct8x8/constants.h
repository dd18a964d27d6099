// The numbers after the 8x8 transforms: cosines, the orthonormal DCT matrix, AA&N's scale factors
// and the multipliers of the fast algorithms.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compiles for host and device. Tables are static members of functions because device code cannot
// index a table of namespace scope.
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform {

// kCosine[k] = cos(k pi / 16). Python: [math.cos(k * math.pi / 16) for k in range(9)], the last
// entry, 6e-17 there, being 0 by definition.
inline constexpr double kCosine[9] = {
    1.0,
    0.98078528040323043,
    0.92387953251128674,
    0.83146961230254524,
    0.70710678118654757,
    0.55557023301960229,
    0.38268343236508984,
    0.19509032201612833,
    0.0,
};

// cos(k pi / 16) for any k >= 0, by symmetry.
CT_HD constexpr double cosine_sixteenth(int k) {
  k &= 31;
  if (k > 16) k = 32 - k;
  return k > 8 ? -kCosine[16 - k] : kCosine[k];
}

template <typename T>
struct Matrix8x8 {
  T m[8][8];
};

// m[k][n] = cos((2n + 1) k pi / 16): frequency k at sample n, without normalization.
template <typename T>
CT_HD constexpr Matrix8x8<T> make_cosine_matrix() {
  Matrix8x8<T> matrix{};
  for (int k = 0; k < 8; ++k) {
    for (int n = 0; n < 8; ++n) matrix.m[k][n] = T(cosine_sixteenth((2 * n + 1) * k));
  }
  return matrix;
}

// The same with its rows made unit vectors: multiplied by sqrt(1/8) for k = 0 and 1/2 for the rest.
template <typename T>
CT_HD constexpr Matrix8x8<T> make_dct_matrix() {
  Matrix8x8<T> matrix{};
  for (int k = 0; k < 8; ++k) {
    const double norm = k == 0 ? 0.5 * kCosine[4] : 0.5;
    for (int n = 0; n < 8; ++n) matrix.m[k][n] = T(norm * cosine_sixteenth((2 * n + 1) * k));
  }
  return matrix;
}

// Row k, column n of the two matrices above.
template <typename T>
CT_HD T cosine_matrix(int k, int n) {
  static constexpr Matrix8x8<T> kTable = make_cosine_matrix<T>();
  return kTable.m[k][n];
}
template <typename T>
CT_HD T dct_matrix(int k, int n) {
  static constexpr Matrix8x8<T> kTable = make_dct_matrix<T>();
  return kTable.m[k][n];
}

// AA&N's flow graph outputs frequency k of one dimension multiplied by sqrt(8) x kAanScale[k]: 1
// for k = 0, else sqrt(2) cos(k pi / 16).
inline constexpr double kAanScale[8] = {
    1.0, 1.38703984532214752, 1.30656296487637658, 1.17587560241935885,
    1.0, 0.78569495838710235, 0.54119610014619712, 0.27589937928294311,
};

// A multiplier of AA&N's flow graph: for floating point, and in units of 1/256 for ifast, rounded
// as libjpeg rounds it.
template <int kUnits256>
struct AanFactor;
template <>
struct AanFactor<98> {  // cos(6 pi / 16)
  static constexpr float kFloat = 0.38268343236508984f;
};
template <>
struct AanFactor<139> {  // cos(2 pi / 16) - cos(6 pi / 16)
  static constexpr float kFloat = 0.54119610014619701f;
};
template <>
struct AanFactor<181> {  // cos(4 pi / 16)
  static constexpr float kFloat = 0.70710678118654757f;
};
template <>
struct AanFactor<334> {  // cos(2 pi / 16) + cos(6 pi / 16)
  static constexpr float kFloat = 1.30656296487637652f;
};
template <>
struct AanFactor<362> {  // 2 cos(4 pi / 16)
  static constexpr float kFloat = 1.41421356237309515f;
};
template <>
struct AanFactor<473> {  // 2 cos(2 pi / 16)
  static constexpr float kFloat = 1.84775906502257348f;
};
template <>
struct AanFactor<277> {  // 2 (cos(2 pi / 16) - cos(6 pi / 16))
  static constexpr float kFloat = 1.08239220029239402f;
};
template <>
struct AanFactor<-669> {  // -2 (cos(2 pi / 16) + cos(6 pi / 16))
  static constexpr float kFloat = -2.61312592975275305f;
};

}  // namespace cudatransform
