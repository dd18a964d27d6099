// How the host waits for the GPU: the longest wait, and the fate of a context that is stuck.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace cudatransform::cuda {

int64_t now_ns();

// More than a frame takes on a GPU with other users. The environment variable
// CUDATRANSFORM_GPU_TIMEOUT sets another, in milliseconds; 0: unlimited.
inline constexpr int64_t kGpuTimeout = 30'000'000'000;  // ns
int64_t gpu_timeout_ns();
// "30 s", "250 ms"
std::string duration_text(int64_t ns);

// Whether one CUcontext is stuck, shared by all objects on it. After one wait has timed out, none
// waits again, and none calls the driver where it may wait: objects made on the context stay, as
// does the context. Thread safe.
class ContextHealth {
 public:
  // The object of `context`: all callers share it while one of them has it, and always after
  // give_up().
  static std::shared_ptr<ContextHealth> with(CUcontext context);

  bool is_stuck() const { return stuck_.load(std::memory_order_relaxed); }
  // Keeps `context` for the rest of the process.
  void give_up(std::shared_ptr<void> context);

 private:
  std::atomic<bool> stuck_ = false;
};

// One wait, which polls the driver: it has no call that waits with a timeout. A
// thread spins until that has used `spin_ns` of a processor, and then naps; 0: from the beginning.
class Wait {
 public:
  static constexpr int64_t kLong = 200'000;     // ns
  static constexpr int64_t kEager = 1'000'000;  // ns, for which a nap's end would be late

  Wait(int64_t timeout_ns, int64_t spin_ns);
  // Between two questions. False when the time is over.
  bool pause();
  // The wait so far: processor time or, of a thread that napped, time until its last poll without
  // an answer, because the end of a nap does not measure the GPU.
  int64_t took_ns() const;

 private:
  int64_t timeout_, spin_, begin_, busy_begin_;
  int64_t in_vain_ = 0;  // since the beginning
  bool naps_;
};

}  // namespace cudatransform::cuda
