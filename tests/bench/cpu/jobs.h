// The project's CPU engine over the benchmark's frames: portable, SIMD, SIMD and oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>

#include "tests/bench/cpu/frames.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::bench {

// How many threads work on a frame.
enum class Threads { kOne, kAll };
int thread_count(Threads threads);
Device& device(Threads threads);

// Adds the processor, its cores, the compiler and the instruction set to Google Benchmark's
// context.
void describe_cpu();

// body(by) for every row of blocks, in the calling thread or as the engine does it: over oneTBB.
void for_block_rows(Threads threads, int rows, const std::function<void(int by)>& body);

// A whole job of one engine on one frame. Throws std::runtime_error if the engine refuses.
void run_engine(const Dct8x8Ops& ops, Threads threads, const FrameSize& size, Method method,
                Direction direction, Frame& frame);
// On one thread.
void run_portable(const FrameSize& size, Method method, Direction direction, Frame& frame);

}  // namespace cudatransform::bench
