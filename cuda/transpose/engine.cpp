// The CUDA engine's rotated and mirrored pixels: a launch for pictures with as many channels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/transpose/engine.h"

#include <algorithm>
#include <iterator>

#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/transpose/kernels.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(transpose_kernels, CT_TRANSPOSE_IMAGES)

namespace {

#define CT_CHANNELS(name, channels) channels,
constexpr int kChannels[] = {CT_TRANSPOSE_KERNELS(CT_CHANNELS)};
#undef CT_CHANNELS

TransposeView view_of(const TransposeJob& job) {
  TransposeView view = {};
  view.from = static_cast<const uint8_t*>(job.from);
  view.to = static_cast<uint8_t*>(job.to);
  view.from_pitch = job.from_pitch;
  view.to_pitch = job.to_pitch;
  view.width = job.width;
  view.height = job.height;
  view.by = job.orientation;
  view.across = divide_up(job.width, kTransposeTile);
  view.ctas = view.across * divide_up(job.height, kTransposeTile);
  view.by_across = make_divider(view.across);
  return view;
}

// The launches of one kernel.
class Launches {
 public:
  Launches(StreamQueue& queue, uint32_t kernel) : queue_(queue), kernel_(kernel) {}

  Status add(const TransposeJob& job) {
    if (params_.count == kMaxTransposePictures) CT_RETURN_IF_ERROR(send());
    const TransposeView view = view_of(job);
    params_.pictures[params_.count++] = view;
    ctas_ = std::max(ctas_, view.ctas);
    return {};
  }
  Status send() {
    if (params_.count == 0) return {};
    CT_RETURN_IF_ERROR(queue_.launch(KernelKey{transpose_kernels(), kernel_}, ctas_,
                                     kTransposeThreads, params_, true, params_.count));
    params_ = {};
    ctas_ = 0;
    return {};
  }

 private:
  StreamQueue& queue_;
  const uint32_t kernel_;
  TransposeParams params_ = {};
  uint32_t ctas_ = 0;
};

Status submit(Device& device, Queue& queue, std::span<const TransposeJob> jobs, FencePtr* fence) {
  for (const TransposeJob& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  for (uint32_t kernel = 0; kernel < std::size(kChannels); ++kernel) {
    Launches launches(*stream, kernel);
    for (const TransposeJob& job : jobs)
      if (job.channels == kChannels[kernel]) CT_RETURN_IF_ERROR(launches.add(job));
    CT_RETURN_IF_ERROR(launches.send());
  }
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

Status probe_cuda_transpose_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::transpose_kernels(), 0});
}

const TransposeOps& cuda_transpose_ops() {
  static constexpr TransposeOps kOps = {"cuda", cuda::submit};
  return kOps;
}

}  // namespace cudatransform
