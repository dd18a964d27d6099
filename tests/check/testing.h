// What the element tests share: a main that does not fork, skips that show as SKIP, and GPU gates.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A test program ends with
//   int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
#pragma once

#include <gst/check/gstcheck.h>

namespace testing {

inline constexpr int kSkip = 77;  // what meson shows as SKIP

// Runs every test of the suite in this process (CUDA does not survive a fork, and neither do
// sanitisers' reports). Returns the exit status: 0 when all passed. Skips without a GPU when
// CUDATRANSFORM_TEST_BACKEND is "cuda".
int run(int argc, char** argv, Suite* (*make_suite)());

// The criticals and warnings of GLib's log, of domains that GstCheck does not watch, since the last
// call. run() fails when some are left at the end.
int take_criticals();

// Under valgrind, the sanitisers and the leaks tracer, which make everything slow: a fraction of
// the cases does.
bool quick();

// Under valgrind alone, which is slower still. Its subject is memory: of cases that take the same
// paths and differ in the numbers, a part will do, as all of them run elsewhere.
bool under_valgrind();

// Prints why the program cannot run and returns kSkip; with CUDATRANSFORM_REQUIRE_GPU=1 in the
// environment and `needs_gpu`, returns 1 instead, so that a broken GPU machine cannot pass.
int skip(const char* why, bool needs_gpu = false);

// 0 with a CUDA driver and a device; otherwise what skip() returns. Call it first in main.
int require_cuda_or_skip();

// 0 when the element is in the registry; otherwise what skip() returns. Needs GStreamer
// initialised.
int require_element_or_skip(const char* factory);

}  // namespace testing
