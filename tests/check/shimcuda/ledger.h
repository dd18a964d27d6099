// The shim driver's books: calls so far, live objects, and calls that are to fail.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/check/shimcuda/shimcuda.h"

namespace shimcuda {

// The kind of an entry point, as far as the books distinguish them.
enum class Kind {
  kPlain,  // works without a context; not counted
  kOther,
  kMakeContext,
  kMakeStream,
  kMakeEvent,
  kMakeModule,
  kDestroyContext,
  kDestroyStream,
  kDestroyEvent,
  kDestroyModule,
  kAllocate,
  kAllocatePitch,
  kAllocatePinned,
  kFree,
  kFreePinned,
  kSyncCopy,
  kCopy,
  kCopy2D,
  kCopyToHost,
  kCopyFromHost,
  kRecord,
  kStreamWait,
  kQuery,
  kQueryEvent,
  kWaitContext,
  kWaitStream,
  kWaitEvent,
  kLaunch,
};

constexpr bool is_release(Kind kind) {
  return (kind >= Kind::kDestroyContext && kind <= Kind::kDestroyModule) || kind == Kind::kFree ||
         kind == Kind::kFreePinned;
}

// Thread safe.
class Ledger {
 public:
  void fail(const char* name, int after, int code, ShimcudaFailure how);
  int failed();
  // The code with which this call is to fail, 0: none.
  int failure_of(const char* name, Kind kind);

  // Before the next driver is called (or the call fails), and after it has succeeded.
  void begin(Kind kind, const uintptr_t* arguments);
  void end(Kind kind, const uintptr_t* arguments);
  // Between these two, for a call that polls the device: its result.
  void answer(Kind kind, const uintptr_t* arguments, int result);
  ShimcudaCounts counts();

 private:
  struct Block {
    size_t bytes;
    bool pinned;
  };
  // An asynchronous copy from or to host memory.
  struct Copy {
    uintptr_t stream;
    uint64_t number;
    uintptr_t begin, end;
  };
  struct Point {
    uintptr_t stream;
    uint64_t number;
  };
  // From `after` on, a stream's work begins when `before` has been reached.
  struct Order {
    Point after, before;
  };

  void note_block(uintptr_t address, size_t bytes, bool pinned);
  void note_copy(uintptr_t stream, uintptr_t begin, size_t bytes);
  void forget_block(uintptr_t address);
  void forget_copies(uintptr_t stream, uint64_t up_to);
  void forget_copies_before(uintptr_t event);
  void look_for_copies(uintptr_t address);

  std::mutex mutex_;
  ShimcudaCounts counts_ = {};
  std::map<uintptr_t, Block> blocks_;
  std::vector<Copy> copies_;             // that may not be over
  std::map<uintptr_t, Point> recorded_;  // of each event
  std::deque<Order> orders_;
  uint64_t numbers_ = 0;  // of everything that streams do

  std::string failing_;
  int failing_after_ = 0, failing_code_ = 0, failed_ = 0;
  ShimcudaFailure failing_how_ = kShimcudaOnce;
  bool stuck_ = false;
};

Ledger& ledger();

}  // namespace shimcuda
