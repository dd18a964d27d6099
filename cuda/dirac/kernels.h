// Every kernel for Dirac's levels, by the name that a profiler prints and a launch asks for.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// X(name, levels, coefficients).
#define CT_DIRAC_EXPAND_KERNELS(X)      \
  X(dirac_expand_s16, int16_t, int16_t) \
  X(dirac_expand_s32, int32_t, int32_t) \
  X(dirac_expand_s32_as_s16, int32_t, int16_t)
