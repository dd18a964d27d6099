// Dirac on a CUDA device (cuda/device/cuda_device.h), except the transforms: dequantizing, and
// samples out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/jobs.h"

namespace cudatransform {

// Jobs' pyramids are device addresses.
const DiracDequantizeOps& cuda_dirac_dequantize_ops();

// Jobs' addresses are device addresses.
const DiracStoreOps& cuda_dirac_store_ops();

}  // namespace cudatransform
