// Runs the threads of a CTA on the CPU, one at a time, each until it has to wait for others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#undef _FORTIFY_SOURCE  // forbids jumps to other stacks
#include "tests/emulator/fibers.h"

#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace cudatransform::emulator {
namespace {

constexpr unsigned kWarp = 32;
constexpr size_t kStackBytes = size_t{256} << 10;

// Values from the threads of a warp that name the same mask. Twice: a thread may be one exchange
// ahead of another that still reads.
struct Group {
  uint32_t count[kWarp] = {};
  uint64_t slots[2][kWarp] = {};
};

// Lives on when its thread has ended, and runs the next one. Only its first context comes from
// makecontext(): switches between those make system calls, which cost more than our threads.
struct Fiber {
  std::unique_ptr<char[]> stack;  // once it has begun
  jmp_buf place = {};
};

constexpr uint32_t kEnded = UINT32_MAX;

std::vector<Fiber> fibers;
std::vector<uint32_t> barriers;  // of the CTA that each thread has reached, or kEnded
std::map<std::pair<unsigned, uint32_t>, Group> groups;  // by warp and mask
jmp_buf scheduler;
unsigned running = 0, threads_of_cta = 0;
const std::function<void()>* body = nullptr;

void leave() {
  if (_setjmp(fibers[running].place) == 0) _longjmp(scheduler, 1);
}

void run_threads() {
  for (;;) {
    (*body)();
    expect_no_copies();
    barriers[running] = kEnded;
    leave();
  }
}

// Runs other threads until the condition holds. If none can make it true, the program would hang.
template <typename Condition>
void wait_until(Condition&& holds) {
  while (!holds()) leave();
}

void begin(Fiber* fiber) {
  ucontext_t context;
  getcontext(&context);
  fiber->stack.reset(new char[kStackBytes]);
  context.uc_stack.ss_sp = fiber->stack.get();
  context.uc_stack.ss_size = kStackBytes;
  makecontext(&context, run_threads, 0);
  setcontext(&context);
}

// Returns when the running thread waits or has ended.
void enter() {
  if (_setjmp(scheduler) != 0) return;
  Fiber& fiber = fibers[running];
  if (fiber.stack == nullptr) begin(&fiber);
  _longjmp(fiber.place, 1);
}

void run_cta(unsigned threads) {
  groups.clear();
  barriers.assign(threads, 0);
  for (unsigned left = threads, turns = 0; left > 0; ++turns) {
    if (turns > 1'000'000) {
      std::fprintf(stderr, "emulator: threads of a CTA wait for each other for ever\n");
      std::abort();
    }
    for (unsigned i = 0; i < threads; ++i) {
      if (barriers[i] == kEnded) continue;
      running = i;
      thread_index = {i, 0, 0};
      enter();
      if (barriers[i] == kEnded) --left;
    }
  }
}

}  // namespace

void run_grid(unsigned ctas, unsigned jobs, unsigned threads, const std::function<void()>& thread) {
  if (fibers.size() < threads) fibers.resize(threads);
  body = &thread;
  threads_of_cta = threads;
  cta_size = {threads, 1, 1};
  grid_size = {ctas, jobs, 1};
  for (unsigned i = 0; i < ctas * jobs; ++i) {
    cta_index = {i % ctas, i / ctas, 0};
    run_cta(threads);
  }
}

WarpExchange::WarpExchange(uint32_t mask, uint64_t bits) {
  const unsigned warp = running / kWarp, lane = running % kWarp;
  Group& group = groups[{warp, mask}];
  const uint32_t mine = ++group.count[lane];
  slots_ = group.slots[mine % 2];
  group.slots[mine % 2][lane] = bits;
  wait_until([&] {
    for (unsigned other = 0; other < kWarp; ++other) {
      const unsigned thread = warp * kWarp + other;
      if ((mask >> other & 1) == 0 || thread >= threads_of_cta || barriers[thread] == kEnded)
        continue;
      if (group.count[other] < mine) return false;
    }
    return true;
  });
}

void wait_for_cta() {
  const uint32_t mine = ++barriers[running];
  wait_until([&] {
    return std::all_of(barriers.begin(), barriers.end(),
                       [&](uint32_t theirs) { return theirs >= mine; });
  });
}

}  // namespace cudatransform::emulator
