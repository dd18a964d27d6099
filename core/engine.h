// An engine of the library: the CPU's threads and perhaps one CUDA device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "core/blocks.h"
#include "core/cudatransform.h"
#include "core/lanes.h"
#include "core/threads.h"
#include "transform/device/device.h"

namespace cudatransform::core {
class JpegItems;
}

struct CtEngine {
  CtEngine();
  ~CtEngine();

  pid_t process = 0;                              // that has made it
  std::shared_ptr<cudatransform::Device> host;    // of one thread: batches share threads otherwise
  std::shared_ptr<cudatransform::Device> device;  // of results: the CUDA device, or `host`
  std::shared_ptr<cudatransform::core::Blocks> blocks;  // of results on the device
  std::shared_ptr<cudatransform::core::Blocks> files;   // page-locked
  std::unique_ptr<cudatransform::core::Threads> threads;
  std::unique_ptr<cudatransform::core::Lanes> lanes;  // of a CUDA device
  const std::unique_ptr<cudatransform::core::JpegItems> items;
  std::mutex downloads;  // of the device's queue

  bool is_cuda() const { return !device->is_host(); }
};

namespace cudatransform::core {

// Copies rows of the device's memory, and waits.
Status copy_to_host(CtEngine& engine, void* to, int64_t to_pitch, const void* from,
                    int64_t from_pitch, size_t row_bytes, size_t rows);

// Tells a caller of the library.
CtCode tell(const Status& status, CtError* error);
CtCode code_of(StatusCode code);
void set_text(CtError* error, CtCode code, const std::string& text);
}  // namespace cudatransform::core
