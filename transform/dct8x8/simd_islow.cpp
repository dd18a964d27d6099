// The vector code of islow, compiled for every instruction set that Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/dct8x8/simd_islow.cpp"
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
RowFunction choose_islow(const Dct8x8Job&) { return nullptr; }

#else

#include "transform/dct8x8/simd_all-inl.h"

RowFunction choose_islow(const Dct8x8Job& job) {
  if (job.scale != 1)
    return job.depth == 12 ? choose_scaled<Islow12ScaledVector>(job)
                           : choose_scaled<IslowScaledVector>(job);
  if (job.depth == 12) return choose_type<IslowVector<1> >(job);
  return choose_short<IslowShort>(job);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_islow);

RowFunction simd_islow_row_function(const Dct8x8Job& job) {
  return HWY_DYNAMIC_DISPATCH(choose_islow)(job);
}

}  // namespace cudatransform

#endif  // HWY_ONCE
