// The scaled inverse of the CUDA engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device/queue.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::cuda {

// Enqueues an inverse job with scale 2, 4 or 8 that validate() has passed: one launch for all
// planes, and another where zeros are counted. kInvalidArgument where the coefficients are not
// aligned as the CUDA engine needs them.
Status submit_scaled(StreamQueue& queue, const Dct8x8Job& job);

}  // namespace cudatransform::cuda
