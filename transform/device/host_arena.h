// The thread pool of a host device, for the CPU engine's transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <tbb/task_arena.h>

#include "transform/device/device.h"

namespace cudatransform {

// Null when `device` was not made by make_host_device().
tbb::task_arena* host_arena(Device& device);

}  // namespace cudatransform
