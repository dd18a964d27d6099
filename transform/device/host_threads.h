// The threads of a host device, for the CPU engine's transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "transform/device/device.h"

namespace cudatransform {

// ThreadSanitizer does not see how oneTBB, which is not instrumented, orders what its threads do.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kMayUseThreads = false;
#else
inline constexpr bool kMayUseThreads = true;
#endif

class HostThreads {
 public:
  // `threads` 0: one per core. The arena is made here, not at its first use: if oneTBB throws while
  // it makes an arena, every later use of that arena waits for ever.
  explicit HostThreads(int threads) : arena_(allowed(threads)) {
    if (arena_.max_concurrency() > 1) arena_.initialize();
  }

  tbb::task_arena& arena() { return arena_; }
  int count() const { return arena_.max_concurrency(); }
  // How many work at a time.
  int used() const { return kMayUseThreads ? count() : 1; }
  // Calls work(i) for each i below `count`, on all threads. Throws the exception of one of them.
  template <typename Index, typename Work>
  void for_each(Index count, const Work& work) {
    if (used() > 1 && count > 1) {
      arena_.execute([&] { tbb::parallel_for(Index{0}, count, work); });
    } else {
      for (Index i = 0; i < count; ++i) work(i);
    }
  }

 private:
  // oneTBB starts no more threads than it may use, and prints a warning where more are requested.
  static int allowed(int wanted) {
    if (wanted <= 0) return tbb::task_arena::automatic;
    const size_t most =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return static_cast<int>(std::min(static_cast<size_t>(wanted), std::max<size_t>(most, 1)));
  }

  tbb::task_arena arena_;
};

// Null when `device` was not made by make_host_device().
HostThreads* host_threads(Device& device);

// Calls work(threads), which returns a Status, with the threads of a host device. An exception
// becomes a Status, too: `no_memory` where it is std::bad_alloc.
template <typename Work>
Status run_on_host(Device& device, const char* no_memory, const Work& work) {
  HostThreads* threads = host_threads(device);
  if (threads == nullptr) {
    return Status::error(StatusCode::kInvalidArgument,
                         std::string("host device expected, not ") + device.name());
  }
  try {
    return work(*threads);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, no_memory);
  } catch (const std::exception& error) {
    return Status::error(StatusCode::kFailed,
                         std::string("the CPU engine failed: ") + error.what());
  }
}

}  // namespace cudatransform
