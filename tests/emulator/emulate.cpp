// Lets the fake driver run our kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <mutex>

#include "tests/check/fakecuda/kernels.h"
#include "tests/emulator/fibers.h"
#include "tests/emulator/run.h"

namespace cudatransform::emulator {
namespace {

bool run(const std::string& kernel, unsigned ctas, unsigned threads, void** parameters) {
  static std::mutex one_at_a_time;
  std::lock_guard lock(one_at_a_time);
  const auto found = kernels().find(kernel);
  if (found == kernels().end()) return false;
  run_grid(ctas, threads, [&] { found->second(parameters); });
  return true;
}

[[maybe_unused]] const bool there = [] {
  fakecuda::emulate = run;
  return true;
}();

}  // namespace
}  // namespace cudatransform::emulator
