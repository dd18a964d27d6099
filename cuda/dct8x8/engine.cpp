// The CUDA engine's 8x8 DCT: what is launched for a job, in which order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/engine.h"

#include <algorithm>
#include <string_view>

#include "cuda/dct8x8/fast_params_cache.h"
#include "cuda/dct8x8/fast_plan.h"
#include "cuda/dct8x8/general_plan.h"
#include "cuda/dct8x8/geometry.h"
#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/scaled.h"
#include "cuda/device/queue.h"

// The fat binaries, embedded by the build.
extern "C" {
extern const unsigned char cuda_image_dct8x8_fast_split[];
extern const unsigned char cuda_image_dct8x8_general[];
extern const unsigned char cuda_image_dct8x8_repack[];
extern const unsigned char cuda_image_dct8x8_teaching[];
}

namespace cudatransform {
namespace cuda {
namespace {

// Intermediates of the methods that are not fused are made for at most this many blocks at once:
// 64 MiB of float, whatever the size of the frame.
constexpr uint32_t kChunkBlocks = 1 << 18;
// Scratch memory starts with the sums; intermediates follow at an alignment for any vector.
constexpr size_t kSumsBytes = 256;

// The type of value that a method works on, as in CT_REPACK_KERNELS, and the size of one.
struct ValueKind {
  const char* type;
  size_t bytes;
};
ValueKind value_kind(Method method) {
  if (method == Method::kIfast) return {"int", sizeof(int32_t)};
  if (method == Method::kReference) return {"double", sizeof(double)};
  return {"float", sizeof(float)};
}

const char* repack_kernel_name(std::string_view step, std::string_view value) {
#define CT_KERNEL(name, its_step, its_value) \
  if (step == #its_step && value == #its_value) return #name;
  CT_REPACK_KERNELS(CT_KERNEL)
#undef CT_KERNEL
  return "no repack kernel";
}

const char* teaching_kernel_name(Method method, Direction direction) {
#define CT_KERNEL(name, its_method, its_direction, value)     \
  if (std::string_view(#its_method) == method_name(method) && \
      direction == Direction::k##its_direction)               \
    return #name;
  CT_TEACHING_KERNELS(CT_KERNEL)
#undef CT_KERNEL
  return "no teaching kernel";
}

// CTAs of the teaching kernels for `blocks` blocks: by threads per block.
unsigned teaching_ctas(Method method, uint32_t blocks) {
  uint32_t threads_a_block = 64;
  if (method == Method::kIfast) threads_a_block = 1;
  if (method == Method::kDecomposed || method == Method::kShuffle) threads_a_block = 8;
  const uint32_t blocks_a_cta = kRepackThreads / threads_a_block;
  return (blocks + blocks_a_cta - 1) / blocks_a_cta;
}

// The kernel that takes everything; sums go through `scratch`, as those of the methods that are not
// fused.
Status launch_general(StreamQueue& queue, const Dct8x8Job& job, ForwardParams* params) {
  InverseParams inverse;
  void* arguments[] = {params};
  if (job.direction == Direction::kInverse) {
    inverse.frame = params->frame;
    std::copy_n(params->inverse_tables, 3, inverse.tables);
    arguments[0] = &inverse;
  }
  return queue.launch(cuda_image_dct8x8_general, general_kernel_name(job), general_ctas(job),
                      kFusedThreads, arguments);
}

// The launches for one run of blocks of a job whose method is not fused.
class Chunk {
 public:
  Chunk(StreamQueue& queue, const Dct8x8Job& job, const RepackParams& params, CUdeviceptr values)
      : queue_(queue), job_(job), params_(params), values_(values) {}

  Status forward() {
    CT_RETURN_IF_ERROR(repack("load_samples"));
    CT_RETURN_IF_ERROR(transform(Direction::kForward));
    CT_RETURN_IF_ERROR(repack("store_coefs"));
    if ((job_.measure & kMeasureSse) == 0) return {};
    CT_RETURN_IF_ERROR(transform(Direction::kInverse));
    return repack("compare_samples");
  }

  Status inverse() {
    CT_RETURN_IF_ERROR(repack("load_coefs"));
    CT_RETURN_IF_ERROR(transform(Direction::kInverse));
    return repack("store_samples");
  }

 private:
  Status repack(const char* step) {
    const char* name = repack_kernel_name(step, value_kind(job_.method).type);
    void* arguments[] = {&params_, &values_};
    // 64 threads a block of samples.
    return queue_.launch(cuda_image_dct8x8_repack, name,
                         (params_.count + kRepackThreads / 64 - 1) / (kRepackThreads / 64),
                         kRepackThreads, arguments);
  }

  Status transform(Direction direction) {
    const char* name = teaching_kernel_name(job_.method, direction);
    int level_shift = params_.job.frame.planes[0].level_shift;
    void* arguments[] = {&values_, &params_.count, &level_shift};
    return queue_.launch(cuda_image_dct8x8_teaching, name,
                         teaching_ctas(job_.method, params_.count), kRepackThreads, arguments);
  }

  StreamQueue& queue_;
  const Dct8x8Job& job_;
  RepackParams params_;
  CUdeviceptr values_;
};

Status launch_chunks(StreamQueue& queue, const Dct8x8Job& job, const ForwardParams& params,
                     CUdeviceptr values) {
  const uint32_t blocks = total_blocks(job);
  for (uint32_t first = 0; first < blocks; first += kChunkBlocks) {
    Chunk chunk(queue, job, {params, first, std::min(kChunkBlocks, blocks - first)}, values);
    CT_RETURN_IF_ERROR(job.direction == Direction::kForward ? chunk.forward() : chunk.inverse());
  }
  return {};
}

size_t scratch_bytes(const Dct8x8Job& job) {
  const size_t sums = job.measure != 0 ? kSumsBytes : 0;
  if (is_fused(job.method)) return sums;
  return kSumsBytes + 64 * value_kind(job.method).bytes * std::min(kChunkBlocks, total_blocks(job));
}

// Sums of kernels that only add to them.
Status submit_with_scratch(StreamQueue& queue, const Dct8x8Job& job) {
  CUdeviceptr scratch = 0;
  if (const size_t bytes = scratch_bytes(job); bytes > 0)
    CT_RETURN_IF_ERROR(queue.scratch(bytes, &scratch));
  ForwardParams params;
  CT_RETURN_IF_ERROR(make_general_params(job, reinterpret_cast<PictureSums*>(scratch), &params));
  if (job.measure != 0) CT_RETURN_IF_ERROR(queue.clear(scratch, sizeof(PictureSums)));
  CT_RETURN_IF_ERROR(is_fused(job.method)
                         ? launch_general(queue, job, &params)
                         : launch_chunks(queue, job, params, scratch + kSumsBytes));
  if (job.measure == 0) return {};
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
Status submit_fast(StreamQueue& queue, const Dct8x8Job& job, bool* taken) {
  *taken = false;
  if (!is_fused(job.method)) return {};
  CUdeviceptr progress = 0;
  if (job.measure != 0 || job.timer != nullptr)
    CT_RETURN_IF_ERROR(queue.zeroed(sizeof(SumsInProgress), &progress));
  std::optional<FastLaunch> launch =
      fast_launch(job, reinterpret_cast<SumsInProgress*>(progress), queue.kept<FastParamsCache>());
  if (!launch) return {};
  *taken = true;
  void* arguments[] = {launch->argument};
  return submit_timed(queue, launch->tells_time ? nullptr : job.timer, [&] {
    return queue.launch(launch->image, KernelKey{fast_kernels(), launch->kernel}, launch->ctas,
                        launch->threads, arguments, true);
  });
}

Status submit(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  if (device.is_host() || stream == nullptr) {
    return Status::error(StatusCode::kInvalidArgument,
                         "the CUDA engine needs a CUDA device and one of its queues");
  }
  bool taken = false;
  if (job.scale == 1) CT_RETURN_IF_ERROR(submit_fast(*stream, job, &taken));
  if (!taken) {
    CT_RETURN_IF_ERROR(submit_timed(*stream, job.timer, [&] {
      return job.scale != 1 ? submit_scaled(*stream, job) : submit_with_scratch(*stream, job);
    }));
  }
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

// The smallest image stands for all: they are compiled for the same devices.
Status probe_cuda_kernels(Device& device) {
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&device.queue(QueueKind::kCompute));
  if (stream == nullptr) return Status::error(StatusCode::kInvalidArgument, "not a CUDA device");
  return stream->load(cuda_image_dct8x8_fast_split, "inverse_islow_u8_s16_split");
}

const Dct8x8Ops& cuda_dct8x8_ops() {
  static constexpr Dct8x8Ops kOps = {"cuda", cuda::submit};
  return kOps;
}

}  // namespace cudatransform
