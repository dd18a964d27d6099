// Layouts of guarded coefficients and the way to and from plain numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/frame.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {
namespace {

size_t size_of(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

int zigzag_of_natural(int natural) {
  static const std::array<int, 64> position = [] {
    std::array<int, 64> p{};
    for (int k = 0; k < 64; ++k) p[natural_of_zigzag(k)] = k;
    return p;
  }();
  return position[natural];
}

}  // namespace

CoefFrame::CoefFrame(const Engine& engine, const Coefficients& like, CoefType type, Layout layout,
                     Order order, bool writable, uint32_t seed)
    : engine_(engine), type_(type), layout_(layout), order_(order) {
  std::mt19937 random(seed);
  const size_t unit = engine.is_cuda ? 16 : size_of(type);
  for (size_t c = 0; c < like.size(); ++c) {
    const Blocks& blocks = like[c];
    Component component{};
    component.plane.blocks_w = blocks.blocks_w;
    component.plane.blocks_h = blocks.blocks_h;
    component.plane.table = static_cast<int32_t>(c);
    const size_t row_samples =
        static_cast<size_t>(blocks.blocks_w) * (layout == Layout::kBlock ? 64 : 8);
    const size_t rows = static_cast<size_t>(blocks.blocks_h) * (layout == Layout::kBlock ? 1 : 8);
    const size_t row_bytes = row_samples * size_of(type);
    const bool pooled = is_pooled(seed);
    const size_t pitch = row_bytes + (pooled ? 0 : pick_gap(random, unit));
    component.plane.pitch = static_cast<ptrdiff_t>(pitch);
    const size_t bytes = pitch * (rows - 1) + row_bytes;
    const Room room = pooled ? make_pooled_room(random, bytes) : make_room(random, bytes, unit);
    component.offset = room.offset;
    component.buffer = buffers_.size();
    buffers_.emplace_back(engine, room.total);
    if (writable)
      for (size_t y = 0; y < rows; ++y)
        buffers_.back().allow(component.offset + y * pitch, row_bytes);
    components_.push_back(component);
  }
}

size_t CoefFrame::offset_of(const Component& component, int bx, int by, int natural) const {
  const auto pitch = static_cast<size_t>(component.plane.pitch);
  if (layout_ == Layout::kPlane)
    return component.offset + (8 * by + natural / 8) * pitch +
           (8 * bx + natural % 8) * size_of(type_);
  const int position = order_ == Order::kZigzag ? zigzag_of_natural(natural) : natural;
  return component.offset + by * pitch + (64 * bx + position) * size_of(type_);
}

namespace {

template <typename T>
void store(uint8_t* p, double value) {
  const T typed = static_cast<T>(value);
  std::memcpy(p, &typed, sizeof typed);
}

template <typename T>
double load(const uint8_t* p) {
  T typed;
  std::memcpy(&typed, p, sizeof typed);
  return static_cast<double>(typed);
}

}  // namespace

void CoefFrame::fill(const Coefficients& coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for (int by = 0; by < coefs[c].blocks_h; ++by)
      for (int bx = 0; bx < coefs[c].blocks_w; ++bx)
        for (int k = 0; k < 64; ++k) {
          uint8_t* p =
              buffers_[components_[c].buffer].host() + offset_of(components_[c], bx, by, k);
          const double value = coefs[c].block(bx, by)[k];
          switch (type_) {
            case CoefType::kS16:
              store<int16_t>(p, value);
              break;
            case CoefType::kS32:
              store<int32_t>(p, value);
              break;
            case CoefType::kF32:
              store<float>(p, value);
              break;
          }
        }
}

void CoefFrame::poison() {
  for (Component& component : components_)
    for (int by = 0; by < component.plane.blocks_h; ++by)
      for (int bx = 0; bx < component.plane.blocks_w; ++bx)
        for (int k = 0; k < 64; ++k)
          std::memset(buffers_[component.buffer].host() + offset_of(component, bx, by, k), 0x5D,
                      size_of(type_));
}

void CoefFrame::read(Coefficients* coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for (int by = 0; by < components_[c].plane.blocks_h; ++by)
      for (int bx = 0; bx < components_[c].plane.blocks_w; ++bx)
        for (int k = 0; k < 64; ++k) {
          const uint8_t* p =
              buffers_[components_[c].buffer].host() + offset_of(components_[c], bx, by, k);
          double& value = (*coefs)[c].block(bx, by)[k];
          switch (type_) {
            case CoefType::kS16:
              value = load<int16_t>(p);
              break;
            case CoefType::kS32:
              value = load<int32_t>(p);
              break;
            case CoefType::kF32:
              value = load<float>(p);
              break;
          }
        }
}

void CoefFrame::describe(CoefPlane planes[3]) const {
  for (size_t c = 0; c < components_.size(); ++c) {
    planes[c] = components_[c].plane;
    planes[c].data = buffers_[components_[c].buffer].address() + components_[c].offset;
  }
}

Status CoefFrame::upload() {
  for (GuardedBuffer& buffer : buffers_) CT_RETURN_IF_ERROR(buffer.upload(engine_));
  return {};
}

Status CoefFrame::download() {
  for (GuardedBuffer& buffer : buffers_) CT_RETURN_IF_ERROR(buffer.download(engine_));
  return {};
}

std::string CoefFrame::fault() const { return merge_faults(buffers_); }

}  // namespace cudatransform::test
