// What everything made on one CUDA context shares: the driver, spare events, loaded kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/driver.h"

namespace cudatransform::cuda {

// A kernel by number, for those that are launched for every frame.
struct KernelKey {
  static constexpr uint32_t kCount = 1024;
  uint32_t number;                // below kCount
  std::string (*name)(uint32_t);  // of the kernel with that number
};

// Fences and memory hold it, so it (and with it the caller's context) outlives the Device that they
// came from. Thread safe.
class Context {
 public:
  Context(const Driver& driver, CUcontext handle, std::shared_ptr<void> keep_alive)
      : driver_(driver), handle_(handle), keep_alive_(std::move(keep_alive)) {}
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  CUcontext handle() const { return handle_; }

  // Lends an event, with time stamps or without. It is the caller's until given back.
  Status take_event(bool timed, CUevent* event);
  void give_event(bool timed, CUevent event);

  // Sleeps until `event` has happened. The context is current.
  CUresult sleep_until(CUevent event);

  // The kernel `name` of `image`, a fat binary, which is loaded when first asked for.
  Status kernel(const void* image, const char* name, CUfunction* function);

  // The same, at the cost of a load once the number has been used.
  Status kernel(const void* image, KernelKey key, CUfunction* function);

  // Whether a kernel may be launched before its predecessor in the stream has finished (sm_90 on).
  bool has_dependent_launch();

 private:
  // What one thread at a time sleeps on: an event that wakes it, in a stream that does nothing
  // else.
  struct Alarm {
    CUstream stream = nullptr;
    CUevent event = nullptr;
  };

  CUresult take_alarm(Alarm* alarm);
  Status module_of(const void* image, CUmodule* module);

  const Driver& driver_;
  CUcontext handle_;
  std::shared_ptr<void> keep_alive_;  // the caller's hold on the context: released last
  std::mutex mutex_;
  std::vector<CUevent> spare_events_[2];
  std::vector<Alarm> spare_alarms_;
  std::unordered_map<const void*, CUmodule> modules_;
  std::unordered_map<std::string, CUfunction> kernels_;
  std::atomic<CUfunction> numbered_[KernelKey::kCount] = {};
  std::atomic<int> dependent_launch_ = -1;  // -1: not asked yet
};

// Makes a context current for a scope, whatever was current before.
class ScopedContext {
 public:
  explicit ScopedContext(const Context& context);
  ~ScopedContext();
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  const Status& status() const { return status_; }
  CUresult result() const { return result_; }

 private:
  const Driver& driver_;
  CUresult result_;
  Status status_;
};

// Makes `context` current until the end of the enclosing block, or returns the failure.
#define CT_ENTER_CONTEXT(context)                        \
  ::cudatransform::cuda::ScopedContext scoped_(context); \
  CT_RETURN_IF_ERROR(scoped_.status())

}  // namespace cudatransform::cuda
