// The vector code of ifast, compiled for every instruction set that Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/dct8x8/simd_ifast.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "transform/dct8x8/simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
RowFunction choose_ifast(const Dct8x8Job&) { return nullptr; }

#else

#include "transform/dct8x8/simd_all-inl.h"

RowFunction choose_ifast(const Dct8x8Job& job) { return choose_short<IfastShort>(job); }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_ifast);

RowFunction simd_ifast_row_function(const Dct8x8Job& job) {
  return HWY_DYNAMIC_DISPATCH(choose_ifast)(job);
}

}  // namespace cudatransform

#endif  // HWY_ONCE
