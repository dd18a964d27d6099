// Parameters of the kernels of APV's forward transform and entropy coding.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/common/accesses.h"
#include "cuda/common/divider.h"
#include "transform/apv/apv.h"

namespace cudatransform::cuda {

// ---- The forward transform ----

inline constexpr unsigned kApvForwardThreads = 128;

struct ApvForwardPlaneParams {
  const uint8_t* samples;
  int16_t* coefs;
  int64_t pitch;
  uint32_t width, height;
  uint32_t step;  // samples from one to the next
  uint32_t blocks_across, blocks_down;
  uint32_t first_block;  // among those of all planes, or UINT32_MAX
  Divider by_across;
  bool is_bytes;
  bool is_aligned;  // whether rows of eight samples are, and nothing lies between them
};

struct ApvForwardParams {
  ApvForwardPlaneParams planes[kMaxApvComponents];
  uint32_t blocks;  // of all planes
  int32_t depth, shift;
};

inline void apv_forward_accesses(const ApvForwardParams& params, AccessList* list) {
  for (const ApvForwardPlaneParams& plane : params.planes) {
    if (plane.first_block == UINT32_MAX) continue;
    constexpr int64_t kBlockBytes = 64 * sizeof(int16_t);
    const int64_t row_samples = int64_t{plane.step} * (plane.width - 1) + 1;
    list->add(plane.samples, plane.pitch, (plane.is_bytes ? 1 : 2) * row_samples, plane.height,
              false);
    list->add_bytes(plane.coefs, kBlockBytes * plane.blocks_across * plane.blocks_down, true);
  }
}

// ---- Entropy coding ----

inline constexpr uint32_t kApvCodeThreads = 256;
inline constexpr uint32_t kApvCodeWarps = kApvCodeThreads / 32;
// Quantization parameters that one launch measures.
inline constexpr uint32_t kMaxApvMeasured = 8;

struct ApvCodePlane {
  const int16_t* coefs;  // not quantized
  uint32_t blocks_across, mb_blocks_across;
  uint32_t first_block;  // among those of all planes
  int32_t rounding;
  uint8_t weights[64];  // in coding order
};

// What is known of a block once those before it have been counted.
struct ApvCodedBlock {
  uint32_t bit;        // its first one in its chain
  int32_t difference;  // of DC
  uint8_t dc_parameter, coef_parameter;
};

// The host reads it, and the bytes of chains after it.
struct ApvPlaced {
  uint64_t size;  // bytes up to the last tile's end
  uint32_t fits;
  uint32_t unused;
};

struct ApvCodeParams {
  ApvCodePlane planes[kMaxApvComponents];
  uint8_t qp[kMaxApvMeasured][kMaxApvComponents];  // only one where it is coded
  int32_t depth;
  uint32_t components, chains;
  uint32_t mbs_across, mbs_down, tile_mbs_across, tile_mbs_down, tile_columns;
  ApvCodedBlock* blocks;
  uint64_t all_blocks;
  uint64_t* totals;        // of a quantization parameter each, only where it is measured
  uint32_t* chain_bytes;   // of each chain
  uint32_t* positions;     // likewise, in the output
  uint32_t* coded_chains;  // zero before and after
  ApvPlaced* placed;
  uint32_t begin_bytes, tile_header_bytes;
  uint8_t* output;  // zero
  uint64_t capacity;
};

inline void apv_code_accesses(const ApvCodeParams& params, bool writes, AccessList* list) {
  constexpr int64_t kBlockBytes = 64 * sizeof(int16_t);
  // The planes follow each other.
  list->add_bytes(params.planes[0].coefs, kBlockBytes * static_cast<int64_t>(params.all_blocks),
                  false);
  if (writes) list->add_bytes(params.output, static_cast<int64_t>(params.capacity), true);
}

}  // namespace cudatransform::cuda
