// The 8x8 DCT of planes in the caller's memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/dct8x8/dct8x8.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/cudatransform.h"
#include "core/engine.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#endif

namespace cudatransform::core {
namespace {

// Samples that a thread takes at a time: fewer are not worth waking one.
constexpr int64_t kBandSamples = 1 << 16;

Dct8x8Job job_of(const CtDctOptions& options, const CtSamples& samples,
                 const CtCoefficients& coefs) {
  Dct8x8Job job;
  job.depth = options.depth == 0 ? 8 : options.depth;
  job.method = effective_method(static_cast<Method>(options.method), job.depth);
  job.quantized = options.table != nullptr;
  job.type = !job.quantized ? CoefType::kF32 : job.depth == 16 ? CoefType::kS32 : CoefType::kS16;
  if (job.quantized) std::copy_n(options.table, 64, job.tables[0].q);
  job.components = 1;
  SamplePlane& plane = job.samples[0];
  plane.data = samples.data;
  plane.pitch = static_cast<ptrdiff_t>(samples.pitch);
  plane.width = samples.width;
  plane.height = samples.height;
  plane.type = job.depth == 8 ? SampleType::kU8 : SampleType::kU16;
  plane.stride = job.depth == 8 ? 1 : 2;
  job.coefs[0] = {.data = coefs.data,
                  .pitch = static_cast<ptrdiff_t>(coefs.pitch),
                  .blocks_w = coefs.blocks_w,
                  .blocks_h = coefs.blocks_h};
  return job;
}

// Rows of blocks of a job, from `first` on.
Dct8x8Job band_of(const Dct8x8Job& job, int32_t first, int32_t rows) {
  Dct8x8Job band = job;
  SamplePlane& plane = band.samples[0];
  CoefPlane& coefs = band.coefs[0];
  plane.data = static_cast<uint8_t*>(plane.data) + plane.pitch * 8 * first;
  plane.height = std::min(plane.height - 8 * first, 8 * rows);
  coefs.data = static_cast<uint8_t*>(coefs.data) + coefs.pitch * first;
  coefs.blocks_h = std::min(coefs.blocks_h - first, rows);
  return band;
}

Status transform_on_host(CtEngine& engine, const Dct8x8Job& job) {
  CT_RETURN_IF_ERROR(validate(job));
  const int32_t blocks_h = job.coefs[0].blocks_h;
  const int64_t most = std::max<int64_t>(kBandSamples / (int64_t{64} * job.coefs[0].blocks_w), 1);
  const auto rows = static_cast<int32_t>(std::min<int64_t>(most, blocks_h));
  std::mutex mutex;
  Status status;
  const auto work = [&](size_t i) {
    const Dct8x8Job band = band_of(job, static_cast<int32_t>(i) * rows, rows);
    Status own = host_dct8x8_ops().submit(*engine.host, engine.host->queue(QueueKind::kCompute),
                                          band, nullptr);
    if (own.ok()) return;
    const std::lock_guard lock(mutex);
    status = std::move(own);
  };
  engine.threads->run_here(static_cast<size_t>((blocks_h - 1) / rows + 1), work);
  return status;
}

CtCode transform(CtEngine* engine, Direction direction, const CtDctOptions* options,
                 const CtSamples* samples, const CtCoefficients* coefs, CtError* error) {
  return guarded(error, [&] {
    if (samples == nullptr || coefs == nullptr)
      return report(CT_INVALID_ARGUMENT, "samples or coefficients are NULL", error);
    CtDctOptions own;
    CtCode code = check(engine, error);
    if (code == CT_OK) code = copy_options(options, &own, error);
    if (code != CT_OK) return code;
    Dct8x8Job job = job_of(own, *samples, *coefs);
    job.direction = direction;
    if (!engine->is_cuda()) return report(transform_on_host(*engine, job), error);
    const auto submit = [&](Device& device, Queue& queue) {
      return CT_OPS(device, dct8x8).submit(device, queue, job, nullptr);
    };
    return report(run_and_wait(*engine, submit), error);
  });
}

}  // namespace
}  // namespace cudatransform::core

using cudatransform::Direction;

CtCode ct_dct(CtEngine* engine, const CtDctOptions* options, const CtSamples* samples,
              const CtCoefficients* coefficients, CtError* error) {
  return cudatransform::core::transform(engine, Direction::kForward, options, samples, coefficients,
                                        error);
}

CtCode ct_idct(CtEngine* engine, const CtDctOptions* options, const CtCoefficients* coefficients,
               const CtSamples* samples, CtError* error) {
  return cudatransform::core::transform(engine, Direction::kInverse, options, samples, coefficients,
                                        error);
}
