// The vector code for rows of 32-bit values, compiled for every instruction set that Highway knows
// here.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/dwt/rows_32.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/dwt/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
const RowKernels<int32_t>* choose_kernels_32() { return nullptr; }

#else

#include "transform/dwt/rows_lift-inl.h"
// After the former, whose lanes it uses.
#include "transform/dwt/rows_ends-inl.h"

const RowKernels<int32_t>* choose_kernels_32() {
  static constexpr RowKernels<int32_t> kKernels = {step_rows,     wrap_row,       split_row,
                                                   split_samples, join_row,       join_samples,
                                                   quantize_rows, dequantize_rows};
  return &kKernels;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_kernels_32);

template <>
const RowKernels<int32_t>* row_kernels<int32_t>() {
  return HWY_DYNAMIC_DISPATCH(choose_kernels_32)();
}

}  // namespace cudatransform

#endif  // HWY_ONCE
