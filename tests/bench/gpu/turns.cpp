// Streaming kernels, repetitions in turns, medians, and the comparison of both.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/turns.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <random>
#include <stdexcept>

namespace cudatransform::bench {

namespace {

// The best streaming kernel of each traffic.
void compare_with_streams(const std::vector<Subject*>& subjects) {
  std::map<Traffic, Subject*> best;
  for (Subject* subject : subjects) {
    if (subject->variant() == nullptr || !subject->result().error.empty()) continue;
    Subject*& fastest = best[subject->traffic()];
    if (fastest == nullptr || subject->result().seconds < fastest->result().seconds)
      fastest = subject;
  }
  for (Subject* subject : subjects) {
    if (subject->variant() != nullptr || !subject->result().error.empty()) continue;
    const auto found = best.find(subject->traffic());
    if (found == best.end()) {
      subject->result().error = "no streaming kernel to compare with";
      continue;
    }
    subject->result().limit_seconds = found->second->result().seconds;
    subject->result().limit_name = found->second->variant()->name;
  }
}

}  // namespace

Subject::Subject(const Gpu& gpu, const Traffic& traffic, const StreamVariant* variant,
                 size_t launches)
    : gpu_(gpu), traffic_(traffic), variant_(variant), launches_(launches), watch_(gpu) {
  result_.read_bytes = std::get<0>(traffic);
  result_.bytes = std::get<0>(traffic) + std::get<1>(traffic);
}

void Subject::try_to_prepare() {
  try {
    prepare();
    ready_ = true;
  } catch (const std::exception& error) {
    result_.error = error.what();
    gpu_.synchronize();
  }
}

void Subject::finish() {
  result_.seconds = result_.times.median();
  result_.spread = result_.times.spread();
  const std::string fault = check();
  if (result_.error.empty()) result_.error = fault;
}

void measure_in_turns(const std::vector<Subject*>& subjects, int repetitions,
                      const std::function<void()>& sample) {
  constexpr int kWarmUps = 3;
  std::vector<Subject*> order;
  for (Subject* subject : subjects) {
    subject->try_to_prepare();
    if (subject->is_ready()) order.push_back(subject);
  }
  const std::vector<Subject*> ready = order;
  for (int i = 0; i < kWarmUps; ++i)
    for (const Subject* subject : ready) subject->launch();
  if (!ready.empty()) ready[0]->gpu_.synchronize();
  std::mt19937 random(1);
  for (int i = 0; i < repetitions && !ready.empty(); ++i) {
    std::shuffle(order.begin(), order.end(), random);
    // The host gets ahead while this kernel runs. Otherwise an idle device would pass the first
    // event before the graph after it is submitted, and the host's time would count as the graph's.
    order.back()->launch();
    for (const Subject* subject : order) {
      subject->watch_.begin();
      subject->launch();
      subject->watch_.end();
    }
    if (sample && i % 8 == 0) sample();
    order.back()->gpu_.synchronize();
    for (Subject* subject : order)
      subject->result_.times.add(subject->watch_.seconds() /
                                 static_cast<double>(subject->launches_));
  }
  for (Subject* subject : ready) subject->finish();
  compare_with_streams(subjects);
}

namespace {

constexpr StreamVariant kVariants[] = {
    {"cta256x1", "cta", 1, 256},   {"cta256x2", "cta", 2, 256},   {"cta256x4", "cta", 4, 256},
    {"warp128x2", "warp", 2, 128}, {"warp256x1", "warp", 1, 256}, {"warp256x2", "warp", 2, 256},
    {"warp256x4", "warp", 4, 256}, {"warp512x2", "warp", 2, 512}, {"loop256x2", "loop", 2, 256},
};

// Units read and written by a thread of the kernels that there are.
struct Shape {
  int in, out;
};
constexpr Shape kShapes[] = {{1, 2}, {2, 1}, {1, 1}, {1, 4}, {4, 1}};

Shape nearest_shape(double in_bytes, double out_bytes) {
  Shape best = kShapes[0];
  double distance = std::numeric_limits<double>::max();
  for (const Shape& shape : kShapes) {
    const double here = std::fabs(std::log2(in_bytes / out_bytes) -
                                  std::log2(static_cast<double>(shape.in) / shape.out));
    if (here < distance) {
      distance = here;
      best = shape;
    }
  }
  return best;
}

uint32_t divide_up(size_t n, size_t by) { return static_cast<uint32_t>((n + by - 1) / by); }

// Equal parts of at least 128 bytes, a cache line, which none shares with its neighbor.
uint32_t part(uint32_t units, uint32_t tiles) { return divide_up(divide_up(units, tiles), 8) * 8; }

}  // namespace

std::span<const StreamVariant> stream_variants() { return kVariants; }

Stream::Stream(const Gpu& gpu, const StreamVariant& variant, size_t in_bytes, size_t out_bytes)
    : gpu_(gpu), threads_(variant.threads) {
  constexpr size_t kMaxBytes = size_t{16} * std::numeric_limits<int32_t>::max();
  if (in_bytes == 0 || out_bytes == 0 || in_bytes > kMaxBytes || out_bytes > kMaxBytes)
    throw std::runtime_error("no streaming kernel for so many bytes");
  Shape shape = nearest_shape(static_cast<double>(in_bytes), static_cast<double>(out_bytes));
  shape.in *= variant.multiple;
  shape.out *= variant.multiple;
  kernel_ = gpu.kernel((std::string("stream_") + variant.how + "_" + std::to_string(shape.in) +
                        "_" + std::to_string(shape.out))
                           .c_str());
  const bool by_warps = std::string_view(variant.how) == "warp";
  const uint32_t lanes = by_warps ? 32 : threads_;
  params_.in_units = divide_up(in_bytes, 16);
  params_.out_units = divide_up(out_bytes, 16);
  params_.tiles = std::max(divide_up(params_.in_units, lanes * static_cast<uint32_t>(shape.in)),
                           divide_up(params_.out_units, lanes * static_cast<uint32_t>(shape.out)));
  // On the side with less traffic than the shape would move, each tile gets its share; on the other
  // a whole tile, so that kernels need not check every access if both sides are whole.
  const auto tile = [&](uint32_t units, int per_lane) {
    const uint32_t whole = lanes * static_cast<uint32_t>(per_lane);
    return divide_up(units, whole) == params_.tiles ? whole : part(units, params_.tiles);
  };
  params_.in_tile = tile(params_.in_units, shape.in);
  params_.out_tile = tile(params_.out_units, shape.out);
  ctas_ = by_warps ? divide_up(params_.tiles, threads_ / 32) : params_.tiles;
  if (std::string_view(variant.how) == "loop")
    ctas_ = std::min(ctas_, std::max(1u, gpu.resident_ctas(kernel_, threads_)));
}

void Stream::enqueue(const void* in, void* out) const {
  StreamParams params = params_;
  params.in = in;
  params.out = out;
  void* arguments[] = {&params};
  gpu_.launch(kernel_, ctas_, threads_, arguments);
}

}  // namespace cudatransform::bench
