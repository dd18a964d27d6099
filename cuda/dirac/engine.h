// The CUDA engine's dequantiser of Dirac's levels, for whoever has made a CUDA device
// (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/dequantiser.h"

namespace cudatransform {

// Jobs' pyramids are device addresses.
const DiracDequantiseOps& cuda_dirac_dequantise_ops();

}  // namespace cudatransform
