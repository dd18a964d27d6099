// What validate() checks in jobs of both directions of APV's transform.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The jobs and planes of apv.h and forward.h have the same names for it.
#pragma once

#include <cstdint>

#include "transform/apv/apv.h"
#include "transform/picture_check.h"

namespace cudatransform {

template <typename Job>
Status check_apv_samples(const Job& job) {
  if (job.depth < kMinApvDepth || job.depth > kMaxApvDepth) {
    return job_error("depth " + text(job.depth) + ", expected " + text(kMinApvDepth) + " to " +
                     text(kMaxApvDepth));
  }
  if (job.shift < 0 || job.shift > 16 - job.depth)
    return job_error("shift " + text(job.shift) + ", expected 0 to " + text(16 - job.depth));
  if (job.components < 1 || job.components > kMaxApvComponents) {
    return job_error(text(job.components) + " components, expected 1 to " +
                     text(kMaxApvComponents));
  }
  return {};
}

// The plane's samples have `sample_bytes` each, at a distance of `step` samples.
template <typename Plane>
Status check_apv_plane(const Where& where, const Plane& plane, int sample_bytes, int step) {
  constexpr int kBlockSide = 8, kCoefAlignment = 16;
  constexpr int32_t kMaxBlocks = kMaxSide / kBlockSide;
  if (plane.blocks_across < 1 || plane.blocks_across > kMaxBlocks || plane.blocks_down < 1 ||
      plane.blocks_down > kMaxBlocks) {
    return where.error(text(plane.blocks_across) + "x" + text(plane.blocks_down) +
                       " blocks, expected 1 to " + text(kMaxBlocks) + " per dimension");
  }
  if (plane.width < 1 || plane.width > plane.blocks_across * kBlockSide || plane.height < 1 ||
      plane.height > plane.blocks_down * kBlockSide) {
    return where.error("size " + text(plane.width) + "x" + text(plane.height) + " for " +
                       text(plane.blocks_across) + "x" + text(plane.blocks_down) + " blocks");
  }
  if (plane.coefs == nullptr || reinterpret_cast<uintptr_t>(plane.coefs) % kCoefAlignment != 0)
    return where.error("coefficients not aligned to " + text(kCoefAlignment) + " bytes");
  const int64_t row_bytes = sample_bytes * (int64_t{step} * (plane.width - 1) + 1);
  return check_pitch(where, plane.samples, plane.pitch, row_bytes, plane.height, sample_bytes);
}

inline Status check_apv_weights(const Where& where, const uint8_t (&matrix)[64]) {
  for (const uint8_t weight : matrix)
    if (weight == 0) return where.error("weight 0, expected 1 to 255");
  return {};
}

}  // namespace cudatransform
