// Verbs on coefficients on the CPU, beside copies of the same bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counters: GB/s of bytes read and written; ratio: time of memcpy() over the time.
#include "tests/bench/cpu/convert.h"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

#include "tests/bench/common.h"
#include "transform/device/host_device.h"
#include "transform/verbs/convert.h"
#include "transform/verbs/flip.h"
#include "transform/verbs/quant.h"

namespace cudatransform::bench {
namespace {

constexpr CoefKinds kBlock = {CoefNumber::kS16, CoefArrangement::kBlock, true};

enum class Verb { kConvert, kFlip, kQuant };

struct Way {
  const char* name;
  CoefKinds from, to;
  Verb verb = Verb::kConvert;
  Turn turn = {};  // of a flip
};
constexpr CoefKinds kPlane = {CoefNumber::kS16, CoefArrangement::kPlane, true};
constexpr CoefKinds kZigzag = {CoefNumber::kS16, CoefArrangement::kZigzagBlock, true};
constexpr Turn kClockwise = {true, true, false}, kUpsideDown = {false, true, true};
constexpr Way kWays[] = {
    {"from:S16-block/to:S16-plane", kBlock, {CoefNumber::kS16, CoefArrangement::kPlane, true}},
    {"from:S16-block/to:S16-band", kBlock, {CoefNumber::kS16, CoefArrangement::kBand, true}},
    {"from:S16-block/to:F16-band", kBlock, {CoefNumber::kF16, CoefArrangement::kBand, false}},
    {"from:S16-band/to:S16-block", {CoefNumber::kS16, CoefArrangement::kBand, true}, kBlock},
    {"layout:S16-block/turn:90r", kBlock, kBlock, Verb::kFlip, kClockwise},
    {"layout:S16-block/turn:180", kBlock, kBlock, Verb::kFlip, kUpsideDown},
    {"layout:S16-plane/turn:90r", kPlane, kPlane, Verb::kFlip, kClockwise},
    {"layout:S16-zigzag/turn:90r", kZigzag, kZigzag, Verb::kFlip, kClockwise},
    {"layout:S16-block", kBlock, kBlock, Verb::kQuant},
};
constexpr const char* kVerbNames[] = {"convert", "flip", "quant"};

void place(const FrameSize& size, const CoefKinds& kinds, void* data, CoefArray* array) {
  const int64_t in_row = 64 / rows_of_blocks(kinds.arrangement);
  *array = {data, ptrdiff_t{size.blocks_w() * in_row * bytes_of(kinds.number)}, size.blocks_w(),
            size.blocks_h(), 0};
}

template <typename Job>
Job job_on(const FrameSize& size, const Way& way, Frame& frame) {
  Job job;
  job.components = 1;
  place(size, way.from, frame.levels.get(), &job.from[0]);
  place(size, way.to, frame.coefs.get(), &job.to[0]);
  return job;
}

Status submit(Device& device, const FrameSize& size, const Way& way, Frame& frame) {
  Queue& queue = device.queue(QueueKind::kCompute);
  if (way.verb == Verb::kFlip) {
    auto job = job_on<FlipJob>(size, way, frame);
    job.arrangement = way.from.arrangement;
    job.turn = way.turn;
    CoefArray& to = job.to[0];
    if (way.turn.transposes) {
      to.pitch = to.pitch / to.blocks_w * to.blocks_h;
      std::swap(to.blocks_w, to.blocks_h);
    }
    job.places[0] = {0, 0, to.blocks_w, to.blocks_h};
    return host_flip_ops().submit(device, queue, job, nullptr);
  }
  if (way.verb == Verb::kQuant) {
    auto job = job_on<RequantJob>(size, way, frame);
    job.before[0] = quality85();
    job.after[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 50);
    return host_requant_ops().submit(device, queue, job, nullptr);
  }
  auto job = job_on<ConvertJob>(size, way, frame);
  job.from_kinds = way.from;
  job.to_kinds = way.to;
  job.tables[0] = quality85();
  return host_convert_ops().submit(device, queue, job, nullptr);
}

void run_case(benchmark::State& state, const FrameSize& size, const Way& way,
              double seconds_of_case) {
  static const std::unique_ptr<Device> device = make_host_device(1);
  const size_t bytes = 2 * size.samples();
  std::vector<Frame> frames(size.resident ? 1 : frames_beyond_caches(2 * bytes));
  for (Frame& frame : frames) {
    frame.levels = allocate<int16_t>(size.samples());
    frame.coefs = allocate<int16_t>(size.samples());
    for (size_t i = 0; i < size.samples(); ++i)
      frame.levels[i] = static_cast<int16_t>(i * 37 % 63) - 31;
  }
  size_t position = 0;
  const auto next = [&]() -> Frame& { return frames[position++ % frames.size()]; };
  const auto work = [&] {
    const Status status = submit(*device, size, way, next());
    if (!status.ok()) throw std::runtime_error(status.message);
  };
  const auto copy = [&] {
    Frame& frame = next();
    std::memcpy(frame.coefs.get(), frame.levels.get(), bytes);
  };
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds =
        medians_of_turns(seconds_of_case, size.resident ? 10 : 1, {work, copy}, size.resident);
    state.SetIterationTime(seconds[0]);
  }
  state.counters["GB/s"] = 1e-9 * 2 * static_cast<double>(bytes) / seconds[0];
  state.counters["ratio"] = seconds[1] / seconds[0];
}

}  // namespace

void add_convert_cases(const FrameSize& size, const double* seconds, bool* failed) {
  for (const Way& way : kWays) {
    const std::string name = std::string("engine:cpu/case:") + kVerbNames[int(way.verb)] +
                             "/size:" + size.name + "/" + way.name + "/threads:1";
    add_benchmark(
        name, [=](benchmark::State& state) { run_case(state, size, way, *seconds); }, failed);
  }
}

}  // namespace cudatransform::bench
