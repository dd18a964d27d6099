// What all objects made on one CUDA context share: the driver, spare events and loaded kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/device/context_health.h"
#include "cuda/device/driver.h"
#include "cuda/device/kernel_family.h"

namespace cudatransform::cuda {

// Fences and memory hold it, so it (and with it the caller's context) outlives the Device that they
// came from. Thread safe.
//
// Every wait for the GPU ends (see kGpuTimeout). When one has timed out, the context is stuck: it
// cannot be entered any more. So nothing of it is returned to the driver, which would wait for the
// GPU; the GPU may also still write to its memory.
class Context {
 public:
  Context(const Driver& driver, CUcontext handle, std::shared_ptr<void> keep_alive)
      : driver_(driver),
        handle_(handle),
        keep_alive_(std::move(keep_alive)),
        timeout_(gpu_timeout_ns()),
        health_(ContextHealth::with(handle)) {}
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  CUcontext handle() const { return handle_; }

  // Lends an event, with time stamps or without. It is the caller's until returned.
  Status take_event(bool timed, CUevent* event);
  void give_event(bool timed, CUevent event);

  bool stuck() const { return health_->is_stuck(); }
  // The error for code that tries to enter a stuck context.
  Status stuck_status() const;
  // Driver::check(), or the reason why no driver was called.
  Status check(CUresult result, const char* what) const;

  // Polls until `poll()` is not CUDA_ERROR_NOT_READY any more, and returns its last answer. If that
  // is still CUDA_ERROR_NOT_READY, the context is now stuck. `spin_ns` and `*took` as of Wait. The
  // context is current.
  template <typename Poll>
  CUresult wait_until(int64_t spin_ns, int64_t* took, Poll&& poll);

  // Waits until our streams in this context, of all its Contexts, have done the work that they were
  // given so far. After that the driver need not wait inside of calls that give something back,
  // which wait for all that the context has to do. False: it is stuck, nothing may be freed.
  bool settle();

  // A kernel, whose image is loaded on first use. Costs two loads once the number has been
  // used.
  Status kernel(KernelKey key, CUfunction* function);

  // Whether a kernel may be launched before its predecessor in the stream has finished (sm_90 on).
  bool has_dependent_launch();

  // Bytes of shared memory that a CTA of a kernel without static shared memory may have. A launch
  // with more than kSharedWithoutRequest needs the function's consent.
  static constexpr int kSharedWithoutRequest = 48 << 10;
  int max_shared();
  // The same for as many CTAs as `ctas` on a multiprocessor; not less than kSharedWithoutRequest.
  int shared_for(int ctas);

 private:
  struct Module {
    CUmodule handle = nullptr;
    std::unordered_map<std::string, CUfunction> kernels;
  };
  using Handle = std::atomic<CUfunction>;

  Status kernel(const KernelEntry& entry, CUfunction* function);
  // An attribute of the context's device; `otherwise` if the driver does not report it.
  int device_attribute(CUdevice_attribute attribute, int otherwise);
  Status module_of(const void* image, Module** module);
  Handle& handle_of(KernelKey key);

  const Driver& driver_;
  CUcontext handle_;
  std::shared_ptr<void> keep_alive_;  // the caller's hold on the context: released last
  const int64_t timeout_;             // of one wait, in ns; 0: none
  const std::shared_ptr<ContextHealth> health_;
  std::mutex mutex_;
  std::vector<CUevent> spare_events_[2];
  std::unordered_map<const void*, Module> modules_;
  // Indexed by family and number; null until a kernel of the family has been requested.
  std::atomic<Handle*> handles_[KernelFamily::kMax] = {};
  std::vector<std::unique_ptr<Handle[]>> handle_tables_;  // the memory of handles_
  std::atomic<int> dependent_launch_ = -1;                // -1: not queried yet
  std::atomic<int> max_shared_ = 0;                       // 0: likewise
  std::atomic<int> multiprocessor_shared_ = 0;
};

template <typename Poll>
CUresult Context::wait_until(int64_t spin_ns, int64_t* took, Poll&& poll) {
  Wait wait(timeout_, spin_ns);
  CUresult result = poll();
  while (result == CUDA_ERROR_NOT_READY && !stuck()) {
    if (wait.pause())
      result = poll();
    else
      health_->give_up(keep_alive_);
  }
  *took = wait.took_ns();
  return result;
}

// Makes a context current for a scope, and then the one that was current before. A stuck context is
// not entered.
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
