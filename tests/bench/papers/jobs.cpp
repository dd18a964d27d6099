// Engines by name, and timed jobs of packed planes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/bench/common.h"
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
    : engine_(engine) {
  test::DctSpec spec;
  spec.width = plane.width;
  spec.height = plane.height;
  spec.direction = direction;
  spec.method = method;
  spec.quantized = quantized;
  if (!quantized) spec.layout = Layout::kPlane;
  const test::KernelJob sizes = dct_job(spec);
  Device& device = *engine.device;
  out_bytes_ = sizes.out_bytes;
  in_ = memory_on(device, MemoryKind::kDevice, sizes.in_size);
  out_ = memory_on(device, MemoryKind::kDevice, sizes.out_size);
  job_ = place_dct(spec, {in_->data(), out_->data()});
  job_.tables[0] = plane.table;
  Copy2D upload = copy_of(in_->data(), input, sizes.in_bytes);
  if (direction == Direction::kForward)
    upload = {in_->data(),
              job_.samples[0].pitch,
              input,
              plane.width,
              static_cast<size_t>(plane.width),
              static_cast<size_t>(plane.height)};
  require(device.upload(device.queue(QueueKind::kCompute), upload));
}

void PlaneJob::read_coefs(void* data) {
  Queue& queue = engine_.device->queue(QueueKind::kCompute);
  require(engine_.device->download(queue, copy_of(data, out_->data(), out_bytes_)));
  FencePtr fence;
  require(queue.record(&fence));
  require(fence->wait());
}

Times PlaneJob::time(int min_readings, double seconds) {
  constexpr double kShortest = 3e-4;
  engine_.activate();
  Device& device = *engine_.device;
  Queue& queue = device.queue(QueueKind::kCompute);
  const auto run = [&](int launches) {
    return seconds_on(device, queue,
                      [&] {
                        for (int i = 0; i < launches; ++i)
                          require(engine_.ops->submit(device, queue, job_, nullptr));
                      }) /
           launches;
  };
  run(1);
  const double once = std::max(run(1), 1e-7);
  const int launches = static_cast<int>(std::clamp(std::ceil(kShortest / once), 1.0, 1000.0));
  return repeat(seconds, min_readings, [&] { return run(launches); });
}

}  // namespace cudatransform::bench
