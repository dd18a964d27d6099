// The fake driver's asynchronous work, done as late as a driver may, and checks of its order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/fakecuda/deferred.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "tests/check/fakecuda/fakecuda.h"
#include "tests/check/fakecuda/state.h"

namespace fakecuda {
namespace {

// Operations by number, in the order in which they were enqueued, that precede a stream's or the
// host's next step. Completed ones need no mention: they precede everything.
using Past = std::set<uint64_t>;

struct Line {  // of a stream
  Past past;   // of its next operation
  Context* context = nullptr;
  int number = 0;
  bool waits_for_null = true;  // and the null stream for it
};

struct Pending {
  Operation operation;
  std::string place;        // for messages
  uint64_t host_bytes = 0;  // a checksum from the time of the enqueueing
};

// A wait that was ignored.
struct Ignored {
  bool happened = false;
  const void* line = nullptr;  // that should wait; null: the host
  Past past;
  // By that line, after the wait; and whether it came after `past` nevertheless.
  bool used = false, made_good = false;
};

struct Deferred {
  std::map<Stream*, Line> lines;
  std::map<Context*, Line> null_lines;
  std::map<const Event*, Past> events;  // alive
  std::map<uint64_t, Pending> pending;
  uint64_t enqueued = 0;
  int streams = 0;
  int to_ignore = -1;
  Ignored ignored;
  FakecudaOrder reported = {};
};

// Guarded by the state's lock.
Deferred& deferred() {
  static Deferred& instance = *new Deferred;  // outlives whatever is released at exit
  return instance;
}

void copy_text(const std::string& text, char* to, size_t size) {
  std::snprintf(to, size, "%s", text.c_str());
}

void violation(const std::string& text) {
  FakecudaOrder& reported = deferred().reported;
  if (reported.violations++ > 0) return;
  copy_text(text, reported.first, sizeof reported.first);
  if (!deferred().ignored.happened) std::fprintf(stderr, "fake driver: %s\n", reported.first);
}

// ---- Order ----

void forget_made(Past* past) {
  std::erase_if(*past, [](uint64_t number) { return !deferred().pending.contains(number); });
}

bool includes(const Past& all, const Past& part) {
  for (const uint64_t number : part)
    if (deferred().pending.contains(number) && !all.contains(number)) return false;
  return true;
}

Line* line_of(Stream* stream) {
  if (stream == nullptr)
    return context_stack().empty() ? nullptr : &deferred().null_lines[context_stack().back()];
  const auto found = deferred().lines.find(stream);
  return found != deferred().lines.end() ? &found->second : nullptr;
}

// Everything that precedes the next operation of a line. The null stream and the streams that are
// not non-blocking wait for each other.
Past past_of(const Line& line, bool is_null) {
  Past past = line.past;
  if (is_null) {
    for (const auto& [stream, other] : deferred().lines)
      if (other.waits_for_null && other.context == context_stack().back())
        past.insert(other.past.begin(), other.past.end());
  } else if (const auto found = deferred().null_lines.find(line.context);
             line.waits_for_null && found != deferred().null_lines.end()) {
    past.insert(found->second.past.begin(), found->second.past.end());
  }
  forget_made(&past);
  return past;
}

std::string names_of(const Past& past) {
  for (auto last = past.rbegin(); last != past.rend(); ++last)
    if (const auto found = deferred().pending.find(*last); found != deferred().pending.end())
      return found->second.place;
  return "nothing";
}

// Whether this wait, which `past` makes necessary, is the one to ignore.
bool is_to_be_ignored(const Line* line, const Past& past, const std::string& who) {
  Deferred& d = deferred();
  if (d.reported.waits++ != d.to_ignore) return false;
  d.ignored = {true, line, past};
  copy_text(who + " for " + names_of(past), d.reported.ignored, sizeof d.reported.ignored);
  return true;
}

// Before an operation of the line: whether another wait gave the ignored one's order.
void look_at_ignored(const Line* line) {
  Deferred& d = deferred();
  if (!d.ignored.happened) return;
  if (line != d.ignored.line || d.ignored.used) return;
  d.ignored.used = true;
  d.ignored.made_good = includes(past_of(*line, false), d.ignored.past);
}

// ---- Bytes ----

template <typename Visit>
void visit_rows(const Area& area, Visit&& visit) {
  for (size_t row = 0; row < area.rows; row++)
    visit(reinterpret_cast<unsigned char*>(area.first + row * area.pitch));
}

uint64_t sum_of_host(const Operation& operation) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const Area& area : operation.areas) {
    if (!area.on_host) continue;
    visit_rows(area, [&](const unsigned char* row) {
      for (size_t i = 0; i < area.width; i++) sum = (sum ^ row[i]) * 0x100000001b3;
    });
  }
  return sum;
}

uintptr_t end_of(const Area& area) {
  return area.first + (area.rows - 1) * area.pitch + area.width;
}

bool overlap(const Area& a, const Area& b) {
  if (a.rows == 0 || b.rows == 0 || a.width == 0 || b.width == 0) return false;
  if (end_of(a) <= b.first || end_of(b) <= a.first) return false;
  if (a.pitch != b.pitch || a.pitch == 0) return true;
  // Adjacent columns.
  const uintptr_t from = a.first < b.first ? a.first : b.first;
  const size_t at = (a.first - from) % a.pitch, other = (b.first - from) % a.pitch;
  if (at + a.width > a.pitch || other + b.width > a.pitch) return true;
  return at < other + b.width && other < at + a.width;
}

