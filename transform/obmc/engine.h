// The CPU engine's motion compensation, on a host device (transform/device/host_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/obmc/obmc.h"

namespace cudatransform {

// The CPU engine: Highway (run-time dispatch), oneTBB over stripes of components.
const ObmcOps& host_obmc_ops();

// The same in portable C++ alone, a row after the other. The vector code is tested against it, and
// jobs whose sums do not fit its lanes fall back to it.
const ObmcOps& portable_obmc_ops();

}  // namespace cudatransform
