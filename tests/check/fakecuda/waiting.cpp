// How the fake driver detects that a thread waits, and how the wait ends when the GPU is stuck.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tests/check/fakecuda/state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace fakecuda;  // the whole file belongs to it

namespace {

// The calling thread's query since it entered a context: how often, and since when it waits.
struct Question {
  const void* what;
  int count;
  int64_t begin;  // in us
  long naps;
};
// Without a destructor, as ContextStack.
struct Questions {
  Question asked[64];
  size_t count;

  Question& of(const void* what) {
    for (size_t i = 0; i < count; i++)
      if (asked[i].what == what) return asked[i];
    if (count == std::size(asked)) count = 0;
    return asked[count++] = {what, 0, 0, 0};
  }
};

// Whether the calling thread has given the GPU no work since it last found a stream finished.
thread_local bool settled = false;

Questions& questions() {
  static thread_local Questions questions = {};
  return questions;
}

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// How often the thread has given up its processor voluntarily.
long naps() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

namespace fakecuda {

bool is_unfinished(const Stream* stream) {
  const auto is_waited_for = [](const Dependency& wait) {
    return state().live_streams.count(wait.stream) != 0 && wait.place > wait.stream->happened;
  };
  return stream->busy || stream->recorded > stream->happened ||
         std::any_of(stream->dependencies.begin(), stream->dependencies.end(), is_waited_for);
}

void forget_questions() { questions().count = 0; }

bool has_waited(const void* what) {
  Question& asked = questions().of(what);
  if (++asked.count == 1) return false;
  if (asked.count == 2) {
    state().counts.waits++;
    asked.begin = now_us();
    asked.naps = naps();
    return false;
  }
  if (now_us() - asked.begin < number("FAKECUDA_WAIT", 0)) return false;
  if (naps() != asked.naps) state().counts.sleeps++;
  asked.count = 0;
  return true;
}

void note_work(void* stream) {
  State& s = state();
  settled = false;
  const auto found = s.live_streams.find(static_cast<Stream*>(stream));
  if (found != s.live_streams.end()) (*found)->busy = true;
  if (mode_is("stuck") && s.work++ >= number("FAKECUDA_AFTER", 0))
    context_stack().back()->stuck = true;
}

bool is_stuck() { return !context_stack().empty() && context_stack().back()->stuck; }

void check_blocks(const Context* context, const char* call) {
  if (context == nullptr || !context->stuck) return;
  std::fprintf(stderr, "%s: the GPU is stuck, and this call would never return\n", call);
  std::abort();
}

void check_blocks(const char* call) {
  check_blocks(context_stack().empty() ? nullptr : context_stack().back(), call);
}

void check_gives_back(const Context* context, const char* call) {
  if (!settled) check_blocks(context, call);
}

void check_gives_back(const char* call) {
  if (!settled) check_blocks(call);
}

}  // namespace fakecuda

EXPORT int cuStreamQuery(Stream* stream) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  std::lock_guard lock(state().mutex);
  if (state().live_streams.count(stream) == 0) return kInvalidHandle;
  if (is_unfinished(stream)) {
    settled = false;
    if (is_stuck()) return kNotReady;
    if (number("FAKECUDA_LAG", 0) > 0 && !has_waited(stream)) return kNotReady;
  }
  finish_stream(stream);
  settled = true;
  return kSuccess;
}
