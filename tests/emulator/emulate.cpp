// Lets the fake driver run our kernels, and the tiny transform's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/device.h"

#include <mutex>

#include "tests/check/fakecuda/deferred.h"
#include "tests/emulator/run.h"
#include "tests/tiny/tiny.cu"

namespace cudatransform::cuda {
using ::tiny_xor;
}
CT_EMULATE(tiny_xor)

namespace cudatransform::emulator {
namespace {

bool run(const std::string& kernel, unsigned ctas, unsigned jobs, unsigned threads,
         void** parameters) {
  static std::mutex one_at_a_time;
  std::lock_guard lock(one_at_a_time);
  const auto found = kernels().find(kernel);
  if (found == kernels().end()) return false;
  run_grid(ctas, jobs, threads, [&] { found->second(parameters); });
  return true;
}

[[maybe_unused]] const bool there = [] {
  fakecuda::emulate = run;
  return true;
}();

}  // namespace
}  // namespace cudatransform::emulator
