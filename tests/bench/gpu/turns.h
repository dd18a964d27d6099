// Contestants on a card in turns, and the streaming kernels that they are compared with.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A Subject has launch(), watch(), add_time(seconds); and is_stream(), traffic(), result(),
// stream_name().
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/gpu/driver.h"
#include "tests/bench/gpu/measure.h"

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

// The part of a subject that has a graph: its times and its result.
class TimedSubject {
 public:
  explicit TimedSubject(const Gpu& gpu) : gpu_(gpu), watch_(gpu) {}

  Result& result() { return result_; }
  const Stopwatch& watch() const { return watch_; }
  bool is_ready() const { return graph_ != nullptr; }
  void launch() const { graph_->launch(); }
  void add_time(double seconds) { times_.push_back(seconds); }

 protected:
  // Enqueues the work once, which loads and allocates, waits for `fault`, and captures the work.
  void capture(const std::function<void()>& enqueue, const std::function<std::string()>& fault) {
    try {
      enqueue();
      result_.error = fault();
      if (result_.error.empty()) graph_ = std::make_unique<Graph>(gpu_, enqueue);
    } catch (const std::exception& error) {
      result_.error = error.what();
    }
  }
  // After the last repetition. A graph has so many launches.
  void note_times(size_t launches) {
    const double all = median(times_);
    result_.seconds = all / static_cast<double>(launches);
    result_.spread = (quantile(times_, 0.75) - quantile(times_, 0.25)) / all;
  }

 private:
  const Gpu& gpu_;
  Stopwatch watch_;
  std::unique_ptr<Graph> graph_;
  std::vector<double> times_;
  Result result_;
};

// Subjects that have prepare() and finish(), which check their output.
template <typename Subject>
void measure_subjects(const Gpu& gpu, const std::vector<std::unique_ptr<Subject>>& subjects,
                      int repetitions, const std::function<void()>& sample) {
  std::vector<Subject*> ready;
  for (const auto& subject : subjects) {
    subject->prepare();
    if (subject->is_ready()) ready.push_back(subject.get());
  }
  if (!ready.empty()) measure_in_turns(gpu, ready, repetitions, sample);
  for (Subject* subject : ready) subject->finish();
  compare_with_streams(ready);
}

}  // namespace cudatransform::bench
