// main() of the test programs: chooses engines, runs GoogleTest, turns "all skipped" into 77.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include "tests/engine/engines.h"

// AddressSanitizer calls this at start: an allocation beyond any memory must fail as it does
// elsewhere, not end the program (Device.OutOfMemory). Nothing calls it without the sanitizer.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int exit_code = 0;
  if (!cudatransform::test::choose_engines(&argc, argv, &exit_code)) return exit_code;
  exit_code = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  if (exit_code == 0 && all.skipped_test_count() == all.test_to_run_count()) return 77;
  return exit_code;
}
