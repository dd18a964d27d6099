// The forward transform of APV (RFC 9924): samples of a frame to coefficients, quantized or not.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An integer 8x8 DCT, rows first. forward_arithmetic.h defines every bit of it, and all engines
// give the same coefficients.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/apv/apv.h"
#include "transform/device/device.h"
#include "transform/device/status.h"
#include "transform/picture.h"

namespace cudatransform {

inline constexpr int kMaxApvStep = 4;

// How a component is quantized.
struct ApvQuantization {
  uint8_t matrix[64];  // weights row by row, not 0
  int qp = 0;          // 0 to max_apv_qp(depth)
  // What is added before coefficients are rounded down, in 1/512 of a step: 256 rounds.
  int rounding = 256;
};

// A component of a frame. Addresses are the engine's.
struct ApvForwardPlane {
  // Bytes, or 16 bits with the sample above the `shift` lowest ones. Samples above the depth's are
  // clipped. The last column and row are repeated up to the last block.
  const void* samples = nullptr;
  SampleType type = SampleType::kU16;
  ptrdiff_t pitch = 0;  // bytes
  int32_t step = 1;     // 1 to kMaxApvStep samples from one to the next, of interleaved components
  int32_t width = 0, height = 0;
  // Blocks of 64 coefficients in coding order (ApvScan); blocks side by side, and rows of
  // blocks one below the other, without gaps. Aligned to 16 bytes.
  int16_t* coefs = nullptr;
  int32_t blocks_across = 0, blocks_down = 0;
  ApvQuantization quantization;
};

struct ApvForwardJob {
  int depth = 0;  // kMinApvDepth to kMaxApvDepth; bytes are shifted up to it
  int shift = 0;  // 0 to 16 - depth
  bool is_quantized = true;
  int components = 0;
  ApvForwardPlane plane[kMaxApvComponents];
};

// Checks everything that an engine relies on.
Status validate(const ApvForwardJob& job);

// The operation of one engine. The call returns immediately; `fence` (may be null) is done when the
// coefficients are complete.
struct ApvForwardOps {
  const char* name;
  bool quantizes;  // otherwise jobs must not be quantized
  Status (*submit)(Device& device, Queue& queue, const ApvForwardJob& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch), oneTBB over rows of blocks.
const ApvForwardOps& host_apv_forward_ops();

// The same in portable C++, against which the vector code is tested.
const ApvForwardOps& portable_apv_forward_ops();

// ---- On the caller's thread ----

// Factors of a quantizer, row by row.
struct ApvQuantizer {
  alignas(64) uint32_t factor[64];
  uint64_t round;
  int shift;
  bool is_wide;  // products of more than 32 bits
};
ApvQuantizer make_apv_quantizer(const ApvQuantization& quantization, int depth);

// Transforms blocks `first` to `end` - 1 of row `row` of a plane of a valid job, to consecutive
// blocks at `coefs`. `quantizer`: null for none.
void transform_apv_blocks(const ApvForwardJob& job, const ApvForwardPlane& plane,
                          const ApvQuantizer* quantizer, int32_t row, int32_t first, int32_t end,
                          int16_t* coefs);

}  // namespace cudatransform
