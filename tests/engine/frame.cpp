// Layouts of guarded planes and the way to and from plain numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/engine/frame.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace cudatransform::test {
namespace {

struct Factors {
  int h, v;  // luma's sampling factors; chroma's are 1
};

Factors luma_factors(Sampling sampling) {
  switch (sampling) {
    case Sampling::k420:
      return {2, 2};
    case Sampling::k422:
      return {2, 1};
    case Sampling::k411:
      return {4, 1};
    case Sampling::k440:
      return {1, 2};
    default:
      return {1, 1};
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

const char* sampling_name(Sampling sampling) {
  static const char* const names[] = {"gray", "4:2:0", "4:2:2", "4:4:4", "4:1:1", "4:4:0", "RGB"};
  return names[static_cast<int>(sampling)];
}

int component_count(Sampling sampling) { return sampling == Sampling::kGray ? 1 : 3; }

Picture empty_picture(Sampling sampling, int width, int height) {
  const Factors luma = luma_factors(sampling);
  Picture picture;
  picture.emplace_back(width, height);
  for (int c = 1; c < component_count(sampling); ++c)
    picture.emplace_back(divide_up(width, luma.h), divide_up(height, luma.v));
  return picture;
}

uint64_t squared_error(const Plane& a, const Plane& b) {
  uint64_t sum = 0;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const int64_t difference = a.samples[i] - b.samples[i];
    sum += static_cast<uint64_t>(difference * difference);
  }
  return sum;
}

std::string judge_equal(const Picture& expected, const Picture& got) {
  for (size_t c = 0; c < expected.size(); ++c)
    for (size_t i = 0; i < expected[c].samples.size(); ++i)
      if (expected[c].samples[i] != got[c].samples[i])
        return "component " + std::to_string(c) + " sample (" +
               std::to_string(i % expected[c].width) + "," + std::to_string(i / expected[c].width) +
               ")" + ": expected " + std::to_string(expected[c].samples[i]) + ", got " +
               std::to_string(got[c].samples[i]);
  return "";
}

namespace {

constexpr size_t kPoolAlignment = 64;

constexpr size_t kCanaries = 1 << 16;  // until they repeat
uint8_t canary(size_t i) { return static_cast<uint8_t>(0xC5 ^ (i * 29) ^ (i >> 8) * 7); }

int bytes_of(SampleType type) { return type == SampleType::kU8 ? 1 : 2; }

}  // namespace

size_t pick_gap(std::mt19937& random, size_t unit) {
  static const size_t gaps[] = {0, 0, 1, 3, 8, 16, 61};
  return gaps[random() % std::size(gaps)] * unit;
}

Room make_room(std::mt19937& random, size_t bytes, size_t unit) {
  size_t offset = pick_gap(random, unit);
  const size_t tail = pick_gap(random, unit);
  if (tail == 0) offset += (64 - (offset + bytes) % 64) % 64;
  return {offset, offset + bytes + tail};
}

bool is_pooled(uint32_t seed) { return seed / 4 % 2 == 0; }
size_t align_up(size_t bytes) {
  return (bytes + kPoolAlignment - 1) / kPoolAlignment * kPoolAlignment;
}

Room make_pooled_room(std::mt19937& random, size_t bytes) {
  const size_t offset = random() % 3 * kPoolAlignment;
  return {offset, offset + bytes};
}

Status GuardedFrame::upload() {
  for (GuardedBuffer& buffer : buffers_) CT_RETURN_IF_ERROR(buffer.upload(engine_));
  return {};
}

Status GuardedFrame::download() {
  for (GuardedBuffer& buffer : buffers_) CT_RETURN_IF_ERROR(buffer.download(engine_));
  return {};
}

std::string GuardedFrame::fault() const {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (const std::string fault = buffers_[i].fault(); !fault.empty())
      return "buffer " + std::to_string(i) + ": " + fault;
  return "";
}

const char* arrangement_name(Arrangement arrangement) {
  static const char* const names[] = {"planar", "semi-planar", "residual"};
  return names[static_cast<int>(arrangement)];
}

GuardedBuffer::GuardedBuffer(const Engine& engine, size_t bytes)
    : host_(bytes), writable_(bytes, 0) {
  const size_t first = std::min(bytes, kCanaries);
  for (size_t i = 0; i < first; ++i) host_[i] = canary(i);
  for (size_t i = first; i < bytes; i += first)
    std::memcpy(&host_[i], host_.data(), std::min(first, bytes - i));
  const Status status = engine.device->allocate(MemoryKind::kDevice, bytes, &memory_);
  if (!status.ok()) throw std::runtime_error("allocate: " + status.message);
}

void GuardedBuffer::allow(size_t offset, size_t bytes) {
  std::fill_n(writable_.begin() + static_cast<ptrdiff_t>(offset), bytes, 1);
}

Status GuardedBuffer::upload(const Engine& engine) {
  before_ = host_;
  const auto bytes = static_cast<ptrdiff_t>(host_.size());
  return engine.device->upload(engine.device->queue(QueueKind::kUpload),
                               {memory_->data(), bytes, host_.data(), bytes, host_.size(), 1});
}

Status GuardedBuffer::download(const Engine& engine) {
  const auto bytes = static_cast<ptrdiff_t>(host_.size());
  Queue& queue = engine.device->queue(QueueKind::kDownload);
  CT_RETURN_IF_ERROR(engine.device->download(
      queue, {host_.data(), bytes, memory_->data(), bytes, host_.size(), 1}));
  FencePtr fence;
  CT_RETURN_IF_ERROR(queue.record(&fence));
  return fence->wait();
}

std::string GuardedBuffer::fault() const {
  const auto next = [this](size_t from, uint8_t value) -> size_t {
    const void* found = std::memchr(writable_.data() + from, value, writable_.size() - from);
    return found == nullptr ? writable_.size()
                            : static_cast<const uint8_t*>(found) - writable_.data();
  };
  // From one unwritable stretch to the next: single bytes take sanitizers long.
  for (size_t begin = next(0, 0); begin < host_.size();) {
    const size_t end = next(begin, 1);
    if (std::memcmp(&host_[begin], &before_[begin], end - begin) != 0) {
      while (host_[begin] == before_[begin]) ++begin;
      return "byte " + std::to_string(begin) + " of " + std::to_string(host_.size()) +
             " is not the job's to write, but changed";
    }
    begin = next(end, 0);
  }
  return "";
}

// ---- Samples ----

SampleFrame::SampleFrame(const Engine& engine, const Picture& like, int depth,
                         Arrangement arrangement, int row_repeat, bool writable, uint32_t seed)
    : GuardedFrame(engine), random_(seed) {
  const bool interleaved = arrangement == Arrangement::kSemiPlanar;
  const SampleType type = arrangement == Arrangement::kResidual ? SampleType::kS16
                          : depth == 8                          ? SampleType::kU8
                                                                : SampleType::kU16;
  const int unit = bytes_of(type);
  for (size_t c = 0; c < like.size(); ++c) {
    Component component{};
    SamplePlane& plane = component.plane;
    plane.type = type;
    plane.width = like[c].width;
    plane.row_repeat = c > 0 ? row_repeat : 1;
    // The last component row of an odd number of rows is not repeated.
    plane.height = plane.row_repeat == 1 ? like[c].rows : like[0].rows;
    plane.stride = interleaved && c > 0 ? 2 * unit : unit;
    plane.shift = interleaved && depth > 8 ? 16 - depth : 0;
    if (interleaved && c == 2) {
      component = components_[1];
      component.offset += unit;
    } else {
      const size_t row_bytes = static_cast<size_t>(plane.width) * plane.stride;
      plane.pitch = static_cast<ptrdiff_t>(row_bytes + pick_gap(random_, unit));
      if (random_() % 4 == 0) plane.pitch = (plane.pitch + 255) / 256 * 256;
      if (is_pooled(seed)) plane.pitch = static_cast<ptrdiff_t>(align_up(plane.pitch));
      const size_t bytes = plane.pitch * (plane.height - 1) + row_bytes;
      const Room room =
          is_pooled(seed) ? make_pooled_room(random_, bytes) : make_room(random_, bytes, unit);
      component.offset = room.offset;
      component.buffer = buffers_.size();
      buffers_.emplace_back(engine, room.total);
    }
    components_.push_back(component);
    if (!writable) continue;
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x)
        buffers_[component.buffer].allow(
            component.offset + y * component.plane.pitch + x * plane.stride, unit);
  }
}

uint8_t* SampleFrame::at(const Component& component, int x, int row) {
  return buffers_[component.buffer].host() + component.offset + row * component.plane.pitch +
         x * component.plane.stride;
}

void SampleFrame::fill(const Picture& picture) {
  for (size_t c = 0; c < components_.size(); ++c) {
    const SamplePlane& plane = components_[c].plane;
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) {
        const uint32_t sample = picture[c].at(x, y / plane.row_repeat);
        const uint32_t junk = plane.shift == 0 ? 0 : random_() & ((1u << plane.shift) - 1);
        const auto word = static_cast<uint16_t>(sample << plane.shift | junk);
        if (plane.type == SampleType::kU8)
          *at(components_[c], x, y) = static_cast<uint8_t>(word);
        else
          std::memcpy(at(components_[c], x, y), &word, 2);
      }
  }
}

