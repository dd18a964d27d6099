// Copies to shared memory, on their way until the thread that began them waits.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/fibers.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

namespace cudatransform::emulator {
namespace {

struct Copy {
  uint8_t* to;
  const uint8_t* from;
  unsigned bytes, count;
  unsigned group;
};
// Of a thread.
struct Copies {
  std::deque<Copy> open;
  unsigned groups = 0;  // that have ended
};

Copies& own_copies() {
  static std::vector<Copies> of_threads;
  if (of_threads.size() <= thread_index.x) of_threads.resize(thread_index.x + 1);
  return of_threads[thread_index.x];
}

void perform(const Copy& copy) {
  std::memcpy(copy.to, copy.from, copy.count);
  std::memset(copy.to + copy.count, 0, copy.bytes - copy.count);
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulator: CTA %u, thread %u: %s\n", cta_index.x, thread_index.x, what);
  std::abort();
}

bool copies_late() { return thread_index.x % 2 != 0; }

}  // namespace

void begin_copy(uint8_t* to, const uint8_t* from, unsigned bytes, unsigned count) {
  Copies& copies = own_copies();
  for (const Copy& other : copies.open)
    if (to < other.to + other.bytes && other.to < to + bytes)
      fail("two copies to one place are on their way");
  const Copy copy = {to, from, bytes, count, copies.groups};
  if (!copies_late()) perform(copy);
  copies.open.push_back(copy);
}

void end_group_of_copies() { ++own_copies().groups; }

void wait_for_copies(unsigned open) {
  Copies& copies = own_copies();
  while (!copies.open.empty() && copies.open.front().group + open < copies.groups) {
    if (copies_late()) perform(copies.open.front());
    copies.open.pop_front();
  }
}

void expect_no_copies() {
  if (!own_copies().open.empty()) fail("ends with copies on their way");
}

}  // namespace cudatransform::emulator
