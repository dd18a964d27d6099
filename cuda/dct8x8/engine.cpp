// The CUDA engine's 8x8 DCT: the launches of a job, and their order.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/dct8x8/engine.h"

#include <algorithm>

#include "cuda/common/batch_launch.h"
#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/plan.h"
#include "cuda/device/queue.h"

namespace cudatransform {
namespace cuda {
namespace {

struct KeptParams final : StreamQueue::Kept {
  FastParamsCache cache;
};

// The kernel that takes every job of its method and quantizer. Sums are in device memory, to which
// it only adds.
Status launch_general(StreamQueue& queue, const Dct8x8Job& job, PictureSums* sums) {
  DecidedParams params;
  CT_RETURN_IF_ERROR(make_general_params(job, sums, &params));
  InverseParams inverse;
  void* arguments[] = {&params};
  if (job.direction == Direction::kInverse) {
    inverse.frame = params.forward.frame;
    std::copy_n(params.forward.inverse_tables, 3, inverse.tables);
    arguments[0] = &inverse;
  }
  const GeneralLaunch launch = general_launch(job);
  return queue.launch({general_kernels(), launch.kernel}, launch.ctas, launch.threads, arguments,
                      false);
}

Status submit_general(StreamQueue& queue, const Dct8x8Job& job) {
  if (job.measure == 0) return launch_general(queue, job, nullptr);
  CUdeviceptr scratch = 0;
  CT_RETURN_IF_ERROR(queue.scratch(sizeof(PictureSums), &scratch));
  CT_RETURN_IF_ERROR(queue.clear(scratch, sizeof(PictureSums)));
  CT_RETURN_IF_ERROR(launch_general(queue, job, reinterpret_cast<PictureSums*>(scratch)));
  return queue.read_back(job.sums, scratch, sizeof(PictureSums));
}

// Enqueues `work`, between the events of `timer` if there is one.
template <typename Work>
Status submit_timed(StreamQueue& queue, Timer* timer, Work&& work) {
  if (timer != nullptr) CT_RETURN_IF_ERROR(timer->begin(queue));
  CT_RETURN_IF_ERROR(work());
  return timer != nullptr ? timer->end(queue) : Status{};
}

// One launch and nothing else: a kernel that measures writes its sums, and its times, to the host
// by itself.
Status submit_fast(StreamQueue& queue, const Dct8x8Job& job, KernelChoice choice, bool* taken) {
  *taken = false;
  if (!has_fast_kernels(job.method)) return {};
  CUdeviceptr progress = 0;
  if (job.measure != 0 || job.timer != nullptr)
    CT_RETURN_IF_ERROR(queue.zeroed(sizeof(SumsInProgress), &progress));
  std::optional<FastLaunch> launch = fast_launch(job, reinterpret_cast<SumsInProgress*>(progress),
                                                 queue.kept<KeptParams>().cache, choice);
  if (!launch) return {};
  *taken = true;
  void* arguments[] = {launch->argument};
  return submit_timed(queue, launch->measures_time ? nullptr : job.timer, [&] {
    return queue.launch(KernelKey{fast_kernels(), launch->kernel}, launch->ctas, launch->threads,
                        arguments, true);
  });
}

template <KernelChoice kChoice>
Status submit(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  bool taken = false;
  if (job.scale == 1) CT_RETURN_IF_ERROR(submit_fast(*stream, job, kChoice, &taken));
  if (!taken) {
    CT_RETURN_IF_ERROR(submit_timed(*stream, job.timer, [&] {
      return job.scale != 1 ? submit_scaled(*stream, job) : submit_general(*stream, job);
    }));
  }
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace

CT_KERNEL_FAMILY(batch_kernels, CT_DCT8X8_BATCH_IMAGES)

namespace {

enum BatchKernel : uint32_t { kForwardBatch, kInverseBatch };

// Whether a batch kernel takes the job, which validate() has passed.
bool is_batched(const Dct8x8Job& job) {
  return job.method == Method::kIslow && job.type == CoefType::kS16 && job.quantized &&
         job.layout == Layout::kBlock && job.order == Order::kRaster && job.scale == 1 &&
         job.quantizer == Quantizer::kRound && job.measure == 0 && job.timer == nullptr &&
         job.samples[0].type == SampleType::kU8;
}

}  // namespace

Status submit_dct8x8_batch(Device& device, Queue& queue, std::span<const Dct8x8Job> jobs) {
  if (jobs.size() == 1) return submit<KernelChoice::kAuto>(device, queue, jobs[0], nullptr);
  for (const Dct8x8Job& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  Batch<FastForwardParams> forward;
  Batch<FastInverseParams> inverse;
  for (const Dct8x8Job& job : jobs) {
    std::optional<FastLaunch> launch;
    if (is_batched(job))
      launch = fast_launch(job, nullptr, stream->kept<KeptParams>().cache, KernelChoice::kEdged);
    if (!launch || launch->pairs)
      CT_RETURN_IF_ERROR(submit<KernelChoice::kAuto>(device, queue, job, nullptr));
    else if (job.direction == Direction::kForward)
      forward.add(kForwardBatch, launch->ctas,
                  *static_cast<const FastForwardParams*>(launch->argument));
    else
      inverse.add(kInverseBatch, launch->ctas,
                  *static_cast<const FastInverseParams*>(launch->argument));
  }
  const auto launch_all = [&](auto& batch) -> Status {
    if (batch.is_empty()) return {};
    CT_RETURN_IF_ERROR(batch.send(device, *stream));
    return batch.launch(*stream, batch_kernels(), kFusedThreads, 0, 1,
                        [](uint32_t kernel) { return kernel; });
  };
  CT_RETURN_IF_ERROR(launch_all(forward));
  return launch_all(inverse);
}

}  // namespace cuda

Status probe_cuda_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::fast_kernels(), cuda::smallest_fast_kernel()});
}

const Dct8x8Ops& cuda_dct8x8_ops(cuda::KernelChoice choice) {
  using cuda::KernelChoice;
  static constexpr Dct8x8Ops kOps[] = {{"cuda", cuda::submit<KernelChoice::kAuto>},
                                       {"cuda", cuda::submit<KernelChoice::kWhole>},
                                       {"cuda", cuda::submit<KernelChoice::kEdged>},
                                       {"cuda", cuda::submit<KernelChoice::kSplit>},
                                       {"cuda", cuda::submit<KernelChoice::kGeneral>}};
  return kOps[static_cast<size_t>(choice)];
}

}  // namespace cudatransform
