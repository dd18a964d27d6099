// The CPU engine's RGB, on a host device (transform/device/host_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/rgb/rgb.h"

namespace cudatransform {

// The CPU engine: Highway (run-time dispatch), oneTBB over strips of rows.
const RgbOps& host_rgb_ops();

// The same with rows in portable C++. The vector code is tested against it, and takes from it rows
// that are shorter than a vector.
const RgbOps& portable_rgb_ops();

}  // namespace cudatransform
