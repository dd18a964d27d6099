// Geometry of frames, and how their buffers are filled.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/frames.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>

#include "cuda/dct8x8/engine.h"

namespace cudatransform::bench {
namespace {

constexpr size_t kRowAlignment = 64, kPlaneAlignment = 256;
constexpr int kQuality = 85;

size_t align(size_t n, size_t to) { return (n + to - 1) / to * to; }
int divide_up(int n, int by) { return (n + by - 1) / by; }

size_t coef_size(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

template <typename T>
T* at(T* base, const void* offset) {
  return base + reinterpret_cast<uintptr_t>(offset);
}

// Chroma's width and height are luma's divided by these, rounded up.
struct Subsampling {
  int x, y;
};
Subsampling subsampling(test::Sampling sampling) {
  switch (sampling) {
    case test::Sampling::k420:
      return {2, 2};
    case test::Sampling::k422:
      return {2, 1};
    case test::Sampling::kGrey:
    case test::Sampling::k444:
      return {1, 1};
    default:
      throw std::runtime_error("no benchmark has this sampling");
  }
}

// A small picture, which is repeated over large ones.
const test::Picture& tile(const PixelFormat& format) {
  static std::map<std::tuple<test::Sampling, int>, test::Picture> tiles;
  test::Picture& picture = tiles[{format.sampling, format.depth}];
  if (picture.empty())
    picture = test::make_picture(format.sampling, 960, 544, format.depth, test::Content::kPhoto, 1);
  return picture;
}

void store_sample(uint8_t* to, const SamplePlane& plane, int sample) {
  const auto word = static_cast<uint16_t>(sample << plane.shift);
  if (plane.type == SampleType::kU8)
    *to = static_cast<uint8_t>(word);
  else
    std::memcpy(to, &word, 2);
}

// Repeats `tile` over the plane at `data`.
void fill_plane(uint8_t* data, const SamplePlane& plane, const test::Plane& tile) {
  const int bytes = plane.type == SampleType::kU8 ? 1 : 2;
  const auto stride = static_cast<size_t>(plane.stride);
  for (int y = 0; y < plane.height; ++y) {
    uint8_t* row = data + static_cast<ptrdiff_t>(y) * plane.pitch;
    const int once = std::min(plane.width, tile.width);
    for (int x = 0; x < once; ++x)
      store_sample(row + static_cast<size_t>(x) * stride, plane, tile.at(x, y % tile.rows));
    for (int x = once; x < plane.width; ++x) {
      if (plane.stride == bytes) {
        const int run = std::min(once, plane.width - x);
        std::memcpy(row + static_cast<size_t>(x) * stride, row, static_cast<size_t>(run) * stride);
        x += run - 1;
      } else {
        std::memcpy(row + static_cast<size_t>(x) * stride,
                    row + static_cast<size_t>(x - once) * stride, static_cast<size_t>(bytes));
      }
    }
  }
}

// A picture into a frame's samples on the device; waits.
void upload_picture(const Gpu& gpu, Device& device, const JobSpec& spec,
                    const FrameGeometry& geometry, void* samples) {
  std::vector<uint8_t> host(geometry.sample_allocation, 0);
  for (int c = 0; c < geometry.components; ++c) {
    fill_plane(at(host.data(), geometry.samples[c].data), geometry.samples[c],
               tile(spec.format)[static_cast<size_t>(c)]);
  }
  require(
      device.upload(device.queue(QueueKind::kCompute), copy_of(samples, host.data(), host.size())));
  gpu.synchronize();
}

Dct8x8Job make_job(const JobSpec& spec, const FrameGeometry& geometry, void* samples, void* coefs) {
  Dct8x8Job job;
  job.direction = spec.direction;
  job.method = spec.method;
  job.type = spec.type();
  job.layout = spec.layout;
  job.order = spec.order;
  job.depth = spec.format.depth;
  job.scale = spec.scale;
  job.components = geometry.components;
  job.measure = spec.measure;
  if (spec.direction == Direction::kForward) job.quantizer = spec.quantizer;
  std::fill_n(job.tables, 4, preset_table(QuantPreset::kAnnexK, QuantComponent::kChroma, kQuality));
  job.tables[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, kQuality);
  for (int c = 0; c < geometry.components; ++c) {
    job.samples[c] = geometry.samples[c];
    job.samples[c].data = at(static_cast<uint8_t*>(samples), geometry.samples[c].data);
    job.coefs[c] = geometry.coefs[c];
    job.coefs[c].chroma = c > 0;
    job.coefs[c].data = at(static_cast<uint8_t*>(coefs), geometry.coefs[c].data);
  }
  return job;
}

// Bytes of a block of coefficients that must be read or written.
size_t block_bytes_needed(const JobSpec& spec) {
  if (spec.scale == 1) return 64 * coef_size(spec.type());
  // Block layout, raster order, int16: two rows of a block are a sector of 32 bytes. islow at 1/2
  // depends on all rows but one, at 1/4 on 0, 1, 3, 5 and 7, which is all sectors; float on the
  // first 4 or 2 rows. At 1/8 DC alone counts, and its sector with it.
  if (spec.scale == 8) return 32;
  if (spec.method == Method::kIslow) return 128;
  return spec.scale == 2 ? 64 : 32;
}

}  // namespace

std::string buffers_key(const JobSpec& spec) {
  std::string key = std::string(spec.format.name) + " " + std::to_string(spec.width) + "x" +
                    std::to_string(spec.height) + " " + std::to_string(int(spec.direction));
  // Input coefficients have to lie as the job wants them; output needs only the room.
  if (spec.direction == Direction::kInverse)
    key += " " + std::to_string(int(spec.layout)) + " " + std::to_string(int(spec.order)) + " " +
           std::to_string(spec.scale);
  return key;
}

std::string output_key(const JobSpec& spec) {
  return buffers_key(spec) + " " + method_name(spec.method) + " " +
         std::to_string(int(spec.layout)) + " " + std::to_string(int(spec.order)) + " " +
         quantizer_name(spec.quantizer);
}

FrameGeometry::FrameGeometry(const JobSpec& spec)
    : components(test::component_count(spec.format.sampling)) {
  const Subsampling chroma = subsampling(spec.format.sampling);
  for (int c = 0; c < components; ++c) {
    const int width = c == 0 ? spec.width : divide_up(spec.width, chroma.x);
    const int rows = c == 0 ? spec.height : divide_up(spec.height, chroma.y);
    add_samples(spec, c, divide_up(width, spec.scale), divide_up(rows, spec.scale));
    add_coefs(spec, c);
  }
}

void FrameGeometry::add_samples(const JobSpec& spec, int component, int width, int rows) {
  const size_t bytes = spec.format.depth == 8 ? 1 : 2;
  const bool interleaved = spec.format.semi_planar && component > 0;
  SamplePlane& plane = samples[component];
  plane.type = bytes == 1 ? SampleType::kU8 : SampleType::kU16;
  plane.width = width;
  plane.height = rows;
  plane.stride = static_cast<int32_t>(interleaved ? 2 * bytes : bytes);
  plane.shift = spec.format.semi_planar && bytes == 2 ? 16 - spec.format.depth : 0;
  const size_t row_bytes = static_cast<size_t>(width) * static_cast<size_t>(plane.stride);
  const size_t pitch = align(row_bytes, kRowAlignment);
  plane.pitch = static_cast<ptrdiff_t>(pitch);
  visible_samples += static_cast<size_t>(width) * static_cast<size_t>(rows);
  sample_bytes += static_cast<size_t>(width) * static_cast<size_t>(rows) * bytes;
  if (interleaved && component == 2) {
    plane.data = at(static_cast<uint8_t*>(samples[1].data), reinterpret_cast<void*>(bytes));
    return;
  }
  plane.data = reinterpret_cast<void*>(sample_allocation);
  sample_regions.push_back({sample_allocation, pitch, row_bytes, static_cast<size_t>(rows)});
  sample_allocation = align(sample_allocation + pitch * static_cast<size_t>(rows), kPlaneAlignment);
}

void FrameGeometry::add_coefs(const JobSpec& spec, int component) {
  CoefPlane& plane = coefs[component];
  plane.blocks_w = divide_up(samples[component].width, 8 / spec.scale);
  plane.blocks_h = divide_up(samples[component].height, 8 / spec.scale);
  plane.table = component > 0;
  const size_t block_row = static_cast<size_t>(plane.blocks_w) * 64 * coef_size(spec.type());
  const auto rows = static_cast<size_t>(plane.blocks_h);
  plane.pitch = static_cast<ptrdiff_t>(spec.layout == Layout::kBlock ? block_row : block_row / 8);
  plane.data = reinterpret_cast<void*>(coef_allocation);
  coef_regions.push_back({coef_allocation, block_row, block_row, rows});
  coef_allocation = align(coef_allocation + block_row * rows, kPlaneAlignment);
  const size_t plane_blocks = static_cast<size_t>(plane.blocks_w) * rows;
  blocks += plane_blocks;
  coef_bytes += plane_blocks * block_bytes_needed(spec);
}

Buffers::Buffers(const Gpu& gpu, Device& device, const JobSpec& spec, size_t sets)
    : gpu_(gpu), geometry_(spec), forward_(spec.direction == Direction::kForward) {
  require(device.allocate(MemoryKind::kPinned, sets * sizeof(PictureSums), &sums_));
  for (size_t i = 0; i < sets; ++i) {
    Set set;
    require(device.allocate(MemoryKind::kDevice, geometry_.sample_allocation, &set.samples));
    require(device.allocate(MemoryKind::kDevice, geometry_.coef_allocation, &set.coefs));
    // Streaming kernels read the gaps between planes too.
    gpu.fill(set.coefs->data(), 0, set.coefs->size());
    sets_.push_back(std::move(set));
  }
  if (forward_) {
    upload_picture(gpu, device, spec, geometry_, sets_[0].samples->data());
    // Copies from there to the other sets, which is faster than from the host.
    for (size_t i = 1; i < sets; ++i)
      require(device.copy(device.queue(QueueKind::kCompute),
                          copy_of(sets_[i].samples->data(), sets_[0].samples->data(),
                                  geometry_.sample_allocation)));
  } else {
    fill_coefs(device, spec);
  }
  gpu.synchronize();
  poison(0xA5);
}

void Buffers::fill_coefs(Device& device, const JobSpec& spec) {
  JobSpec forward = spec;
  forward.direction = Direction::kForward;
  forward.method = effective_method(Method::kIslow, spec.format.depth);
  forward.measure = 0;
  forward.scale = 1;
  const FrameGeometry full(forward);
  std::unique_ptr<Memory> source;
  require(device.allocate(MemoryKind::kDevice, full.sample_allocation, &source));
  upload_picture(gpu_, device, forward, full, source->data());
  for (const Set& set : sets_) {
    const Dct8x8Job job = make_job(forward, full, source->data(), set.coefs->data());
    require(cuda_dct8x8_ops().submit(device, device.queue(QueueKind::kCompute), job, nullptr));
  }
  gpu_.synchronize();  // before the source is freed
}

Dct8x8Job Buffers::job(const JobSpec& spec, size_t set) const {
  // The spec's own geometry: output coefficients may lie otherwise than the buffers'.
  Dct8x8Job job =
      make_job(spec, FrameGeometry(spec), sets_[set].samples->data(), sets_[set].coefs->data());
  if (spec.measure != 0) job.sums = sums(set);
  return job;
}

void* Buffers::input(size_t set) const {
  return (forward_ ? sets_[set].samples : sets_[set].coefs)->data();
}

void* Buffers::output(size_t set) const {
  return (forward_ ? sets_[set].coefs : sets_[set].samples)->data();
}

PictureSums* Buffers::sums(size_t set) const {
  return static_cast<PictureSums*>(sums_->data()) + set;
}

void Buffers::poison(uint8_t value) const {
  for (const Set& set : sets_) {
    const Memory& output = forward_ ? *set.coefs : *set.samples;
    gpu_.fill(output.data(), value, output.size());
  }
  gpu_.synchronize();
  std::memset(sums_->data(), value, sums_->size());
}

}  // namespace cudatransform::bench
