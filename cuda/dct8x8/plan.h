// From a job to its general, teaching or scaled kernel and to that kernel's parameters; blocks and
// alignment of a job.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/dct8x8/general_params.h"
#include "cuda/device/queue.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::cuda {

// ---- Blocks and alignment ----

inline uint32_t plane_blocks(const CoefPlane& plane) {
  return static_cast<uint32_t>(plane.blocks_w) * static_cast<uint32_t>(plane.blocks_h);
}
// The blocks of all planes.
inline uint32_t total_blocks(const Dct8x8Job& job) {
  uint32_t blocks = 0;
  for (int c = 0; c < job.components; ++c) blocks += plane_blocks(job.coefs[c]);
  return blocks;
}

// Whether rows `pitch` bytes apart from `data` on are all aligned.
inline bool is_aligned(const void* data, ptrdiff_t pitch, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0 &&
         static_cast<uintptr_t>(pitch) % alignment == 0;
}

// Vector loads and stores of coefficients are this wide.
inline constexpr uintptr_t kCoefAlignment = 16;
// kInvalidArgument where those of component `c` are not aligned to it.
Status check_coef_alignment(const Dct8x8Job& job, int c);

// ---- General and teaching kernels ----

const KernelFamily& general_kernels();

// All parameters of a job that validate() has passed. kInvalidArgument where the coefficients are
// not aligned as the CUDA engine needs them. `sums` is device memory. Jobs that round take no more
// than params->forward.
Status make_general_params(const Dct8x8Job& job, PictureSums* sums, DecidedParams* params);

// The launch of the kernel that takes any job of the job's method and quantizer.
struct GeneralLaunch {
  uint32_t kernel;  // of general_kernels()
  uint32_t ctas, threads;
};
GeneralLaunch general_launch(const Dct8x8Job& job);

// ---- Scaled inverse ----

// Enqueues an inverse job with scale 2, 4 or 8 that validate() has passed: one launch for all
// planes, and another where zeros are counted. kInvalidArgument where the coefficients are not
// aligned as the CUDA engine needs them.
Status submit_scaled(StreamQueue& queue, const Dct8x8Job& job);

}  // namespace cudatransform::cuda
