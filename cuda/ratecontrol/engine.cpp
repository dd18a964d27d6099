// The symbols of a JPEG scan for several sets of tables: their launches and memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/ratecontrol/engine.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "cuda/dct8x8/general_plan.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/params.h"

// A fat binary, embedded by the build.
extern "C" {
extern const unsigned char cuda_image_ratecontrol_count[];
}

namespace cudatransform {
namespace cuda {
namespace {

constexpr Method kMethods[] = {
#define CT_METHOD(name, method) Method::k##method,
    CT_RATE_TRANSFORM_KERNELS(CT_METHOD)
#undef CT_METHOD
};
constexpr struct {
  Method method;
  Quantizer quantizer;
} kKinds[] = {
#define CT_KIND(name, method, quantizer) {Method::k##method, Quantizer::k##quantizer},
    CT_RATE_COUNT_KERNELS(CT_KIND)
#undef CT_KIND
};

// Those that transform, and those that count.
const KernelFamily& rate_kernels() {
#define CT_NAME(name, ...) #name,
  static constexpr const char* kNames[] = {CT_RATE_TRANSFORM_KERNELS(CT_NAME)
                                               CT_RATE_COUNT_KERNELS(CT_NAME)};
#undef CT_NAME
  static const KernelFamily family(static_cast<uint32_t>(std::size(kNames)),
                                   [](uint32_t number) { return std::string(kNames[number]); });
  return family;
}

struct KeptFrame final : StreamQueue::Kept {
  Staging tables;
  std::unique_ptr<Memory> coefficients;
};

Status invalid(const char* what) { return Status::error(StatusCode::kInvalidArgument, what); }

Status validate(const RateCountJob& job) {
  CT_RETURN_IF_ERROR(cudatransform::validate(job.dct));
  const Dct8x8Job& dct = job.dct;
  if (dct.direction != Direction::kForward || !dct.quantized || dct.depth != 8 ||
      dct.type != CoefType::kS16 || dct.measure != 0 || !has_rate_kernel(dct.method, dct.quantizer))
    return invalid("not a job whose symbols can be counted");
  if (job.candidates < 1 || job.candidates > RateCountJob::kMost || job.counts == nullptr)
    return invalid("no candidates, too many, or no place for counts");
  const JpegScanLayout& scan = job.layout;
  if (scan.components != static_cast<uint32_t>(dct.components) || scan.blocks == 0)
    return invalid("a scan of other components");
  for (uint32_t c = 0; c < scan.components; ++c)
    if (scan.blocks_w[c] != static_cast<uint32_t>(dct.coefs[c].blocks_w) ||
        scan.blocks_h[c] != static_cast<uint32_t>(dct.coefs[c].blocks_h) ||
        scan.table_pair[c] >= kJpegTablePairs)
      return invalid("a scan of another size");
  return {};
}

// The parameters, and the tables of all candidates on the device.
Status make_params(Device& device, StreamQueue& queue, const RateCountJob& job,
                   RateParams* params) {
  KeptFrame& kept = queue.kept<KeptFrame>();
  const size_t bytes = size_t{general_launch(job.dct).ctas} * kFusedThreads * 64 * sizeof(uint32_t);
  if (kept.coefficients == nullptr || kept.coefficients->size() < bytes) {
    if (job.same_frame) return invalid("a frame that is not that of the job before");
    kept.coefficients.reset();
    CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, bytes, &kept.coefficients));
  }
  params->coefficients = static_cast<uint32_t*>(kept.coefficients->data());
  Staging& staging = kept.tables;
  void* host = nullptr;
  CT_RETURN_IF_ERROR(staging.begin(
      device, sizeof(ForwardTable) * kMaxComponents * static_cast<size_t>(job.candidates), &host));
  auto* tables = static_cast<ForwardTable*>(host);
  Dct8x8Job candidate = job.dct;
  DecidedParams general;
  for (int i = 0; i < job.candidates; ++i) {
    std::copy(std::begin(job.tables[i]), std::end(job.tables[i]), std::begin(candidate.tables));
    CT_RETURN_IF_ERROR(cudatransform::validate(candidate));
    CT_RETURN_IF_ERROR(make_general_params(candidate, nullptr, &general));
    std::copy_n(general.forward.tables, kMaxComponents, tables + i * kMaxComponents);
  }
  const void* address = nullptr;
  CT_RETURN_IF_ERROR(staging.end(device, queue, &address));
  params->frame = general.forward.frame;
  params->layout = job.layout;
  params->tables = static_cast<const ForwardTable*>(address);
  params->candidates = static_cast<uint32_t>(job.candidates);
  params->dead_zone = general.dead_zone;
  return {};
}

Status launch(StreamQueue& queue, size_t kernel, const Dct8x8Job& job, uint32_t threads,
              RateParams& params) {
  void* arguments[] = {&params};
  return queue.launch(cuda_image_ratecontrol_count,
                      KernelKey{rate_kernels(), static_cast<uint32_t>(kernel)},
                      general_launch(job).ctas, threads, arguments, false);
}

Status launch_all(StreamQueue& queue, const RateCountJob& job, RateParams& params) {
  const Dct8x8Job& dct = job.dct;
  const auto* method = std::find(std::begin(kMethods), std::end(kMethods), dct.method);
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& each) {
    return each.method == dct.method && each.quantizer == dct.quantizer;
  });
  if (!job.same_frame)
    CT_RETURN_IF_ERROR(
        launch(queue, size_t(method - std::begin(kMethods)), dct, kFusedThreads, params));
  return launch(queue, std::size(kMethods) + size_t(kind - std::begin(kKinds)), dct,
                params.candidates * kFusedThreads, params);
}

}  // namespace
}  // namespace cuda

bool has_rate_kernel(Method method, Quantizer quantizer) {
  return std::any_of(std::begin(cuda::kKinds), std::end(cuda::kKinds), [&](const auto& kind) {
    return kind.method == method && kind.quantizer == quantizer;
  });
}

Status count_rate_candidates(Device& device, Queue& queue, const RateCountJob& job,
                             FencePtr* fence) {
  CT_RETURN_IF_ERROR(cuda::validate(job));
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(cuda::check_queue(device, stream));
  cuda::RateParams params = {};
  CT_RETURN_IF_ERROR(cuda::make_params(device, *stream, job, &params));
  const size_t bytes = sizeof(JpegSymbolCounts) * static_cast<size_t>(job.candidates);
  CUdeviceptr counts = 0;
  CT_RETURN_IF_ERROR(stream->scratch(bytes, &counts));
  CT_RETURN_IF_ERROR(stream->clear(counts, bytes));
  params.counts = reinterpret_cast<JpegSymbolCounts*>(counts);
  CT_RETURN_IF_ERROR(cuda::launch_all(*stream, job, params));
  CT_RETURN_IF_ERROR(stream->read_back(job.counts, counts, bytes));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace cudatransform
