// Runs the threads of a CTA on the CPU, one at a time, each until it has to wait for others; and
// their copies to shared memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>

namespace cudatransform::emulator {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// Of the running thread.
inline Index thread_index, cta_index, cta_size, grid_size;

// Runs `thread` for every thread of every CTA of a grid of `ctas` by `jobs`, CTAs in order. Not
// from two threads at a time.
void run_grid(unsigned ctas, unsigned jobs, unsigned threads, const std::function<void()>& thread);

// Waits until all threads of the warp that are in `mask`, and have not ended, are here as well.
// Each brings 64 bits; from() returns a lane's bits until its next wait.
class WarpExchange {
 public:
  WarpExchange(uint32_t mask, uint64_t bits);
  uint64_t from(unsigned lane) const { return slots_[lane]; }

 private:
  const uint64_t* slots_;
};

// Waits for all threads of the CTA that have not ended.
void wait_for_cta();

// ---- Copies to shared memory, on their way until the thread that began them waits: cp.async ----

// Copies `count` of `bytes` bytes and fills the rest with zeros: for half of the threads
// simultaneously, for the others when they wait, since a GPU may do either. Ends the program, with
// a message, where a copy to the same place is on its way.
void begin_copy(uint8_t* to, const uint8_t* from, unsigned bytes, unsigned count);
void end_group_of_copies();
// For all groups of the running thread but its last `open` ones.
void wait_for_copies(unsigned open);
// Ends the program if the running thread has copies on their way.
void expect_no_copies();

}  // namespace cudatransform::emulator
