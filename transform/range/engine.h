// The CPU engine's range conversion, on a host device (transform/device/host_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/range/range.h"

namespace cudatransform {

// The CPU engine: Highway (run-time dispatch) for bytes, oneTBB over strips of rows.
const RangeOps& host_range_ops();

// The same in portable C++. The vector code is tested against it, and takes from it rows that are
// shorter than a vector.
const RangeOps& portable_range_ops();

// A row of bytes. Reads and writes nothing beside `count` samples.
using RangeRow = void (*)(const uint8_t* from, uint8_t* to, size_t count);
struct RangeRows {
  RangeRow luma, chroma;
};
const RangeRows& portable_range_rows();
// For the CPU at hand, or null where vectors have one lane.
const RangeRows* vector_range_rows();

}  // namespace cudatransform
