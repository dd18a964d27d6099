// A CUDA driver without a GPU, for tests: device memory is host memory, streams do their work at
// once, kernels do nothing, and the environment says what goes wrong.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Built as libcuda.so.1 in a folder of its own, which a test puts on LD_LIBRARY_PATH.
//
//   FAKECUDA_MODE     ok (default)   everything works
//                     no-init        cuInit finds no device, as in a container without one
//                     no-device      cuInit works, the number of devices is 0
//                     no-context     cuCtxCreate fails
//                     no-module      cuModuleLoadData finds nothing for this GPU
//                     alloc-fails    no memory, neither on the device nor pinned
//                     no-pinned      no page-locked memory
//                     launch-fails   kernels do not start
//                     lost           an illegal address: from then on every call fails, until a new
//                                    context is made
//   FAKECUDA_AFTER    how many allocations or launches still work before the mode strikes (0)
//   FAKECUDA_DEVICES  number of devices (1)
//   FAKECUDA_PEER     yes (default)  devices reach each other
//                     no             they do not, but the driver copies between them
//                     fails          it does not do that either
//   FAKECUDA_LAG      how often a stream's events are asked, as if that took time, before the
//                     latest says that it has happened (0); all that its stream had to do before
//                     it, or to wait for, has happened then too
//   FAKECUDA_WAIT     how many microseconds it takes to wait for an event that has not happened
//                     (0); the thread spins or, if the event was made for that, sleeps
//
// It is stricter than a real driver where a mistake would go unnoticed: calls need a current
// context, copies must stay inside allocations of the context that they are about. And it counts
// what is alive: see fakecuda.h.
#include "tests/check/fakecuda/fakecuda.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/check/fakecuda/state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace fakecuda;  // all of it is this file's

