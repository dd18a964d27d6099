// From decoded levels to coefficients as a job, which all engines take.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clauses 13.3 and 13.4; SMPTE ST 2042-1, clause 13.3.
#pragma once

#include <memory>

#include "dirac/levels.h"
#include "dirac/memory_pool.h"
#include "dirac/slices.h"
#include "transform/device/device.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

struct DiracDequantiseJob {
  const DiracLevels* levels = nullptr;  // in host memory, and read when submit() returns
  // If these have data, the levels have not been decoded; only the layout of the bands is valid.
  DiracSlices slices;
  bool is_intra = false;
  // Each coefficient of level 0 has been coded as the difference to its neighbours.
  bool predicts_dc = false;
  // Coefficients of 32 bits are written as 16, clamped: those of a picture without a wavelet, which
  // are its residual.
  bool narrows = false;
  // Every coefficient of every band is written: int16_t, or int32_t where levels are wide.
  DwtPlane pyramids[kMaxComponents];
};

// The levels as an engine has prepared them ahead of time.
class DiracPrepared {
 public:
  virtual ~DiracPrepared() = default;
};

struct DiracDequantiseOps {
  const char* name;
  bool takes_slices;  // as they are in the stream
  // The part that can be done before a queue has its turn, by any thread; pyramids are not looked
  // at. In memory of `pinned`. `*prepared` may stay null.
  Status (*prepare)(Device& device, DiracMemoryPool& pinned, const DiracDequantiseJob& job,
                    std::unique_ptr<DiracPrepared>* prepared);
  // `prepared`: by prepare(), for the same levels, and not needed any more when the call returns.
  Status (*submit)(Device& device, Queue& queue, const DiracDequantiseJob& job,
                   DiracPrepared* prepared);
};

// In portable C++, before the call returns.
const DiracDequantiseOps& portable_dirac_dequantise_ops();

}  // namespace cudatransform
