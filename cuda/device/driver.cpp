// Opens libcuda.so.1 and converts the driver's result codes to Status.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/device/driver.h"

#include <dlfcn.h>

#include <mutex>

#include "cuda/device/cuda_device.h"

namespace cudatransform {
namespace cuda {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

// Errors after which every later call on the context fails too.
bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

StatusCode code_of(CUresult result) {
  if (is_sticky(result)) return StatusCode::kDeviceLost;
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return StatusCode::kOutOfMemory;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    // The embedded image has neither machine code nor PTX for this GPU.
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      return StatusCode::kNotFound;
    case CUDA_ERROR_NOT_SUPPORTED:
      return StatusCode::kUnsupported;
    default:
      return StatusCode::kFailed;
  }
}

Status resolve(void* library, Driver* driver) {
#define CT_CUDA_RESOLVE(member, function, name, arguments, kind) \
  driver->member = reinterpret_cast<decltype(driver->member)>(dlsym(library, #name));
  CT_CUDA_ENTRY_POINTS(CT_CUDA_RESOLVE)
  CT_CUDA_OPTIONAL_ENTRY_POINTS(CT_CUDA_RESOLVE)
#undef CT_CUDA_RESOLVE
#define CT_CUDA_REQUIRE(member, function, name, arguments, kind) \
  if (driver->member == nullptr)                                 \
    return Status::error(StatusCode::kNotFound,                  \
                         std::string("CUDA driver too old: ") + kLibrary + " lacks " #name);
  CT_CUDA_ENTRY_POINTS(CT_CUDA_REQUIRE)
#undef CT_CUDA_REQUIRE
  return {};
}

// Whether a driver reports this because there is no GPU, or is the toolkit's stub.
bool means_no_device(CUresult result) {
  return result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY;
}

Status open_library(Driver* driver, bool* is_absent) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *is_absent = true;
    const char* reason = dlerror();
    return Status::error(StatusCode::kNotFound,
                         std::string("no CUDA driver: ") + (reason != nullptr ? reason : kLibrary));
  }
  if (Status status = resolve(library, driver); !status.ok()) {
    dlclose(library);
    return status;
  }
  // From here on the library has run and stays loaded: a driver cannot be unloaded safely.
  const CUresult result = driver->init(0);
  *is_absent = means_no_device(result);
  return driver->check(result, "cuInit");
}

// The only state of the process: a driver cannot be unloaded and loaded again.
struct Loaded {
  std::mutex mutex;
  bool ready = false;
  Driver driver;
};

Loaded& loaded() {
  static Loaded& instance = *new Loaded;  // never destroyed: fences may be released at exit
  return instance;
}

}  // namespace

Status Driver::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  if (get_error_name(result, &name) != CUDA_SUCCESS) name = nullptr;
  std::string message = std::string(what) + ": ";
  message += name != nullptr ? name : "CUDA error " + std::to_string(static_cast<int>(result));
  return Status::error(code_of(result), std::move(message));
}

Status load_driver(const Driver** driver, bool* is_absent) {
  bool ignored = false;
  if (is_absent == nullptr) is_absent = &ignored;
  *is_absent = false;
  Loaded& process = loaded();
  std::lock_guard<std::mutex> lock(process.mutex);
  if (!process.ready) {
    Driver candidate;
    CT_RETURN_IF_ERROR(open_library(&candidate, is_absent));
    process.driver = candidate;
    process.ready = true;
  }
  *driver = &process.driver;
  return {};
}

}  // namespace cuda

Status probe_cuda_driver(int* device_count, bool* is_absent) {
  const cuda::Driver* driver = nullptr;
  CT_RETURN_IF_ERROR(cuda::load_driver(&driver, is_absent));
  int count = 0;
  CT_RETURN_IF_ERROR(driver->check(driver->device_get_count(&count), "cuDeviceGetCount"));
  if (count <= 0) {
    if (is_absent != nullptr) *is_absent = true;
    return Status::error(StatusCode::kNotFound, "no CUDA device found");
  }
  if (device_count != nullptr) *device_count = count;
  return {};
}

}  // namespace cudatransform
