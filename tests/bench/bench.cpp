// The speed of every method on every engine, over rotating buffers of a real-looking picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Quantised S16 coefficients, block layout, raster order, one 8-bit component, quality 85: 3 bytes
// a sample cross the memory bus (1 of the sample, 2 of the coefficient). Buffers rotate so that no
// cache holds them; "L2" in a name marks the one case on a CUDA device where one buffer is used
// again and again. Times are the device's own (events on CUDA). Counters:
//   ns/block  time of one 8x8 block
//   GB/s      3 bytes a sample over that time
//   of copy   CUDA: time in which the device copies as many bytes in all (half read, half written),
//             measured in the same run, over the time of the job; 1 is the memory limit
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "engines.h"
#include "job_runner.h"

namespace cudatransform::test {
namespace {

struct Size {
  const char* name;
  int width, height;
};
constexpr Size kSizes[] = {
    {"1080p", 1920, 1080}, {"4K", 3840, 2160}, {"8K", 7680, 4320}, {"32K", 32768, 32768}};

void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message);
}

void finish(const Engine& engine, QueueKind kind) {
  FencePtr fence;
  require(engine.device->queue(kind).record(&fence));
  require(fence->wait());
}

// Buffers of one frame.
struct Slot {
  std::unique_ptr<Memory> source, coefs, decoded;
};

// As many slots as no cache holds, or one.
class Bench {
 public:
  Bench(const Engine& engine, const Size& size, bool resident) : engine_(engine), size_(size) {
    engine.activate();
    const size_t slots = resident ? 1 : 2 + (size_t{engine.is_cuda ? 256u : 64u} << 20) / bytes();
    const std::vector<uint8_t> picture = tiled_picture();
    for (size_t i = 0; i < slots; ++i) {
      Slot slot;
      Device& device = *engine.device;
      require(device.allocate(MemoryKind::kDevice, samples(), &slot.source));
      require(device.allocate(MemoryKind::kDevice, 2 * padded_samples(), &slot.coefs));
      require(device.allocate(MemoryKind::kDevice, samples(), &slot.decoded));
      require(device.upload(device.queue(QueueKind::kUpload),
                            {slot.source->data(), size.width, picture.data(), size.width,
                             static_cast<size_t>(size.width), static_cast<size_t>(size.height)}));
      finish(engine, QueueKind::kUpload);
      slots_.push_back(std::move(slot));
      submit(i, Method::kIslow, Direction::kForward);  // what inverses read
    }
    finish(engine, QueueKind::kCompute);
    timer_ = engine.device->make_timer();
  }

  size_t samples() const { return static_cast<size_t>(size_.width) * size_.height; }
  size_t blocks() const { return padded_samples() / 64; }
  size_t bytes() const { return 3 * samples(); }
  size_t slots() const { return slots_.size(); }

  void submit(size_t slot, Method method, Direction direction) {
    Dct8x8Job job;
    job.direction = direction;
    job.method = method;
    job.components = 1;
    job.tables[0] = table_;
    job.samples[0].data =
        (direction == Direction::kForward ? slots_[slot].source : slots_[slot].decoded)->data();
    job.samples[0].pitch = size_.width;
    job.samples[0].width = size_.width;
    job.samples[0].height = size_.height;
    job.coefs[0].data = slots_[slot].coefs->data();
    job.coefs[0].blocks_w = (size_.width + 7) / 8;
    job.coefs[0].blocks_h = (size_.height + 7) / 8;
    job.coefs[0].pitch = static_cast<ptrdiff_t>(job.coefs[0].blocks_w) * 128;
    FencePtr fence;
    require(engine_.ops->submit(*engine_.device, engine_.device->queue(QueueKind::kCompute), job,
                                &fence));
  }

  void copy(size_t slot) {
    // As many bytes as a job moves, half of them read: from a coefficient buffer to the next one.
    const size_t half = std::min(bytes() / 2, 2 * padded_samples());
    const auto pitch = static_cast<ptrdiff_t>(half);
    require(engine_.device->copy(engine_.device->queue(QueueKind::kCompute),
                                 {slots_[(slot + 1) % slots_.size()].coefs->data(), pitch,
                                  slots_[slot].coefs->data(), pitch, half, 1}));
  }

