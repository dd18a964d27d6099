// Streaming kernels as the measure of the memory's speed: variants, and their launches for any
// numbers of bytes read and written.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>

#include "tests/bench/gpu/driver.h"
#include "tests/bench/gpu/stream_params.h"

namespace cudatransform::bench {

// One way to stream. The best way depends on the size and the direction, so all are measured and
// the best of them is the limit.
struct StreamVariant {
  const char* name;  // "cta256x2": a tile a CTA of 256 threads, of twice as many units as the least
  const char* how;   // see stream.cu
  int multiple;      // 1, 2 or 4 times the smallest whole numbers of units a thread
  unsigned threads;  // of a CTA
};
std::span<const StreamVariant> stream_variants();

// A variant for given numbers of bytes, which are rounded up to 16.
class Stream {
 public:
  Stream(const Gpu& gpu, const StreamVariant& variant, size_t in_bytes, size_t out_bytes);
  // Addresses are aligned to 16 bytes.
  void enqueue(const void* in, void* out) const;

 private:
  const Gpu& gpu_;
  CUfunction kernel_;
  StreamParams params_ = {};
  unsigned ctas_, threads_;
};

}  // namespace cudatransform::bench
