// Every kernel for APV, by the name that a profiler prints and a launch uses.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   apv_inverse   all components of a frame in a launch, a thread a block (inverse.cu)
//     twin   transform/apv/vectors.cpp, transform/apv/arithmetic.h
//     test   tests/engine/apv/apv_test.cpp, tests/conformance/apv_test.cpp
//     page   docs/elements/cudaapvdec.md
#pragma once

#include <cstdint>

#include "cuda/common/accesses.h"
#include "cuda/common/divider.h"
#include "transform/apv/apv.h"

#define CT_APV_INVERSE_KERNELS(X) X(apv_inverse)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_APV_INVERSE_IMAGES(IMAGE) IMAGE(apv_inverse, CT_APV_INVERSE_KERNELS)

namespace cudatransform::cuda {

inline constexpr unsigned kApvInverseThreads = 128;

struct ApvPlaneParams {
  const int16_t* coefs;
  uint8_t* samples;
  int64_t pitch;
  uint32_t blocks_across, blocks_down;  // that are visible, of
  uint32_t coef_blocks_across;          // in memory
  int32_t width, height;
  uint32_t first_block;  // among those of all planes, or UINT32_MAX
  Divider by_across, by_tile_across, by_tile_down;
  bool is_aligned;  // whether rows of eight samples are
  uint8_t max_weight;
  uint8_t weights[64];
  uint8_t qp[kMaxApvTiles * kMaxApvTiles];
};

struct ApvInverseParams {
  ApvPlaneParams planes[kMaxApvComponents];
  uint32_t blocks;  // of all planes
  int32_t tile_columns;
  int32_t depth, shift;
};

inline void apv_inverse_accesses(const ApvInverseParams& params, AccessList* list) {
  for (const ApvPlaneParams& plane : params.planes) {
    if (plane.first_block == UINT32_MAX) continue;
    constexpr int64_t kBlockBytes = 64 * sizeof(int16_t);
    list->add(plane.coefs, kBlockBytes * plane.coef_blocks_across,
              kBlockBytes * plane.blocks_across, plane.blocks_down, false);
    list->add(plane.samples, plane.pitch, int64_t{2} * plane.width, plane.height, true);
  }
}

#define CT_APV_INVERSE(name) CT_ACCESSES(name, ApvInverseParams, apv_inverse_accesses)
inline constexpr KernelAccesses kApvAccesses[] = {CT_APV_INVERSE_KERNELS(CT_APV_INVERSE)};
#undef CT_APV_INVERSE

}  // namespace cudatransform::cuda
