// Overlapped block motion compensation of Dirac as jobs: the half-sample positions of a reference,
// and a picture from its blocks, references and residual.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8. Every engine offers an ObmcOps; all of them write the
// same bytes. Sums are integers of at most 31 bits for every job that passes validate().
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform {

inline constexpr int kMaxObmcReferences = 2;
inline constexpr int kMaxObmcPrecision = 3;     // eighths of a sample
inline constexpr int kMaxObmcWeightBits = 8;    // of the denominator
inline constexpr int32_t kMaxObmcWeight = 255;  // either sign
inline constexpr int32_t kMaxObmcBlock = 256;   // luma samples on a side
inline constexpr int32_t kMaxObmcVector = 1 << 24;

// Sides of pictures: positions in eighths of a sample, plus a vector, fit 31 bits.
inline constexpr int32_t kMaxObmcSide = 1 << 20;

// The prediction of a block: a value for each component, or one or two references.
struct ObmcBlock {
  int32_t vector[kMaxObmcReferences][2] = {};  // x, y in luma samples >> precision
  int16_t dc[kMaxComponents] = {};             // around 0, which is mid-gray
  uint8_t references = 0;                      // bit 0: the first, bit 1: the second; 0: dc
};

// The samples of a reference at whole and half positions, each as large as the component. Number
// 2 * r + c has the positions r half rows below and c half columns right of the samples, so that
// number 0 is the reference itself. After the last sample there is no half position; there the
// others repeat the one before it.
struct ObmcReference {
  SamplePlane planes[kMaxComponents][4];
};

// Writes planes 1 to 3 of a reference from plane 0, of one component after the other.
struct UpsampleJob {
  int components = 0;              // 1 or 3
  int depth[kMaxComponents] = {};  // bits of a sample: 1 to 16
  ObmcReference reference;
};

// The findings of inspect_obmc_blocks() about the blocks of a job, ahead of time.
struct ObmcInspection {
  bool is_sound = false;         // vectors and references; false: not inspected
  bool has_byte_values = false;  // values of blocks without a reference: -128 to 127
};

struct ObmcJob {
  int components = 0;              // 1 or 3
  int depth[kMaxComponents] = {};  // bits of a sample: 1 to 16
  SamplePlane samples[kMaxComponents];
  // It has type kS16, sizes as samples[]; without data: zero.
  SamplePlane residual[kMaxComponents];

  // No blocks: nothing is predicted, and the fields below have no meaning. `blocks_across` of them
  // in a row of the grid, `blocks_down` rows, which cover the picture.
  const ObmcBlock* blocks = nullptr;  // in host memory
  // If this is set, blocks are in pinned memory, which is reusable when the fence that it receives
  // is done. For the CUDA engine.
  FencePtr* blocks_read = nullptr;
  ObmcInspection inspection;
  int32_t blocks_across = 0, blocks_down = 0;
  // For luma; chroma's are halved where it has half the samples. Multiples of 4, a length at least
  // its separation and at most twice.
  int32_t length_x = 0, length_y = 0;
  int32_t separation_x = 0, separation_y = 0;
  int chroma_shift_x = 0, chroma_shift_y = 0;  // 0 or 1
  int precision = 0;                           // of vectors, 0 (whole samples) to 3
  int weight_bits = 1;                         // 0 to kMaxObmcWeightBits
  int32_t weights[kMaxObmcReferences] = {1, 1};
  int reference_count = 0;
  ObmcReference references[kMaxObmcReferences];  // planes 1 to 3 where precision is not 0
};

// Checks everything that an engine relies on, the blocks included.
Status validate(const UpsampleJob& job);
Status validate(const ObmcJob& job);
// The checks of validate() that concern the blocks themselves, which take longer than the rest: a
// job of the same blocks with this inspection is not checked again. Uses blocks, their number, the
// number of references and components.
Status inspect_obmc_blocks(const ObmcJob& job, ObmcInspection* inspection);

// The operations of one engine. Calls return immediately; `fence` (may be null) is done when
// outputs are complete. The blocks have been read when the call returns, except as `blocks_read`
// says.
struct ObmcOps {
  const char* name;
  Status (*upsample)(Device& device, Queue& queue, const UpsampleJob& job, FencePtr* fence);
  Status (*compensate)(Device& device, Queue& queue, const ObmcJob& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch), oneTBB over stripes of components.
const ObmcOps& host_obmc_ops();

// The same in portable C++ alone, a row after the other. The vector code is tested against it, and
// jobs whose sums do not fit its lanes fall back to it.
const ObmcOps& portable_obmc_ops();

}  // namespace cudatransform
