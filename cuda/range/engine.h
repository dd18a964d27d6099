// The CUDA engine's range conversion, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/range/range.h"

namespace cudatransform {

// Jobs' addresses are device addresses.
const RangeOps& cuda_range_ops();

}  // namespace cudatransform
