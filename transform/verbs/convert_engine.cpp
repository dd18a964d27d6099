// The CPU engine's conversions of coefficients: rows of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/verbs/convert.h"

#include <atomic>

#include "transform/device/host_threads.h"
#include "transform/verbs/conversions.h"

namespace cudatransform {

namespace {

// Row `y` of blocks.
CoefRow row_of(const CoefArray& array, CoefArrangement arrangement, int64_t y) {
  const int64_t rows = arrangement == CoefArrangement::kPlane ? 8 : 1;
  return {arrangement, static_cast<uint8_t*>(array.data) + y * rows * array.pitch, array.pitch,
          array.blocks_h * array.pitch};
}

Status convert(const ConvertJob& job, HostThreads& threads) {
  const ConvertRow convert_row = convert_rows()[conversion_of(job.from_kinds, job.to_kinds)];
  int64_t rows = 0;
  for (int c = 0; c < job.components; ++c) rows += job.from[c].blocks_h;
  std::atomic<uint64_t> saturated = 0;
  threads.for_each(rows, [&](int64_t y) {
    int c = 0;
    for (; y >= job.from[c].blocks_h; ++c) y -= job.from[c].blocks_h;
    const uint64_t count = convert_row(row_of(job.from[c], job.from_kinds.arrangement, y),
                                       row_of(job.to[c], job.to_kinds.arrangement, y),
                                       job.from[c].blocks_w, table_of(job, c).q);
    if (count != 0) saturated += count;
  });
  // Others read it meanwhile.
  if (job.saturated != nullptr) std::atomic_ref(*job.saturated) += saturated;
  return {};
}

Status submit(Device& device, Queue& queue, const ConvertJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for a conversion",
                                 [&](HostThreads& threads) { return convert(job, threads); }));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

const ConvertOps& host_convert_ops() {
  static constexpr ConvertOps kOps = {"cpu", submit};
  return kOps;
}

}  // namespace cudatransform
