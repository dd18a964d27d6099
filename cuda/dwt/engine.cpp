// The CUDA engine's wavelet transforms: the launches of a job, and their order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/engine.h"

#include "cuda/device/queue.h"
#include "cuda/dwt/plan.h"

namespace cudatransform {
namespace cuda {
namespace {

// Scratch memory starts with the sums.
constexpr size_t kSumsBytes = 256;

// Kept with the queue: too large for a stack.
struct KeptLaunch final : StreamQueue::Kept {
  DwtLaunch launch;
};

Status submit_plan(StreamQueue& queue, DwtPlan plan) {
  DwtLaunch& launch = queue.kept<KeptLaunch>().launch;
  while (plan.next(&launch)) {
    void* arguments[] = {launch.is_pass ? static_cast<void*>(&launch.pass)
                                        : static_cast<void*>(&launch.fused)};
    CT_RETURN_IF_ERROR(queue.launch(KernelKey{dwt_kernels(), launch.kernel}, launch.ctas,
                                    kDwtThreads, arguments, launch.waits_itself));
  }
  return {};
}

Status submit_launches(StreamQueue& queue, const DwtJob& job, DwtKernelChoice choice) {
  CUdeviceptr scratch = 0;
  CT_RETURN_IF_ERROR(queue.scratch(kSumsBytes + dwt_scratch_bytes(job), &scratch));
  auto* const values = reinterpret_cast<uint8_t*>(scratch + kSumsBytes);
  PictureSums* sums = nullptr;
  if (job.measure != 0) {
    sums = reinterpret_cast<PictureSums*>(scratch);
    CT_RETURN_IF_ERROR(queue.clear(scratch, sizeof(PictureSums)));
  }
  CT_RETURN_IF_ERROR(submit_plan(queue, DwtPlan(job, job.direction, values, sums, false, choice)));
  if (job.direction == Direction::kForward && (job.measure & kMeasureSse) != 0)
    CT_RETURN_IF_ERROR(
        submit_plan(queue, DwtPlan(job, Direction::kInverse, values, sums, true, choice)));
  if (job.measure == 0) return {};
  return queue.read_back(job.sums, scratch, sizeof(PictureSums));
}

template <DwtKernelChoice kChoice>
Status submit(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(*stream));
  CT_RETURN_IF_ERROR(submit_launches(*stream, job, kChoice));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(*stream));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

Status probe_cuda_dwt_kernels(Device& device) {
  return cuda::probe_kernel(
      device,
      {cuda::dwt_kernels(), cuda::dwt_kernel_number(cuda::KernelKind::kRows, Wavelet::kLegall53,
                                                    Direction::kInverse, sizeof(int16_t), 1)});
}

const DwtOps& cuda_dwt_ops(cuda::DwtKernelChoice choice) {
  using cuda::DwtKernelChoice;
  static constexpr DwtOps kOps[] = {{"cuda", cuda::submit<DwtKernelChoice::kAuto>},
                                    {"cuda", cuda::submit<DwtKernelChoice::kSeparable>},
                                    {"cuda", cuda::submit<DwtKernelChoice::kOnePair>},
                                    {"cuda", cuda::submit<DwtKernelChoice::kTwoPairs>},
                                    {"cuda", cuda::submit<DwtKernelChoice::kFourPairs>}};
  return kOps[static_cast<size_t>(choice)];
}

}  // namespace cudatransform
