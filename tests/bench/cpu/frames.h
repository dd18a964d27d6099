// The CPU benchmark's frames, which are rotating buffers of jobs, and the threads that work on
// them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "tests/engine/kernel_jobs.h"

namespace cudatransform::bench {

// Width and height are multiples of 8.
struct FrameSize {
  const char* name;
  int width, height;
  bool resident;  // one frame that stays in a core's own cache

  int blocks_w() const { return width / 8; }
  int blocks_h() const { return height / 8; }
  size_t samples() const { return size_t(width) * size_t(height); }
};

struct FreeMemory {
  void operator()(void* data) const { std::free(data); }
};
template <typename T>
using Buffer = std::unique_ptr<T[], FreeMemory>;  // aligned to 64 bytes

// Zeroed, so that all pages are there.
template <typename T>
Buffer<T> allocate(size_t count) {
  auto* data = static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64));
  if (data == nullptr) throw std::bad_alloc();
  std::memset(data, 0, count * sizeof(T));
  return Buffer<T>(data);
}

// The number of frames of this many bytes that no cache holds: four times the last-level cache.
size_t frames_beyond_caches(size_t bytes);

// The buffers of a job.
struct Frame {
  Buffer<uint8_t> in, out;
  // Of copies, where sizes differ; the DCT's coefficients in the order of AVDCT's inverse.
  Buffer<uint8_t> spare;
};

// Frames of one job, as many as no cache holds (one for a resident size), with all pages touched.
// next() goes round, so that a job never finds an earlier job's data in a cache.
class Frames {
 public:
  Frames(const test::KernelJob& job, const FrameSize& size);
  Frame& next() { return frames_[position_++ % frames_.size()]; }
  std::vector<Frame>& all() { return frames_; }

 private:
  std::vector<Frame> frames_;
  size_t position_ = 0;
};

// How many threads work on a frame.
enum class Threads { kOne, kAll };
int thread_count(Threads threads);
Device& device(Threads threads);

// Adds the processor, its cores, the compiler and the instruction set to Google Benchmark's
// context.
void describe_cpu();

// body(by) for every row of blocks, in the calling thread or as the engine does it: over oneTBB.
void for_block_rows(Threads threads, int rows, const std::function<void(int by)>& body);

}  // namespace cudatransform::bench
