// Limited-range video to full range, as jobs over the planes of a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T H.273, clause 8.3, VideoFullRangeFlag: samples of 8 bits have black at 16 and white at 235,
// chroma from 16 to 240 around 128, and at greater depths as many times that. JPEG has black at 0,
// white at 2^depth - 1, and chroma of all values. Every engine offers a RangeOps; all of them write
// the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform {

inline constexpr int kMinRangeDepth = 8, kMaxRangeDepth = 12;

// A plane in memory before and after: samples of one component, or of two that are interleaved.
// Addresses are the engine's. Samples of 8 bits are bytes, deeper ones words of 16 bits.
struct RangePlane {
  const void* from = nullptr;
  void* to = nullptr;
  ptrdiff_t from_pitch = 0, to_pitch = 0;  // bytes from one row to the next
  int32_t samples = 0;                     // in a row, of all its components
  int32_t rows = 0;
  bool is_chroma = false;  // Cb, Cr or both; else Y, or one of R, G and B
};

struct RangeJob {
  int depth = 8;  // kMinRangeDepth to kMaxRangeDepth
  int shift = 0;  // above 8 bits: the left shift of samples in their words (P012: 4)
  int planes = 0;
  RangePlane plane[kMaxComponents];
};

// Checks everything that an engine relies on; no memory that is written overlaps other memory.
Status validate(const RangeJob& job);

// The operation of one engine. The call returns immediately; `fence` (may be null) is done when
// outputs are complete.
struct RangeOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const RangeJob& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch) for bytes, oneTBB over strips of rows.
const RangeOps& host_range_ops();

// The same in portable C++. The vector code is tested against it, and takes from it rows that are
// shorter than a vector.
const RangeOps& portable_range_ops();

}  // namespace cudatransform
