// How many blocks a job has, and how its memory is aligned.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::cuda {

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

}  // namespace cudatransform::cuda
