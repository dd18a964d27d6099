// Memory for the sums that jobs measure.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/run_job.h"

namespace cudatransform::test {

std::unique_ptr<Memory> make_sums(const Engine& engine) {
  std::unique_ptr<Memory> memory;
  if (!engine.device->allocate(MemoryKind::kPinned, sizeof(PictureSums), &memory).ok()) return {};
  std::memset(memory->data(), 0xA5, sizeof(PictureSums));
  return memory;
}

}  // namespace cudatransform::test