namespace {

struct Name {
  int code;
  const char* name;
};
constexpr Name kNames[] = {
    {kSuccess, "CUDA_SUCCESS"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {kPeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
    {kNotReady, "CUDA_ERROR_NOT_READY"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {kPeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {kPeerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
    {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
};

}  // namespace

// ---- The driver and its devices ----

EXPORT int cuInit(unsigned) {
  if (mode_is("no-init")) return kNoDevice;
  std::lock_guard lock(state().mutex);
  state().initialised = true;
  return kSuccess;
}

EXPORT int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

EXPORT int cuGetErrorName(int code, const char** name) {
  for (const Name& known : kNames) {
    if (known.code != code) continue;
    *name = known.name;
    return kSuccess;
  }
  *name = nullptr;
  return kInvalidValue;
}

EXPORT int cuGetErrorString(int code, const char** text) { return cuGetErrorName(code, text); }

EXPORT int cuDeviceGetCount(int* count) {
  if (!state().initialised) return kNotInitialized;
  *count = device_count();
  return kSuccess;
}

EXPORT int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

EXPORT int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return kSuccess;
}

EXPORT int cuDeviceGetPCIBusId(char* id, int size, int) {
  std::strncpy(id, "0000:00:00.0", static_cast<size_t>(size));
  return kSuccess;
}

// What is asked for are alignments, and whether there is what has no entry points here.
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kVirtualMemory = 102, kFileDescriptors = 103, kMemoryPools = 115;
  const bool absent =
      attribute == kVirtualMemory || attribute == kFileDescriptors || attribute == kMemoryPools;
  *value = absent ? 0 : static_cast<int>(kPitch);
  return kSuccess;
}

EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = are_peers(device, peer);
  return kSuccess;
}

// ---- Contexts ----

EXPORT int cuCtxCreate_v2(Context** context, unsigned, int device) {
  if (mode_is("no-context")) return kOutOfMemory;
  if (device >= device_count()) return kInvalidDevice;
  auto made = std::make_unique<Context>(Context{device});
  if (!context_stack().push(made.get())) return kInvalidValue;
  *context = made.release();
  std::lock_guard lock(state().mutex);
  state().lost = false;
  state().counts.contexts++;
  return kSuccess;
}

EXPORT int cuCtxDestroy_v2(Context* context) {
  context_stack().erase(context);
  std::lock_guard lock(state().mutex);
  std::erase_if(state().peers, [context](const auto& pair) {
    return pair.first == context || pair.second == context;
  });
  delete context;
  state().counts.contexts--;
  return kSuccess;
}

EXPORT int cuCtxPushCurrent_v2(Context* context) {
  if (context == nullptr) return kInvalidContext;
  if (!context_stack().push(context)) return kInvalidValue;
  return kSuccess;
}

EXPORT int cuCtxPopCurrent_v2(Context** context) {
  if (context_stack().empty()) return kInvalidContext;
  if (context != nullptr) *context = context_stack().back();
  context_stack().pop();
  return kSuccess;
}

EXPORT int cuDevicePrimaryCtxRetain(Context** context, int device) {
  std::lock_guard lock(state().mutex);
  Context*& primary = state().primary[device];
  if (primary == nullptr) primary = new Context{device};
  *context = primary;
  return kSuccess;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }

EXPORT int cuCtxEnablePeerAccess(Context* peer, unsigned) {
  if (int result = check_context()) return result;
  Context* current = context_stack().back();
  if (current == peer) return kInvalidContext;
  if (!are_peers(current->device, peer->device)) return kPeerAccessUnsupported;
  std::lock_guard lock(state().mutex);
  return state().peers.emplace(current, peer).second ? kSuccess : kPeerAccessAlreadyEnabled;
}

EXPORT int cuCtxDisablePeerAccess(Context* peer) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  return state().peers.erase({context_stack().back(), peer}) ? kSuccess : kPeerAccessNotEnabled;
}

// ---- Memory ----

EXPORT int cuMemAlloc_v2(void** address, size_t bytes) {
  return allocate(address, bytes, kDeviceMemory);
}

EXPORT int cuMemAllocPitch_v2(void** address, size_t* pitch, size_t width, size_t height,
                              unsigned) {
  if (width == 0 || height == 0) return kInvalidValue;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate(address, *pitch * height, kDeviceMemory);
}

EXPORT int cuMemAllocHost_v2(void** address, size_t bytes) {
  return allocate(address, bytes, kHostMemory);
}

EXPORT int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  return allocate(address, bytes, kHostMemory);
}

EXPORT int cuMemFree_v2(void* address) { return release(address, kDeviceMemory); }
EXPORT int cuMemFreeHost(void* address) { return release(address, kHostMemory); }

EXPORT int cuPointerGetAttribute(void* value, int attribute, uintptr_t address) {
  constexpr int kMemoryType = 2;
  if (attribute != kMemoryType) return kNotSupported;
  const Context* context = context_stack().empty() ? nullptr : context_stack().back();
  for (int type : {kHostMemory, kDeviceMemory}) {
    if (!is_inside(address, 1, type, context)) continue;
    *static_cast<unsigned*>(value) = static_cast<unsigned>(type);
    return kSuccess;
  }
  return kInvalidValue;
}

// Of memory that it does not know a driver says nothing, which is no error.
EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                  uintptr_t address) {
  for (unsigned i = 0; i < count; i++) {
    if (cuPointerGetAttribute(values[i], attributes[i], address) == kSuccess) continue;
    *static_cast<unsigned*>(values[i]) = 0;
  }
  return kSuccess;
}

EXPORT int cuMemcpy2D_v2(const Copy2D* copy) { return copy_2d(copy); }
EXPORT int cuMemcpy2DAsync_v2(const Copy2D* copy, void*) { return copy_2d(copy); }
EXPORT int cuMemcpy3DPeerAsync(const PeerCopy* copy, void*) { return copy_between_contexts(copy); }

EXPORT int cuMemcpyDtoHAsync_v2(void* to, uintptr_t from, size_t bytes, void* stream) {
  if (int result = check_context()) return result;
  if (!is_inside(from, bytes, kDeviceMemory, context_stack().back())) return kInvalidValue;
  std::lock_guard lock(state().mutex);
  capture(stream);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

EXPORT int cuMemsetD8Async(uintptr_t address, unsigned char value, size_t bytes, void* stream) {
  if (int result = check_context()) return result;
  if (!is_inside(address, bytes, kDeviceMemory, context_stack().back())) return kInvalidValue;
  std::lock_guard lock(state().mutex);
  capture(stream);
  std::memset(reinterpret_cast<void*>(address), value, bytes);
  return kSuccess;
}

// ---- Streams and events ----

EXPORT int cuStreamCreate(Stream** stream, unsigned) {
  if (int result = check_context()) return result;
  *stream = new Stream;
  std::lock_guard lock(state().mutex);
  state().live_streams.insert(*stream);
  state().counts.streams++;
  return kSuccess;
}

EXPORT int cuStreamDestroy(Stream* stream) { return destroy_stream(stream); }
EXPORT int cuStreamDestroy_v2(Stream* stream) { return destroy_stream(stream); }
EXPORT int cuStreamSynchronize(Stream* stream) { return synchronize_stream(stream); }
EXPORT int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  wait_in_stream(stream, *event);
  if (stream == event->stream) return kSuccess;
  const auto& live = state().live_streams;
  if (live.count(stream) != 0) stream->waits.waits++;
  if (live.count(event->stream) != 0) event->stream->waits.waited_for++;
  return kSuccess;
}

