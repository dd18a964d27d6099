// What every CPU engine does around a wavelet job: checks, timing, errors, the fence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/run.h"

#include "transform/device/host_arena.h"

namespace cudatransform {

Status run_dwt(Device& device, Queue& queue, const DwtJob& job, DwtWork work, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  PictureSums sums = {};
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for the wavelet transform",
                                 [&](tbb::task_arena& arena) -> Status {
                                   if (job.timer != nullptr)
                                     CT_RETURN_IF_ERROR(job.timer->begin(queue));
                                   work(job, arena, &sums);
                                   return {};
                                 }));
  if (job.measure != 0) *job.sums = sums;
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace cudatransform
