// All of the vector code, for one instruction set. simd_islow.cpp, simd_ifast.cpp and
// simd_float.cpp include it inside cudatransform::HWY_NAMESPACE, each for its method.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/dct8x8/1d-inl.h"
#include "transform/dct8x8/scaled_1d-inl.h"
#include "transform/dct8x8/simd-inl.h"
#include "transform/dct8x8/simd_methods-inl.h"
// After the methods, before the rows that call it.
#include "transform/dct8x8/simd_decided-inl.h"
// Rows of blocks.
#include "transform/dct8x8/simd_rows-inl.h"
#include "transform/dct8x8/simd_scaled-inl.h"
// After the general path, their fallback.
#include "transform/dct8x8/simd_short-inl.h"
#include "transform/dct8x8/simd_short_rows-inl.h"
