// Repetitions in turns, medians, and the comparison with streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/turns.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <random>

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
  std::sort(times_.begin(), times_.end());
  const size_t n = times_.size();
  result_.seconds = n % 2 == 1 ? times_[n / 2] : (times_[n / 2 - 1] + times_[n / 2]) / 2;
  result_.least_seconds = times_[0];
  result_.mean_seconds =
      std::accumulate(times_.begin(), times_.end(), 0.0) / static_cast<double>(n);
  result_.most_seconds = times_[n - 1];
  result_.spread = (times_[n - 1 - n / 4] - times_[n / 4]) / result_.seconds;
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
      subject->times_.push_back(subject->watch_.seconds() /
                                static_cast<double>(subject->launches_));
  }
  for (Subject* subject : ready) subject->finish();
  compare_with_streams(subjects);
}

}  // namespace cudatransform::bench
