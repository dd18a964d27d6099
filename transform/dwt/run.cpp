// The frame around a wavelet job of every CPU engine: checks, timing, errors, the fence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/run.h"

#include <string>

#include "transform/dwt/bands.h"

namespace cudatransform {
namespace {

// The size limits the memory of a job: engines need as much again, or a part of it.
Status no_memory(const DwtJob& job) {
  int64_t bytes = 0;
  for (int c = 0; c < job.components; ++c)
    bytes += int64_t{dwt_padded_width(job.samples[c].width, job.levels)} *
             dwt_padded_height(job.samples[c].height, job.levels) *
             (job.type == DwtCoefType::kS16 ? 2 : 4);
  return Status::error(StatusCode::kOutOfMemory, "no host memory for a wavelet transform with " +
                                                     std::to_string(bytes) +
                                                     " bytes of coefficients");
}

}  // namespace

Status run_dwt(Device& device, Queue& queue, const DwtJob& job, DwtWork work, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  PictureSums sums = {};
  const Status status = run_on_host(device, "", [&](HostThreads& threads) -> Status {
    if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
    work(job, threads, &sums);
    return {};
  });
  if (status.code == StatusCode::kOutOfMemory) return no_memory(job);
  CT_RETURN_IF_ERROR(status);
  if (job.measure != 0) *job.sums = sums;
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace cudatransform
