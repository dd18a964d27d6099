// A table of cases on several engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
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

}  // namespace cudatransform::test
