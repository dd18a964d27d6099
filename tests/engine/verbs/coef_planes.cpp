// Components' coefficients in an engine's memory, ringed by canaries, as verbs see them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/verbs/coef_planes.h"

#include <cmath>
#include <cstring>

#include "transform/dct8x8/quant_table.h"
#include "transform/verbs/coefs_check.h"

namespace cudatransform::test {
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

void CoefPlanes::describe(CoefArray arrays[kMostCoefArrays]) const {
  for (size_t c = 0; c < places_.size(); ++c)
    arrays[c] = {buffers_[c].address() + places_[c].offset,
                 static_cast<ptrdiff_t>(places_[c].pitch), places_[c].blocks_w, places_[c].blocks_h,
                 0};
}

}  // namespace cudatransform::test
