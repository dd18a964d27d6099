// The fake driver's state and rules, behind its entry points.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/check/fakecuda/fakecuda.h"

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

constexpr size_t kPitch = 512;  // what today's GPUs align rows to
constexpr int kHostMemory = 1, kDeviceMemory = 2;

struct Context {
  int device;
};
struct Stream;
// What a stream has been told to wait for.
struct Dependency {
  uint64_t before;  // the stream's first event after that
  Stream* stream;
  uint64_t place;
};
struct Stream {
  uint64_t recorded = 0;  // events so far
  uint64_t happened = 0;  // those up to this one have
  uint64_t asked = 0;     // how often somebody has asked for one that has not
  std::vector<Dependency> dependencies;
  bool capturing = false;
  size_t captured = 0;  // calls since the capture began
  FakecudaWaits waits = {};
};
struct Graph {
  size_t nodes;
};
struct Event {
  Stream* stream = nullptr;
  uint64_t place = 0;  // in its stream
  uint64_t due = 0;    // happens when its stream has been asked for so often
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
  std::set<std::pair<Context*, Context*>> peers;  // who may access whom
  std::set<Stream*> live_streams;
  FakecudaCounts counts = {};
  bool initialised = false;
  bool lost = false;
};

State& state();
// Without a destructor: those of the main thread come before what a program releases at exit.
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

// What every call that works on a context checks first.
int check_context();

int allocate(void** address, size_t bytes, int type);
int release(void* address, int type);
// Whether the bytes lie in one block of `type`, on the device in one of `context`.
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
int copy_2d(const Copy2D* copy);

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
int copy_between_contexts(const PeerCopy* copy);
// Of FAKECUDA_PEER; no device is a peer of itself.
bool are_peers(int device, int other);

// Counts a call that a capturing stream takes note of. Of a stream that does not capture, or of the
// null stream, nothing is counted. The caller holds the lock.
void capture(void* stream);
// What may not happen while any stream captures.
int check_no_capture();

// Whether an event has happened; with `wait`, after this call it has. An event outlives its stream
// as one that has happened. The caller holds the lock.
bool has_happened(Event* event, bool wait);
// The same without asking.
bool is_pending(const Event& event);
// As long as FAKECUDA_WAIT says.
void take_time(bool asleep);
// The stream's next work comes after the event. The caller holds the lock.
void wait_in_stream(Stream* stream, const Event& event);
int synchronize_stream(Stream* stream);
int destroy_stream(Stream* stream);

}  // namespace fakecuda
