// The fake driver's state and rules, behind its entry points.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/fakecuda/state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace fakecuda {

State& state() {
  static State& instance = *new State;  // outlives whatever is released at exit
  return instance;
}

std::vector<Context*>& context_stack() {
  static thread_local std::vector<Context*> stack;
  return stack;
}

bool mode_is(const char* mode) {
  const char* set = std::getenv("FAKECUDA_MODE");
  return set != nullptr && std::strcmp(set, mode) == 0;
}

int number(const char* variable, int otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr ? std::atoi(set) : otherwise;
}

int device_count() { return mode_is("no-device") ? 0 : number("FAKECUDA_DEVICES", 1); }

int check_context() {
  std::lock_guard lock(state().mutex);
  state().counts.calls++;
  if (!state().initialised) return kNotInitialized;
  if (state().lost) return kIllegalAddress;
  if (context_stack().empty()) {
    state().counts.calls_without_context++;
    return kInvalidContext;
  }
  return kSuccess;
}

int allocate(void** address, size_t bytes, int type) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  if (bytes == 0) return kInvalidValue;
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (mode_is("alloc-fails") && s.counts.allocations >= number("FAKECUDA_AFTER", 0))
    return kOutOfMemory;
  void* data = std::aligned_alloc(kPitch, (bytes + kPitch - 1) / kPitch * kPitch);
  if (data == nullptr) return kOutOfMemory;
  std::memset(data, 0xcd, bytes);  // fresh device memory holds anything
  s.blocks[reinterpret_cast<uintptr_t>(data)] = {bytes, type};
  s.counts.allocations++;
  s.counts.memory++;
  *address = data;
  return kSuccess;
}

void capture(void* stream) {
  const auto found = state().live_streams.find(static_cast<Stream*>(stream));
  if (found != state().live_streams.end() && (*found)->capturing) (*found)->captured++;
}

int check_no_capture() {
  std::lock_guard lock(state().mutex);
  for (const Stream* stream : state().live_streams)
    if (stream->capturing) return kCaptureUnsupported;
  return kSuccess;
}

int release(void* address, int type) {
  if (int result = check_context(); result != kSuccess && result != kIllegalAddress) return result;
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto found = s.blocks.find(reinterpret_cast<uintptr_t>(address));
  if (found == s.blocks.end() || found->second.type != type) return kInvalidValue;
  s.blocks.erase(found);
  s.counts.memory--;
  std::free(address);
  return kSuccess;
}

bool is_inside(uintptr_t first, size_t bytes, int type) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto next = s.blocks.upper_bound(first);
  if (next == s.blocks.begin()) return false;
  const auto& [start, block] = *std::prev(next);
  return (type == 0 || block.type == type) && first - start <= block.size &&
         bytes <= block.size - (first - start);
}

namespace {

// The address of a side's first byte, or 0 when its bytes are not all in memory of that type.
uintptr_t first_byte(const Side& side, size_t width, size_t height) {
  if (side.pitch < width && height > 1) return 0;
  const uintptr_t base =
      side.type == kHostMemory ? reinterpret_cast<uintptr_t>(side.host) : side.device;
  const uintptr_t first = base + side.y * side.pitch + side.x;
  const size_t bytes = (height - 1) * side.pitch + width;
  if (side.type == kDeviceMemory && !is_inside(first, bytes, kDeviceMemory)) return 0;
  if (side.type == kUnifiedMemory && !is_inside(first, bytes, 0)) return 0;
  return first;
}

}  // namespace

int copy_2d(const Copy2D* copy) {
  if (int result = check_context()) return result;
  if (copy->width == 0 || copy->height == 0) return kSuccess;
  const uintptr_t from = first_byte(copy->from, copy->width, copy->height);
  const uintptr_t to = first_byte(copy->to, copy->width, copy->height);
  if (from == 0 || to == 0) {
    std::lock_guard lock(state().mutex);
    state().counts.bad_copies++;
    return kInvalidValue;
  }
  for (size_t row = 0; row < copy->height; row++) {
    std::memmove(reinterpret_cast<void*>(to + row * copy->to.pitch),
                 reinterpret_cast<const void*>(from + row * copy->from.pitch), copy->width);
  }
  return kSuccess;
}

bool has_happened(Event* event, bool wait) {
  Stream* stream = event->stream;
  if (stream == nullptr || state().live_streams.count(stream) == 0) return true;
  if (!wait && event->place > stream->happened && event->lag-- > 0) return false;
  stream->happened = std::max(stream->happened, event->place);
  return true;
}

int synchronize_stream(Stream* stream) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  std::lock_guard lock(state().mutex);
  state().counts.host_waits++;
  if (state().live_streams.count(stream)) stream->happened = stream->recorded;
  return kSuccess;
}

int destroy_stream(Stream* stream) {
  if (int result = check_context(); result != kSuccess && result != kIllegalAddress) return result;
  std::lock_guard lock(state().mutex);
  if (state().live_streams.erase(stream) == 0) return kInvalidHandle;
  delete stream;
  state().counts.streams--;
  return kSuccess;
}

}  // namespace fakecuda
