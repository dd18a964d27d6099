// From decoded levels to coefficients as a job: what the engines do alike.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clauses 13.3 and 13.4; SMPTE ST 2042-1, clause 13.3.
#pragma once

#include "dirac/levels.h"
#include "transform/device/device.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

struct DiracDequantiseJob {
  const DiracLevels* levels = nullptr;  // in host memory, and read when the call returns
  bool is_intra = false;
  // Each coefficient of level 0 has been coded as the difference to its neighbours.
  bool predicts_dc = false;
  // Coefficients of 32 bits are written as 16, clamped: those of a picture without a wavelet, which
  // are its residual.
  bool narrows = false;
  // Every coefficient of every band is written: int16_t, or int32_t where levels are wide.
  DwtPlane pyramids[kMaxComponents];
};

struct DiracDequantiseOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const DiracDequantiseJob& job);
};

// In portable C++, before the call returns.
const DiracDequantiseOps& portable_dirac_dequantise_ops();

}  // namespace cudatransform
