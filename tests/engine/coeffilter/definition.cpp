// The definition of conversions between coefficients: exact numbers, one at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/coeffilter/definition.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "transform/coeffilter/coefs_check.h"
#include "transform/dct8x8/quant_table.h"

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
Exact qcoef_of(Exact value, uint16_t divisor) {
  if (!std::isfinite(value)) return value;
  const Exact magnitude = std::fabs(value), rest = std::fmod(magnitude, Exact(divisor));
  const Exact qcoef = (magnitude - rest) / divisor + (2 * rest >= divisor ? 1 : 0);
  return value < 0 ? -qcoef : qcoef;
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
  if (to.quantized) value = qcoef_of(value, divisor);
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

namespace {

constexpr size_t kUnit = 16;  // what the CUDA engine needs

// The bits of a whole number in a type; half precision has those up to 2048.
uint32_t to_bits(CoefNumber number, int64_t value) {
  if (!is_floating(number)) return static_cast<uint32_t>(value);
  const auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (number == CoefNumber::kF32) return bits;
  const uint32_t sign = bits >> 16 & 0x8000;
  return value == 0 ? sign : sign | (((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023));
}

int64_t of_bits(CoefNumber number, uint32_t bits) {
  if (number == CoefNumber::kS16) return static_cast<int16_t>(bits);
  if (number == CoefNumber::kS32) return static_cast<int32_t>(bits);
  if (number == CoefNumber::kF16)
    bits =
        (bits & 0x8000) << 16 | ((bits & 0x7fff) == 0 ? 0 : ((bits & 0x7fff) << 13) + (112u << 23));
  float single;
  std::memcpy(&single, &bits, sizeof single);
  return std::lround(single);
}

}  // namespace

CoefPlanes::CoefPlanes(const Engine& engine, const CoefComponents& like, CoefNumber number,
                       CoefArrangement arrangement, bool writable, uint32_t seed)
    : GuardedFrame(engine), number_(number), arrangement_(arrangement) {
  std::mt19937 random(seed);
  for (const CoefComponent& component : like) {
    CoefArray array;
    array.blocks_w = component.blocks_w;
    array.blocks_h = component.blocks_h;
    const CoefRows rows = coef_rows(array, number, arrangement);
    const auto bytes = static_cast<size_t>(rows.bytes), count = static_cast<size_t>(rows.count);
    const size_t pitch = (bytes + kUnit - 1) / kUnit * kUnit + random() % 3 * kUnit;
    const size_t offset = (1 + random() % 4) * kUnit;
    buffers_.emplace_back(engine, offset + pitch * count + kUnit);
    places_.push_back({component.blocks_w, component.blocks_h, offset, pitch});
    for (size_t row = 0; writable && row < count; ++row)
      buffers_.back().allow(offset + row * pitch, bytes);
  }
}

uint8_t* CoefPlanes::at(size_t c, int x, int y, int natural) {
  const Place& place = places_[c];
  size_t row = static_cast<size_t>(y), column = static_cast<size_t>(x) * 64;
  switch (arrangement_) {
    case CoefArrangement::kBlock:
      column += static_cast<size_t>(natural);
      break;
    case CoefArrangement::kZigzagBlock:
      column += kZigzagOfNatural[natural];
      break;
    case CoefArrangement::kPlane:
      row = 8 * row + static_cast<size_t>(natural / 8);
      column = column / 8 + static_cast<size_t>(natural % 8);
      break;
    case CoefArrangement::kBand:
      row += static_cast<size_t>(kZigzagOfNatural[natural]) * static_cast<size_t>(place.blocks_h);
      column /= 64;
      break;
  }
  return buffers_[c].host() + place.offset + row * place.pitch +
         column * static_cast<size_t>(bytes_of(number_));
}

void CoefPlanes::fill(const CoefComponents& components) {
  for (size_t c = 0; c < components.size(); ++c)
    for (int y = 0; y < components[c].blocks_h; ++y)
      for (int x = 0; x < components[c].blocks_w; ++x)
        for (int i = 0; i < 64; ++i) {
          const uint32_t bits = to_bits(number_, components[c].block(x, y)[i]);
          std::memcpy(at(c, x, y, i), &bits, static_cast<size_t>(bytes_of(number_)));
        }
}

void CoefPlanes::poison() {
  for (size_t c = 0; c < places_.size(); ++c)
    for (int y = 0; y < places_[c].blocks_h; ++y)
      for (int x = 0; x < places_[c].blocks_w; ++x)
        for (int i = 0; i < 64; ++i)
          std::memset(at(c, x, y, i), 0x5a, static_cast<size_t>(bytes_of(number_)));
}

CoefComponents CoefPlanes::read() {
  CoefComponents components;
  for (size_t c = 0; c < places_.size(); ++c) {
    CoefComponent& component = components.emplace_back(places_[c].blocks_w, places_[c].blocks_h);
    for (int y = 0; y < component.blocks_h; ++y)
      for (int x = 0; x < component.blocks_w; ++x)
        for (int i = 0; i < 64; ++i) {
          uint32_t bits = 0;
          std::memcpy(&bits, at(c, x, y, i), static_cast<size_t>(bytes_of(number_)));
          component.block(x, y)[i] = of_bits(number_, bits);
        }
  }
  return components;
}

void CoefPlanes::describe(CoefArray arrays[kMaxCoefArrays]) const {
  for (size_t c = 0; c < places_.size(); ++c)
    arrays[c] = {buffers_[c].address() + places_[c].offset,
                 static_cast<ptrdiff_t>(places_[c].pitch), places_[c].blocks_w, places_[c].blocks_h,
                 0};
}

}  // namespace cudatransform::test
