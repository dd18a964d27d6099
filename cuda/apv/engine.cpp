// The CUDA engine's part of APV: entropy decoding and the inverse transform, one launch each for
// all components of a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/apv/engine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "apv/frame.h"
#include "cuda/apv/kernels.h"
#include "cuda/device/cuda_device.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(apv_kernels, CT_APV_IMAGES)

Status check_block_count(const char* of, uint64_t count, uint64_t max) {
  if (count <= max) return {};
  return Status::error(StatusCode::kUnsupported, of + (" of " + std::to_string(count)) +
                                                     " blocks of 8x8, expected up to " +
                                                     std::to_string(max) + " on the CUDA engine");
}

namespace {

enum Kernel : uint32_t { kInverse, kEntropy };

// ---- The inverse transform ----

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
  }
  // Dividends stay below 2^31.
  CT_RETURN_IF_ERROR(check_block_count("a frame", blocks, INT32_MAX - kApvInverseThreads));
  params.blocks = static_cast<uint32_t>(blocks);
  CT_RETURN_IF_ERROR(stream->launch(KernelKey{apv_kernels(), kInverse},
                                    divide_up(params.blocks, kApvInverseThreads),
                                    kApvInverseThreads, params, false));
  return fence != nullptr ? stream->record(fence) : Status{};
}

// ---- Entropy decoding ----

constexpr size_t kAlignment = 16;
size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

size_t chain_bytes(const ApvFrame& frame) {
  return aligned(frame.chain_count() * sizeof(ApvChainInfo));
}
size_t block_bytes(const ApvFrame& frame) {
  return chain_bytes(frame) + aligned(frame.payload().size());
}
size_t result_bytes(const ApvFrame& frame) { return frame.chain_count() * sizeof(uint32_t); }
// Of the device: the block and the results.
size_t scratch_bytes(const ApvFrame& frame) {
  return block_bytes(frame) + aligned(result_bytes(frame));
}

// Calls visit(tile, component, number of the chain, offset) for a job's chains, whose data the
// block has one after the other. Returns the bytes of all.
template <typename Visit>
uint32_t for_each_chain(const ApvEntropyJob& job, const Visit& visit) {
  uint32_t chain = 0, offset = 0;
  for (const ApvTile& tile : job.frame->tiles()) {
    for (int c = 0; c < job.frame->info().components(); ++c, ++chain) {
      if (tile.bytes[c] > job.max_bytes) continue;
      visit(tile, c, chain, offset);
      offset += tile.bytes[c];
    }
  }
  return offset;
}

struct Extent {
  uint32_t chains = 0, bytes = 0;
};
Extent extent_of(const ApvEntropyJob& job) {
  Extent extent;
  extent.bytes =
      for_each_chain(job, [&](const ApvTile&, int, uint32_t, uint32_t) { ++extent.chains; });
  return extent;
}

