// The fake driver's state and rules, used by its entry points.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// With FAKECUDA_GUARDS=end an access after the last byte of an allocation, rounded up to its
// alignment, ends the program; with FAKECUDA_GUARDS=begin an access before the first. Sanitizers
// cannot check kernels on the emulator, whose threads they do not follow.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/fakecuda/fakecuda.h"

namespace fakecuda {

// Aligned memory, or null; without that variable from the C library.
void* allocate_guarded(size_t bytes, size_t alignment);
// Of the same size and alignment.
void free_guarded(void* data, size_t bytes, size_t alignment);

}  // namespace fakecuda

namespace fakecuda {

// Result codes, by the numbers of the driver's interface.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kNotFound = 500,
  kPeerAccessUnsupported = 217,
  kInvalidHandle = 400,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
};

constexpr size_t kPitch = 512;         // the row alignment of today's GPUs
constexpr int kMaxShared = 227 << 10;  // bytes that a CTA of theirs may have
constexpr int kHostMemory = 1, kDeviceMemory = 2;

struct Context {
  int device;
  std::atomic<bool> stuck = false;  // its GPU finishes nothing any more
};
struct Stream;
// A wait that a stream has been given.
struct Dependency {
  uint64_t before;  // the stream's first event after that
  Stream* stream;
  uint64_t place;
};
struct Stream {
  uint64_t recorded = 0;  // events so far
  uint64_t happened = 0;  // those up to this one have
  uint64_t asked = 0;     // queries for an event that has not happened
  std::vector<Dependency> dependencies;
  bool busy = false;  // with work behind its last event
  bool capturing = false;
  size_t captured = 0;  // calls since the capture began
  FakecudaWaits waits = {};
};
struct Graph {
  size_t nodes;
};
struct Function {
  std::string name;
  int max_shared = 48 << 10;  // bytes of dynamic shared memory
};
struct Event {
  Stream* stream = nullptr;
  uint64_t place = 0;  // in its stream
  uint64_t due = 0;    // happens when its stream has been queried so often
  bool blocking = false;
};
struct Block {
  size_t size;
  int type;
  Context* context;
};

struct State {
  std::mutex mutex;
  std::map<uintptr_t, Block> blocks;
  std::map<int, Context*> primary;
  std::set<std::pair<Context*, Context*>> peers;  // pairs of accessor and accessed
  std::set<Stream*> live_streams;
  std::map<std::pair<void*, std::string>, Function> functions;  // by their module
  std::set<void*> live_handles;                                 // events and modules
  std::map<std::string, int> launches;                          // by their kernel
  int work = 0;  // launches and asynchronous copies since the latest context
  FakecudaCounts counts = {};
  bool initialized = false;
  bool lost = false;
};

State& state();
// Without a destructor: the main thread's destructors run before releases at exit.
struct ContextStack {
  Context* contexts[64];
  size_t depth;

  bool empty() const { return depth == 0; }
  Context* back() const { return contexts[depth - 1]; }
  bool push(Context* context) {
    if (depth == std::size(contexts)) return false;
    contexts[depth++] = context;
    return true;
  }
  void pop() { depth--; }
  void erase(const Context* context) {
    depth = size_t(std::remove(contexts, contexts + depth, context) - contexts);
  }
};
// Of the calling thread.
ContextStack& context_stack();

bool mode_is(const char* mode);
// The value of an environment variable.
int number(const char* variable, int otherwise);
int device_count();

// The first check of every call that works on a context.
int check_context();

int allocate(void** address, size_t bytes, int type);
int release(void* address, int type);
// Whether the bytes are in one block of `type`, on the device in one of `context`.
bool is_inside(uintptr_t first, size_t bytes, int type, const Context* context);

// CUDA_MEMCPY2D of the driver's interface.
struct Side {
  size_t x, y;
  unsigned type;
  void* host;
  uintptr_t device;
  void* array;
  size_t pitch;
};
struct Copy2D {
  Side from, to;
  size_t width, height;
};
// In the stream's order; with `wait` the copy is done when the call returns.
int copy_2d(const Copy2D* copy, Stream* stream, bool wait);

// CUDA_MEMCPY3D_PEER, likewise.
struct PeerSide {
  size_t x, y, z, lod;
  unsigned type;
  void* host;
  uintptr_t device;
  void* array;
  Context* context;
  size_t pitch, height;
};
struct PeerCopy {
  PeerSide from, to;
  size_t width, height, depth;
};
int copy_between_contexts(const PeerCopy* copy, Stream* stream);
// Of FAKECUDA_PEER; no device is a peer of itself.
bool are_peers(int device, int other);

// Counts a call that a capturing stream records. Counts nothing for a stream that does not capture,
// or for the null stream. The caller holds the lock.
void capture(void* stream);
// The check of calls that are forbidden while any stream captures.
int check_no_capture();

// Whether an event has happened; with `wait`, it has after this call. An event outlives its stream
// as one that has happened. The caller holds the lock.
bool has_happened(Event* event, bool wait);
// The same without counting as a query.
bool is_pending(const Event& event);
// Waits for FAKECUDA_WAIT.
void take_time();
// Whether the thread waits and has done so as long as FAKECUDA_WAIT says: it polls the same
// thing again, with nothing in between and without entering a context. Called for each query for
// something that has not happened. The caller holds the lock.
bool has_waited(const void* what);
// The calling thread enters a context.
void forget_questions();
// Work for a stream, after which the GPU may be stuck. The caller holds the lock.
void note_work(void* stream);
// Whether the current context's GPU is stuck.
bool is_stuck();
// Ends the process if a call that waits for a context's work, or for the current one's, would never
// return.
void check_blocks(const Context* context, const char* call);
void check_blocks(const char* call);
// The same for calls that release something, which wait for the whole context. A caller that found
// the context finished just before may be overtaken by another thread, whose work gets the GPU
// stuck: then the release was in time.
void check_gives_back(const Context* context, const char* call);
void check_gives_back(const char* call);
// The stream's next work comes after the event. The caller holds the lock.
void wait_in_stream(Stream* stream, const Event& event);
// Whether the stream has work left, or something to wait for. The caller holds the lock.
bool is_unfinished(const Stream* stream);
// All work of the stream so far. The caller holds the lock.
void finish_stream(Stream* stream);
int synchronize_stream(Stream* stream);
int destroy_stream(Stream* stream);

}  // namespace fakecuda
