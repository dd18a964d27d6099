// A CUDA driver without a GPU, for tests: device memory is host memory, streams do their work
// immediately, kernels do nothing, and environment variables choose the failures.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Built as libcuda.so.1 in a separate folder, which a test puts on LD_LIBRARY_PATH.
//
//   FAKECUDA_MODE     ok (default)   everything works
//                     no-init        cuInit finds no device, as in a container without one
//                     no-device      cuInit works, the number of devices is 0
//                     no-context     cuCtxCreate fails
//                     no-module      cuModuleLoadData finds nothing for this GPU
//                     alloc-fails    no memory, neither on the device nor pinned
//                     no-pinned      no pinned memory
//                     launch-fails   kernels do not start
//                     lost           an illegal address: from then on every call fails, until a new
//                                    context is made
//                     stuck          the GPU never finishes anything more of a context: calls that
//                                    would wait for it for ever end the process
//   FAKECUDA_AFTER    how many allocations or launches still work before the mode strikes (0); of
//                     stuck, how many launches and asynchronous copies of the newest context
//   FAKECUDA_FILL     the byte that fills fresh memory (205: quantized coefficients that no coder
//   takes) FAKECUDA_DEVICES  number of devices (1) FAKECUDA_PEER     yes (default)  devices reach
//   each other
//                     no             they do not, but the driver copies between them
//                     fails          it does not do that either
//   FAKECUDA_LAG      how often a stream's events are asked, as if that took time, before the
//                     latest says that it has happened (0); all that its stream had to do before
//                     it, or to wait for, has happened then too
//   FAKECUDA_DEFERRED 1              work is done as late as a driver may, kernels write bytes that
//                                    depend on what they read, and what is not ordered is noticed
//                                    (deferred.h); events then happen when their stream has been
//                                    asked twice, unless FAKECUDA_LAG says otherwise
//                     0              kernels write the same, and work is done immediately
//   FAKECUDA_GUARDS   end, begin     memory ends, or begins, next to a page without access
//                                    (guards.h)
//   FAKECUDA_WAIT     how many microseconds it takes to wait for an event that has not happened
//                     (0), by asking for it again and again
//
// It is stricter than a real driver where a mistake would go unnoticed: calls need a current
// context, copies must stay inside allocations of their context. And it counts live objects: see
// fakecuda.h.
#include "tests/check/fakecuda/fakecuda.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/check/fakecuda/deferred.h"
#include "tests/check/fakecuda/state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace fakecuda;  // the whole file belongs to it

// ---- Contexts ----

EXPORT int cuCtxCreate_v2(Context** context, unsigned, int device) {
  if (mode_is("no-context")) return kOutOfMemory;
  if (device >= device_count()) return kInvalidDevice;
  auto made = std::make_unique<Context>();
  made->device = device;
  if (!context_stack().push(made.get())) return kInvalidValue;
  *context = made.release();
  std::lock_guard lock(state().mutex);
  state().lost = false;
  state().work = 0;
  state().counts.contexts++;
  return kSuccess;
}

EXPORT int cuCtxDestroy_v2(Context* context) {
  check_gives_back(context, "cuCtxDestroy");
  context_stack().erase(context);
  std::lock_guard lock(state().mutex);
  std::erase_if(state().peers, [context](const auto& pair) {
    return pair.first == context || pair.second == context;
  });
  note_context_destroyed(context);
  delete context;
  state().counts.contexts--;
  return kSuccess;
}

EXPORT int cuCtxPushCurrent_v2(Context* context) {
  if (context == nullptr) return kInvalidContext;
  if (!context_stack().push(context)) return kInvalidValue;
  forget_questions();
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
  if (primary == nullptr) primary = new Context{device, false};
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
  constexpr int kMemoryType = 2, kDeviceOrdinal = 9;
  const Context* context = context_stack().empty() ? nullptr : context_stack().back();
  if (attribute == kDeviceOrdinal) {
    if (!context || !is_inside(address, 1, kDeviceMemory, context)) return kInvalidValue;
    *static_cast<int*>(value) = context->device;
    return kSuccess;
  }
  if (attribute != kMemoryType) return kNotSupported;
  for (int type : {kHostMemory, kDeviceMemory}) {
    if (!is_inside(address, 1, type, context)) continue;
    *static_cast<unsigned*>(value) = static_cast<unsigned>(type);
    return kSuccess;
  }
  return kInvalidValue;
}

// A driver does not know about foreign memory, which is no error.
EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                  uintptr_t address) {
  for (unsigned i = 0; i < count; i++) {
    if (cuPointerGetAttribute(values[i], attributes[i], address) == kSuccess) continue;
    *static_cast<unsigned*>(values[i]) = 0;
  }
  return kSuccess;
}

EXPORT int cuMemcpy2D_v2(const Copy2D* copy) {
  check_blocks("cuMemcpy2D");
  return copy_2d(copy, nullptr, true);
}

