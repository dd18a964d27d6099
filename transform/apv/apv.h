// The inverse transform of APV (RFC 9924): quantized coefficients of a frame to its samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An integer 8x8 DCT, columns first, with an intermediate result of 16 bits. arithmetic.h defines
// every bit of it, and all engines give the same samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

inline constexpr int kMaxApvComponents = 4;
inline constexpr int kMaxApvTiles = 20;  // columns, and rows
inline constexpr int kMinApvDepth = 10, kMaxApvDepth = 16;

// The largest quantization parameter of a depth.
constexpr int max_apv_qp(int depth) { return 3 + 6 * depth; }

// A component of a frame. Addresses are the engine's: host memory for the CPU engine, device memory
// for the CUDA engine.
struct ApvPlane {
  // Blocks of 64 quantized coefficients row by row; blocks side by side, and rows of blocks one
  // below the other, without gaps. Aligned to 16 bytes.
  const int16_t* coefs = nullptr;
  int32_t blocks_across = 0, blocks_down = 0;
  // Samples of 16 bits, shifted left by `shift`. Blocks are cropped on the right and below.
  void* samples = nullptr;
  ptrdiff_t pitch = 0;  // bytes, a multiple of 2
  int32_t width = 0, height = 0;
  // The size of a tile in blocks; the last ones may be smaller. A tile may exceed the component.
  int32_t tile_across = 0, tile_down = 0;
  uint8_t matrix[64];                       // weights, not 0
  uint8_t qp[kMaxApvTiles * kMaxApvTiles];  // of tile column + tile_columns * row
};

struct ApvInverseJob {
  int depth = 0;  // kMinApvDepth to kMaxApvDepth
  int shift = 0;  // 0 to 16 - depth
  int components = 0;
  int tile_columns = 0, tile_rows = 0;
  ApvPlane plane[kMaxApvComponents];
};

// Checks everything that an engine relies on.
Status validate(const ApvInverseJob& job);

// The operation of one engine. The call returns immediately; `fence` (may be null) is done when the
// samples are complete.
struct ApvInverseOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const ApvInverseJob& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch), oneTBB over rows of blocks.
const ApvInverseOps& host_apv_inverse_ops();

// The same in portable C++, against which the vector code is tested.
const ApvInverseOps& portable_apv_inverse_ops();

}  // namespace cudatransform
