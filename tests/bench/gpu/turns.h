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
#include <set>
#include <string>
#include <vector>

#include "cuda/device/queue.h"
#include "tests/bench/common.h"
#include "tests/bench/gpu/driver.h"
#include "tests/bench/gpu/measure.h"
#include "tests/bench/gpu/streams.h"

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

using Streams = std::vector<std::unique_ptr<Stream>>;

// One contestant of a group of cases that share their buffers: a case, or a streaming kernel of the
// same bytes. A Group has Case, Traffic, kOverlaps (whether a case's launches may overlap) and
// gpu(); synchronize(), which waits for all of its work; and of a case
//   in_bytes(), out_bytes(), samples()
//   traffic()                    equal for cases that the same streaming kernels are compared with
//   launches()                   of enqueue()
//   streams(case, variant)
//   enqueue(case, streams)       the streaming kernels' launches, or without any the case's jobs
//   poison()                     its output
//   fault()                      "", or the fault of some set's output
template <typename Group>
class GroupSubject : public TimedSubject {
 public:
  using Case = typename Group::Case;
  using Traffic = typename Group::Traffic;

  GroupSubject(const Group& group, const Case& one, const StreamVariant* variant)
      : TimedSubject(group.gpu()), case_(one), variant_(variant), group_(group) {
    result().bytes = group.in_bytes(one) + group.out_bytes(one);
    result().samples = group.samples(one);
    if (variant != nullptr) streams_ = group.streams(one, *variant);
  }

  Traffic traffic() const { return group_.traffic(case_); }
  bool is_stream() const { return variant_ != nullptr; }
  const char* stream_name() const { return variant_->name; }
  const std::string& name() const { return case_.name; }

  void prepare() {
    if (!is_stream()) group_.poison(case_);
    cuda::set_dependent_launch(Group::kOverlaps);
    capture([this] { group_.enqueue(case_, streams_); }, [this] { return fault(); });
    cuda::set_dependent_launch(true);
  }
  // After the last repetition: checks the measured work, on new poison.
  void finish() {
    note_times(group_.launches(case_));
    if (is_stream()) return;
    group_.poison(case_);
    launch();
    result().error = fault();
  }

 private:
  std::string fault() const {
    group_.synchronize();
    return is_stream() ? "" : group_.fault(case_);
  }

  const Case case_;
  const StreamVariant* const variant_;
  const Group& group_;
  Streams streams_;
};

// Measures the cases of one group and the streaming kernels of the same bytes.
template <typename Group>
void measure_group(const Group& group, const std::vector<typename Group::Case>& cases,
                   const MeasureOptions& options, Results* results) {
  std::vector<std::unique_ptr<GroupSubject<Group>>> subjects;
  std::set<typename Group::Traffic> there;
  for (const auto& one : cases) {
    subjects.push_back(std::make_unique<GroupSubject<Group>>(group, one, nullptr));
    if (!there.insert(group.traffic(one)).second) continue;
    for (const StreamVariant& variant : stream_variants())
      subjects.push_back(std::make_unique<GroupSubject<Group>>(group, one, &variant));
  }
  measure_subjects(group.gpu(), subjects, options.quick ? 5 : 30, options.sample);
  for (const auto& subject : subjects)
    if (!subject->is_stream()) (*results)[subject->name()] = subject->result();
}

}  // namespace cudatransform::bench
