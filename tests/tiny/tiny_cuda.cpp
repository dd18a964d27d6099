// The tiny transform on a CUDA device: a launch a component.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>

#include "cuda/device/queue.h"
#include "tests/tiny/tiny.h"

extern "C" const unsigned char cuda_image_tiny[];

namespace cudatransform::test {
namespace {

// As many numbers as any transform has.
constexpr uint32_t kNumbers = 1024;

const cuda::KernelFamily& tiny_kernels() {
  static const auto names = [] {
    std::array<const char*, kNumbers> all;
    all.fill("tiny_xor");
    return all;
  }();
  static const cuda::KernelImage images[] = {{cuda_image_tiny, names.data(), kNumbers}};
  static const cuda::KernelFamily family(images);
  return family;
}

struct Slot final : cuda::StreamQueue::Kept {
  uint32_t next = 0;
};

Status submit(Device& device, Queue& queue, const TinyJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&queue);
  if (device.is_host() || stream == nullptr)
    return Status::error(StatusCode::kInvalidArgument, "not a CUDA device");
  for (int c = 0; c < job.components; ++c) {
    const SamplePlane &from = job.from[c], &to = job.to[c];
    TinyParams params = {static_cast<const uint8_t*>(from.data),
                         static_cast<uint8_t*>(to.data),
                         from.pitch,
                         to.pitch,
                         from.width,
                         from.height,
                         job.mask};
    const int64_t samples = int64_t{from.width} * from.height;
    const auto ctas = static_cast<unsigned>((samples + kTinyThreads - 1) / kTinyThreads);
    const uint32_t number = stream->kept<Slot>().next++ % kNumbers;
    CT_RETURN_IF_ERROR(stream->launch({tiny_kernels(), number}, ctas, kTinyThreads, params, false));
  }
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace

const TinyOps& cuda_tiny_ops() {
  static constexpr TinyOps kOps = {"cuda", submit};
  return kOps;
}

}  // namespace cudatransform::test
