// The 8-point transforms over plain ints and floats, for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dct8x8/constants.h"
#include "transform/device/host_device_macros.h"

namespace cudatransform {

template <int kBits>
CT_HD int32_t shift_left(int32_t x) {
  return int32_t(uint32_t(x) << kBits);
}
template <int kBits>
CT_HD int32_t shift_right(int32_t x) {
  return x >> kBits;  // arithmetic since C++20
}
CT_HD int32_t saturate16(int32_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }
// The low 16 bits, sign extended.
CT_HD int32_t wrap16(int32_t x) { return int32_t(uint32_t(x) << 16) >> 16; }

// int32 modulo 2^32, for sums whose parts leave its range.
struct Wrapping {
  uint32_t bits;
};
CT_HD Wrapping operator+(Wrapping a, Wrapping b) { return {a.bits + b.bits}; }
CT_HD Wrapping operator-(Wrapping a, Wrapping b) { return {a.bits - b.bits}; }
CT_HD Wrapping operator+(Wrapping a, int32_t constant) { return {a.bits + uint32_t(constant)}; }
CT_HD Wrapping operator*(Wrapping a, int32_t constant) { return {a.bits * uint32_t(constant)}; }
template <int kBits>
CT_HD Wrapping shift_left(Wrapping a) {
  return {a.bits << kBits};
}
template <int kBits>
CT_HD Wrapping shift_right(Wrapping a) {
  return {uint32_t(int32_t(a.bits) >> kBits)};
}

// x * kUnits256 / 256 as libjpeg-turbo's vector code computes it: x shifted up by two bits within
// 16 bits, then the high half of a 16x16 bit product with the constant shifted up by six. The shift
// wraps for |x| >= 8192, which a few extreme blocks reach. 16-bit additions wrap as well, but only
// the low 16 bits enter here, so int32 sums give the same; a block's final values need wrap16().
template <int kUnits256>
CT_HD int32_t aan_scale(int32_t x) {
  // 669 << 6 is no 16-bit number: that factor is split into -413/256 and -1.
  if constexpr (kUnits256 == -669) return ((wrap16(shift_left<2>(x)) * (-413 * 64)) >> 16) - x;
  return (wrap16(shift_left<2>(x)) * (kUnits256 * 64)) >> 16;
}
template <int kUnits256>
CT_HD float aan_scale(float x) {
  return x * AanFactor<kUnits256>::kFloat;
}

// One rounding on a GPU, two on a host.
CT_HD float multiply_add(float a, float c, float b) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, c, b);
#else
  return a * c + b;
#endif
}

#include "transform/dct8x8/1d-inl.h"

}  // namespace cudatransform
