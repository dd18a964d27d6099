// The CUDA engine's conversions of coefficients: which kernel a job gets, with which parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/verbs/convert_engine.h"

#include <algorithm>

#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/verbs/engine_check.h"
#include "cuda/verbs/kernels.h"
#include "cuda/verbs/params.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(convert_kernels, CT_CONVERT_IMAGES)

namespace {

// Returns the number of tiles, or 0 if there are too many for a grid.
uint32_t describe_planes(const ConvertJob& job, ConvertParams* params) {
  uint64_t tiles = 0;
  for (int c = 0; c < job.components; ++c) {
    const CoefArray &from = job.from[c], &to = job.to[c];
    ConvertPlane& plane = params->planes[c];
    plane.from = static_cast<uint8_t*>(from.data);
    plane.to = static_cast<uint8_t*>(to.data);
    plane.from_steps = steps_of(from, job.from_kinds.number, job.from_kinds.arrangement);
    plane.to_steps = steps_of(to, job.to_kinds.number, job.to_kinds.arrangement);
    plane.blocks_w = from.blocks_w;
    plane.blocks_h = from.blocks_h;
    plane.first = static_cast<uint32_t>(tiles);
    plane.across =
        static_cast<uint32_t>((int64_t{from.blocks_w} + kConvertBlocks - 1) / kConvertBlocks);
    plane.by_across = make_divider(plane.across);
    tiles += uint64_t{plane.across} * static_cast<uint32_t>(from.blocks_h);
    if (tiles > INT32_MAX) return 0;
    if (needs_tables(job)) std::copy_n(table_of(job, c).q, 64, params->divisors[c]);
  }
  return static_cast<uint32_t>(tiles);
}

Status submit(Device& device, Queue& queue, const ConvertJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  CT_RETURN_IF_ERROR(check_alignment(job));
  ConvertParams params = {};
  const uint32_t tiles = describe_planes(job, &params);
  if (tiles == 0) return Status::error(StatusCode::kInvalidArgument, "too many blocks");
  params.components = job.components;
  params.from = job.from_kinds.arrangement;
  params.to = job.to_kinds.arrangement;
  std::copy_n(kNaturalOfZigzag, 64, params.natural_of_zigzag);
  std::copy_n(kZigzagOfNatural, 64, params.zigzag_of_natural);
  static_assert(sizeof *params.saturated == sizeof *job.saturated);
  params.saturated = reinterpret_cast<unsigned long long*>(job.saturated);
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  void* arguments[] = {&params};
  const auto kernel = static_cast<uint32_t>(conversion_of(job.from_kinds, job.to_kinds));
  CT_RETURN_IF_ERROR(stream->launch(KernelKey{convert_kernels(), kernel}, tiles, kConvertThreads,
                                    arguments, true));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

Status probe_cuda_convert_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::convert_kernels(), kConversion_copy_16});
}

const ConvertOps& cuda_convert_ops() {
  static constexpr ConvertOps kOps = {"cuda", cuda::submit};
  return kOps;
}

}  // namespace cudatransform
