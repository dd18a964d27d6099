// The numbers that wavelet kernels quantise and dequantise by.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dwt/params.h"

namespace cudatransform::cuda {

// Those of quantiser index `index`.
void set_quantiser(int index, ValuesParams* values);

bool is_quantised(const ValuesParams (&bands)[4]);

// The bias of levels in lanes, in both halves of a word: a power of two. Of every level that it
// makes positive the value is within lanes' limit, or the check of values sees that it is not: see
// packed_inverse.cuh.
uint32_t levels_bias(const ValuesParams (&bands)[4]);

}  // namespace cudatransform::cuda
