// Verbs on coefficients on a card, beside streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/convert.h"

#include <memory>
#include <random>
#include <utility>

#include "cuda/verbs/engine.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/gpu/turns.h"
#include "transform/device/host_device.h"
#include "transform/verbs/convert.h"
#include "transform/verbs/quant.h"

namespace cudatransform::bench {
namespace {

constexpr ConvertSize kSizes[] = {
    {"1080p", 1920, 1080, 48}, {"4K", 3840, 2160, 16}, {"8K", 7680, 4320, 8}};

CoefArray array_of(const ConvertSize& size, const CoefKinds& kinds, void* data) {
  CoefArray array;
  array.data = data;
  array.blocks_w = (size.width + 7) / 8;
  array.blocks_h = (size.height + 7) / 8;
  const int64_t row = array.blocks_w * (64 / rows_of_blocks(kinds.arrangement));
  array.pitch = (row * bytes_of(kinds.number) + 15) / 16 * 16;
  return array;
}
size_t size_of(const ConvertSize& size, const CoefKinds& kinds) {
  const CoefArray array = array_of(size, kinds, nullptr);
  return static_cast<size_t>(array.pitch * array.blocks_h * rows_of_blocks(kinds.arrangement));
}

ConvertSize size_behind(const ConvertBenchCase& one) {
  ConvertSize size = one.size;
  if (one.turn.transposes) std::swap(size.width, size.height);
  return size;
}

QuantTable luma_table(int quality) {
  return preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, quality);
}

template <typename Job>
Job job_on(const ConvertBenchCase& one, void* in, void* out) {
  Job job;
  job.components = 1;
  job.from[0] = array_of(one.size, one.from, in);
  job.to[0] = array_of(size_behind(one), one.to, out);
  return job;
}

Status submit(const ConvertBenchCase& one, Device& device, void* in, void* out) {
  Queue& queue = device.queue(QueueKind::kCompute);
  const bool on_card = !device.is_host();
  if (one.verb == BenchVerb::kFlip) {
    auto job = job_on<FlipJob>(one, in, out);
    job.arrangement = one.from.arrangement;
    job.turn = one.turn;
    job.places[0] = {0, 0, job.to[0].blocks_w, job.to[0].blocks_h};
    return (on_card ? cuda_flip_ops() : host_flip_ops()).submit(device, queue, job, nullptr);
  }
  if (one.verb == BenchVerb::kQuant) {
    auto job = job_on<RequantJob>(one, in, out);
    job.arrangement = one.from.arrangement;
    job.before[0] = luma_table(85);
    job.after[0] = luma_table(50);
    return (on_card ? cuda_requant_ops() : host_requant_ops()).submit(device, queue, job, nullptr);
  }
  auto job = job_on<ConvertJob>(one, in, out);
  job.from_kinds = one.from;
  job.to_kinds = one.to;
  job.tables[0] = luma_table(85);
  return (on_card ? cuda_convert_ops() : host_convert_ops()).submit(device, queue, job, nullptr);
}

// Inputs and outputs of a case, which is a group of its own.
class ConvertBuffers {
 public:
  using Case = ConvertBenchCase;
  using Traffic = std::string;
  static constexpr bool kOverlaps = false;  // as the streaming kernels' launches do not

  ConvertBuffers(const Gpu& gpu, Device& device, const ConvertBenchCase& one)
      : gpu_(gpu), device_(device), wanted_(size_of(size_behind(one), one.to)) {
    // Levels as pictures have them: few, and small.
    std::mt19937 random(1);
    std::vector<int16_t> levels(in_bytes(one) / sizeof(int16_t));
    for (int16_t& level : levels) {
      const auto any = static_cast<uint32_t>(random());
      level = static_cast<int16_t>(any % 4 == 0 ? int(any >> 8) % 31 - 15 : 0);
    }
    static const std::unique_ptr<Device> host = make_host_device(0);
    require(submit(one, *host, levels.data(), wanted_.data()));
    for (size_t i = 0; i < one.size.sets; ++i) {
      Set& set = sets_.emplace_back();
      require(device.allocate(MemoryKind::kDevice, in_bytes(one), &set.in));
      require(device.allocate(MemoryKind::kDevice, wanted_.size(), &set.out));
      require(device.upload(device.queue(QueueKind::kCompute),
                            copy_of(set.in->data(), levels.data(), in_bytes(one))));
    }
    gpu.synchronize();
  }

