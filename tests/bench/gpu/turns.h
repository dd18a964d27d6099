// Contestants on a card in turns, and the streaming kernels that they are compared with.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A Subject has launch(), watch(), add_time(seconds); and is_stream(), traffic(), result(),
// stream_name().
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "tests/bench/gpu/driver.h"

namespace cudatransform::bench {

// Every repetition measures every subject once, in another order, so that drifting clocks and
// heating neighbours affect all alike.
template <typename Subject>
void measure_in_turns(const Gpu& gpu, const std::vector<Subject*>& subjects, int repetitions,
                      const std::function<void()>& sample) {
  constexpr int kWarmUps = 3;
  for (int i = 0; i < kWarmUps; ++i)
    for (const Subject* subject : subjects) subject->launch();
  gpu.synchronize();
  std::vector<Subject*> order = subjects;
  std::mt19937 random(1);
  for (int i = 0; i < repetitions; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    // The host gets ahead while this kernel runs. Otherwise an idle device would pass the first
    // event before the graph after it is submitted, and the host's time would count as the graph's.
    order.back()->launch();
    for (const Subject* subject : order) {
      subject->watch().begin();
      subject->launch();
      subject->watch().end();
    }
    if (sample && i % 8 == 0) sample();
    gpu.synchronize();
    for (Subject* subject : order) subject->add_time(subject->watch().seconds());
  }
}

// The best streaming kernel of each traffic.
template <typename Subject>
void compare_with_streams(const std::vector<Subject*>& subjects) {
  std::map<typename Subject::Traffic, Subject*> best;
  for (Subject* subject : subjects) {
    if (!subject->is_stream() || !subject->result().error.empty()) continue;
    Subject*& fastest = best[subject->traffic()];
    if (fastest == nullptr || subject->result().seconds < fastest->result().seconds)
      fastest = subject;
  }
  for (Subject* subject : subjects) {
    if (subject->is_stream() || !subject->result().error.empty()) continue;
    const auto found = best.find(subject->traffic());
    if (found == best.end()) {
      subject->result().error = "no streaming kernel to compare with";
      continue;
    }
    subject->result().limit_seconds = found->second->result().seconds;
    subject->result().limit_name = found->second->stream_name();
  }
}

}  // namespace cudatransform::bench
