// Spare events and loaded kernels of one CUDA context.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/device/context.h"

#include <algorithm>

namespace cudatransform::cuda {

Context::~Context() {
  if (!settle()) return;
  ScopedContext scoped(*this);
  if (!scoped.status().ok()) return;  // the destroyed context has freed everything
  for (std::vector<CUevent>& events : spare_events_)
    for (CUevent event : events) driver_.event_destroy(event);
  for (const auto& [image, module] : modules_) driver_.module_unload(module.handle);
}

Status Context::take_event(bool timed, CUevent* event) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<CUevent>& spare = spare_events_[timed];
    if (!spare.empty()) {
      *event = spare.back();
      spare.pop_back();
      return {};
    }
  }
  CT_ENTER_CONTEXT(*this);
  // Not with CU_EVENT_BLOCKING_SYNC, which wakes a thread that waits. Each such event interrupts a
  // processor when it happens, even if no thread waits for it, and wakes a thread of the driver for
  // each context (docs/results/pipeline-nvidia-h200.md).
  const unsigned flags = timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  return driver_.check(driver_.event_create(event, flags), "cuEventCreate");
}

void Context::give_event(bool timed, CUevent event) {
  std::lock_guard<std::mutex> lock(mutex_);
  spare_events_[timed].push_back(event);
}

Status Context::stuck_status() const {
  return Status::error(StatusCode::kDeviceLost, "GPU timeout after " + duration_text(timeout_) +
                                                    " (CUDATRANSFORM_GPU_TIMEOUT)");
}

Status Context::check(CUresult result, const char* what) const {
  if (result != CUDA_SUCCESS && stuck()) return stuck_status();
  return driver_.check(result, what);
}

Status Context::module_of(const void* image, Module** module) {
  if (auto found = modules_.find(image); found != modules_.end()) {
    *module = &found->second;
    return {};
  }
  CT_ENTER_CONTEXT(*this);
  CUmodule loaded = nullptr;
  CT_RETURN_IF_ERROR(driver_.check(driver_.module_load_data(&loaded, image), "cuModuleLoadData"));
  *module = &modules_.emplace(image, Module{loaded, {}}).first->second;
  return {};
}

Status Context::kernel(const KernelEntry& entry, CUfunction* function) {
  std::lock_guard<std::mutex> lock(mutex_);
  Module* module = nullptr;
  CT_RETURN_IF_ERROR(module_of(entry.image, &module));
  if (auto found = module->kernels.find(entry.name); found != module->kernels.end()) {
    *function = found->second;
    return {};
  }
  CT_ENTER_CONTEXT(*this);
  CT_RETURN_IF_ERROR(driver_.check(
      driver_.module_get_function(function, module->handle, entry.name), "cuModuleGetFunction"));
  module->kernels.emplace(entry.name, *function);
  return {};
}

Context::Handle& Context::handle_of(KernelKey key) {
  std::atomic<Handle*>& table = handles_[key.family.index()];
  if (Handle* handles = table.load(std::memory_order_acquire)) return handles[key.number];
  std::lock_guard<std::mutex> lock(mutex_);
  if (table.load(std::memory_order_relaxed) == nullptr) {
    handle_tables_.push_back(std::make_unique<Handle[]>(key.family.count()));
    table.store(handle_tables_.back().get(), std::memory_order_release);
  }
  return table.load(std::memory_order_relaxed)[key.number];
}

Status Context::kernel(KernelKey key, CUfunction* function) {
  if (key.family.index() >= KernelFamily::kMax || key.number >= key.family.count())
    return Status::error(StatusCode::kFailed, "kernel " + std::to_string(key.number) + " of " +
                                                  std::to_string(key.family.count()) +
                                                  " in family " +
                                                  std::to_string(key.family.index()) + " of " +
                                                  std::to_string(KernelFamily::kMax));
  Handle& handle = handle_of(key);
  *function = handle.load(std::memory_order_acquire);
  if (*function != nullptr) return {};
  CT_RETURN_IF_ERROR(kernel(key.family.kernel(key.number), function));
  handle.store(*function, std::memory_order_release);
  return {};
}

int Context::device_attribute(CUdevice_attribute attribute, int otherwise) {
  int value = 0;
  CUdevice device = 0;
  ScopedContext scoped(*this);
  const bool known = scoped.status().ok() && driver_.ctx_get_device != nullptr &&
                     driver_.device_get_attribute != nullptr &&
                     driver_.ctx_get_device(&device) == CUDA_SUCCESS &&
                     driver_.device_get_attribute(&value, attribute, device) == CUDA_SUCCESS;
  return known ? value : otherwise;
}

bool Context::has_dependent_launch() {
  if (dependent_launch_ < 0)
    dependent_launch_ = driver_.launch_kernel_ex != nullptr &&
                        device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) >= 9;
  return dependent_launch_ == 1;
}

int Context::max_shared() {
  if (max_shared_ == 0)
    max_shared_ = std::max(kSharedWithoutRequest,
                           device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                            kSharedWithoutRequest));
  return max_shared_;
}

int Context::shared_for(int ctas) {
  constexpr int kReserved = 1 << 10;  // for each CTA
  if (multiprocessor_shared_ == 0)
    multiprocessor_shared_ =
        std::max(kSharedWithoutRequest,
                 device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0));
  return std::max<int>(kSharedWithoutRequest, multiprocessor_shared_ / ctas - kReserved);
}

ScopedContext::ScopedContext(const Context& context) : driver_(context.driver()) {
  if (context.stuck()) {
    result_ = CUDA_ERROR_LAUNCH_TIMEOUT;
    status_ = context.stuck_status();
    return;
  }
  result_ = driver_.ctx_push_current(context.handle());
  status_ = driver_.check(result_, "cuCtxPushCurrent");
}

ScopedContext::~ScopedContext() {
  CUcontext popped = nullptr;
  if (status_.ok()) driver_.ctx_pop_current(&popped);
}

}  // namespace cudatransform::cuda