// Writes the chains, the longest first.
void list_chains(const ApvEntropyJob& job, ApvChainInfo* to) {
  const ApvFrame& frame = *job.frame;
  ApvChainInfo* chain = to;
  for_each_chain(job, [&](const ApvTile& tile, int c, uint32_t number, uint32_t offset) {
    const auto first = static_cast<uint32_t>(frame.first_block(tile, c));
    *chain++ = {offset,
                tile.bytes[c],
                number,
                first,
                frame.blocks_across(c),
                tile.mbs_across,
                tile.mbs_down,
                frame.info().mb_blocks_across(c)};
  });
  std::stable_sort(to, chain, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

// Few frames: the shortest time. Many: the most throughput (H200), as long as there are enough
// warps.
uint32_t chains_of_warp(int in_flight, size_t chains) {
  constexpr size_t kMany = 25000;
  return in_flight <= 4 ? 1 : static_cast<size_t>(in_flight) * chains < kMany ? 2 : 4;
}

Status stage_entropy(const ApvEntropyJob& job, int part, int parts) {
  const ApvFrame& frame = *job.frame;
  const Extent all = extent_of(job);
  uint8_t* const data = job.block + chain_bytes(frame);
  const auto begin_of = [&](int i) {
    return uint64_t{all.bytes} * static_cast<uint64_t>(i) / static_cast<uint64_t>(parts);
  };
  const uint64_t begin = begin_of(part), end = begin_of(part + 1);
  for_each_chain(job, [&](const ApvTile& tile, int c, uint32_t, uint32_t offset) {
    if (offset >= begin && offset < end)
      std::memcpy(data + offset, frame.payload().data() + tile.offset[c], tile.bytes[c]);
  });
  if (part > 0) return {};
  std::fill(data + all.bytes, data + aligned(all.bytes), uint8_t{0});
  CT_RETURN_IF_ERROR(check_block_count("a frame", frame.info().blocks(), INT32_MAX));
  list_chains(job, reinterpret_cast<ApvChainInfo*>(job.block));
  return {};
}

// Sends a job's block, and clears the results. `block`: its device memory.
Status begin_entropy(StreamQueue& stream, const ApvEntropyJob& job, CUdeviceptr block,
                     ApvEntropyFrame* to) {
  const ApvFrame& frame = *job.frame;
  const Extent all = extent_of(job);
  const size_t data_at = chain_bytes(frame), bytes = data_at + aligned(all.bytes);
  CT_RETURN_IF_ERROR(stream.send(block, job.block, bytes));
  to->chains = reinterpret_cast<const ApvChainInfo*>(block);
  to->data = reinterpret_cast<const uint8_t*>(block + data_at);
  to->coefs = job.coefs;
  to->results = reinterpret_cast<uint32_t*>(block + bytes);
  to->data_bytes = bytes - data_at;
  to->coef_bytes = sizeof(int16_t) * frame.coef_count();
  to->chain_count = all.chains;
  return stream.clear(block + bytes, result_bytes(frame));
}

Status submit_entropy(Device& device, Queue& queue, std::span<const ApvEntropyJob> jobs,
                      int in_flight, FencePtr* done) {
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  static_assert(kMaxApvEntropyJobs <= kMaxApvEntropyFrames);
  if (jobs.empty() || jobs.size() > kMaxApvEntropyJobs) {
    return Status::error(StatusCode::kInvalidArgument, std::to_string(jobs.size()) +
                                                           " frames of a launch, expected 1 to " +
                                                           std::to_string(kMaxApvEntropyJobs));
  }
  size_t bytes = 0;
  for (const ApvEntropyJob& job : jobs) bytes += scratch_bytes(*job.frame);
  CUdeviceptr block = 0;
  // Batches differ in size, and growing waits for the device.
  CT_RETURN_IF_ERROR(stream->scratch(std::bit_ceil(bytes), &block));
  ApvEntropyParams params = {};
  params.frame_count = static_cast<uint32_t>(jobs.size());
  uint32_t chains = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    CT_RETURN_IF_ERROR(begin_entropy(*stream, jobs[i], block, &params.frames[i]));
    chains = std::max(chains, params.frames[i].chain_count);
    block += scratch_bytes(*jobs[i].frame);
  }
  params.chains_of_warp = chains_of_warp(in_flight, chains);
  const uint32_t of_cta = params.chains_of_warp * kApvEntropyWarps;
  CT_RETURN_IF_ERROR(stream->launch(KernelKey{apv_kernels(), kEntropy}, divide_up(chains, of_cta),
                                    kApvEntropyThreads, params, false, params.frame_count));
  for (size_t i = 0; i < jobs.size(); ++i) {
    const auto results = reinterpret_cast<CUdeviceptr>(params.frames[i].results);
    CT_RETURN_IF_ERROR(stream->read_back(jobs[i].results, results, result_bytes(*jobs[i].frame)));
  }
  return done != nullptr ? stream->record(done) : Status{};
}

}  // namespace
}  // namespace cuda

const ApvInverseOps& cuda_apv_inverse_ops() {
  static constexpr ApvInverseOps kOps = {"cuda", cuda::submit};
  return kOps;
}

Status probe_cuda_apv_kernels(Device& device) {
  CT_RETURN_IF_ERROR(cuda::probe_kernel(device, {cuda::apv_kernels(), cuda::kEntropy}));
  return cuda::probe_kernel(device, {cuda::apv_kernels(), cuda::kInverse});
}

const ApvEntropyOps& cuda_apv_entropy_ops() {
  static constexpr ApvEntropyOps kOps = {"cuda", cuda::block_bytes, make_cuda_queue,
                                         cuda::stage_entropy, cuda::submit_entropy};
  return kOps;
}

}  // namespace cudatransform
