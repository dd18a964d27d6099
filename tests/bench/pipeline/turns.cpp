// The times of a contestant of the pipelines' benchmark, turn by turn, and medians of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline/turns.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "tests/bench/common.h"

namespace cudatransform::bench {

namespace {

Reading medians_of(const std::vector<Reading>& readings) {
  std::vector<double> seconds, host;
  for (const Reading& reading : readings) {
    seconds.push_back(reading.seconds);
    host.push_back(reading.host_seconds);
  }
  return {median(seconds), median(host)};
}

}  // namespace

Core Turns::Taken::core(double alone_width) const {
  return width <= alone_width ? Core::kAlone : Core::kShared;
}

void Turns::take(const std::function<Reading()>& turn) {
  const double before = core_width();
  const Reading reading = turn();
  taken_.push_back({reading, std::max(before, core_width())});
}

std::vector<double> Turns::widths() const {
  std::vector<double> result;
  for (const Taken& turn : taken_) result.push_back(turn.width);
  return result;
}

std::optional<Reading> Turns::medians(Core core, double alone_width) const {
  std::vector<Reading> readings;
  for (const Taken& turn : taken_)
    if (turn.core(alone_width) == core) readings.push_back(turn.reading);
  if (readings.size() < kEnough) return std::nullopt;
  return medians_of(readings);
}

Reading Turns::medians() const {
  std::vector<Reading> readings;
  for (const Taken& turn : taken_) readings.push_back(turn.reading);
  return medians_of(readings);
}

double Turns::quotient(const Turns& over, const Turns& under, double alone_width) {
  std::vector<double> all, alone;
  for (size_t round = 0; round < under.taken_.size(); ++round) {
    const Taken &a = over.taken_[round], &b = under.taken_[round];
    all.push_back(a.reading.seconds / b.reading.seconds);
    if (a.core(alone_width) == Core::kAlone && b.core(alone_width) == Core::kAlone)
      alone.push_back(all.back());
  }
  return median(alone.size() < kEnough ? all : alone);
}

namespace {

constexpr int kSteps = 50000;

// The empty statements keep the compiler from omitting steps or joining them.
void multiply_in_a_row() {
  uint64_t x = 3;
  for (int i = 0; i < kSteps; ++i) {
    x = x * 0x9e3779b97f4a7c15 + 1;
    asm volatile("" : "+r"(x));
  }
}

void add_side_by_side() {
  uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  for (int i = 0; i < kSteps; ++i) {
    const auto n = static_cast<uint64_t>(i);
    a += n;
    b ^= a;
    c += n;
    d ^= c;
    e += n;
    f ^= e;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  }
}

// The shortest of some times: interruptions do not matter.
double seconds_of(void (*work)()) {
  using Clock = std::chrono::steady_clock;
  double least = 1;
  for (int i = 0; i < 3; ++i) {
    const auto begin = Clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least;
}

}  // namespace

void move_to_processor(int number) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int left = number % CPU_COUNT(&allowed);
  int processor = 0;
  while (!CPU_ISSET(processor, &allowed) || left-- > 0) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  // The thread moves at once, and stays there as long as the kernel sees no reason to move it.
  // Threads that it starts later may run anywhere.
  sched_setaffinity(0, sizeof one, &one);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

double core_width() { return seconds_of(add_side_by_side) / seconds_of(multiply_in_a_row); }

}  // namespace cudatransform::bench
