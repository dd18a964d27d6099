// The CUDA engine's JPEG encoder: the launches of a scan, and their memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/jpeg/engine.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/jpeg/encode_params.h"
#include "cuda/jpeg/kernels.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(encode_kernels, CT_JPEG_ENCODE_IMAGES)

namespace {

enum Kernel : uint32_t { kCodeTiles, kWriteTiles, kCountSymbols };

// Codes on the device: those of the last job, which most have in common.
struct KeptCodes final : StreamQueue::Kept {
  Staging staging;
  JpegCodes codes;
  const void* address = nullptr;
};

Status find_codes(Device& device, StreamQueue& queue, const JpegCodes& codes,
                  const JpegCodes** address) {
  KeptCodes& kept = queue.kept<KeptCodes>();
  if (kept.address == nullptr || std::memcmp(&kept.codes, &codes, sizeof codes) != 0) {
    kept.address = nullptr;
    void* host = nullptr;
    CT_RETURN_IF_ERROR(kept.staging.begin(device, sizeof codes, &host));
    std::memcpy(host, &codes, sizeof codes);
    CT_RETURN_IF_ERROR(kept.staging.end(device, queue, &kept.address));
    kept.codes = codes;
  }
  *address = static_cast<const JpegCodes*>(kept.address);
  return {};
}

Status launch(StreamQueue& queue, Kernel kernel, EncodeParams& params) {
  void* arguments[] = {&params};
  return queue.launch(KernelKey{encode_kernels(), kernel}, params.layout.tiles, kEncodeThreads,
                      arguments, false);
}

Status not_cuda() {
  return Status::error(StatusCode::kInvalidArgument,
                       "the CUDA engine needs a CUDA device and one of its queues");
}

EncodeParams params_of(const JpegEncodeJob& job) {
  EncodeParams params = {};
  params.layout = job.layout;
  std::copy(std::begin(job.levels), std::end(job.levels), params.levels);
  return params;
}

// Scratch memory holds the kernels' messages to each other, the tiles, and their words. A tile
// takes up to two words more than its bits, so if words do not fit, the file does not either.
Status take_scratch(StreamQueue& queue, const JpegEncodeJob& job, EncodeParams* params) {
  constexpr size_t kAligned = 256;
  const auto aligned = [](size_t bytes) { return (bytes + kAligned - 1) & ~(kAligned - 1); };
  const size_t placed = kAligned;
  const size_t tiles = aligned(job.layout.tiles * sizeof(JpegTile));
  // More than all bits that a scan may have are never used.
  const uint64_t most_bytes = std::min<uint64_t>(job.capacity, uint64_t{1} << 29);
  const uint64_t words = most_bytes / 4 + uint64_t{2} * job.layout.tiles;
  CUdeviceptr scratch = 0, zeroed = 0;
  CT_RETURN_IF_ERROR(queue.scratch(placed + tiles + words * sizeof(uint32_t), &scratch));
  CT_RETURN_IF_ERROR(queue.zeroed(sizeof(EncodeProgress), &zeroed));
  params->placed = reinterpret_cast<JpegEncodeResult*>(scratch);
  params->tiles = reinterpret_cast<JpegTile*>(scratch + placed);
  params->words = reinterpret_cast<uint32_t*>(scratch + placed + tiles);
  params->most_words = static_cast<uint32_t>(words);
  params->progress = reinterpret_cast<EncodeProgress*>(zeroed);
  return {};
}

Status encode(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job, false));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  if (device.is_host() || stream == nullptr) return not_cuda();
  EncodeParams params = params_of(job);
  CT_RETURN_IF_ERROR(find_codes(device, *stream, *job.codes, &params.codes));
  CT_RETURN_IF_ERROR(take_scratch(*stream, job, &params));
  params.result = job.result;
  params.output = job.output;
  params.capacity = job.capacity;
  CT_RETURN_IF_ERROR(launch(*stream, kCodeTiles, params));
  CT_RETURN_IF_ERROR(launch(*stream, kWriteTiles, params));
  return fence != nullptr ? stream->record(fence) : Status{};
}

Status count(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job, true));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  if (device.is_host() || stream == nullptr) return not_cuda();
  EncodeParams params = params_of(job);
  CUdeviceptr counts = 0;
  CT_RETURN_IF_ERROR(stream->scratch(sizeof(JpegSymbolCounts), &counts));
  CT_RETURN_IF_ERROR(stream->clear(counts, sizeof(JpegSymbolCounts)));
  params.counts = reinterpret_cast<JpegSymbolCounts*>(counts);
  CT_RETURN_IF_ERROR(launch(*stream, kCountSymbols, params));
  CT_RETURN_IF_ERROR(stream->read_back(job.counts, counts, sizeof(JpegSymbolCounts)));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

const JpegEncodeOps& cuda_jpeg_encode_ops() {
  static constexpr JpegEncodeOps kOps = {"cuda", cuda::encode, cuda::count};
  return kOps;
}

Status probe_cuda_jpeg_encode_kernels(Device& device) {
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&device.queue(QueueKind::kCompute));
  if (stream == nullptr) return cuda::not_cuda();
  return stream->load({cuda::encode_kernels(), cuda::kCodeTiles});
}

}  // namespace cudatransform