  const Gpu& gpu() const { return gpu_; }
  void synchronize() const { gpu_.synchronize(); }
  size_t in_bytes(const Case& one) const { return size_of(one.size, one.from); }
  size_t out_bytes(const Case&) const { return wanted_.size(); }
  size_t samples(const Case& one) const {
    return static_cast<size_t>(one.size.width) * static_cast<size_t>(one.size.height);
  }
  Traffic traffic(const Case& one) const { return one.name; }
  size_t launches(const Case&) const { return sets_.size(); }
  Streams streams(const Case& one, const StreamVariant& variant) const {
    Streams streams;
    streams.push_back(std::make_unique<Stream>(gpu_, variant, in_bytes(one), out_bytes(one)));
    return streams;
  }

  void poison(const Case&) const {
    for (const Set& set : sets_) gpu_.fill(set.out->data(), 0xa5, wanted_.size());
    gpu_.synchronize();
  }
  void enqueue(const Case& one, const Streams& streams) const {
    for (const Set& set : sets_) {
      if (streams.empty())
        require(submit(one, device_, set.in->data(), set.out->data()));
      else
        streams[0]->enqueue(set.in->data(), set.out->data());
    }
  }
  std::string fault(const Case&) const {
    std::vector<uint8_t> seen(wanted_.size());
    for (const Set& set : sets_) {
      gpu_.read(seen.data(), set.out->data(), seen.size());
      if (seen != wanted_) return "the output differs from the CPU engine's";
    }
    return "";
  }

 private:
  struct Set {
    std::unique_ptr<Memory> in, out;
  };

  const Gpu& gpu_;
  Device& device_;
  std::vector<uint8_t> wanted_;
  std::vector<Set> sets_;
};

// Within one layout.
void add_flips_and_tables(const ConvertSize& size, std::vector<ConvertBenchCase>* all) {
  struct Way {
    const char* name;
    BenchVerb verb;
    Turn turn;
  };
  static constexpr Way kWays[] = {{"/turn:90r", BenchVerb::kFlip, {true, true, false}},
                                  {"/turn:180", BenchVerb::kFlip, {false, true, true}},
                                  {"", BenchVerb::kQuant, {}}};
  static constexpr std::pair<const char*, CoefArrangement> kLayouts[] = {
      {"S16-block", CoefArrangement::kBlock},
      {"S16-plane", CoefArrangement::kPlane},
      {"S16-zigzag", CoefArrangement::kZigzagBlock}};
  for (const auto& [layout, arrangement] : kLayouts) {
    for (const Way& way : kWays) {
      ConvertBenchCase one;
      one.verb = way.verb;
      one.turn = way.turn;
      one.size = size;
      one.from = one.to = {CoefNumber::kS16, arrangement, true};
      const char* verb = way.verb == BenchVerb::kFlip ? "flip" : "quant";
      one.name = std::string("engine:cuda/case:") + verb + "/size:" + size.name +
                 "/layout:" + layout + way.name;
      one.group = std::string(verb) + " " + size.name + " " + layout + way.name;
      all->push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<ConvertBenchCase> convert_cases() {
  struct Kinds {
    const char* name;
    CoefKinds kinds;
  };
  constexpr CoefNumber kS16 = CoefNumber::kS16, kF16 = CoefNumber::kF16;
  static constexpr Kinds kBlock = {"S16-block", {kS16, CoefArrangement::kBlock, true}};
  static constexpr Kinds kBand = {"S16-band", {kS16, CoefArrangement::kBand, true}};
  static constexpr std::pair<Kinds, Kinds> kWays[] = {
      {kBlock, {"S16-plane", {kS16, CoefArrangement::kPlane, true}}},
      {kBlock, kBand},
      {kBlock, {"F16-plane", {kF16, CoefArrangement::kPlane, false}}},
      {kBlock, {"F16-band", {kF16, CoefArrangement::kBand, false}}},
      {kBlock, {"S16-zigzag", {kS16, CoefArrangement::kZigzagBlock, true}}},
      {kBand, kBlock}};
  std::vector<ConvertBenchCase> all;
  for (const ConvertSize& size : kSizes) {
    for (const auto& [from, to] : kWays) {
      ConvertBenchCase one;
      one.name = std::string("engine:cuda/case:convert/size:") + size.name + "/from:" + from.name +
                 "/to:" + to.name;
      one.group = "convert " + std::string(size.name) + " " + from.name + " " + to.name;
      one.size = size;
      one.from = from.kinds;
      one.to = to.kinds;
      all.push_back(std::move(one));
    }
    add_flips_and_tables(size, &all);
  }
  return all;
}

void measure_convert_group(const Gpu& gpu, Device& device,
                           const std::vector<ConvertBenchCase>& cases,
                           const MeasureOptions& options, Results* results) {
  measure_group(ConvertBuffers(gpu, device, cases[0]), cases, options, results);
}

}  // namespace cudatransform::bench
