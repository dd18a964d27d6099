// Every kernel of RGB, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   by sampling  eight columns of one row of chroma a thread, for the samplings that files have
//                (inverse.cu, forward.cu); fast_kernel() in engine.cpp chooses
//   general      every job, a number at a time (general.cu)
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   rgb_inverse, rgb_forward
//     twin   InverseStrip and ForwardStrip in transform/rgb/engine.cpp, rows in
//            transform/rgb/portable.cpp and transform/rgb/vectors.cpp
//     test   tests/engine/rgb/rgb_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:rgb
//     page   docs/kernels.md, 19
#pragma once

// X(name, columns and rows of the picture to a sample of chroma, RgbColor, what else). Without
// edges: all threads' pixels are there, in aligned words. Inverse ones of these have a kernel for
// each of RgbPlaces, in its order, after the one with edges: colors then go to their places as
// they are made, in fewer registers.
#define CT_RGB_BY_PLACES(X, name, ...)     \
  X(name##_edges, __VA_ARGS__, kAny)       \
  X(name##_triples, __VA_ARGS__, kTriples) \
  X(name##_x_last, __VA_ARGS__, kXLast)    \
  X(name##_x_first, __VA_ARGS__, kXFirst) X(name##_planes, __VA_ARGS__, kPlanes)
#define CT_RGB_INVERSE_KERNELS(X)                    \
  CT_RGB_BY_PLACES(X, rgb_inverse_420, 2, 2, kYcbcr) \
  CT_RGB_BY_PLACES(X, rgb_inverse_422, 2, 1, kYcbcr) \
  CT_RGB_BY_PLACES(X, rgb_inverse_440, 1, 2, kYcbcr) \
  CT_RGB_BY_PLACES(X, rgb_inverse_444, 1, 1, kYcbcr) \
  CT_RGB_BY_PLACES(X, rgb_inverse_rgb, 1, 1, kRgb)   \
  CT_RGB_BY_PLACES(X, rgb_inverse_gray, 1, 1, kGray)
#define CT_RGB_WITH_EDGES(X, name, ...) \
  X(name, __VA_ARGS__, false) X(name##_edges, __VA_ARGS__, true)
#define CT_RGB_FORWARD_KERNELS(X)                     \
  CT_RGB_WITH_EDGES(X, rgb_forward_420, 2, 2, kYcbcr) \
  CT_RGB_WITH_EDGES(X, rgb_forward_422, 2, 1, kYcbcr) \
  CT_RGB_WITH_EDGES(X, rgb_forward_440, 1, 2, kYcbcr) \
  CT_RGB_WITH_EDGES(X, rgb_forward_444, 1, 1, kYcbcr) \
  CT_RGB_WITH_EDGES(X, rgb_forward_rgb, 1, 1, kRgb)   \
  CT_RGB_WITH_EDGES(X, rgb_forward_gray, 1, 1, kGray)

// X(name, whether it is inverse).
#define CT_RGB_GENERAL_KERNELS(X) \
  X(rgb_inverse_general, true)    \
  X(rgb_forward_general, false)

// For many jobs (cuda/common/batch.h), in the order of the others: X(name, columns, rows,
// RgbColor).
#define CT_RGB_INVERSE_BATCH_KERNELS(X)  \
  X(rgb_inverse_420_batch, 2, 2, kYcbcr) \
  X(rgb_inverse_422_batch, 2, 1, kYcbcr) \
  X(rgb_inverse_440_batch, 1, 2, kYcbcr) \
  X(rgb_inverse_444_batch, 1, 1, kYcbcr) \
  X(rgb_inverse_rgb_batch, 1, 1, kRgb)   \
  X(rgb_inverse_gray_batch, 1, 1, kGray)
#define CT_RGB_FORWARD_BATCH_KERNELS(X)  \
  X(rgb_forward_420_batch, 2, 2, kYcbcr) \
  X(rgb_forward_422_batch, 2, 1, kYcbcr) \
  X(rgb_forward_440_batch, 1, 2, kYcbcr) \
  X(rgb_forward_444_batch, 1, 1, kYcbcr) \
  X(rgb_forward_rgb_batch, 1, 1, kRgb)   \
  X(rgb_forward_gray_batch, 1, 1, kGray)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_RGB_IMAGES(IMAGE)                 \
  IMAGE(rgb_inverse, CT_RGB_INVERSE_KERNELS) \
  IMAGE(rgb_forward, CT_RGB_FORWARD_KERNELS) \
  IMAGE(rgb_general, CT_RGB_GENERAL_KERNELS)
#define CT_RGB_BATCH_IMAGES(IMAGE)                 \
  IMAGE(rgb_inverse, CT_RGB_INVERSE_BATCH_KERNELS) \
  IMAGE(rgb_forward, CT_RGB_FORWARD_BATCH_KERNELS)
