// The shim driver's books: calls so far, live objects, and calls that are to fail.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/shimcuda/ledger.h"

#include <sys/resource.h>

#include <algorithm>

#include "tests/check/fakecuda/state.h"

namespace shimcuda {

namespace {

constexpr int kNotReady = 600;

// The calling thread's last query, if it has made no other call since. Entering a context is a call
// too: only a thread that polls again without one is waiting.
struct Questions {
  uintptr_t what;
  int count;
  long naps;
};
Questions& questions() {
  static thread_local Questions questions = {};
  return questions;
}

// How often the thread has given up its processor by itself.
long naps() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

bool is_question(Kind kind) { return kind == Kind::kQuery || kind == Kind::kQueryEvent; }

}  // namespace

Ledger& ledger() {
  static Ledger& instance = *new Ledger;  // outlives whatever is released at exit
  return instance;
}

void Ledger::fail(const char* name, int after, int code, ShimcudaFailure how) {
  std::lock_guard lock(mutex_);
  failing_ = name ? name : "";
  failing_after_ = after;
  failing_code_ = code;
  failing_how_ = how;
  failed_ = 0;
  stuck_ = false;
}

int Ledger::failed() {
  std::lock_guard lock(mutex_);
  return failed_;
}

int Ledger::failure_of(const char* name, Kind kind) {
  std::lock_guard lock(mutex_);
  if (stuck_ && kind == Kind::kMakeContext) stuck_ = false;
  if (stuck_ && kind != Kind::kPlain) {
    failed_++;
    return failing_code_;
  }
  if (failing_ != name) return 0;
  if (failing_after_ > 0) {
    failing_after_--;
    return 0;
  }
  if (failing_how_ != kShimcudaAlways) failing_.clear();
  stuck_ = failing_how_ == kShimcudaSticky;
  failed_++;
  return failing_code_;
}

void Ledger::note_block(uintptr_t address, size_t bytes, bool pinned) {
  blocks_[address] = {bytes, pinned};
  (pinned ? counts_.pinned_bytes : counts_.device_bytes) += static_cast<long long>(bytes);
  counts_.memory++;
}

void Ledger::forget_block(uintptr_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return;
  const auto [bytes, pinned] = found->second;
  (pinned ? counts_.pinned_bytes : counts_.device_bytes) -= static_cast<long long>(bytes);
  counts_.memory--;
  blocks_.erase(found);
}

void Ledger::note_copy(uintptr_t stream, uintptr_t begin, size_t bytes) {
  copies_.push_back({stream, ++numbers_, begin, begin + bytes});
}

void Ledger::forget_copies(uintptr_t stream, uint64_t up_to) {
  std::erase_if(copies_,
                [&](const Copy& copy) { return copy.stream == stream && copy.number <= up_to; });
  // Everything that the stream waited for is over, too.
  std::vector<Point> reached;
  std::erase_if(orders_, [&](const Order& order) {
    const bool past = order.after.stream == stream && order.after.number <= up_to;
    if (past) reached.push_back(order.before);
    return past;
  });
  for (const Point& point : reached) forget_copies(point.stream, point.number);
}

void Ledger::forget_copies_before(uintptr_t event) {
  if (const auto found = recorded_.find(event); found != recorded_.end())
    forget_copies(found->second.stream, found->second.number);
}

void Ledger::look_for_copies(uintptr_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return;
  const uintptr_t end = address + found->second.bytes;
  const bool in_use = std::any_of(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return copy.begin < end && address < copy.end;
  });
  if (in_use) counts_.hasty_frees++;
}

// The ledger looks at an object before it is released. A caller that waited has done its part even
// where the wait fails: then there is no work any more.
void Ledger::begin(Kind kind, const uintptr_t* arguments) {
  std::lock_guard lock(mutex_);
  const uintptr_t first = arguments[0];
  if (kind == Kind::kFreePinned) look_for_copies(first);
  if (kind == Kind::kFree || kind == Kind::kFreePinned) forget_block(first);
  Questions& asked = questions();
  if (!is_question(kind) || asked.what != first) asked = {is_question(kind) ? first : 0, 0, 0};
  if (is_question(kind) && ++asked.count <= 2)
    (asked.count == 1 ? counts_.queries : counts_.waits)++;
  if (asked.count == 2) asked.naps = naps();
  if (kind == Kind::kWaitStream) forget_copies(first, numbers_);
  if (kind == Kind::kWaitContext) copies_.clear();
  if (kind == Kind::kWaitEvent) forget_copies_before(first);
  if (stuck_) copies_.clear();
  if (kind == Kind::kDestroyEvent) recorded_.erase(first);
}

