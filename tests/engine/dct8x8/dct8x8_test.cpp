// Every method, engine, direction, form, placement, depth, sampling and arrangement against the
// definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The integer methods are also compared with the portable engine, to the bit.
#include <gtest/gtest.h>

#include <map>

#include "tests/engine/dct8x8/case_check.h"

namespace cudatransform::test {
namespace {

struct Tally {
  int jobs = 0, faults = 0;
};

// Prints how many jobs each engine did and how many failed; names the first of them.
void check_all(const CaseList& list) {
  std::map<std::string, Tally> tallies;
  size_t index = 0;
  for (const Case& test : list.cases) {
    if (index++ % case_step() != 0) continue;
    const Expectation expectation = expect(test);
    for (const Engine& engine : engines()) {
      if (!engine.covers(test.spec.method)) continue;
      Tally& tally = tallies[engine.name];
      tally.jobs++;
      const std::string fault = check_case(engine, test, expectation);
      if (fault.empty()) continue;
      if (++tally.faults <= 30)
        ADD_FAILURE() << engine.name << ": " << test.text() << "\n  " << fault;
    }
  }
  for (const auto& [name, tally] : tallies) {
    std::printf("  %-14s %5d jobs, %d faults\n", name.c_str(), tally.jobs, tally.faults);
    EXPECT_EQ(tally.faults, 0) << name;
  }
}

TEST(Dct8x8, AgreesWithTheDefinition) {
  std::printf("%zu cases; pairs of property values met: %zu of about %zu that can meet\n",
              all_cases().cases.size(), all_cases().pairs_met, all_cases().pairs_possible);
  check_all(all_cases());
}

TEST(Dct8x8, AgreesWithTheDefinitionScaled) {
  std::printf("%zu cases; pairs of property values met: %zu\n", scaled_cases().cases.size(),
              scaled_cases().pairs_met);
  check_all(scaled_cases());
}

}  // namespace
}  // namespace cudatransform::test
