// The smallest possible transform, for tests of the shared parts: samples XOR a mask.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// It has the same parts as any new transform: a job, its validate(), each engine's functions, and
// the parameters of a kernel.
#pragma once

#include <cstdint>

#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform::test {

struct TinyJob {
  // Samples of 8 bits without gaps (SampleType::kU8, stride 1, row_repeat 1), as many in `to` as in
  // `from`. Addresses are the engine's; planes may be the same.
  SamplePlane from[kMaxComponents], to[kMaxComponents];
  int components = 0;  // 1 to kMaxComponents
  uint8_t mask = 0;
};

// Checks everything that an engine relies on. Engines call it first.
Status validate(const TinyJob& job);

// submit() returns immediately; `fence` (may be null) is done when `to` is complete.
struct TinyOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const TinyJob& job, FencePtr* fence);
};

const TinyOps& host_tiny_ops();
#ifdef CT_HAVE_CUDA
// Launches its one kernel under each of its many numbers in turn, which include numbers of other
// transforms. The queue keeps the current one.
const TinyOps& cuda_tiny_ops();
#endif

// The kernel's parameters, passed by value.
struct TinyParams {
  const uint8_t* from;
  uint8_t* to;
  int64_t from_pitch, to_pitch;
  int32_t width, height;
  uint8_t mask;
};

inline constexpr unsigned kTinyThreads = 256;  // in a CTA, each for one sample

}  // namespace cudatransform::test
