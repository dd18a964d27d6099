// The CUDA engine's JPEG encoder: the launches of a scan, and their memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/jpeg/engine.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cuda/common/batch_launch.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/jpeg/encode_params.h"
#include "cuda/jpeg/kernels.h"
#include "transform/picture_check.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(encode_kernels, CT_JPEG_ENCODE_IMAGES)

namespace {

enum Kernel : uint32_t { kCodeTiles, kWriteTiles, kCountSymbols, kCodeBatch, kWriteBatch };

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
  return queue.launch(KernelKey{encode_kernels(), kernel}, params.layout.tiles, kEncodeThreads,
                      params, false);
}

EncodeParams params_of(const JpegEncodeJob& job) {
  EncodeParams params = {};
  params.layout = job.layout;
  std::copy(std::begin(job.qcoefs), std::end(job.qcoefs), params.qcoefs);
  return params;
}

constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Scratch memory holds the kernels' messages to each other, the tiles, and their words. A tile
// takes up to two words more than its bits, so if words do not fit, the file does not either.
struct Scratch {
  static constexpr size_t kPlaced = aligned(sizeof(JpegEncodeResult));
  explicit Scratch(const JpegEncodeJob& job) : tiles(aligned(job.layout.tiles * sizeof(JpegTile))) {
    // More than all bits that a scan may have are never used.
    const uint64_t max_bytes = std::min<uint64_t>(job.capacity, uint64_t{1} << 29);
    words = max_bytes / 4 + uint64_t{2} * job.layout.tiles;
  }
  size_t bytes() const { return kPlaced + tiles + aligned(words * sizeof(uint32_t)); }
  void place(CUdeviceptr at, EncodeParams* params) const {
    params->placed = reinterpret_cast<JpegEncodeResult*>(at);
    params->tiles = reinterpret_cast<JpegTile*>(at + kPlaced);
    params->words = reinterpret_cast<uint32_t*>(at + kPlaced + tiles);
    params->max_words = static_cast<uint32_t>(words);
  }

  size_t tiles;
  uint64_t words;
};

// All but the codes, and memory that is zero.
EncodeParams params_for(const JpegEncodeJob& job, const Scratch& scratch, CUdeviceptr at) {
  EncodeParams params = params_of(job);
  scratch.place(at, &params);
  params.result = job.result;
  params.output = job.output;
  params.capacity = job.capacity;
  return params;
}

Status encode(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job, false));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  const Scratch scratch(job);
  CUdeviceptr at = 0, zeroed = 0;
  CT_RETURN_IF_ERROR(stream->scratch(scratch.bytes(), &at));
  CT_RETURN_IF_ERROR(stream->zeroed(sizeof(EncodeProgress), &zeroed));
  EncodeParams params = params_for(job, scratch, at);
  params.progress = reinterpret_cast<EncodeProgress*>(zeroed);
  CT_RETURN_IF_ERROR(find_codes(device, *stream, *job.codes, &params.codes));
  CT_RETURN_IF_ERROR(launch(*stream, kCodeTiles, params));
  CT_RETURN_IF_ERROR(launch(*stream, kWriteTiles, params));
  return fence != nullptr ? stream->record(fence) : Status{};
}

Status count(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job, true));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
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

Status encode_jpeg_batch(Device& device, Queue& queue, std::span<const JpegEncodeJob> jobs) {
  if (jobs.size() == 1) return encode(device, queue, jobs[0], nullptr);
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  if (jobs.size() > kMaxEncodeJobs)
    return job_error(text(static_cast<int64_t>(jobs.size())) +
                     " pictures in a batch, expected at most " + text(kMaxEncodeJobs));
  size_t bytes = 0;
  for (const JpegEncodeJob& job : jobs) {
    CT_RETURN_IF_ERROR(validate(job, false));
    bytes += Scratch(job).bytes();
  }
  CUdeviceptr at = 0, zeroed = 0;
  CT_RETURN_IF_ERROR(stream->scratch(bytes, &at));
  static_assert(kMaxEncodeJobs * sizeof(EncodeProgress) <= 4096, "of zeroed()");
  CT_RETURN_IF_ERROR(stream->zeroed(kMaxEncodeJobs * sizeof(EncodeProgress), &zeroed));
  auto* progress = reinterpret_cast<EncodeProgress*>(zeroed);
  Batch<EncodeParams> batch;
  for (const JpegEncodeJob& job : jobs) {
    const Scratch scratch(job);
    EncodeParams params = params_for(job, scratch, at);
    params.progress = progress++;
    CT_RETURN_IF_ERROR(find_codes(device, *stream, *job.codes, &params.codes));
    batch.add(kCodeBatch, job.layout.tiles, params);
    at += scratch.bytes();
  }
  CT_RETURN_IF_ERROR(batch.send(device, *stream));
  for (const uint32_t kernel : {kCodeBatch, kWriteBatch})
    CT_RETURN_IF_ERROR(batch.launch(*stream, encode_kernels(), kEncodeThreads, 0, 1,
                                    [kernel](uint32_t) { return kernel; }));
  return {};
}

}  // namespace cuda

const JpegEncodeOps& cuda_jpeg_encode_ops() {
  static constexpr JpegEncodeOps kOps = {"cuda", cuda::encode, cuda::count};
  return kOps;
}

Status probe_cuda_jpeg_encode_kernels(Device& device) {
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&device.queue(QueueKind::kCompute));
  CT_RETURN_IF_ERROR(cuda::check_queue(device, stream));
  return stream->load({cuda::encode_kernels(), cuda::kCodeTiles});
}

}  // namespace cudatransform
