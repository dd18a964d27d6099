// What every CPU engine does around a wavelet job: checks, timing, errors, the fence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/run.h"

#include <exception>
#include <new>
#include <string>

#include "transform/device/host_arena.h"

namespace cudatransform {

Status run_dwt(Device& device, Queue& queue, const DwtJob& job, DwtWork work, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  tbb::task_arena* arena = host_arena(device);
  if (arena == nullptr) {
    return Status::error(StatusCode::kInvalidArgument,
                         std::string("the CPU engine cannot work on ") + device.name());
  }
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  PictureSums sums = {};
  try {
    work(job, *arena, &sums);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no host memory for the wavelet transform");
  } catch (const std::exception& error) {
    return Status::error(StatusCode::kFailed,
                         std::string("the CPU engine failed: ") + error.what());
  }
  if (job.measure != 0) *job.sums = sums;
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace cudatransform
