// The pipelines' yardsticks: the engines' kernels alone, and copies alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline/bare.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "tests/bench/common.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kAlignment = 256;

std::unique_ptr<Device> make_device(int threads) {
  if (threads > 0) return make_host_device(threads);
  std::unique_ptr<Device> device;
#if CT_HAVE_CUDA
  require(make_primary_cuda_device(0, &device));
#else
  throw std::runtime_error("this build has no CUDA engine");
#endif
  return device;
}

std::unique_ptr<Memory> allocate(Device& device, MemoryKind kind, size_t bytes) {
  std::unique_ptr<Memory> memory;
  require(device.allocate(kind, bytes, &memory));
  return memory;
}

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A frame's planes, one below the other.
struct Plane {
  int width, height;
  size_t pitch, offset;
};
std::vector<Plane> planes_of(const PipeSize& size, size_t* bytes) {
  std::vector<Plane> planes;
  *bytes = 0;
  for (const int half : {1, 2, 2}) {
    Plane plane = {size.width / half, size.height / half, 0, *bytes};
    plane.pitch = aligned(size_t(plane.width));
    planes.push_back(plane);
    *bytes += plane.pitch * size_t(plane.height);
  }
  return planes;
}

Copy2D copy_of(const Plane& plane, void* to, size_t to_pitch, const void* from, size_t from_pitch) {
  Copy2D copy;
  copy.dst = to;
  copy.dst_pitch = ptrdiff_t(to_pitch);
  copy.src = from;
  copy.src_pitch = ptrdiff_t(from_pitch);
  copy.row_bytes = size_t(plane.width);
  copy.rows = size_t(plane.height);
  return copy;
}

int blocks(int samples) { return (samples + 7) / 8; }

}  // namespace

Kernels::Kernels(const PipeSize& size, Method method, int threads) : device_(make_device(threads)) {
  ops_ = &host_dct8x8_ops();
#if CT_HAVE_CUDA
  if (threads == 0) ops_ = &cuda_dct8x8_ops();
#endif
  size_t bytes = 0, coef_bytes = 0;
  const std::vector<Plane> planes = planes_of(size, &bytes);
  for (const Plane& plane : planes)
    coef_bytes += aligned(size_t(blocks(plane.width)) * size_t(blocks(plane.height)) * 128);
  const std::vector<uint8_t> picture = pipe_picture(size);
  Queue& queue = device_->queue(QueueKind::kCompute);
  for (size_t i = 0; i < pipe_ring(size); ++i) {
    Set set;
    set.source = allocate(*device_, MemoryKind::kDevice, bytes);
    if (i < 2) {
      set.result = allocate(*device_, MemoryKind::kDevice, bytes);
      set.coefs = allocate(*device_, MemoryKind::kDevice, coef_bytes);
    } else {
      set.result = sets_[i - 2].result;
      set.coefs = sets_[i - 2].coefs;
    }
    const uint8_t* from = picture.data();
    for (const Plane& plane : planes) {
      auto* to = static_cast<uint8_t*>(set.source->data()) + plane.offset;
      require(device_->upload(queue, copy_of(plane, to, plane.pitch, from, size_t(plane.width))));
      from += size_t(plane.width) * size_t(plane.height);
    }
    set.forward = make_job(size, method, Direction::kForward, set);
    set.inverse = make_job(size, method, Direction::kInverse, set);
    sets_.push_back(std::move(set));
  }
}

Dct8x8Job Kernels::make_job(const PipeSize& size, Method method, Direction direction,
                            const Set& set) const {
  Dct8x8Job job;
  job.direction = direction;
  job.method = method;
  job.components = 3;
  job.tables[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 85);
  job.tables[1] = preset_table(QuantPreset::kAnnexK, QuantComponent::kChroma, 85);
  size_t bytes = 0, offset = 0;
  const std::vector<Plane> planes = planes_of(size, &bytes);
  const Memory& samples = direction == Direction::kForward ? *set.source : *set.result;
  for (int c = 0; c < 3; ++c) {
    const Plane& plane = planes[size_t(c)];
    job.samples[c].data = static_cast<uint8_t*>(samples.data()) + plane.offset;
    job.samples[c].pitch = ptrdiff_t(plane.pitch);
    job.samples[c].width = plane.width;
    job.samples[c].height = plane.height;
    CoefPlane& coefs = job.coefs[c];
    coefs.data = static_cast<uint8_t*>(set.coefs->data()) + offset;
    coefs.blocks_w = blocks(plane.width);
    coefs.blocks_h = blocks(plane.height);
    coefs.pitch = ptrdiff_t{128} * coefs.blocks_w;
    coefs.table = c > 0;
    offset += aligned(size_t(coefs.pitch) * size_t(coefs.blocks_h));
  }
  return job;
}

