// The numbers that wavelet kernels quantise and dequantise by.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// Those of quantiser index `index`.
void set_quantiser(int index, ValuesParams* values);

}  // namespace cudatransform::cuda
