// The CPU engine's motion compensation, for whoever has made a host device
// (transform/device/host_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/obmc/obmc.h"

namespace cudatransform {

// In portable C++, a component after the other.
const ObmcOps& portable_obmc_ops();

}  // namespace cudatransform
