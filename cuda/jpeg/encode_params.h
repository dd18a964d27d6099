// Parameters of the kernels of JPEG's entropy coding.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/encode_bits.h"
#include "jpeg/encode_scan.h"

namespace cudatransform::cuda {

// ---- Tuning ----

inline constexpr uint32_t kEncodeThreads = 256;
inline constexpr uint32_t kEncodeWarps = kEncodeThreads / 32;
inline constexpr uint32_t kBlocksPerWarp = kJpegTileBlocks / kEncodeWarps;
// CTAs that an SM should hold. With a sixth one a thread has too few registers: what it spills
// costs more than the sixth hides. A Turing GPU has room for four.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int kEncodeCtas = 4;
#else
inline constexpr int kEncodeCtas = 5;
#endif

// ---- Parameters ----

// Shared by the CTAs of a picture; zero before and after.
struct EncodeProgress {
  uint32_t words;   // of memory for tiles that have been taken
  uint32_t tiles;   // that have been coded
  uint32_t faults;  // of them
};

struct EncodeParams {
  JpegScanLayout layout;
  JpegEncodePlane qcoefs[kJpegMaxComponents];
  const JpegCodes* codes;
  JpegTile* tiles;  // layout.tiles of them
  uint32_t* words;  // of tiles
  uint32_t max_words;
  EncodeProgress* progress;
  JpegEncodeResult* placed;  // for the second kernel
  JpegEncodeResult* result;  // for the host
  uint8_t* output;
  uint64_t capacity;
  JpegSymbolCounts* counts;
};

}  // namespace cudatransform::cuda
