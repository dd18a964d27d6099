// Rounds, medians, and the width of a core that another thread may share.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/turns.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tests/bench/common.h"

namespace cudatransform::bench {

using Clock = std::chrono::steady_clock;

double quantile(std::vector<double> list, double share) {
  const auto at = list.begin() + std::ptrdiff_t(share * double(list.size()));
  std::nth_element(list.begin(), at, list.end());
  return *at;
}

double median(std::vector<double> list) { return quantile(std::move(list), 0.5); }

double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double seconds_on(Device& device, Queue& queue, const std::function<void()>& work) {
  const auto timer = device.make_timer();
  if (!timer) throw std::runtime_error(std::string(device.name()) + " makes no timer");
  require(timer->begin(queue));
  work();
  require(timer->end(queue));
  FencePtr fence;
  require(queue.record(&fence));
  require(fence->wait());
  uint64_t ns = 0;
  while (!timer->read_ns(&ns)) std::this_thread::yield();
  return 1e-9 * static_cast<double>(ns);
}

int take_rounds(double seconds, int least, const std::function<void(int)>& round) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  int count = 0;
  for (; count < least || Clock::now() < end; ++count) round(count);
  return count;
}

std::vector<double>::const_iterator Times::upper_bound(double seconds) const {
  return std::upper_bound(sorted_.begin(), sorted_.end(), seconds);
}

double Times::mean() const {
  return std::accumulate(sorted_.begin(), sorted_.end(), 0.0) / double(sorted_.size());
}

double Times::median() const {
  const size_t n = sorted_.size();
  return (sorted_[(n - 1) / 2] + sorted_[n / 2]) / 2;
}

double Times::spread() const {
  const size_t n = sorted_.size();
  return (sorted_[n - 1 - n / 4] - sorted_[n / 4]) / median();
}

Times repeat(double seconds, int least, const std::function<double()>& turn) {
  Times times;
  take_rounds(seconds, least, [&](int) { times.add(turn()); });
  return times;
}

std::vector<double> medians_of_turns(double seconds, int jobs,
                                     const std::vector<std::function<void()>>& contestants,
                                     bool repeat_before) {
  std::vector<Times> times(contestants.size());
  for (const auto& contestant : contestants) contestant();  // warm
  take_rounds(seconds, 3, [&](int) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      if (repeat_before) contestants[i]();
      times[i].add(seconds_of([&] {
                     for (int job = 0; job < jobs; ++job) contestants[i]();
                   }) /
                   jobs);
    }
  });
  std::vector<double> result;
  for (const Times& list : times) result.push_back(list.median());
  return result;
}

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

}  // namespace

void move_to_processor(int number) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int left = number % CPU_COUNT(&allowed);
  int processor = 0;
  while (!CPU_ISSET(processor, &allowed) || left-- > 0) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  // The thread moves immediately, and stays there as long as the kernel sees no reason to move it.
  // Threads that it starts later may run anywhere.
  sched_setaffinity(0, sizeof one, &one);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

double core_width() {
  // The shortest of some times: interruptions do not matter.
  const auto least = [](void (*work)()) {
    return repeat(0, 3, [&] { return seconds_of(work); }).least();
  };
  return least(add_side_by_side) / least(multiply_in_a_row);
}

}  // namespace cudatransform::bench
