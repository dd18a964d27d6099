// Shared by the tests on the fake driver: its counters, and pipelines that end somehow.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The first argument of these programs is the driver's mode (fakecuda/fakecuda.cpp): one process
// each, because a process loads a driver once.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "tests/check/drivers/outcomes.h"
#include "tests/check/fakecuda/fakecuda.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

inline const char* mode() { return g_getenv("FAKECUDA_MODE"); }
inline bool is_mode(const char* other) { return g_str_equal(mode(), other); }

// Null where the process has another libcuda, or none.
inline void (*get_counts())(FakecudaCounts*) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return nullptr;
  return reinterpret_cast<void (*)(FakecudaCounts*)>(dlsym(driver, "fakecuda_get_counts"));
}

inline bool is_fake() { return get_counts() != nullptr; }

inline FakecudaCounts counts() {
  FakecudaCounts now = {};
  get_counts()(&now);
  return now;
}

inline bool is_anything_alive(const FakecudaCounts& c) {
  return c.memory || c.streams || c.events || c.modules || c.contexts;
}

// All objects are freed, and no call was wrong. A thread of GStreamer that commits a state change
// may hold the pipeline, and so its context, a moment longer than the test does.
inline void check_clean() {
  FakecudaCounts now = counts();
  for (int i = 0; i < 200 && is_anything_alive(now); i++) {
    g_usleep(10000);
    now = counts();
  }
  fail_unless_equals_int(now.memory, 0);
  fail_unless_equals_int(now.streams, 0);
  fail_unless_equals_int(now.events, 0);
  fail_unless_equals_int(now.modules, 0);
  fail_unless_equals_int(now.contexts, 0);
  fail_unless_equals_int(now.calls_without_context, 0);
  fail_unless_equals_int(now.bad_copies, 0);
}

inline std::string both(const char* backend, int frames = 3) {
  return "videotestsrc num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=I420,width=64,height=48 ! cudadct8x8 name=f backend=" + backend +
         " ! cudaidct8x8 name=i backend=" + backend + " ! fakesink";
}

// Sets the mode and checks that the driver is the fake one; returns 0 if so. Where its GPU finishes
// its work, everything is freed after each test.
inline int enter_mode(const char* mode) {
  g_setenv("FAKECUDA_MODE", mode, TRUE);
  if (g_str_equal(mode, "absent"))
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) ? skip("there is a driver") : 0;
  if (!g_str_equal(mode, "stuck")) after_each_test = check_clean;
  if (is_fake()) return 0;
  std::fprintf(stderr, "libcuda.so.1 is not the fake driver\n");
  return 1;
}

// main() of the programs whose first argument is the mode.
inline int run_in_mode(int argc, char** argv) {
  if (argc < 2) return 1;
  if (const int status = enter_mode(argv[1])) return status;
  return run(argc, argv);
}

}  // namespace testing
