// The fake driver's state and rules, behind its entry points.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
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
  kInvalidHandle = 400,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
};

constexpr size_t kPitch = 512;  // what today's GPUs align rows to
constexpr int kHostMemory = 1, kDeviceMemory = 2, kUnifiedMemory = 4;

struct Context {
  int device;
};
struct Stream {
  uint64_t recorded = 0;  // events so far
  uint64_t happened = 0;  // those up to this one have
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
  int lag = 0;
};
struct Block {
  size_t size;
  int type;
};

struct State {
  std::mutex mutex;
  std::map<uintptr_t, Block> blocks;
  std::map<int, Context*> primary;
  std::set<Stream*> live_streams;
  FakecudaCounts counts = {};
  bool initialised = false;
  bool lost = false;
};

State& state();
// Of the calling thread.
std::vector<Context*>& context_stack();

bool mode_is(const char* mode);
// The value of an environment variable.
int number(const char* variable, int otherwise);
int device_count();

// What every call that works on a context checks first.
int check_context();

int allocate(void** address, size_t bytes, int type);
int release(void* address, int type);
// Whether the bytes lie in one block of `type` (0: of any).
bool is_inside(uintptr_t first, size_t bytes, int type);

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

// Counts a call that a capturing stream takes note of. Of a stream that does not capture, or of the
// null stream, nothing is counted. The caller holds the lock.
void capture(void* stream);
// What may not happen while any stream captures.
int check_no_capture();

// Whether an event has happened; with `wait`, after this call it has. An event outlives its stream
// as one that has happened. The caller holds the lock.
bool has_happened(Event* event, bool wait);
int synchronize_stream(Stream* stream);
int destroy_stream(Stream* stream);

}  // namespace fakecuda
