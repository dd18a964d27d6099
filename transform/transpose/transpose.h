// Pixels rotated by right angles and mirrored, as jobs: Pillow's Image.transpose().
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform {

inline constexpr int32_t kMaxTransposeSide = 1 << 16;

// A picture of adjacent pixels. Addresses are the engine's.
struct TransposeJob {
  Orientation orientation;
  int channels = 3;               // bytes of a pixel: 1 or 3
  int32_t width = 0, height = 0;  // of the output
  const void* from = nullptr;     // height x width pixels where rows become columns
  ptrdiff_t from_pitch = 0;       // bytes from one row to the next
  void* to = nullptr;
  ptrdiff_t to_pitch = 0;

  int32_t from_width() const { return orientation.transposes ? height : width; }
  int32_t from_height() const { return orientation.transposes ? width : height; }
};

// Checks everything that an engine relies on; the output does not overlap the input.
Status validate(const TransposeJob& job);

// The operation of one engine, for pictures of any sizes, whose outputs do not overlap any of their
// memory. The call returns immediately; `fence` (may be null) is done when outputs are complete. If
// a job is refused, none is begun.
struct TransposeOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, std::span<const TransposeJob> jobs,
                   FencePtr* fence);
};

// On a host device (transform/device/host_device.h): oneTBB over strips of rows.
const TransposeOps& host_transpose_ops();

}  // namespace cudatransform