bool conflict(const Operation& a, const Operation& b) {
  for (const Area& one : a.areas)
    for (const Area& other : b.areas)
      if ((one.written || other.written) && overlap(one, other)) return true;
  return false;
}

void spoil(const Operation& operation) {
  for (const auto& [number, earlier] : deferred().pending)
    if (conflict(earlier.operation, operation)) return;  // whose bytes these are until then
  for (const Area& area : operation.areas)
    if (area.on_host && area.written)
      visit_rows(area, [&](unsigned char* row) { std::memset(row, 0xee, area.width); });
}

// ---- Execution ----

void make(uint64_t number) {
  auto node = deferred().pending.extract(number);
  if (node.empty()) return;
  const Pending& pending = node.mapped();
  if (sum_of_host(pending.operation) != pending.host_bytes)
    violation("the host has written to memory of " + pending.place);
  pending.operation.make();
}

void make_all(const Past& past) {
  const Past numbers = past;
  for (const uint64_t number : numbers) make(number);
}

Past everything() {
  Past past;
  for (const auto& [number, pending] : deferred().pending) past.insert(number);
  return past;
}

bool note_host(const Past& before) {
  Past past = before;
  forget_made(&past);
  if (past.empty()) return true;
  if (is_to_be_ignored(nullptr, past, "the host")) return false;
  make_all(past);
  return true;
}

}  // namespace

bool is_deferred() { return number("FAKECUDA_DEFERRED", 0) != 0; }

bool kernels_write() { return std::getenv("FAKECUDA_DEFERRED") != nullptr; }

void enqueue(Stream* stream, Operation operation) {
  Line* line = is_deferred() ? line_of(stream) : nullptr;
  if (line == nullptr) {
    operation.make();
    return;
  }
  Deferred& d = deferred();
  Past past = past_of(*line, stream == nullptr);
  look_at_ignored(line);
  const std::string place =
      operation.what +
      (stream == nullptr ? " on the null stream" : " on stream " + std::to_string(line->number));
  for (const auto& [number, earlier] : d.pending)
    if (!past.contains(number) && conflict(earlier.operation, operation))
      violation(place + " does not wait for " + earlier.place);
  if (operation.spoils) spoil(operation);
  const uint64_t sum = sum_of_host(operation);
  past.insert(++d.enqueued);
  line->past = std::move(past);
  d.pending.emplace(d.enqueued, Pending{std::move(operation), place, sum});
}

void note_stream(Stream* stream, unsigned flags) {
  constexpr unsigned kNonBlocking = 1;
  Deferred& d = deferred();
  d.lines[stream] = {{}, context_stack().back(), d.streams++, (flags & kNonBlocking) == 0};
}

// A stream's work outlives it; from then on only its events can be waited for.
void note_stream_destroyed(Stream* stream) { deferred().lines.erase(stream); }

void note_context_destroyed(Context* context) {
  Deferred& d = deferred();
  make_all(everything());
  d.null_lines.erase(context);
  std::erase_if(d.lines, [&](const auto& line) { return line.second.context == context; });
}

void note_event(const Event* event) { deferred().events[event] = {}; }
void note_event_destroyed(const Event* event) { deferred().events.erase(event); }

bool is_event(const Event* event) {
  if (deferred().events.contains(event)) return true;
  violation("an event is used that has been destroyed");
  return false;
}

void note_record(const Event* event, Stream* stream) {
  const Line* line = is_deferred() ? line_of(stream) : nullptr;
  if (line != nullptr) deferred().events[event] = past_of(*line, stream == nullptr);
}

bool note_stream_wait(Stream* stream, const Event* event) {
  Line* line = is_deferred() ? line_of(stream) : nullptr;
  if (line == nullptr) return true;
  Past& before = deferred().events[event];
  forget_made(&before);
  if (includes(past_of(*line, stream == nullptr), before)) return true;
  const std::string who =
      stream == nullptr ? "the null stream" : "stream " + std::to_string(line->number);
  if (is_to_be_ignored(line, before, who)) return false;
  line->past.insert(before.begin(), before.end());
  return true;
}

bool note_host_wait(const Event* event) {
  return !is_deferred() || note_host(deferred().events[event]);
}

bool note_host_wait(Stream* stream) {
  const Line* line = is_deferred() ? line_of(stream) : nullptr;
  return line == nullptr || note_host(past_of(*line, stream == nullptr));
}

void finish(Stream* stream) {
  const Line* line = is_deferred() ? line_of(stream) : nullptr;
  if (line != nullptr) make_all(past_of(*line, stream == nullptr));
}

void note_free(uintptr_t first, size_t bytes, bool on_host) {
  if (!is_deferred()) return;
  const Operation gone = {"", {{first, bytes, bytes, 1, true, on_host}}, {}};
  for (const auto& [number, pending] : deferred().pending) {
    if (!on_host || !conflict(pending.operation, gone)) continue;
    violation("pinned memory is freed that is for " + pending.place);
    break;
  }
  make_all(everything());
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" __attribute__((visibility("default"))) void fakecuda_get_order(FakecudaOrder* order) {
  std::lock_guard lock(state().mutex);
  const Deferred& d = deferred();
  *order = d.reported;
  order->pending = static_cast<int>(d.pending.size());
  order->has_ignored = d.ignored.happened;
  order->made_good = d.ignored.made_good;
}

extern "C" __attribute__((visibility("default"))) void fakecuda_ignore_wait(int number) {
  std::lock_guard lock(state().mutex);
  Deferred& d = deferred();
  d.reported.waits = 0;
  d.reported.ignored[0] = '\0';
  d.ignored = {};
  d.to_ignore = number;
}
