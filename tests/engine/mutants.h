// A table of cases on several engines; and proof that it can fail: engines with one planted fault
// each, which the table must find.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/engines.h"

namespace cudatransform::test {

// Runs every step-th case on each engine that `takes(engine, test)`. Prints how many jobs each
// engine did and how many failed; names the first failures.
template <typename Case, typename Takes>
void check_cases(const std::vector<Case>& cases, size_t step, const std::vector<Engine>& engines,
                 const Takes& takes) {
  struct Tally {
    int jobs = 0, faults = 0;
  };
  std::map<std::string, Tally> tallies;
  for (size_t i = 0; i < cases.size(); i += step) {
    const auto expectation = expect(cases[i]);
    for (const Engine& engine : engines) {
      if (!takes(engine, cases[i])) continue;
      Tally& tally = tallies[engine.name];
      tally.jobs++;
      const std::string fault = check_case(engine, cases[i], expectation);
      if (fault.empty()) continue;
      if (++tally.faults <= 30)
        ADD_FAILURE() << engine.name << ": " << cases[i].text() << "\n  " << fault;
    }
  }
  for (const auto& [name, tally] : tallies) {
    std::printf("  %-14s %5d jobs, %d faults\n", name.c_str(), tally.jobs, tally.faults);
    EXPECT_EQ(tally.faults, 0) << name;
  }
}

template <typename Job>
struct Mutant {
  const char* name;
  void (*change)(Job& job);                        // changes the engine's input; or null
  void (*spoil)(const Job& job, FencePtr* fence);  // changes the engine's output; or null
};

inline uint8_t* byte_at(void* data, ptrdiff_t offset) {
  return static_cast<uint8_t*>(data) + offset;
}

template <typename Job>
bool is_forward(const Job& job) {
  return job.direction == Direction::kForward;
}

// The last sample of the last component.
template <typename Job>
uint8_t* last_sample(const Job& job) {
  const SamplePlane& p = job.samples[job.components - 1];
  return byte_at(p.data, (p.height - 1) * p.pitch + ptrdiff_t{p.width - 1} * p.stride);
}

// Faults that engines of every transform may have. A Transform has
//   Job, Ops
//   kSampleFault                       what changes a sample by more than it may be off
//   coef_row_bytes(job), coef_rows(job)  of component 0
template <typename Transform, typename J = typename Transform::Job>
std::vector<Mutant<J>> common_mutants() {
  static uint8_t kept;
  return {
      {"a sample wrong", nullptr,
       [](const J& j, FencePtr*) {
         if (!is_forward(j)) *last_sample(j) ^= Transform::kSampleFault;
       }},
      {"a sample not written", [](J& j) { kept = *last_sample(j); },
       [](const J& j, FencePtr*) {
         if (!is_forward(j)) *last_sample(j) = kept;
       }},
      {"padding written", nullptr,
       [](const J& j, FencePtr*) {
         const SamplePlane& p = j.samples[0];
         const bool forward = is_forward(j);
         const ptrdiff_t row =
             forward ? Transform::coef_row_bytes(j) : ptrdiff_t{p.width} * p.stride;
         if ((forward ? j.coefs[0].pitch : p.pitch) > row &&
             (forward ? Transform::coef_rows(j) : p.height) > 1)
           *byte_at(forward ? j.coefs[0].data : p.data, row) ^= 1;
       }},
      {"input written", nullptr,
       [](const J& j, FencePtr*) {
         *byte_at(is_forward(j) ? j.samples[0].data : j.coefs[0].data, 0) ^= 1;
       }},
      {"chroma swapped",
       [](J& j) {
         if (j.components != 3) return;
         std::swap(j.coefs[1].data, j.coefs[2].data);
         std::swap(j.coefs[1].pitch, j.coefs[2].pitch);
       },
       nullptr},
      {"shift ignored",
       [](J& j) {
         for (SamplePlane& plane : j.samples) plane.shift = 0;
       },
       nullptr},
      {"rows not repeated",
       [](J& j) {
         for (int c = 0; c < j.components; ++c) {
           j.samples[c].height = j.samples[c].rows();
           j.samples[c].row_repeat = 1;
         }
       },
       nullptr},
      {"zeros miscounted", nullptr,
       [](const J& j, FencePtr*) {
         if (j.sums != nullptr) j.sums->zeros[j.components - 1]++;
       }},
      {"no fence", nullptr, [](const J&, FencePtr* fence) { fence->reset(); }},
  };
}

// The portable engine, whose submit() has the fault.
template <typename Transform>
class MutantOps {
 public:
  using Job = typename Transform::Job;
  using Ops = typename Transform::Ops;

  MutantOps(const Ops& right, const Mutant<Job>& mutant) : ops_{mutant.name, submit} {
    right_ = &right;
    mutant_ = &mutant;
  }
  const Ops* ops() const { return &ops_; }

 private:
  static Status submit(Device& device, Queue& queue, const Job& job, FencePtr* fence) {
    Job changed = job;
    if (mutant_->change != nullptr) mutant_->change(changed);
    const Status status = right_->submit(device, queue, changed, fence);
    if (mutant_->spoil != nullptr) mutant_->spoil(job, fence);
    return status;
  }

  static inline const Ops* right_ = nullptr;
  static inline const Mutant<Job>* mutant_ = nullptr;
  const Ops ops_;
};

// Every step-th of `cases` finds each of `mutants`. The unspoilt engine passes the same cases: so
// the tests find the fault. `ops`: of Engine.
template <typename Transform, typename Case>
void expect_each_found(const typename Transform::Ops* Engine::*ops, const std::vector<Case>& cases,
                       size_t step, const std::vector<Mutant<typename Transform::Job>>& mutants) {
  if (engines().front().is_cuda) GTEST_SKIP() << "mutants are made of the portable engine";
  if (sanitized()) GTEST_SKIP() << "the subject is the tests' judgement, not memory";
  using Expected = decltype(expect(cases.front()));
  std::vector<std::pair<const Case*, Expected>> chosen;
  for (size_t i = 0; i < cases.size(); i += step) chosen.emplace_back(&cases[i], expect(cases[i]));
  const auto faults = [&](const Engine& engine) {
    int count = 0;
    for (const auto& [test, expectation] : chosen)
      count += !check_case(engine, *test, expectation).empty();
    return count;
  };
  EXPECT_EQ(faults(portable_engine()), 0);
  for (const auto& mutant : mutants) {
    const MutantOps<Transform> spoilt(*(portable_engine().*ops), mutant);
    Engine engine = portable_engine();
    engine.name = mutant.name;
    engine.*ops = spoilt.ops();
    const int count = faults(engine);
    std::printf("  %-24s found in %d of %zu cases\n", mutant.name, count, chosen.size());
    EXPECT_GT(count, 0) << mutant.name;
  }
}

// Each of the common mutants and of `more`.
template <typename Transform, typename Case>
void expect_found(const typename Transform::Ops* Engine::*ops, const std::vector<Case>& cases,
                  size_t step, const std::vector<Mutant<typename Transform::Job>>& more) {
  auto mutants = common_mutants<Transform>();
  mutants.insert(mutants.end(), more.begin(), more.end());
  expect_each_found<Transform>(ops, cases, step, mutants);
}

}  // namespace cudatransform::test
