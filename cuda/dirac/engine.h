// What of Dirac the CUDA engine does beside transforms: dequantising, and samples out; for whoever
// has made a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/dequantiser.h"
#include "dirac/store.h"

namespace cudatransform {

// Jobs' pyramids are device addresses.
const DiracDequantiseOps& cuda_dirac_dequantise_ops();

// Jobs' addresses are device addresses.
const DiracStoreOps& cuda_dirac_store_ops();

}  // namespace cudatransform
