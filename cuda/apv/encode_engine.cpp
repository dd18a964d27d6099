// The CUDA engine's encoder of APV: the forward transform, a launch for all components of a frame,
// and entropy coding, two launches for all of its chains.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <string>

#include "apv/block_code.h"
#include "cuda/apv/engine.h"
#include "cuda/apv/kernels.h"
#include "cuda/device/cuda_device.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "transform/apv/arithmetic.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(apv_encoder_kernels, CT_APV_ENCODER_IMAGES)

namespace {

enum Kernel : uint32_t { kForward, kCode, kMeasure, kWrite };

// ---- The forward transform ----

ApvForwardPlaneParams params_of(const ApvForwardPlane& plane) {
  ApvForwardPlaneParams params = {};
  params.samples = static_cast<const uint8_t*>(plane.samples);
  params.coefs = plane.coefs;
  params.pitch = plane.pitch;
  params.width = static_cast<uint32_t>(plane.width);
  params.height = static_cast<uint32_t>(plane.height);
  params.step = static_cast<uint32_t>(plane.step);
  params.blocks_across = static_cast<uint32_t>(plane.blocks_across);
  params.blocks_down = static_cast<uint32_t>(plane.blocks_down);
  params.by_across = make_divider(params.blocks_across);
  params.is_bytes = plane.type == SampleType::kU8;
  const int row_bytes = params.is_bytes ? 8 : 16;
  params.is_aligned =
      plane.step == 1 &&
      reinterpret_cast<uintptr_t>(plane.samples) % static_cast<uintptr_t>(row_bytes) == 0 &&
      plane.pitch % row_bytes == 0;
  return params;
}

Status submit_forward(Device& device, Queue& queue, const ApvForwardJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (job.is_quantized)
    return Status::error(StatusCode::kUnsupported, "the CUDA engine does not quantize here");
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  ApvForwardParams params = {};
  params.depth = job.depth;
  params.shift = job.shift;
  uint64_t blocks = 0;
  for (int c = 0; c < kMaxApvComponents; ++c) {
    ApvForwardPlaneParams& plane = params.planes[c];
    plane.first_block = UINT32_MAX;
    if (c >= job.components) continue;
    plane = params_of(job.plane[c]);
    plane.first_block = static_cast<uint32_t>(blocks);
    blocks += uint64_t{plane.blocks_across} * plane.blocks_down;
  }
  // Dividends stay below 2^31.
  CT_RETURN_IF_ERROR(check_block_count("a frame", blocks, INT32_MAX - kApvForwardThreads));
  params.blocks = static_cast<uint32_t>(blocks);
  CT_RETURN_IF_ERROR(stream->launch(KernelKey{apv_encoder_kernels(), kForward},
                                    divide_up(params.blocks, kApvForwardThreads),
                                    kApvForwardThreads, params, false));
  return fence != nullptr ? stream->record(fence) : Status{};
}

// ---- Entropy coding ----

uint64_t blocks_of_tile(const ApvFrameHeader& header) {
  return uint64_t{std::min(header.tile_mbs_across, header.info.mbs_across())} *
         std::min(header.tile_mbs_down, header.info.mbs_down()) * 4;
}

Status check(const ApvEncodeJob& job) {
  const ApvFrameHeader& header = job.format->header;
  constexpr int kAlignment = 16;
  if (job.coefs == nullptr || reinterpret_cast<uintptr_t>(job.coefs) % kAlignment != 0) {
    return Status::error(StatusCode::kInvalidArgument,
                         "coefficients not aligned to " + std::to_string(kAlignment) + " bytes");
  }
  // The bits of a chain are counted in 32, and so are the bytes of a unit.
  constexpr uint64_t kMaxBlockBits = kMaxApvBlockBits;
  CT_RETURN_IF_ERROR(
      check_block_count("a tile", blocks_of_tile(header), UINT32_MAX / kMaxBlockBits));
  CT_RETURN_IF_ERROR(
      check_block_count("a frame", header.info.blocks(), UINT32_MAX / (kMaxBlockBits / 8)));
  for (int c = 0; c < header.info.components(); ++c) {
    if (job.format->qp[c] > max_apv_qp(header.info.depth))
      return Status::error(StatusCode::kInvalidArgument, "quantization parameter out of range");
  }
  return {};
}

ApvCodeParams params_of(const ApvEncodeJob& job) {
  const ApvFrameHeader& header = job.format->header;
  const ApvForwardJob forward = apv_forward_job(*job.format, {});
  constexpr ApvScan kScan;
  ApvCodeParams params = {};
  uint32_t blocks = 0;
  for (int c = 0; c < forward.components; ++c) {
    const ApvForwardPlane& from = forward.plane[c];
    ApvCodePlane& plane = params.planes[c];
    plane.coefs = job.coefs + uint64_t{64} * blocks;
    plane.blocks_across = static_cast<uint32_t>(from.blocks_across);
    plane.mb_blocks_across = header.info.mb_blocks_across(c);
    plane.first_block = blocks;
    plane.rounding = from.quantization.rounding;
    for (int i = 0; i < 64; ++i) plane.weights[i] = from.quantization.matrix[kScan.place[i]];
    params.qp[0][c] = job.format->qp[c];
    blocks += static_cast<uint32_t>(header.info.blocks(c));
  }
  params.all_blocks = blocks;
  params.depth = header.info.depth;
  params.components = static_cast<uint32_t>(forward.components);
  params.chains = static_cast<uint32_t>(job.format->chain_count());
  params.mbs_across = header.info.mbs_across();
  params.mbs_down = header.info.mbs_down();
  params.tile_mbs_across = header.tile_mbs_across;
  params.tile_mbs_down = header.tile_mbs_down;
  params.tile_columns = static_cast<uint32_t>(header.tile_columns);
  params.begin_bytes = job.begin_bytes;
  params.tile_header_bytes = static_cast<uint32_t>(job.format->tile_header_bytes());
  params.output = job.output;
  params.capacity = job.capacity;
  return params;
}

Status launch(StreamQueue& queue, Kernel kernel, uint32_t ctas, ApvCodeParams& params) {
  return queue.launch(KernelKey{apv_encoder_kernels(), kernel}, ctas, kApvCodeThreads, params,
                      false);
}

constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

Status encode(Device& device, Queue& queue, const ApvEncodeJob& job, FencePtr* done) {
  CT_RETURN_IF_ERROR(check(job));
  // Chains end in words that others share.
  if (job.output == nullptr || reinterpret_cast<uintptr_t>(job.output) % sizeof(uint32_t) != 0 ||
      job.capacity % sizeof(uint32_t) != 0 || job.result == nullptr)
    return Status::error(StatusCode::kInvalidArgument, "output not aligned to 4 bytes");
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  ApvCodeParams params = params_of(job);
  static_assert(sizeof(ApvPlaced) == sizeof(ApvEncodeResult));
  const size_t result_bytes = apv_encode_result_bytes(params.chains);
  const size_t positions_at = aligned(result_bytes);
  const size_t blocks_at = positions_at + aligned(params.chains * sizeof(uint32_t));
  CUdeviceptr scratch = 0, zeroed = 0;
  CT_RETURN_IF_ERROR(
      stream->scratch(blocks_at + params.all_blocks * sizeof(ApvCodedBlock), &scratch));
  CT_RETURN_IF_ERROR(stream->zeroed(sizeof(uint32_t), &zeroed));
  params.placed = reinterpret_cast<ApvPlaced*>(scratch);
  params.chain_bytes = reinterpret_cast<uint32_t*>(scratch + sizeof(ApvPlaced));
  params.positions = reinterpret_cast<uint32_t*>(scratch + positions_at);
  params.blocks = reinterpret_cast<ApvCodedBlock*>(scratch + blocks_at);
  params.coded_chains = reinterpret_cast<uint32_t*>(zeroed);
  CT_RETURN_IF_ERROR(stream->clear(reinterpret_cast<CUdeviceptr>(job.output), job.capacity));
  CT_RETURN_IF_ERROR(launch(*stream, kCode, params.chains, params));
  const auto parts = static_cast<uint32_t>(
      (blocks_of_tile(job.format->header) + kApvCodeThreads - 1) / kApvCodeThreads);
  CT_RETURN_IF_ERROR(launch(*stream, kWrite, params.chains * parts, params));
  CT_RETURN_IF_ERROR(stream->read_back(job.result, scratch, result_bytes));
  return done != nullptr ? stream->record(done) : Status{};
}

Status measure(Device& device, Queue& queue, const ApvEncodeJob& job, std::span<const ApvQps> qps,
               uint64_t* bytes, FencePtr* done) {
  CT_RETURN_IF_ERROR(check(job));
  static_assert(kMaxApvMeasuredQps == kMaxApvMeasured);
  if (qps.empty() || qps.size() > kMaxApvMeasuredQps) {
    return Status::error(StatusCode::kInvalidArgument,
                         std::to_string(qps.size()) + " quantization parameters, expected 1 to " +
                             std::to_string(kMaxApvMeasuredQps));
  }
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  ApvCodeParams params = params_of(job);
  for (size_t i = 0; i < qps.size(); ++i)
    std::copy(std::begin(qps[i].qp), std::end(qps[i].qp), params.qp[i]);
  CUdeviceptr scratch = 0;
  const size_t total_bytes = qps.size() * sizeof(uint64_t);
  CT_RETURN_IF_ERROR(stream->scratch(total_bytes, &scratch));
  CT_RETURN_IF_ERROR(stream->clear(scratch, total_bytes));
  params.totals = reinterpret_cast<uint64_t*>(scratch);
  CT_RETURN_IF_ERROR(
      launch(*stream, kMeasure, params.chains * static_cast<uint32_t>(qps.size()), params));
  CT_RETURN_IF_ERROR(stream->read_back(bytes, scratch, total_bytes));
  return done != nullptr ? stream->record(done) : Status{};
}

}  // namespace
}  // namespace cuda

const ApvForwardOps& cuda_apv_forward_ops() {
  static constexpr ApvForwardOps kOps = {"cuda", false, cuda::submit_forward};
  return kOps;
}

Status probe_cuda_apv_encode_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::apv_encoder_kernels(), cuda::kCode});
}

const ApvEncodeOps& cuda_apv_encode_ops() {
  static const ApvEncodeOps kOps = {"cuda", &cuda_apv_forward_ops(), cuda::encode, cuda::measure};
  return kOps;
}

}  // namespace cudatransform
