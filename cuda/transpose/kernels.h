// Every kernel of rotated and mirrored pixels, by the name that a profiler prints and a launch
// requests: its parameters, and the memory that it reads and writes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   several pictures in a launch, a tile of each a CTA, through shared memory (pixels.cu)
//
// Its twin on the CPU, its test, its benchmark and its page:
//
//   transpose_1, transpose_3
//     twin   transpose_strip() in transform/transpose/transpose.cpp
//     test   tests/engine/transpose/transpose_test.cpp
//     bench  tests/engine/kernel_jobs.cpp: case:transpose
//     page   docs/kernels.md, 19
#pragma once

#include <cstdint>

#include "cuda/common/accesses.h"
#include "cuda/common/divider.h"
#include "transform/picture.h"

// X(name, bytes of a pixel).
#define CT_TRANSPOSE_KERNELS(X) \
  X(transpose_1, 1)             \
  X(transpose_3, 3)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_TRANSPOSE_IMAGES(IMAGE) IMAGE(transpose_pixels, CT_TRANSPOSE_KERNELS)

namespace cudatransform::cuda {

inline constexpr unsigned kTransposeThreads = 256;
inline constexpr int32_t kTransposeTile = 64;          // pixels on a side
inline constexpr uint32_t kMaxTransposePictures = 32;  // of a launch

struct TransposeView {
  const uint8_t* from;
  uint8_t* to;
  int64_t from_pitch, to_pitch;
  int32_t width, height;  // of the output
  Orientation by;
  uint32_t across, ctas;  // tiles side by side, and altogether
  Divider by_across;
};

// CTA (x, y) has tile x of picture y.
struct TransposeParams {
  TransposeView pictures[kMaxTransposePictures];
  uint32_t count;
};

inline void transpose_accesses(const TransposeParams& params, int32_t channels, AccessList* list) {
  for (uint32_t i = 0; i < params.count; ++i) {
    const TransposeView& view = params.pictures[i];
    const int32_t columns = view.by.transposes ? view.height : view.width;
    const int32_t rows = view.by.transposes ? view.width : view.height;
    list->add(view.from, view.from_pitch, int64_t{columns} * channels, rows, false);
    list->add(view.to, view.to_pitch, int64_t{view.width} * channels, view.height, true);
  }
}

#define CT_TRANSPOSE(name, channels) \
  CT_ACCESSES(name, TransposeParams, transpose_accesses, channels)
inline constexpr KernelAccesses kTransposeAccesses[] = {CT_TRANSPOSE_KERNELS(CT_TRANSPOSE)};
#undef CT_TRANSPOSE

}  // namespace cudatransform::cuda
