// Runs the threads of a CTA on the CPU, one at a time, each until it has to wait for others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/fibers.h"

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <vector>

namespace cudatransform::emulator {
namespace {

constexpr unsigned kWarp = 32;
constexpr size_t kStackBytes = size_t{256} << 10;

// Of __builtin_setjmp(), which saves three registers; setjmp() saves all and encrypts them, which
// costs more than most of what our threads do between two waits.
using Place = void* [5];

// Threads that meet: the last one to arrive begins the next round.
struct Meeting {
  uint32_t rounds = 0;
  unsigned arrived = 0;
};

// Values from the threads of a warp that name the same mask; `meeting` has a bit for each. Twice: a
// thread may be one exchange ahead of another that still reads.
struct Group {
  explicit Group(uint32_t of) : mask(of) {}
  uint32_t mask;
  Meeting meeting;
  uint64_t slots[2][kWarp] = {};
};
struct Warp {
  uint32_t lanes = 0;  // that have not ended
  std::list<Group> groups;
};

// Lives on when its thread has ended, and runs the next one. Only its first context comes from
// makecontext(): switches between those make system calls.
struct Fiber {
  std::unique_ptr<char[]> stack;  // once it has begun
  Place place = {};
  // Waits as long as they are equal. Ended threads wait for a round that does not come.
  const uint32_t* rounds = nullptr;
  uint32_t round = 0;
};

std::vector<Fiber> fibers;
std::vector<Warp> warps;
Meeting barrier;
Place scheduler;
unsigned running = 0, threads_of_cta = 0, threads_left = 0;
const std::function<void()>* body = nullptr;

void begin_round(Meeting* meeting) {
  ++meeting->rounds;
  meeting->arrived = 0;
}
void meet_if_all_are_here(Meeting* meeting, bool all) {
  if (meeting->arrived != 0 && all) begin_round(meeting);
}
bool all_here(const Group& group, const Warp& warp) {
  return (group.mask & warp.lanes & ~group.meeting.arrived) == 0;
}

void run_threads();

[[noreturn]] void begin(Fiber* fiber) {
  ucontext_t context;
  getcontext(&context);
  fiber->stack.reset(new char[kStackBytes]);
  context.uc_stack.ss_sp = fiber->stack.get();
  context.uc_stack.ss_size = kStackBytes;
  makecontext(&context, run_threads, 0);
  setcontext(&context);
  std::abort();
}

// Not in a function that calls __builtin_setjmp().
[[noreturn, gnu::noinline]] void jump(Place& place) { __builtin_longjmp(place, 1); }

[[noreturn]] void enter(unsigned thread) {
  running = thread;
  thread_index = {thread, 0, 0};
  Fiber& fiber = fibers[thread];
  if (fiber.stack == nullptr) begin(&fiber);
  jump(fiber.place);
}

// In order, beginning behind the running one. If all wait, the program would hang.
unsigned next_thread() {
  unsigned thread = running;
  do {
    if (++thread == threads_of_cta) thread = 0;
    if (*fibers[thread].rounds != fibers[thread].round) return thread;
  } while (thread != running);
  std::fprintf(stderr, "emulator: threads of a CTA wait for each other for ever\n");
  std::abort();
}

[[gnu::noinline]] void leave() {
  if (__builtin_setjmp(fibers[running].place) != 0) return;
  if (threads_left == 0) jump(scheduler);
  enter(next_thread());
}

// Until the meeting's next round: another thread begins it.
void wait_for(const Meeting& meeting, uint32_t round) {
  if (meeting.rounds != round) return;
  fibers[running].rounds = &meeting.rounds;
  fibers[running].round = round;
  leave();
}

void end_thread() {
  static const uint32_t no_rounds = 0;
  fibers[running].rounds = &no_rounds;
  fibers[running].round = 0;
  --threads_left;
  meet_if_all_are_here(&barrier, barrier.arrived == threads_left);
  Warp& warp = warps[running / kWarp];
  warp.lanes &= ~(1u << running % kWarp);
  for (Group& group : warp.groups) meet_if_all_are_here(&group.meeting, all_here(group, warp));
}

void run_threads() {
  for (;;) {
    (*body)();
    expect_no_copies();
    end_thread();
    leave();
  }
}

[[gnu::noinline]] void run_cta() {
  static const uint32_t first_round = 1;
  barrier = {};
  for (unsigned i = 0; i < warps.size(); ++i) {
    const unsigned lanes = threads_of_cta - i * kWarp;
    warps[i].lanes = lanes < kWarp ? (1u << lanes) - 1 : ~0u;
    warps[i].groups.clear();
  }
  for (unsigned i = 0; i < threads_of_cta; ++i) {
    fibers[i].rounds = &first_round;
    fibers[i].round = 0;
  }
  threads_left = threads_of_cta;
  if (__builtin_setjmp(scheduler) == 0) enter(0);
}

}  // namespace

void run_grid(unsigned ctas, unsigned jobs, unsigned threads, const std::function<void()>& thread) {
  if (fibers.size() < threads) fibers.resize(threads);
  warps.resize((threads + kWarp - 1) / kWarp);
  body = &thread;
  threads_of_cta = threads;
  cta_size = {threads, 1, 1};
  grid_size = {ctas, jobs, 1};
  for (unsigned i = 0; i < ctas * jobs; ++i) {
    cta_index = {i % ctas, i / ctas, 0};
    run_cta();
  }
}

WarpExchange::WarpExchange(uint32_t mask, uint64_t bits) {
  const unsigned lane = running % kWarp;
  Warp& warp = warps[running / kWarp];
  auto group = warp.groups.begin();
  while (group != warp.groups.end() && group->mask != mask) ++group;
  if (group == warp.groups.end()) group = warp.groups.emplace(group, mask);
  const uint32_t round = group->meeting.rounds;
  slots_ = group->slots[round % 2];
  group->slots[round % 2][lane] = bits;
  group->meeting.arrived |= 1u << lane;
  meet_if_all_are_here(&group->meeting, all_here(*group, warp));
  wait_for(group->meeting, round);
}

void wait_for_cta() {
  const uint32_t round = barrier.rounds;
  ++barrier.arrived;
  meet_if_all_are_here(&barrier, barrier.arrived == threads_left);
  wait_for(barrier, round);
}

}  // namespace cudatransform::emulator