void SampleFrame::poison() {
  for (Component& component : components_)
    for (int y = 0; y < component.plane.height; ++y)
      for (int x = 0; x < component.plane.width; ++x) {
        const auto junk = static_cast<uint32_t>(random_());
        std::memcpy(at(component, x, y), &junk, bytes_of(component.plane.type));
      }
}

uint32_t SampleFrame::read_word(const Component& component, int x, int row) {
  const uint8_t* p = at(component, x, row);
  if (component.plane.type == SampleType::kU8) return *p;
  uint16_t word;
  std::memcpy(&word, p, 2);
  return word;
}

std::string SampleFrame::read(Picture* picture) {
  for (size_t c = 0; c < components_.size(); ++c) {
    const SamplePlane& plane = components_[c].plane;
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) {
        const uint32_t word = read_word(components_[c], x, y);
        const auto where = [&, c] {
          return "component " + std::to_string(c) + " sample (" + std::to_string(x) + "," +
                 std::to_string(y) + ")";
        };
        if (word & ((1u << plane.shift) - 1)) return where() + " has bits below its shift";
        const int value = plane.type == SampleType::kS16 ? static_cast<int16_t>(word)
                                                         : static_cast<int>(word >> plane.shift);
        int& sample = (*picture)[c].at(x, y / plane.row_repeat);
        if (y % plane.row_repeat != 0 && sample != value) return where() + " is not repeated";
        sample = value;
      }
  }
  return "";
}

void SampleFrame::describe(SamplePlane planes[3]) const {
  for (size_t c = 0; c < components_.size(); ++c) {
    planes[c] = components_[c].plane;
    planes[c].data = buffers_[components_[c].buffer].address() + components_[c].offset;
  }
}

}  // namespace cudatransform::test