  // Seconds of one call of `work`(slot), from a run over all slots.
  template <typename Work>
  double time(Work work) {
    Queue& queue = engine_.device->queue(QueueKind::kCompute);
    // Several rounds over few slots: an event is no finer than half a microsecond.
    const size_t calls = engine_.is_cuda ? std::max<size_t>(16, slots_.size()) : slots_.size();
    require(timer_->begin(queue));
    for (size_t i = 0; i < calls; ++i) work(i % slots_.size());
    require(timer_->end(queue));
    finish(engine_, QueueKind::kCompute);
    uint64_t nanoseconds = 0;
    if (!timer_->read_ns(&nanoseconds)) throw std::runtime_error("the timer is not done");
    return 1e-9 * static_cast<double>(nanoseconds) / static_cast<double>(calls);
  }

 private:
  size_t padded_samples() const {
    return static_cast<size_t>((size_.width + 7) / 8) * ((size_.height + 7) / 8) * 64;
  }

  std::vector<uint8_t> tiled_picture() const {
    const Picture tile = make_picture(Sampling::kGrey, 960, 540, 8, Content::kPhoto, 1);
    std::vector<uint8_t> picture(samples());
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x)
        picture[static_cast<size_t>(y) * size_.width + x] =
            static_cast<uint8_t>(tile[0].at(x % 960, y % 540));
    return picture;
  }

  const Engine& engine_;
  Size size_;
  QuantTable table_ = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 85);
  std::vector<Slot> slots_;
  std::unique_ptr<Timer> timer_;
};

// The last one made: neighbours in the list share it.
Bench& bench_for(const Engine& engine, const Size& size, bool resident) {
  static std::unique_ptr<Bench> bench;
  static std::string key;
  const std::string wanted = engine.name + size.name + (resident ? " L2" : "");
  if (key != wanted) {
    bench.reset();
    bench = std::make_unique<Bench>(engine, size, resident);
    key = wanted;
  }
  return *bench;
}

void run(benchmark::State& state, const Engine& engine, const Size& size, bool resident,
         Method method, Direction direction) {
  try {
    Bench& bench = bench_for(engine, size, resident);
    engine.activate();
    const auto job = [&](size_t slot) { bench.submit(slot, method, direction); };
    bench.time(job);  // warm
    std::vector<double> times, copies;
    for (auto _ : state) {
      times.push_back(bench.time(job));
      state.SetIterationTime(times.back());
      if (engine.is_cuda && copies.size() < 50)
        copies.push_back(bench.time([&](size_t slot) { bench.copy(slot); }));
    }
    const auto median = [](std::vector<double>& v) {
      std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
      return v[v.size() / 2];
    };
    const double seconds = median(times);
    state.counters["ns/block"] = 1e9 * seconds / static_cast<double>(bench.blocks());
    state.counters["GB/s"] = 1e-9 * static_cast<double>(bench.bytes()) / seconds;
    // A copy within one buffer would overlap itself.
    if (!copies.empty() && bench.slots() > 1) state.counters["of copy"] = median(copies) / seconds;
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void register_one(const Engine& engine, const Size& size, bool resident, Method method,
                  Direction direction) {
  const std::string name = engine.name + "/" + size.name + (resident ? " L2" : "") + "/" +
                           method_name(method) +
                           (direction == Direction::kForward ? "/forward" : "/inverse");
  benchmark::RegisterBenchmark(
      name.c_str(),
      [&engine, &size, resident, method, direction](benchmark::State& state) {
        run(state, engine, size, resident, method, direction);
      })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void register_all() {
  for (const Engine& engine : engines())
    for (const Size& size : kSizes) {
      if (!engine.is_cuda && &size != &kSizes[0]) break;
      for (const bool resident : {false, true}) {
        if (resident && (!engine.is_cuda || &size != &kSizes[0])) continue;
        for (int m = 0; m < kMethodCount; ++m) {
          const auto method = static_cast<Method>(m);
          // The methods that teach are compared at one size.
          if (!engine.covers(method) ||
              (method > Method::kFloat && &size != &kSizes[1] && engine.is_cuda))
            continue;
          register_one(engine, size, resident, method, Direction::kForward);
          register_one(engine, size, resident, method, Direction::kInverse);
        }
      }
    }
}

}  // namespace
}  // namespace cudatransform::test

int main(int argc, char** argv) {
  int exit_code = 0;
  if (!cudatransform::test::choose_engines(&argc, argv, &exit_code)) return exit_code;
  cudatransform::test::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