double Kernels::time_direction(bool forward, double seconds, int least_frames) {
  Queue& queue = device_->queue(QueueKind::kCompute);
  FencePtr done;  // unused; costs an event on CUDA, and nothing on the CPU
  FencePtr* fence_of_job = device_->is_host() ? &done : nullptr;
  const auto submit = [&](size_t i) {
    const Set& set = sets_[i % sets_.size()];
    require(ops_->submit(*device_, queue, forward ? set.forward : set.inverse, fence_of_job));
  };
  const auto wait = [&] {
    FencePtr fence;
    require(queue.record(&fence));
    require(fence->wait());
  };
  submit(0);  // loads modules
  wait();
  // Rounds of the ring, so that the queue is never empty and never full.
  const int round = std::max(least_frames, int(sets_.size()));
  const auto timer = device_->make_timer();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  uint64_t total = 0, jobs = 0, ns = 0;
  do {
    require(timer->begin(queue));
    for (int i = 0; i < round; ++i) submit(size_t(i));
    require(timer->end(queue));
    wait();
    if (timer->read_ns(&ns)) total += ns;
    jobs += uint64_t(round);
  } while (Clock::now() < end);
  return 1e-9 * double(total) / double(jobs);
}

double Kernels::run(double seconds, int least_frames) {
  return time_direction(true, seconds / 2, least_frames) +
         time_direction(false, seconds / 2, least_frames);
}

Copies::Copies(const PipeSize& size, int depth) : size_(size), device_(make_device(0)) {
  size_t bytes = 0;
  planes_of(size, &bytes);
  for (int i = 0; i < depth; ++i) {
    Slot slot;
    slot.from = allocate(*device_, MemoryKind::kPinned, bytes);
    slot.to = allocate(*device_, MemoryKind::kPinned, bytes);
    slot.uploaded = allocate(*device_, MemoryKind::kDevice, bytes);
    slot.downloaded = allocate(*device_, MemoryKind::kDevice, bytes);
    slots_.push_back(std::move(slot));
  }
}

double Copies::run(double seconds, int least_frames) {
  size_t bytes = 0;
  const std::vector<Plane> planes = planes_of(size_, &bytes);
  Queue &up = device_->queue(QueueKind::kUpload), &down = device_->queue(QueueKind::kDownload);
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(seconds);
  int frames = 0;
  for (; frames < least_frames || Clock::now() < end; ++frames) {
    Slot& slot = slots_[size_t(frames) % slots_.size()];
    for (FencePtr* fence : {&slot.up, &slot.down})
      if (*fence) require((*fence)->wait());
    const auto at = [](const std::unique_ptr<Memory>& memory, const Plane& plane) {
      return static_cast<uint8_t*>(memory->data()) + plane.offset;
    };
    for (const Plane& p : planes)
      require(device_->upload(
          up, copy_of(p, at(slot.uploaded, p), p.pitch, at(slot.from, p), p.pitch)));
    require(up.record(&slot.up));
    for (const Plane& p : planes)
      require(device_->download(
          down, copy_of(p, at(slot.to, p), p.pitch, at(slot.downloaded, p), p.pitch)));
    require(down.record(&slot.down));
  }
  for (Slot& slot : slots_)
    for (FencePtr* fence : {&slot.up, &slot.down})
      if (*fence) require((*fence)->wait());
  return std::chrono::duration<double>(Clock::now() - begin).count() / frames;
}

}  // namespace cudatransform::bench
