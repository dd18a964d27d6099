// The fake driver's state and rules, used by its entry points.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/fakecuda/state.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "tests/check/fakecuda/deferred.h"

namespace fakecuda {
namespace {

enum class Guards { kNone, kBegin, kEnd };

Guards guards() {
  static const Guards wanted = [] {
    const char* set = std::getenv("FAKECUDA_GUARDS");
    if (set == nullptr) return Guards::kNone;
    return std::strcmp(set, "begin") == 0 ? Guards::kBegin : Guards::kEnd;
  }();
  return wanted;
}

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
size_t page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

// A page before, whole pages for the bytes, a page after.
void* allocate_guarded(size_t bytes, size_t alignment) {
  const size_t used = rounded(bytes, alignment), inner = rounded(used, page());
  if (guards() == Guards::kNone) return std::aligned_alloc(alignment, used);
  void* const all =
      mmap(nullptr, inner + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  uint8_t* const begin = static_cast<uint8_t*>(all) + page();
  if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(all, inner + 2 * page());
    return nullptr;
  }
  return guards() == Guards::kBegin ? begin : begin + (inner - used);
}

void free_guarded(void* data, size_t bytes, size_t alignment) {
  if (guards() == Guards::kNone) return std::free(data);
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = address - address % page();
  munmap(reinterpret_cast<void*>(begin - page()),
         rounded(rounded(bytes, alignment), page()) + 2 * page());
}

}  // namespace fakecuda

namespace fakecuda {

State& state() {
  static State& instance = *new State;  // outlives whatever is released at exit
  return instance;
}

ContextStack& context_stack() {
  static thread_local ContextStack stack;
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
  if (!state().initialized) return kNotInitialized;
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
  if (mode_is("no-pinned") && type == kHostMemory) return kOutOfMemory;
  void* data = allocate_guarded(bytes, kPitch);
  if (data == nullptr) return kOutOfMemory;
  std::memset(data, number("FAKECUDA_FILL", 0xcd), bytes);  // fresh memory may hold any bytes
  s.blocks[reinterpret_cast<uintptr_t>(data)] = {bytes, type, context_stack().back()};
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
  check_gives_back(type == kDeviceMemory ? "cuMemFree" : "cuMemFreeHost");
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto found = s.blocks.find(reinterpret_cast<uintptr_t>(address));
  if (found == s.blocks.end() || found->second.type != type) return kInvalidValue;
  note_free(found->first, found->second.size, type == kHostMemory);
  const size_t bytes = found->second.size;
  s.blocks.erase(found);
  s.counts.memory--;
  free_guarded(address, bytes, kPitch);
  return kSuccess;
}

bool is_inside(uintptr_t first, size_t bytes, int type, const Context* context) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto next = s.blocks.upper_bound(first);
  if (next == s.blocks.begin()) return false;
  const auto& [start, block] = *std::prev(next);
  return block.type == type && (type == kHostMemory || block.context == context) &&
         first - start <= block.size && bytes <= block.size - (first - start);
}

namespace {

// The address of a side's first byte, or 0 if its bytes are not all in memory of that type. The
// code does not interpret "unified" addresses; callers that know their meaning do.
uintptr_t first_byte(const Side& side, size_t width, size_t height, const Context* context) {
  if (side.type != kHostMemory && side.type != kDeviceMemory) return 0;
  if (side.pitch < width && height > 1) return 0;
  const uintptr_t base =
      side.type == kHostMemory ? reinterpret_cast<uintptr_t>(side.host) : side.device;
  const uintptr_t first = base + side.y * side.pitch + side.x;
  const size_t bytes = (height - 1) * side.pitch + width;
  if (side.type == kDeviceMemory && !is_inside(first, bytes, kDeviceMemory, context)) return 0;
  return first;
}

int copy_rows(const Copy2D* copy, const Context* from_context, const Context* to_context,
              Stream* stream) {
  if (copy->width == 0 || copy->height == 0) return kSuccess;
  const uintptr_t from = first_byte(copy->from, copy->width, copy->height, from_context);
  const uintptr_t to = first_byte(copy->to, copy->width, copy->height, to_context);
  if (from == 0 || to == 0) {
    std::lock_guard lock(state().mutex);
    state().counts.bad_copies++;
    return kInvalidValue;
  }
  const auto make = [from, to, rows = *copy] {
    for (size_t row = 0; row < rows.height; row++) {
      std::memmove(reinterpret_cast<void*>(to + row * rows.to.pitch),
                   reinterpret_cast<const void*>(from + row * rows.from.pitch), rows.width);
    }
  };
  const bool up = copy->from.type == kHostMemory, down = copy->to.type == kHostMemory;
  const Area source = {from, copy->from.pitch, copy->width, copy->height, false, up};
  const Area target = {to, copy->to.pitch, copy->width, copy->height, true, down};
  const char* what = up ? "a copy from the host" : down ? "a copy to the host" : "a copy";
  std::lock_guard lock(state().mutex);
  enqueue(stream, {what, {source, target}, make, true});
  return kSuccess;
}

Side rows_of(const PeerSide& side) {
  return {side.x, side.y, side.type, side.host, side.device, side.array, side.pitch};
}

}  // namespace

int copy_2d(const Copy2D* copy, Stream* stream, bool wait) {
  if (int result = check_context()) return result;
  const int result = copy_rows(copy, context_stack().back(), context_stack().back(), stream);
  std::lock_guard lock(state().mutex);
  if (wait) finish(stream);
  return result;
}

bool are_peers(int device, int other) {
  const char* set = std::getenv("FAKECUDA_PEER");
  return device != other && (set == nullptr || std::strcmp(set, "yes") == 0);
}

int copy_between_contexts(const PeerCopy* copy, Stream* stream) {
  if (int result = check_context()) return result;
  if (copy->from.context == nullptr || copy->to.context == nullptr || copy->depth != 1)
    return kInvalidValue;
  const char* set = std::getenv("FAKECUDA_PEER");
  if (copy->from.context->device != copy->to.context->device && set != nullptr &&
      std::strcmp(set, "fails") == 0)
    return kPeerAccessUnsupported;
  const Copy2D rows = {rows_of(copy->from), rows_of(copy->to), copy->width, copy->height};
  const int result = copy_rows(&rows, copy->from.context, copy->to.context, stream);
  std::lock_guard lock(state().mutex);
  if (result == kSuccess) state().counts.peer_copies++;
  return result;
}

namespace {

// The stream's work up to its event `place` is done, and so is all work that had to precede it.
void complete(Stream* stream, uint64_t place) {
  if (state().live_streams.count(stream) == 0) return;
  stream->happened = std::max(stream->happened, place);
  std::vector<Dependency> met;
  const auto is_met = [&](const Dependency& wait) { return wait.before <= place; };
  std::copy_if(stream->dependencies.begin(), stream->dependencies.end(), std::back_inserter(met),
               is_met);
  std::erase_if(stream->dependencies, is_met);
  for (const Dependency& wait : met) complete(wait.stream, wait.place);
}

}  // namespace

bool is_pending(const Event& event) {
  return state().live_streams.count(event.stream) != 0 && event.place > event.stream->happened;
}

static int64_t busy_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

void take_time() {
  // On a processor: another thread may have it in between.
  const int64_t end = busy_us() + number("FAKECUDA_WAIT", 0);
  while (busy_us() < end) {
  }
}

bool has_happened(Event* event, bool wait) {
  if (!is_event(event)) return true;
  Stream* stream = event->stream;
  const bool lives = state().live_streams.count(stream) != 0;
  if (lives && !wait && event->place > stream->happened && stream->asked++ < event->due)
    return false;
  if (note_host_wait(event) && lives) complete(stream, event->place);
  return true;
}

void wait_in_stream(Stream* stream, const Event& event) {
  if (state().live_streams.count(stream) != 0 && event.stream != nullptr)
    stream->dependencies.push_back({stream->recorded + 1, event.stream, event.place});
}

void finish_stream(Stream* stream) {
  if (!note_host_wait(stream) || state().live_streams.count(stream) == 0) return;
  complete(stream, stream->recorded + 1);
  stream->happened = stream->recorded;
  stream->busy = false;
}

int synchronize_stream(Stream* stream) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  check_blocks("cuStreamSynchronize");
  std::lock_guard lock(state().mutex);
  state().counts.waits++;
  finish_stream(stream);
  return kSuccess;
}

int destroy_stream(Stream* stream) {
  if (int result = check_context(); result != kSuccess && result != kIllegalAddress) return result;
  std::lock_guard lock(state().mutex);
  if (state().live_streams.erase(stream) == 0) return kInvalidHandle;
  note_stream_destroyed(stream);
  delete stream;
  state().counts.streams--;
  return kSuccess;
}

}  // namespace fakecuda
