// The CPU benchmark's frames, rotating buffers of a real-looking picture and its coefficients, and
// jobs of the CPU engine on them.
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

#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::bench {

// Width and height are multiples of 8, and there is one 8-bit component: 3 bytes a sample must
// move, 1 of the sample and 2 of the coefficient.
struct FrameSize {
  const char* name;
  int width, height;
  bool resident;  // one frame that stays in a core's own cache

  int blocks_w() const { return width / 8; }
  int blocks_h() const { return height / 8; }
  size_t samples() const { return size_t(width) * size_t(height); }
  size_t blocks() const { return samples() / 64; }
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

// Samples are packed, coefficients quantised S16 in blocks, row after row without gaps.
struct Frame {
  Buffer<uint8_t> source;    // the picture
  Buffer<int16_t> levels;    // its islow levels at quality 85, in raster order
  Buffer<int16_t> permuted;  // the same in the order of AVDCT's inverse, where that is there
  Buffer<int16_t> coefs;     // output of forward jobs
  Buffer<uint8_t> decoded;   // output of inverse jobs
};

// Table K.1 at quality 85.
const QuantTable& quality85();

// Frames of one size, as many as no cache holds (one for a resident size), with all pages touched.
// next() goes round, so that a job never finds an earlier job's data in a cache.
class Frames {
 public:
  // `permutation`: the place that AVDCT's inverse wants for each coefficient, or null.
  Frames(const FrameSize& size, const uint8_t* permutation);
  const FrameSize& size() const { return size_; }
  Frame& next() { return frames_[position_++ % frames_.size()]; }

 private:
  FrameSize size_;
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

// A whole job of one engine on one frame. Throws std::runtime_error if the engine refuses.
void run_engine(const Dct8x8Ops& ops, Threads threads, const FrameSize& size, Method method,
                Direction direction, Frame& frame);
// On one thread.
void run_portable(const FrameSize& size, Method method, Direction direction, Frame& frame);

}  // namespace cudatransform::bench
