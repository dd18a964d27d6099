// Ordinary memory, as the host device has it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/device/device.h"

namespace cudatransform {

// Aligned to 64 bytes. kOutOfMemory where there is none. Any thread may call it.
Status allocate_host_memory(size_t bytes, std::unique_ptr<Memory>* memory);

}  // namespace cudatransform
