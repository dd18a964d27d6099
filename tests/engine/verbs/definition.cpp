// The definition of conversions between coefficients: exact numbers, one at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/verbs/definition.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cudatransform::test {
namespace {

constexpr Exact kLargestHalf = 65504;

// ITU-T T.81, figure 5: the place of coefficient (u, v) in the zigzag order.
int zigzag_of(int u, int v) {
  int k = 0;
  for (int diagonal = 0; diagonal < u + v; ++diagonal)
    k += diagonal < 8 ? diagonal + 1 : 15 - diagonal;
  const bool upwards = (u + v) % 2 == 0;
  const int first = std::max(0, u + v - 7);
  return k + (upwards ? u : v) - first;
}

Exact read(CoefNumber number, const uint8_t* from) {
  switch (number) {
    case CoefNumber::kS16:
      return read_as<int16_t>(from);
    case CoefNumber::kS32:
      return read_as<int32_t>(from);
    case CoefNumber::kF32:
      return read_as<float>(from);
    case CoefNumber::kF16:
      return exact_half(read_as<uint16_t>(from));
  }
  return 0;
}

uint16_t half_of(Exact value, uint64_t* saturated) {
  if (std::isnan(value)) return 0x7e00;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const Exact magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // a fraction of [.5, 1)
  const Exact step = std::ldexp(Exact(1), std::max(exponent - 1, -14) - 10);
  const Exact rounded = std::isinf(magnitude) ? magnitude : std::nearbyint(magnitude / step) * step;
  if (rounded > kLargestHalf) {
    ++*saturated;
    return sign | 0x7bff;
  }
  for (int low = 0, high = 0x7bff;;) {  // halves are in the order of their bits
    const int middle = (low + high) / 2;
    if (exact_half(static_cast<uint16_t>(middle)) == rounded) return sign | middle;
    (exact_half(static_cast<uint16_t>(middle)) < rounded ? low : high) =
        exact_half(static_cast<uint16_t>(middle)) < rounded ? middle + 1 : middle;
  }
}

Exact limited(Exact value, Exact least, Exact most, uint64_t* saturated) {
  if (std::isnan(value)) return 0;
  if (value >= least && value <= most) return value;
  ++*saturated;
  return value < least ? least : most;
}

// The nearest multiple of the divisor, the one away from zero of two.
Exact level_of(Exact value, uint16_t divisor) {
  if (!std::isfinite(value)) return value;
  const Exact magnitude = std::fabs(value), rest = std::fmod(magnitude, Exact(divisor));
  const Exact level = (magnitude - rest) / divisor + (2 * rest >= divisor ? 1 : 0);
  return value < 0 ? -level : level;
}

}  // namespace

int64_t place(const CoefKinds& kinds, const CoefArray& array, int u, int v, int bx, int by) {
  const int bytes = bytes_of(kinds.number);
  switch (kinds.arrangement) {
    case CoefArrangement::kBlock:
      return by * array.pitch + (int64_t{64} * bx + 8 * v + u) * bytes;
    case CoefArrangement::kZigzagBlock:
      return by * array.pitch + (int64_t{64} * bx + zigzag_of(u, v)) * bytes;
    case CoefArrangement::kPlane:
      return (int64_t{8} * by + v) * array.pitch + (int64_t{8} * bx + u) * bytes;
    case CoefArrangement::kBand:
      return (int64_t{zigzag_of(u, v)} * array.blocks_h + by) * array.pitch + int64_t{bx} * bytes;
  }
  return 0;
}

Exact exact_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const Exact sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<Exact>::quiet_NaN()
                         : sign * std::numeric_limits<Exact>::infinity();
  return exponent == 0 ? std::copysign(std::ldexp(Exact(fraction), -24), sign)
                       : sign * std::ldexp(Exact(1024 + fraction), exponent - 25);
}

void convert_one(const CoefKinds& from, const uint8_t* source, const CoefKinds& to, uint8_t* result,
                 uint16_t divisor, uint64_t* saturated) {
  if (from.number == to.number && from.quantized == to.quantized) {
    std::memcpy(result, source, static_cast<size_t>(bytes_of(from.number)));
    return;
  }
  Exact value = read(from.number, source);
  if (from.quantized) value *= divisor;
  if (to.quantized) value = level_of(value, divisor);
  switch (to.number) {
    case CoefNumber::kS16:
      return write_as(static_cast<int16_t>(limited(value, -32768, 32767, saturated)), result);
    case CoefNumber::kS32:
      return write_as(
          static_cast<int32_t>(limited(std::nearbyint(value), INT32_MIN, INT32_MAX, saturated)),
          result);
    case CoefNumber::kF32:
      if (std::isnan(value)) return write_as(uint32_t{0x7fc00000}, result);
      return write_as(static_cast<float>(value), result);
    case CoefNumber::kF16:
      return write_as(half_of(value, saturated), result);
  }
}

}  // namespace cudatransform::test
