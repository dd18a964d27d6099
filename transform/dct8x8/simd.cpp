// The vector code of the CPU engine, compiled for every instruction set that Highway knows here,
// and the choice among them at run time.
// SPDX-License-Identifier: LGPL-2.1-or-later

// Rows are structs of vectors, which vectors without a size at compile time cannot be members of:
// such machines run their fixed-size baseline. Builds that are for tests alone leave out more.
#ifndef CT_LEFT_OUT_TARGETS
#define CT_LEFT_OUT_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | CT_LEFT_OUT_TARGETS)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/dct8x8/simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "transform/dct8x8/adapters.h"
#include "transform/dct8x8/constants.h"
#include "transform/dct8x8/quantizer.h"
#include "transform/dct8x8/rows.h"
#include "transform/dct8x8/scaled.h"
#include "transform/device/host_device.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
RowFunction choose_row_function(const Dct8x8Job&) { return nullptr; }

#else

#include "transform/dct8x8/1d-inl.h"
#include "transform/dct8x8/scaled_1d-inl.h"
#include "transform/dct8x8/simd-inl.h"
#include "transform/dct8x8/simd_methods-inl.h"
#include "transform/dct8x8/simd_rows-inl.h"
#include "transform/dct8x8/simd_scaled-inl.h"
// After the general way, which they fall back on.
#include "transform/dct8x8/simd_short-inl.h"
#include "transform/dct8x8/simd_short_rows-inl.h"

RowFunction choose_row_function(const Dct8x8Job& job) {
  if (job.scale != 1) return choose_scaled(job);
  switch (job.method) {
    case Method::kIslow:
      return choose_short<IslowShort>(job);
    case Method::kIfast:
      return choose_short<IfastShort>(job);
    case Method::kFloat:
      return choose_short<FloatShort>(job);
    default:
      return nullptr;
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_row_function);

RowFunction simd_row_function(const Dct8x8Job& job) {
  return HWY_DYNAMIC_DISPATCH(choose_row_function)(job);
}

std::vector<std::pair<std::string, int64_t>> host_simd_targets() {
  std::vector<std::pair<std::string, int64_t>> targets;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    targets.emplace_back(hwy::TargetName(target), target);
  }
  return targets;
}

void set_host_simd_targets(int64_t mask) {
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().DeInit();  // the next dispatch chooses anew
}

}  // namespace cudatransform

#endif  // HWY_ONCE
