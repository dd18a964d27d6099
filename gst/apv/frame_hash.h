// The MD5s of the planes that an access unit is decoded to, as OpenAPV writes and checks them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>

#include "apv/bits.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

inline constexpr size_t kApvHashBytes = 16;  // of a component

// Decodes the primary frame of `unit` on `host`, a host device; `*hashes` are of each component.
Status hash_apv_frame(Device& host, std::span<const uint8_t> unit, ApvBytes* hashes);

}  // namespace cudatransform