EXPORT int cuMemcpy2DAsync_v2(const Copy2D* copy, Stream* stream) {
  if (int result = copy_2d(copy, stream, false)) return result;
  const auto is_pageable = [](const Side& side) {
    return side.type == kHostMemory && !is_inside(reinterpret_cast<uintptr_t>(side.host), 1,
                                                  kHostMemory, context_stack().back());
  };
  const bool pageable = is_pageable(copy->from) || is_pageable(copy->to);
  std::lock_guard lock(state().mutex);
  // Inside a driver such a copy waits for its stream.
  const auto found = state().live_streams.find(stream);
  if (pageable && found != state().live_streams.end() && is_unfinished(*found))
    check_blocks("cuMemcpy2DAsync of pageable memory");
  note_work(stream);
  return kSuccess;
}

EXPORT int cuMemcpy3DPeerAsync(const PeerCopy* copy, Stream* stream) {
  if (int result = copy_between_contexts(copy, stream)) return result;
  std::lock_guard lock(state().mutex);
  note_work(stream);
  return kSuccess;
}

EXPORT int cuMemcpyDtoHAsync_v2(void* to, uintptr_t from, size_t bytes, Stream* stream) {
  if (int result = check_context()) return result;
  if (!is_inside(from, bytes, kDeviceMemory, context_stack().back())) return kInvalidValue;
  std::lock_guard lock(state().mutex);
  capture(stream);
  note_work(stream);
  const auto make = [=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); };
  const Area source = {from, bytes, bytes, 1, false, false};
  const Area target = {reinterpret_cast<uintptr_t>(to), bytes, bytes, 1, true, true};
  enqueue(stream, {"a copy to the host", {source, target}, make, true});
  return kSuccess;
}

EXPORT int cuMemsetD8Async(uintptr_t address, unsigned char value, size_t bytes, Stream* stream) {
  if (int result = check_context()) return result;
  if (!is_inside(address, bytes, kDeviceMemory, context_stack().back())) return kInvalidValue;
  std::lock_guard lock(state().mutex);
  capture(stream);
  note_work(stream);
  const auto make = [=] { std::memset(reinterpret_cast<void*>(address), value, bytes); };
  enqueue(stream, {"a fill", {{address, bytes, bytes, 1, true, false}}, make});
  return kSuccess;
}

// ---- Streams and events ----

EXPORT int cuStreamCreate(Stream** stream, unsigned flags) {
  if (int result = check_context()) return result;
  *stream = new Stream;
  std::lock_guard lock(state().mutex);
  state().live_streams.insert(*stream);
  note_stream(*stream, flags);
  state().counts.streams++;
  return kSuccess;
}

EXPORT int cuStreamDestroy(Stream* stream) { return destroy_stream(stream); }
EXPORT int cuStreamDestroy_v2(Stream* stream) { return destroy_stream(stream); }
EXPORT int cuStreamSynchronize(Stream* stream) { return synchronize_stream(stream); }
EXPORT int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  if (!is_event(event)) return kInvalidHandle;
  if (!note_stream_wait(stream, event)) return kSuccess;
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
  note_event(*event);
  state().live_handles.insert(*event);
  state().counts.events++;
  return kSuccess;
}

EXPORT int cuEventDestroy_v2(Event* event) {
  if (int result = check_context(); result != kSuccess && result != kIllegalAddress) return result;
  std::lock_guard lock(state().mutex);
  if (!is_event(event)) return kInvalidHandle;
  note_event_destroyed(event);
  state().live_handles.erase(event);
  delete event;
  state().counts.events--;
  return kSuccess;
}

EXPORT int cuEventRecord(Event* event, Stream* stream) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  if (!is_event(event)) return kInvalidHandle;
  note_record(event, stream);
  event->stream = stream;
  event->place = stream != nullptr ? ++stream->recorded : 0;
  event->due = stream != nullptr
                   ? stream->asked + uint64_t(number("FAKECUDA_LAG", is_deferred() ? 2 : 0))
                   : 0;
  return kSuccess;
}

EXPORT int cuEventQuery(Event* event) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  std::lock_guard lock(state().mutex);
  if (!is_event(event)) return kInvalidHandle;
  if (is_pending(*event) && is_stuck()) return kNotReady;
  return has_happened(event, is_pending(*event) && has_waited(event)) ? kSuccess : kNotReady;
}

EXPORT int cuEventSynchronize(Event* event) {
  if (int result = check_context()) return result;
  check_blocks("cuEventSynchronize");
  std::lock_guard lock(state().mutex);
  if (!is_event(event)) return kInvalidHandle;
  state().counts.waits++;
  if (event->blocking) state().counts.sleeps++;
  if (is_pending(*event)) take_time();
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

// ---- Information about users ----

EXPORT void fakecuda_get_waits(void* stream, FakecudaWaits* waits) {
  std::lock_guard lock(state().mutex);
  *waits = {};
  const auto found = state().live_streams.find(static_cast<Stream*>(stream));
  if (found != state().live_streams.end()) *waits = (*found)->waits;
}

EXPORT int fakecuda_count_launches(const char* kernel) {
  std::lock_guard lock(state().mutex);
  const auto found = state().launches.find(kernel);
  return found != state().launches.end() ? found->second : 0;
}

EXPORT void fakecuda_get_counts(FakecudaCounts* counts) {
  std::lock_guard lock(state().mutex);
  *counts = state().counts;
}
