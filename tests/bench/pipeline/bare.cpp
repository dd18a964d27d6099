// The pipelines' yardsticks: the engines' kernels alone, and copies alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline/bare.h"

#include <algorithm>
#include <stdexcept>

#include "tests/bench/common.h"
#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::bench {
namespace {

constexpr size_t kAlignment = 256;

std::unique_ptr<Device> make_cuda() {
  std::unique_ptr<Device> device;
#if CT_HAVE_CUDA
  require(make_primary_cuda_device(0, &device));
#else
  throw std::runtime_error("this build has no CUDA engine");
#endif
  return device;
}

test::Engine make_engine(int threads) {
  if (threads > 0) return test::host_engine(make_host_device(threads));
#if CT_HAVE_CUDA
  return test::cuda_engine(make_cuda());
#else
  return {"cuda", make_cuda()};  // throws
#endif
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

}  // namespace

Kernels::Kernels(const PipeSize& size, Method method, int threads) : engine_(make_engine(threads)) {
  test::DctSpec spec;
  spec.format = {"I420", test::Sampling::k420, 8, false};
  spec.width = size.width;
  spec.height = size.height;
  spec.method = method;
  forward_ = dct_job(spec);
  spec.direction = Direction::kInverse;
  inverse_ = dct_job(spec);
  const std::vector<uint8_t> picture = forward_.input();
  Device& device = *engine_.device;
  for (size_t i = 0; i < pipe_ring(size); ++i) {
    Set& set = sets_.emplace_back();
    set.source = memory_on(device, MemoryKind::kDevice, forward_.in_size);
    if (i < 2) {
      set.result = memory_on(device, MemoryKind::kDevice, inverse_.out_size);
      set.coefs = memory_on(device, MemoryKind::kDevice, forward_.out_size);
    } else {
      set.result = sets_[i - 2].result;
      set.coefs = sets_[i - 2].coefs;
    }
    require(device.upload(device.queue(QueueKind::kCompute),
                          bench::copy_of(set.source->data(), picture.data(), picture.size())));
  }
}

double Kernels::time_direction(bool forward, double seconds, int min_frames) {
  Device& device = *engine_.device;
  Queue& queue = device.queue(QueueKind::kCompute);
  const auto submit = [&](size_t i) {
    const Set& set = sets_[i % sets_.size()];
    void* const coefs = set.coefs->data();
    require(forward ? forward_.submit(engine_, {set.source->data(), coefs}, nullptr)
                    : inverse_.submit(engine_, {coefs, set.result->data()}, nullptr));
  };
  seconds_on(device, queue, [&] { submit(0); });  // loads modules
  // Rounds of the ring, so that the queue is never empty and never full.
  const int round = std::max(min_frames, int(sets_.size()));
  return repeat(seconds, 1,
                [&] {
                  return seconds_on(device, queue, [&] {
                    for (int i = 0; i < round; ++i) submit(size_t(i));
                  });
                })
             .mean() /
         round;
}

double Kernels::run(double seconds, int min_frames) {
  return time_direction(true, seconds / 2, min_frames) +
         time_direction(false, seconds / 2, min_frames);
}

Copies::Copies(const PipeSize& size, int depth) : size_(size), device_(make_cuda()) {
  size_t bytes = 0;
  planes_of(size, &bytes);
  for (int i = 0; i < depth; ++i) {
    Slot slot;
    slot.from = memory_on(*device_, MemoryKind::kPinned, bytes);
    slot.to = memory_on(*device_, MemoryKind::kPinned, bytes);
    slot.uploaded = memory_on(*device_, MemoryKind::kDevice, bytes);
    slot.downloaded = memory_on(*device_, MemoryKind::kDevice, bytes);
    slots_.push_back(std::move(slot));
  }
}

double Copies::run(double seconds, int min_frames) {
  size_t bytes = 0;
  const std::vector<Plane> planes = planes_of(size_, &bytes);
  Queue &up = device_->queue(QueueKind::kUpload), &down = device_->queue(QueueKind::kDownload);
  const auto wait = [](Slot& slot) {
    for (FencePtr* fence : {&slot.up, &slot.down})
      if (*fence) require((*fence)->wait());
  };
  const auto copy_frame = [&](Slot& slot) {
    wait(slot);
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
  };
  int frames = 0;
  const double all = seconds_of([&] {
    frames = take_rounds(seconds, min_frames,
                         [&](int i) { copy_frame(slots_[size_t(i) % slots_.size()]); });
    for (Slot& slot : slots_) wait(slot);
  });
  return all / frames;
}

}  // namespace cudatransform::bench
