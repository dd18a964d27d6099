// Jobs that only Dirac and VC-2 have, which all engines take: quantized coefficients to
// coefficients, samples to frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clauses 13.3 and 13.4; SMPTE ST 2042-1, clause 13.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dirac/codes.h"
#include "dirac/qcoefs.h"
#include "transform/device/device.h"
#include "transform/device/memory_budget.h"
#include "transform/dwt/dwt.h"
#include "transform/picture.h"

namespace cudatransform {

struct DiracDequantizeJob {
  const DiracQcoefs* qcoefs = nullptr;  // in host memory, and read when submit() returns
  // If these have data, the quantized coefficients have not been decoded; only the layout of the
  // bands is valid.
  DiracSlices slices;
  bool is_intra = false;
  // Each coefficient of level 0 has been coded as the difference to its neighbors.
  bool predicts_dc = false;
  // Coefficients of 32 bits are written as 16, clamped: those of a picture without a wavelet, which
  // are its residual.
  bool narrows = false;
  // Every coefficient of every band is written: int16_t, or int32_t where quantized coefficients
  // are wide.
  DwtPlane pyramids[kMaxComponents];
};

// The quantized coefficients as an engine has prepared them ahead of time.
class DiracPrepared {
 public:
  virtual ~DiracPrepared() = default;
};

struct DiracDequantizeOps {
  const char* name;
  bool takes_slices;  // as they are in the stream
  // The part that needs no queue, by any thread; pyramids are not examined. In memory of `pinned`.
  // `*prepared` may stay null.
  Status (*prepare)(Device& device, BudgetedPool& pinned, const DiracDequantizeJob& job,
                    std::unique_ptr<DiracPrepared>* prepared);
  // `prepared`: by prepare(), for the same quantized coefficients, and not needed any more when the
  // call returns.
  Status (*submit)(Device& device, Queue& queue, const DiracDequantizeJob& job,
                   DiracPrepared* prepared);
};

// In portable C++, before the call returns.
const DiracDequantizeOps& portable_dirac_dequantize_ops();

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
