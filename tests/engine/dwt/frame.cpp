// The places of pyramids, and the way to and from plain numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dwt/frame.h"

#include <cstring>

namespace cudatransform::test::dwt {
namespace {

size_t size_of(DwtCoefType type) { return type == DwtCoefType::kS16 ? 2 : 4; }

}  // namespace

PyramidFrame::PyramidFrame(const Engine& engine, const Pyramids& like, DwtCoefType type,
                           bool writable, uint32_t seed)
    : GuardedFrame(engine), type_(type) {
  std::mt19937 random(seed);
  const size_t unit = engine.is_cuda ? 16 : size_of(type);
  for (const Values& plane : like) {
    const size_t row_bytes = static_cast<size_t>(plane.width) * size_of(type);
    const bool pooled = is_pooled(seed);
    size_t pitch = pooled ? align_up(row_bytes) : row_bytes + pick_gap(random, unit);
    pitch = (pitch + unit - 1) / unit * unit;
    const auto rows = static_cast<size_t>(plane.rows);
    const size_t bytes = pitch * (rows - 1) + row_bytes;
    Room room = pooled ? make_pooled_room(random, bytes) : make_room(random, bytes, unit);
    const size_t slack = room.offset % unit;  // make_room() moves planes at their end
    components_.push_back({room.offset - slack, pitch, plane.width, plane.rows});
    buffers_.emplace_back(engine, room.total);
    if (!writable) continue;
    for (size_t y = 0; y < rows; ++y)
      buffers_.back().allow(room.offset - slack + y * pitch, row_bytes);
  }
}

template <typename Function>
void PyramidFrame::for_each(size_t c, Function function) {
  const Component& component = components_[c];
  for (int y = 0; y < component.rows; ++y)
    for (int x = 0; x < component.width; ++x)
      function(buffers_[c].host() + component.offset + static_cast<size_t>(y) * component.pitch +
                   static_cast<size_t>(x) * size_of(type_),
               x, y);
}

void PyramidFrame::fill(const Pyramids& coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](uint8_t* p, int x, int y) {
      const auto value = static_cast<int32_t>(coefs[c].at(x, y));
      std::memcpy(p, &value, size_of(type_));  // little endian
    });
}

void PyramidFrame::poison() {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](uint8_t* p, int, int) { std::memset(p, 0x5D, size_of(type_)); });
}

void PyramidFrame::read(Pyramids* coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](const uint8_t* p, int x, int y) {
      int32_t value = 0;
      std::memcpy(&value, p, size_of(type_));
      (*coefs)[c].at(x, y) = type_ == DwtCoefType::kS16 ? static_cast<int16_t>(value) : value;
    });
}

void PyramidFrame::describe(DwtPlane planes[3]) const {
  for (size_t c = 0; c < components_.size(); ++c)
    planes[c] = {buffers_[c].address() + components_[c].offset,
                 static_cast<ptrdiff_t>(components_[c].pitch)};
}

}  // namespace cudatransform::test::dwt
