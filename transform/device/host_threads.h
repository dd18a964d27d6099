// The thread pool of a host device, for the CPU engine's transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <tbb/task_arena.h>

#include <exception>
#include <new>
#include <string>

#include "transform/device/device.h"

namespace cudatransform {

// Null when `device` was not made by make_host_device().
tbb::task_arena* host_arena(Device& device);

// Calls work(arena), which returns a Status, with the thread pool of a host device. What it throws
// becomes one: `no_memory` where that is std::bad_alloc.
template <typename Work>
Status run_on_host(Device& device, const char* no_memory, const Work& work) {
  tbb::task_arena* arena = host_arena(device);
  if (arena == nullptr) {
    return Status::error(StatusCode::kInvalidArgument,
                         std::string("the CPU engine cannot work on ") + device.name());
  }
  try {
    return work(*arena);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, no_memory);
  } catch (const std::exception& error) {
    return Status::error(StatusCode::kFailed,
                         std::string("the CPU engine failed: ") + error.what());
  }
}

}  // namespace cudatransform
