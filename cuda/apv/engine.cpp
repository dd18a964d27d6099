// The CUDA engine's inverse transform of APV: one launch for all components of a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/apv/engine.h"
#include "cuda/apv/kernels.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(apv_inverse_kernels, CT_APV_INVERSE_IMAGES)

namespace {

ApvPlaneParams params_of(const ApvInverseJob& job, const ApvPlane& plane) {
  ApvPlaneParams params = {};
  params.coefs = plane.coefs;
  params.samples = static_cast<uint8_t*>(plane.samples);
  params.pitch = plane.pitch;
  params.coef_blocks_across = static_cast<uint32_t>(plane.blocks_across);
  params.blocks_across = static_cast<uint32_t>(plane.width + 7) / 8;
  params.blocks_down = static_cast<uint32_t>(plane.height + 7) / 8;
  params.width = plane.width;
  params.height = plane.height;
  params.by_across = make_divider(params.blocks_across);
  // Blocks' numbers are below 2^27.
  params.by_tile_across = make_divider(static_cast<uint32_t>(plane.tile_across));
  params.by_tile_down = make_divider(static_cast<uint32_t>(plane.tile_down));
  constexpr int kRowBytes = 16;
  params.is_aligned =
      reinterpret_cast<uintptr_t>(plane.samples) % kRowBytes == 0 && plane.pitch % kRowBytes == 0;
  params.max_weight = *std::max_element(std::begin(plane.matrix), std::end(plane.matrix));
  std::copy(std::begin(plane.matrix), std::end(plane.matrix), params.weights);
  std::copy_n(plane.qp, job.tile_columns * job.tile_rows, params.qp);
  return params;
}

Status submit(Device& device, Queue& queue, const ApvInverseJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  ApvInverseParams params = {};
  params.depth = job.depth;
  params.shift = job.shift;
  params.tile_columns = job.tile_columns;
  uint64_t blocks = 0;
  for (int c = 0; c < kMaxApvComponents; ++c) {
    ApvPlaneParams& plane = params.planes[c];
    plane.first_block = UINT32_MAX;
    if (c >= job.components) continue;
    plane = params_of(job, job.plane[c]);
    plane.first_block = static_cast<uint32_t>(blocks);
    blocks += uint64_t{plane.blocks_across} * plane.blocks_down;
    // Dividends stay below 2^31.
    if (blocks > INT32_MAX - kApvInverseThreads)
      return Status::error(StatusCode::kUnsupported, "the frame is too large for the CUDA engine");
  }
  params.blocks = static_cast<uint32_t>(blocks);
  void* arguments[] = {&params};
  CT_RETURN_IF_ERROR(stream->launch(KernelKey{apv_inverse_kernels(), 0},
                                    (params.blocks + kApvInverseThreads - 1) / kApvInverseThreads,
                                    kApvInverseThreads, arguments, false));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

const ApvInverseOps& cuda_apv_inverse_ops() {
  static constexpr ApvInverseOps kOps = {"cuda", cuda::submit};
  return kOps;
}

Status probe_cuda_apv_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::apv_inverse_kernels(), 0});
}

}  // namespace cudatransform
