// Shared by the benchmark programs for devices: checked statuses, and bytes to copy.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>

#include "transform/device/device.h"

namespace cudatransform::bench {

// Throws std::runtime_error.
inline void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message);
}

// Consecutive bytes.
inline Copy2D copy_of(void* to, const void* from, size_t bytes) {
  const auto pitch = static_cast<ptrdiff_t>(bytes);
  return {to, pitch, from, pitch, bytes, 1};
}

}  // namespace cudatransform::bench
