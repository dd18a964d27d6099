// Every kernel of range conversions, by the name that a profiler prints and a launch asks for.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   all planes of a frame in a launch, 16 bytes of a row a thread (expand.cu)
//
// Its twin on the CPU, its test, its benchmark and its page:
//
//   range_bytes, range_words
//     twin   convert_strip() in transform/range/engine.cpp, transform/range/vectors.cpp
//     test   tests/engine/range/range_test.cpp
//     bench  tests/bench/gpu/range.cpp: case:range
//     page   docs/kernels.md, 19
#pragma once

#define CT_RANGE_KERNELS(X) \
  X(range_bytes)            \
  X(range_words)
