// The numbers that wavelet kernels quantise and dequantise by.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// Those of quantiser index `index`.
void set_quantiser(int index, ValuesParams* values);

// The bias of levels in lanes, in both halves of a word: a power of two, or 0 if no band is
// quantised. Every level that it makes positive becomes a value that a lane can hold, or one that
// is seen to be outside of their limit.
uint32_t levels_bias(const ValuesParams (&bands)[4]);

}  // namespace cudatransform::cuda