// As for waits: a caller that learns of a failure has done its part.
void Ledger::answer(Kind kind, const uintptr_t* arguments, int result) {
  if (!is_question(kind) || result == kNotReady) return;
  std::lock_guard lock(mutex_);
  if (kind == Kind::kQuery) forget_copies(arguments[0], numbers_);
  if (kind == Kind::kQueryEvent) forget_copies_before(arguments[0]);
  Questions& asked = questions();
  if (asked.count >= 2 && naps() != asked.naps) counts_.sleeps++;
  asked = {};
}

void Ledger::end(Kind kind, const uintptr_t* arguments) {
  std::lock_guard lock(mutex_);
  const uintptr_t first = arguments[0];
  const auto made = [&] { return *reinterpret_cast<const uintptr_t*>(first); };
  switch (kind) {
    case Kind::kPlain:
      break;
    case Kind::kOther:
      counts_.others++;
      break;
    case Kind::kMakeContext:
      counts_.makes++;
      counts_.contexts++;
      break;
    case Kind::kMakeStream:
      counts_.makes++;
      counts_.streams++;
      break;
    case Kind::kMakeEvent:
      counts_.makes++;
      counts_.events++;
      break;
    case Kind::kMakeModule:
      counts_.makes++;
      counts_.modules++;
      break;
    case Kind::kDestroyContext:
      counts_.contexts--;
      break;
    case Kind::kDestroyStream:
      counts_.streams--;
      break;
    case Kind::kDestroyEvent:
      counts_.events--;
      break;
    case Kind::kDestroyModule:
      counts_.modules--;
      break;
    case Kind::kAllocate:
      counts_.allocations++;
      note_block(made(), arguments[1], false);
      break;
    case Kind::kAllocatePitch:
      counts_.allocations++;
      note_block(made(), *reinterpret_cast<const size_t*>(arguments[1]) * arguments[3], false);
      break;
    case Kind::kAllocatePinned:
      counts_.allocations++;
      note_block(made(), arguments[1], true);
      break;
    case Kind::kFree:
    case Kind::kFreePinned:
      counts_.frees++;
      break;
    case Kind::kSyncCopy:
      counts_.sync_copies++;
      break;
    case Kind::kCopy:
      counts_.copies++;
      break;
    case Kind::kCopy2D: {
      counts_.copies++;
      const auto* copy = reinterpret_cast<const fakecuda::Copy2D*>(first);
      for (const fakecuda::Side& side : {copy->from, copy->to})
        if (side.type == fakecuda::kHostMemory)
          note_copy(arguments[1],
                    reinterpret_cast<uintptr_t>(side.host) + side.y * side.pitch + side.x,
                    (copy->height - 1) * side.pitch + copy->width);
      break;
    }
    case Kind::kCopyToHost:
      counts_.copies++;
      note_copy(arguments[3], first, arguments[2]);
      break;
    case Kind::kCopyFromHost:
      counts_.copies++;
      note_copy(arguments[3], arguments[1], arguments[2]);
      break;
    case Kind::kRecord:
      counts_.records++;
      recorded_[first] = {arguments[1], ++numbers_};
      break;
    case Kind::kStreamWait:
      counts_.stream_waits++;
      if (const auto found = recorded_.find(arguments[1]); found != recorded_.end())
        orders_.push_back({{first, ++numbers_}, found->second});
      // For streams without waits.
      if (orders_.size() > 1000) orders_.pop_front();
      break;
    case Kind::kQuery:
    case Kind::kQueryEvent:
      break;
    case Kind::kWaitContext:
    case Kind::kWaitStream:
    case Kind::kWaitEvent:
      counts_.waits++;
      break;
    case Kind::kLaunch:
      counts_.launches++;
      break;
  }
}

ShimcudaCounts Ledger::counts() {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace shimcuda
