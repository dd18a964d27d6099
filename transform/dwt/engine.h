// The CPU engine's wavelet transforms, on a host device (transform/device/host_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/dwt/dwt.h"

namespace cudatransform {

// The CPU engine: Highway (run-time dispatch), oneTBB over stripes of
// components.
const DwtOps& host_dwt_ops();

// The same in portable C++ alone, one component and one step at a time: the SIMD code is tested
// against it.
const DwtOps& portable_dwt_ops();

}  // namespace cudatransform