EXPORT int cuEventCreate(Event** event, unsigned flags) {
  constexpr unsigned kBlockingSync = 1;
  if (int result = check_context()) return result;
  *event = new Event;
  (*event)->blocking = (flags & kBlockingSync) != 0;
  std::lock_guard lock(state().mutex);
  state().counts.events++;
  return kSuccess;
}

EXPORT int cuEventDestroy_v2(Event* event) {
  if (int result = check_context(); result != kSuccess && result != kIllegalAddress) return result;
  delete event;
  std::lock_guard lock(state().mutex);
  state().counts.events--;
  return kSuccess;
}

EXPORT int cuEventRecord(Event* event, Stream* stream) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  event->stream = stream;
  event->place = stream != nullptr ? ++stream->recorded : 0;
  event->due = stream != nullptr ? stream->asked + uint64_t(number("FAKECUDA_LAG", 0)) : 0;
  return kSuccess;
}

EXPORT int cuEventQuery(Event* event) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  return has_happened(event, false) ? kSuccess : kNotReady;
}

EXPORT int cuEventSynchronize(Event* event) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  state().counts.waits++;
  if (event->blocking) state().counts.sleeps++;
  if (is_pending(*event)) take_time(event->blocking);
  has_happened(event, true);
  return kSuccess;
}

EXPORT int cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  if (!has_happened(begin, false) || !has_happened(end, false)) return kNotReady;
  *milliseconds = 1.5f;
  return kSuccess;
}

// ---- Kernels ----

EXPORT int cuModuleLoadData(void** module, const void* image) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  if (mode_is("no-module")) return kNoBinaryForGpu;
  constexpr uint32_t kFatBinary = 0xba55ed50;  // the first word of what nvcc -fatbin writes
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof(magic));
  if (magic != kFatBinary) return kInvalidValue;
  *module = std::malloc(1);
  std::lock_guard lock(state().mutex);
  state().counts.modules++;
  return kSuccess;
}

EXPORT int cuModuleUnload(void* module) {
  std::free(module);
  std::lock_guard lock(state().mutex);
  state().counts.modules--;
  return kSuccess;
}

EXPORT int cuModuleGetFunction(void** function, void* module, const char*) {
  if (int result = check_context()) return result;
  *function = module;
  return kSuccess;
}

EXPORT int cuLaunchKernel(void*, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned, void* stream, void**, void**) {
  if (int result = check_context()) return result;
  if (gx == 0 || gy == 0 || gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024)
    return kInvalidValue;
  State& s = state();
  std::lock_guard lock(s.mutex);
  const bool strikes = s.counts.launches >= number("FAKECUDA_AFTER", 0);
  if (strikes && mode_is("launch-fails")) return kLaunchOutOfResources;
  if (strikes && mode_is("lost")) s.lost = true;  // found out by the next call, as on a GPU
  s.counts.launches++;
  capture(stream);
  return kSuccess;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void*, int, size_t) {
  *ctas = 1;
  return kSuccess;
}

EXPORT void fakecuda_get_waits(void* stream, FakecudaWaits* waits) {
  std::lock_guard lock(state().mutex);
  *waits = {};
  const auto found = state().live_streams.find(static_cast<Stream*>(stream));
  if (found != state().live_streams.end()) *waits = (*found)->waits;
}

EXPORT void fakecuda_get_counts(FakecudaCounts* counts) {
  std::lock_guard lock(state().mutex);
  *counts = state().counts;
}
