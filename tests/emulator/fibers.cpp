// Runs the threads of a CTA on the CPU, one at a time, each until it has to wait for others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/emulator/fibers.h"

#include <ucontext.h>

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

struct Fiber {
  ucontext_t context = {};
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  bool ended = false;
  uint32_t barriers = 0;  // of the CTA that it has come to
};

std::vector<Fiber> fibers;
std::map<std::pair<unsigned, uint32_t>, Group> groups;  // by warp and mask
ucontext_t scheduler;
unsigned running = 0, threads_of_cta = 0;
const std::function<void()>* body = nullptr;

void run_body() {
  (*body)();
  fibers[running].ended = true;
}

// Runs other threads until the condition holds. If none can make it true, the program would hang.
template <typename Condition>
void wait_until(Condition&& holds) {
  while (!holds()) swapcontext(&fibers[running].context, &scheduler);
}

void start(Fiber* fiber) {
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = &scheduler;
  fiber->ended = false;
  fiber->barriers = 0;
  makecontext(&fiber->context, run_body, 0);
}

void run_cta(unsigned threads) {
  groups.clear();
  for (unsigned i = 0; i < threads; ++i) start(&fibers[i]);
  for (unsigned left = threads, turns = 0; left > 0; ++turns) {
    if (turns > 1'000'000) {
      std::fprintf(stderr, "emulator: threads of a CTA wait for each other for ever\n");
      std::abort();
    }
    for (unsigned i = 0; i < threads; ++i) {
      if (fibers[i].ended) continue;
      running = i;
      thread_index = {i, 0, 0};
      swapcontext(&scheduler, &fibers[i].context);
      if (fibers[i].ended) --left;
    }
  }
}

}  // namespace

void run_grid(unsigned ctas, unsigned threads, const std::function<void()>& thread) {
  if (fibers.size() < threads) fibers.resize(threads);
  body = &thread;
  threads_of_cta = threads;
  cta_size = {threads, 1, 1};
  grid_size = {ctas, 1, 1};
  for (unsigned i = 0; i < ctas; ++i) {
    cta_index = {i, 0, 0};
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
      if ((mask >> other & 1) == 0 || thread >= threads_of_cta || fibers[thread].ended) continue;
      if (group.count[other] < mine) return false;
    }
    return true;
  });
}

void wait_for_cta() {
  const uint32_t mine = ++fibers[running].barriers;
  wait_until([&] {
    for (unsigned other = 0; other < threads_of_cta; ++other)
      if (!fibers[other].ended && fibers[other].barriers < mine) return false;
    return true;
  });
}

}  // namespace cudatransform::emulator
