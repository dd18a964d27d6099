// How the host waits for the GPU: the longest wait, and the fate of a context that is stuck.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/device/context_health.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace cudatransform::cuda {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kShortestNap = 20'000, kLongestNap = 100'000;  // ns

// The time that this thread has used of a processor.
int64_t busy_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A quarter of a microsecond or so without a driver call, which takes a lock.
void spin() {
  for (int i = 0; i < 16; i++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

void nap(int64_t ns) {
  const timespec duration = {0, static_cast<long>(ns)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

// The only process-wide state other than the driver: contexts are the process's, not an element's.
struct Registry {
  std::mutex mutex;
  std::unordered_map<CUcontext, std::weak_ptr<ContextHealth>> known;
  std::vector<std::shared_ptr<void>> kept;
};

Registry& registry() {
  static Registry& instance = *new Registry;  // never destroyed: it keeps contexts
  return instance;
}

}  // namespace

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t gpu_timeout_ns() {
  const char* set = std::getenv("CUDATRANSFORM_GPU_TIMEOUT");
  if (set == nullptr || *set < '0' || *set > '9') return kGpuTimeout;
  char* end = nullptr;
  errno = 0;
  const long long milliseconds = std::strtoll(set, &end, 10);
  if (*end != '\0' || errno != 0 || milliseconds > INT64_MAX / kMillisecond) return kGpuTimeout;
  return milliseconds * kMillisecond;
}

std::string duration_text(int64_t ns) {
  const int64_t ms = ns / kMillisecond;
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::shared_ptr<ContextHealth> ContextHealth::with(CUcontext context) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ContextHealth>& known = all.known[context];
  std::shared_ptr<ContextHealth> health = known.lock();
  if (health == nullptr) known = health = std::make_shared<ContextHealth>();
  return health;
}

void ContextHealth::give_up(std::shared_ptr<void> context) {
  if (stuck_.exchange(true)) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.kept.push_back(std::move(context));
  for (const auto& entry : all.known)
    if (std::shared_ptr<ContextHealth> health = entry.second.lock(); health.get() == this)
      all.kept.push_back(std::move(health));
}

Wait::Wait(int64_t timeout_ns, int64_t spin_ns)
    : timeout_(timeout_ns),
      spin_(spin_ns),
      begin_(now_ns()),
      busy_begin_(spin_ns > 0 ? busy_ns() : 0),
      naps_(spin_ns == 0) {}

// A spinning thread counts its processor time, because napping saves that. A thread that was kept
// from running has no reason to nap.
bool Wait::pause() {
  const int64_t waited = in_vain_ = now_ns() - begin_;
  if (timeout_ > 0 && waited >= timeout_) return false;
  if (!naps_ && waited > spin_ && busy_ns() - busy_begin_ > spin_) naps_ = true;
  if (naps_)
    nap(std::clamp(waited / 8, kShortestNap, kLongestNap));
  else
    spin();
  return true;
}

int64_t Wait::took_ns() const { return naps_ ? in_vain_ : busy_ns() - busy_begin_; }

}  // namespace cudatransform::cuda
