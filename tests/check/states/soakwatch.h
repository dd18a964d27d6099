// The watch over a soak test: frames keep coming, and memory does not grow.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include <atomic>
#include <string>

namespace testing {

// Ends the program, and reports its position, when no frame has arrived for half a minute.
class SoakWatch {
 public:
  void start(const std::string& what);
  void stop();
  // The current step, and the frame after it; -1: the frame itself.
  void now(int frame, int step) {
    frame_ = frame;
    step_ = step;
  }
  void arrived() { arrived_++; }

 private:
  void watch();
  void give_up(int seconds);

  GThread* thread_ = nullptr;
  std::atomic<bool> ended_ = false;
  std::atomic<int> frame_ = 0, step_ = -1;
  std::atomic<unsigned> arrived_ = 0;
  std::string what_;
};

// The program's.
SoakWatch& soak_watch();

// The memory in use in the first half of a stream, after a tenth of it, and in the second: the
// host's where it is least, since busy threads hold more for a moment, and on the shim the most of
// the device's.
class SoakMemory {
 public:
  explicit SoakMemory(int frames) : frames_(frames) {}
  void sample(int frame);
  // Fails the test if the second half needed more than the limits above the first; the host's
  // memory counts where numbers are tested.
  void check(double host_mb, double device_mb) const;

 private:
  int frames_;
  double resident_[2] = {}, device_[2] = {};
};

}  // namespace testing
