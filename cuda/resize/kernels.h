// Every kernel of resampling, by the name that profilers print and launches use.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   fused    both passes, of windows in shared memory: tensor cores (fused.cu)
//   passes   one pass of any picture, a pixel of its output a thread (passes.cu)
//
// Its twin on the CPU, its test and its page:
//
//   resize_fused, resize_reduce, resize_along, resize_down, resize_pick
//     twin   Resizer in transform/resize/engine.cpp, rows in transform/resize/portable.cpp and
//            transform/resize/vectors.cpp
//     test   tests/engine/resize/resize_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:resize
//     page   docs/kernels.md, 23
#pragma once

// X(name, function of passes.cu), in the order of ResizePass.
#define CT_RESIZE_PASS_KERNELS(X) \
  X(resize_reduce, reduce_pixel)  \
  X(resize_along, add_along_row)  \
  X(resize_down, add_down_column) \
  X(resize_pick, pick_pixel)

// The same for many jobs (cuda/common/batch.h).
#define CT_RESIZE_PASS_BATCH_KERNELS(X) \
  X(resize_reduce_batch, reduce_pixel)  \
  X(resize_along_batch, add_along_row)  \
  X(resize_down_batch, add_down_column) \
  X(resize_pick_batch, pick_pixel)

// X(name, channels, whether the vertical pass comes first), in this order.
#define CT_RESIZE_FUSED_KERNELS(X)  \
  X(resize_fused_1_along, 1, false) \
  X(resize_fused_1_down, 1, true)   \
  X(resize_fused_2_along, 2, false) \
  X(resize_fused_2_down, 2, true)   \
  X(resize_fused_3_along, 3, false) \
  X(resize_fused_3_down, 3, true)   \
  X(resize_fused_4_along, 4, false) \
  X(resize_fused_4_down, 4, true)
#define CT_RESIZE_FUSED_BATCH_KERNELS(X)  \
  X(resize_fused_1_along_batch, 1, false) \
  X(resize_fused_1_down_batch, 1, true)   \
  X(resize_fused_2_along_batch, 2, false) \
  X(resize_fused_2_down_batch, 2, true)   \
  X(resize_fused_3_along_batch, 3, false) \
  X(resize_fused_3_down_batch, 3, true)   \
  X(resize_fused_4_along_batch, 4, false) \
  X(resize_fused_4_down_batch, 4, true)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_RESIZE_IMAGES(IMAGE)                \
  IMAGE(resize_passes, CT_RESIZE_PASS_KERNELS) \
  IMAGE(resize_fused, CT_RESIZE_FUSED_KERNELS)
#define CT_RESIZE_BATCH_IMAGES(IMAGE)                \
  IMAGE(resize_passes, CT_RESIZE_PASS_BATCH_KERNELS) \
  IMAGE(resize_fused, CT_RESIZE_FUSED_BATCH_KERNELS)
