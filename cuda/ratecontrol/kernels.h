// Every kernel of rate control, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   rate_transform_*, rate_count_*
//     twin   a transform and count_jpeg_symbols() for each candidate: jpeg/encode_scan.cpp
//     test   tests/jpeg/rate_test.cpp
//     bench  tests/bench/jpeg/bench_rate.cpp
//     page   docs/kernels.md, 22
#pragma once

// X(name, method, quantizer).
#define CT_RATE_TRANSFORM_KERNELS(X)                 \
  X(rate_transform_islow_round, Islow, Round)        \
  X(rate_transform_islow_dead_zone, Islow, DeadZone) \
  X(rate_transform_ifast_round, Ifast, Round)        \
  X(rate_transform_ifast_dead_zone, Ifast, DeadZone) \
  X(rate_transform_float_round, Float, Round)        \
  X(rate_transform_float_dead_zone, Float, DeadZone)

// In the same order.
#define CT_RATE_COUNT_KERNELS(X)                 \
  X(rate_count_islow_round, Islow, Round)        \
  X(rate_count_islow_dead_zone, Islow, DeadZone) \
  X(rate_count_ifast_round, Ifast, Round)        \
  X(rate_count_ifast_dead_zone, Ifast, DeadZone) \
  X(rate_count_float_round, Float, Round)        \
  X(rate_count_float_dead_zone, Float, DeadZone)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_RATE_IMAGES(IMAGE)                         \
  IMAGE(ratecontrol_count, CT_RATE_TRANSFORM_KERNELS) \
  IMAGE(ratecontrol_count, CT_RATE_COUNT_KERNELS)
