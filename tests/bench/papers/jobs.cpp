// Engines by name, and timed jobs of packed planes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "tests/bench/common.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_device.h"
#ifdef CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::bench {
namespace {

struct CudaEngine {
  test::Engine engine;
  std::string why;  // there is none
};

CudaEngine make_cuda_engine() {
#ifdef CT_HAVE_CUDA
  std::unique_ptr<Device> device;
  const Status status = make_primary_cuda_device(0, &device);
  if (!status.ok()) return {{}, status.message};
  return {{"cuda", std::move(device), &cuda_dct8x8_ops(), 0, true}, ""};
#else
  return {{}, "built without the CUDA engine"};
#endif
}

}  // namespace

const test::Engine* find_engine(Runner runner, std::string* why) {
  static const std::shared_ptr<Device> one = make_host_device(1), all = make_host_device(0);
  static const test::Engine engines[] = {{"serial", one, &portable_dct8x8_ops()},
                                         {"tbb", all, &portable_dct8x8_ops()},
                                         {"simd", one, &host_dct8x8_ops()},
                                         {"simd+tbb", all, &host_dct8x8_ops()}};
  if (runner != Runner::kCuda) return &engines[static_cast<size_t>(runner)];
  static const CudaEngine cuda = make_cuda_engine();
  *why = cuda.why;
  return cuda.why.empty() ? &cuda.engine : nullptr;
}

const test::Engine& engine_of(Runner runner) {
  std::string why;
  const test::Engine* engine = find_engine(runner, &why);
  if (engine == nullptr) throw std::runtime_error(why);
  return *engine;
}

const char* engine_key(Runner runner) { return runner == Runner::kCuda ? "cuda" : "cpu"; }

PlaneJob::PlaneJob(const test::Engine& engine, Direction direction, Method method, bool quantized,
                   const Plane& plane, const void* input)
    : engine_(engine), timer_(engine.device->make_timer()) {
  if (!timer_) throw std::runtime_error(engine.name + " makes no timer");
  job_.direction = direction;
  job_.method = method;
  job_.quantized = quantized;
  job_.type = quantized ? CoefType::kS16 : CoefType::kF32;
  job_.layout = quantized ? Layout::kBlock : Layout::kPlane;
  job_.components = 1;
  job_.tables[0] = plane.table;
  SamplePlane& samples = job_.samples[0];
  samples.width = plane.width;
  samples.height = plane.height;
  samples.pitch = plane.width;
  CoefPlane& coefs = job_.coefs[0];
  coefs.blocks_w = (plane.width + 7) / 8;
  coefs.blocks_h = (plane.height + 7) / 8;
  coefs.pitch = ptrdiff_t{coefs.blocks_w} * (quantized ? 128 : 32);
  sample_bytes_ = static_cast<size_t>(samples.pitch) * plane.height;
  coef_bytes_ = static_cast<size_t>(coefs.pitch) * coefs.blocks_h * (quantized ? 1 : 8);
  require(engine.device->allocate(MemoryKind::kDevice, sample_bytes_, &samples_));
  require(engine.device->allocate(MemoryKind::kDevice, coef_bytes_, &coefs_));
  samples.data = samples_->data();
  coefs.data = coefs_->data();
  const bool forward = direction == Direction::kForward;
  require(engine.device->upload(engine.device->queue(QueueKind::kCompute),
                                copy_of((forward ? samples_ : coefs_)->data(), input,
                                        forward ? sample_bytes_ : coef_bytes_)));
}

void PlaneJob::read_output(void* data) {
  const bool forward = job_.direction == Direction::kForward;
  Queue& queue = engine_.device->queue(QueueKind::kCompute);
  require(engine_.device->download(queue, copy_of(data, (forward ? coefs_ : samples_)->data(),
                                                  forward ? coef_bytes_ : sample_bytes_)));
  FencePtr fence;
  require(queue.record(&fence));
  require(fence->wait());
}

double PlaneJob::run(int launches) {
  engine_.activate();
  Queue& queue = engine_.device->queue(QueueKind::kCompute);
  require(timer_->begin(queue));
  for (int i = 0; i < launches; ++i)
    require(engine_.ops->submit(*engine_.device, queue, job_, nullptr));
  require(timer_->end(queue));
  FencePtr fence;
  require(queue.record(&fence));
  require(fence->wait());
  uint64_t nanoseconds = 0;
  while (!timer_->read_ns(&nanoseconds)) std::this_thread::yield();
  return 1e-9 * static_cast<double>(nanoseconds) / launches;
}

Times PlaneJob::time(int least_readings, double seconds) {
  constexpr double kShortest = 3e-4;
  run(1);
  const double once = std::max(run(1), 1e-7);
  const int launches = static_cast<int>(std::clamp(std::ceil(kShortest / once), 1.0, 1000.0));
  return repeat(seconds, least_readings, [&] { return run(launches); });
}

}  // namespace cudatransform::bench
