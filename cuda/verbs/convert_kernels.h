// Every kernel that converts coefficients, by the name that a profiler prints and a launch asks
// for.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   convert_*   a tile of 64 blocks a CTA, from any arrangement to any, between two kinds of
//   numbers
//     twin   transform/verbs/convert_rows.cpp
//     test   tests/engine/verbs/convert_test.cpp
//     bench  tests/bench/gpu/convert.cpp: case:convert
//     page   docs/kernels.md, 20
#pragma once

#include "transform/verbs/conversions.h"

// X(name, From, To), in the order of ConversionNumber: the kernel is convert_NAME.
#define CT_CONVERT_KERNELS(X) CT_CONVERSIONS(X)
