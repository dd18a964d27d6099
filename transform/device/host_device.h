// The CPU as a Device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "transform/device/device.h"

namespace cudatransform {

// `threads` 0: one per core. Work is finished when a call returns; fences are done. Null where
// there is no memory for it.
std::unique_ptr<Device> make_host_device(int threads);

// ---- Ordinary memory, as the host device has it ----

// Aligned to 64 bytes. kOutOfMemory where there is none. Any thread may call it.
Status allocate_host_memory(size_t bytes, std::unique_ptr<Memory>* memory);

}  // namespace cudatransform
