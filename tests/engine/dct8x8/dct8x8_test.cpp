// Every method, engine, direction, form, placement, depth, sampling and arrangement against the
// definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The integer methods are also compared with the portable engine, to the bit.
#include "tests/engine/check_cases.h"
#include "tests/engine/dct8x8/case_check.h"

namespace cudatransform::test {
namespace {

void check_all(const CaseList& list) {
  check_cases(list.cases, case_step(), engines(), [](const Engine& engine, const Case& test) {
    return engine.covers(test.spec.method);
  });
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

TEST(Dct8x8, AgreesWithTheDefinitionDecided) {
  std::printf("%zu cases; pairs of property values met: %zu\n", decided_cases().cases.size(),
              decided_cases().pairs_met);
  check_all(decided_cases());
}

}  // namespace
}  // namespace cudatransform::test
