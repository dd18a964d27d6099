// Samples of a rendered picture to where the caller wants them, as a job, which all engines take.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform {

// Rows of one component, each sample shifted left into a container that may be wider.
struct DiracStoreJob {
  SamplePlane from;     // of type kU8 or kU16, side by side
  int32_t rows = 0;     // at most from.height
  void* to = nullptr;   // aligned to the container
  ptrdiff_t pitch = 0;  // bytes from one row to the next
  int container = 1;    // bytes: 1 or 2, not fewer than a sample has
  int shift = 0;        // 0 to 15; no bit of a sample is lost
};

struct DiracStoreOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const DiracStoreJob& job);
};

// In portable C++, before the call returns.
const DiracStoreOps& portable_dirac_store_ops();

// Whether a copy of bytes is all there is to do.
inline bool is_dirac_copy(const DiracStoreJob& job) {
  return job.shift == 0 && job.container == job.from.stride;
}
// Any device's copy, where it is one.
Status copy_dirac_rows(Device& device, Queue& queue, const DiracStoreJob& job);

}  // namespace cudatransform
