// The CUDA engine's range conversion: one launch for all planes of a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/range/engine.h"

#include <string>

#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/range/kernels.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(range_kernels, CT_RANGE_IMAGES)

namespace {

constexpr uint32_t kBytesKernel = 0, kWordsKernel = 1;

bool is_aligned(const void* data, ptrdiff_t pitch) {
  return reinterpret_cast<uintptr_t>(data) % kRangeBytes == 0 && pitch % kRangeBytes == 0;
}

RangePlaneParams params_of(const RangeJob& job, const RangePlane& plane) {
  RangePlaneParams params = {};
  params.from = static_cast<const uint8_t*>(plane.from);
  params.to = static_cast<uint8_t*>(plane.to);
  params.from_pitch = plane.from_pitch;
  params.to_pitch = plane.to_pitch;
  params.row_bytes = plane.samples * (job.depth == 8 ? 1 : 2);
  params.rows = plane.rows;
  params.is_aligned =
      is_aligned(plane.from, plane.from_pitch) && is_aligned(plane.to, plane.to_pitch);
  const RangeScale& bytes = plane.is_chroma ? kByteChroma : kByteLuma;
  params.offset = static_cast<int32_t>(bytes.offset);
  params.factor = bytes.factor;
  params.fraction = bytes.fraction;
  params.by = range_scale(job.depth, plane.is_chroma);
  params.across = divide_up(params.row_bytes, int64_t{kRangeBytes} * kRangeThreads);
  params.by_across = make_divider(params.across);
  return params;
}

Status submit(Device& device, Queue& queue, const RangeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  RangeParams params = {};
  params.shift = job.shift;
  uint64_t ctas = 0;
  for (int p = 0; p < kMaxComponents; ++p) {
    RangePlaneParams& plane = params.planes[p];
    if (p < job.planes) plane = params_of(job, job.plane[p]);
    plane.first_cta = p < job.planes ? static_cast<uint32_t>(ctas) : UINT32_MAX;
    ctas += uint64_t{plane.across} * static_cast<uint64_t>(plane.rows);
  }
  if (ctas > INT32_MAX)
    return Status::error(StatusCode::kUnsupported,
                         "the frame has " + std::to_string(ctas) + " parts of rows of up to " +
                             std::to_string(kRangeBytes * kRangeThreads) +
                             " bytes, expected at most " + std::to_string(INT32_MAX) +
                             " on the CUDA engine");
  const uint32_t kernel = job.depth == 8 ? kBytesKernel : kWordsKernel;
  CT_RETURN_IF_ERROR(stream->launch(KernelKey{range_kernels(), kernel}, static_cast<uint32_t>(ctas),
                                    kRangeThreads, params, true));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

const RangeOps& cuda_range_ops() {
  static constexpr RangeOps kOps = {"cuda", cuda::submit};
  return kOps;
}

}  // namespace cudatransform
