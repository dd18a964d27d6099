// Ends a test program that hangs, and names the step.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

namespace testing {

// The program's watchdog; it lives as long as the program, because a failed test leaves its objects
// behind. It decides only hangs: steps that take a minute here take milliseconds when they work.
class Watchdog {
 public:
  // The step from now on, a literal, and its element; the clock restarts.
  void now(const char* whom, const char* step) {
    whom_ = whom;
    step_ = step;
    steps_++;
  }

  static Watchdog& get() {
    static Watchdog& watchdog = *new Watchdog;
    return watchdog;
  }

 private:
  Watchdog() {
    std::thread([this] { watch(); }).detach();
  }

  void watch() {
    const bool slow = g_getenv("CUDATRANSFORM_SANITIZED") || g_getenv("CUDATRANSFORM_VALGRIND");
    const int patience = slow ? 120 : 60;  // seconds
    int waited = 0;
    for (unsigned seen = steps_;;) {
      g_usleep(G_USEC_PER_SEC);
      const unsigned steps = steps_;
      waited = steps == seen ? waited + 1 : 0;
      seen = steps;
      if (waited < patience) continue;
      std::fprintf(stderr, "%s hangs: %s, step %u\n", whom_.load(), step_.load(), steps);
      std::fflush(nullptr);
      _exit(1);
    }
  }

  std::atomic<const char*> whom_ = "the program", step_ = "begin";
  std::atomic<unsigned> steps_ = 0;
};

}  // namespace testing
