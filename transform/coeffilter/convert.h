// Coefficients in another arrangement, of another type, or dequantized, as a job.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/coeffilter/coefs.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/device/device.h"

namespace cudatransform {

// One side of a conversion.
struct CoefKinds {
  CoefNumber number = CoefNumber::kS16;
  CoefArrangement arrangement = CoefArrangement::kBlock;
  // Quantized coefficients, which are kS16 or kS32; otherwise values, which are kS32, kF32 or kF16.
  bool quantized = true;
};

struct ConvertJob {
  CoefKinds from_kinds, to_kinds;
  int components = 0;
  CoefArray from[kMaxCoefArrays], to[kMaxCoefArrays];
  // Natural order. Values that become quantized coefficients are divided by to[].table, entries 1
  // to 65535; quantized coefficients that become values are multiplied by from[].table, 0 to 65535.
  // Else they do not matter.
  QuantTable tables[kMaxCoefArrays];
  // Host memory (CUDA: pinned), or null. The engine adds how many numbers it has saturated.
  uint64_t* saturated = nullptr;
  Timer* timer = nullptr;
};

// Checks everything that an engine relies on. Engines call it first.
Status validate(const ConvertJob& job);

// The operations of one engine. submit() returns immediately; `fence` (may be null) is done when
// the output is complete. Padding bytes of its pitch are never written. Both sides do not overlap.
struct ConvertOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const ConvertJob& job, FencePtr* fence);
};

const ConvertOps& host_convert_ops();

}  // namespace cudatransform
