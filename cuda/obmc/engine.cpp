// The CUDA engine's motion compensation: which kernel a job gets, with which parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/obmc/engine.h"

#include <algorithm>
#include <cstring>

#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/params.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(obmc_kernels, CT_OBMC_IMAGES)

namespace {

enum Kernel : uint32_t {
  kCompensateBytes,
  kUpsampleBytes,
  kCompensateGeneral,  // and after it for samples of 16 bits
  kUpsampleGeneral = kCompensateGeneral + 2,
};

ObmcPlaneParams plane_params(const SamplePlane& plane) {
  return {static_cast<uint8_t*>(plane.data), plane.pitch};
}

// Whether rows may be read and written as words of four bytes.
bool has_words(const SamplePlane& plane) {
  return plane.type == SampleType::kU8 && reinterpret_cast<uintptr_t>(plane.data) % 4 == 0 &&
         plane.pitch % 4 == 0;
}
bool has_pairs_of_words(const SamplePlane& plane) {
  return plane.data == nullptr ||
         (reinterpret_cast<uintptr_t>(plane.data) % 8 == 0 && plane.pitch % 8 == 0);
}

bool fits_bytes(const UpsampleJob& job) {
  for (int c = 0; c < job.components; ++c) {
    if (job.depth[c] != 8) return false;
    for (const SamplePlane& plane : job.reference.planes[c]) {
      if (!has_words(plane)) return false;
    }
  }
  return true;
}

bool blocks_fit_bytes(const ObmcJob& job) {
  if (job.weight_bits != 1 || job.weights[0] != 1 || job.weights[1] != 1) return false;
  ObmcInspection inspection = job.inspection;
  if (!inspection.is_sound && !inspect_obmc_blocks(job, &inspection).ok()) return false;
  return inspection.has_byte_values;
}

bool fits_bytes(const ObmcJob& job) {
  const int planes = job.precision == 0 ? 1 : 4;
  for (int c = 0; c < job.components; ++c) {
    if (job.depth[c] != 8 || !has_words(job.samples[c]) || !has_pairs_of_words(job.residual[c]))
      return false;
    for (int r = 0; r < job.reference_count && job.blocks != nullptr; ++r) {
      for (int p = 0; p < planes; ++p) {
        const SamplePlane& plane = job.references[r].planes[c][p];
        if (!has_words(plane) || plane.pitch != job.references[0].planes[c][0].pitch ||
            plane.pitch > UINT32_MAX / plane.height) {  // positions have 32 bits
          return false;
        }
      }
    }
  }
  return (job.blocks == nullptr || blocks_fit_bytes(job));
}

ObmcAxisParams axis_params(int32_t blocks, int32_t length, int32_t separation) {
  const ObmcAxis axis = {blocks, length, separation};
  return {axis, make_divider(static_cast<uint32_t>(separation)),
          make_divider(static_cast<uint32_t>(std::max(2 * axis.overlap() - 1, 1)))};
}

void describe(const ObmcJob& job, int c, ObmcComponentParams* to) {
  to->width = job.samples[c].width;
  to->height = job.samples[c].height;
  to->depth = job.depth[c];
  to->samples = plane_params(job.samples[c]);
  to->residual = plane_params(job.residual[c]);
  if (job.blocks == nullptr) return;
  to->shift_x = c == 0 ? 0 : job.chroma_shift_x;
  to->shift_y = c == 0 ? 0 : job.chroma_shift_y;
  to->across =
      axis_params(job.blocks_across, job.length_x >> to->shift_x, job.separation_x >> to->shift_x);
  to->down =
      axis_params(job.blocks_down, job.length_y >> to->shift_y, job.separation_y >> to->shift_y);
  for (int r = 0; r < job.reference_count; ++r) {
    for (int p = 0; p < (job.precision == 0 ? 1 : 4); ++p)
      to->references[r][p] = plane_params(job.references[r].planes[c][p]);
  }
}

// Kept with the queue: too large for a stack.
struct KeptParams final : StreamQueue::Kept {
  ObmcParams compensate;
  UpsampleParams upsample;
};
// The staging memory of motion compensation alone.
struct BlockStaging final : StreamQueue::Kept {
  Staging staging;
};

Status upload_blocks(Device& device, StreamQueue& queue, const ObmcJob& job,
                     const ObmcBlock** blocks) {
  Staging& staging = queue.kept<BlockStaging>().staging;
  const size_t bytes = sizeof(ObmcBlock) * static_cast<size_t>(job.blocks_across) *
                       static_cast<size_t>(job.blocks_down);
  const void* address = nullptr;
  if (job.blocks_read != nullptr) {
    CT_RETURN_IF_ERROR(staging.copy(device, queue, job.blocks, bytes, &address, job.blocks_read));
  } else {
    void* host = nullptr;
    CT_RETURN_IF_ERROR(staging.begin(device, bytes, &host));
    std::memcpy(host, job.blocks, bytes);
    CT_RETURN_IF_ERROR(staging.end(device, queue, &address));
  }
  *blocks = static_cast<const ObmcBlock*>(address);
  return {};
}

Status submit(Device& device, StreamQueue& queue, const ObmcJob& job, ObmcKernelChoice choice) {
  ObmcParams& params = queue.kept<KeptParams>().compensate;
  params = {};
  params.precision = job.precision;
  params.weight_bits = job.weight_bits;
  std::copy_n(job.weights, kMaxObmcReferences, params.weights);
  if (job.blocks != nullptr) CT_RETURN_IF_ERROR(upload_blocks(device, queue, job, &params.blocks));
  const bool bytes = choice == ObmcKernelChoice::kAuto && fits_bytes(job);
  // Components of one type go together, and all of them nearly always are.
  for (const SampleType type : {SampleType::kU8, SampleType::kU16}) {
    uint32_t ctas = 0;
    for (int c = 0; c < kMaxComponents; ++c) {
      ObmcComponentParams& to = params.components[c];
      to = {};
      to.first_cta = UINT32_MAX;
      if (c >= job.components || job.samples[c].type != type) continue;
      to.first_cta = ctas;
      describe(job, c, &to);
      to.tiles_across = divide_up(to.width, kObmcTileColumns);
      ctas += to.tiles_across * divide_up(to.height, kObmcTileRows);
    }
    if (ctas == 0) continue;
    const bool wide = type == SampleType::kU16;
    const uint32_t kernel =
        bytes ? uint32_t{kCompensateBytes} : kCompensateGeneral + (wide ? 1u : 0u);
    CT_RETURN_IF_ERROR(
        queue.launch(KernelKey{obmc_kernels(), kernel}, ctas, kObmcThreads, params, false));
  }
  return {};
}

Status submit(Device&, StreamQueue& queue, const UpsampleJob& job, ObmcKernelChoice choice) {
  UpsampleParams& params = queue.kept<KeptParams>().upsample;
  const bool bytes = choice == ObmcKernelChoice::kAuto && fits_bytes(job);
  for (const SampleType type : {SampleType::kU8, SampleType::kU16}) {
    uint32_t ctas = 0;
    for (int c = 0; c < kMaxComponents; ++c) {
      UpsampleComponentParams& to = params.components[c];
      to = {};
      to.first_cta = UINT32_MAX;
      if (c >= job.components || job.reference.planes[c][0].type != type) continue;
      to.first_cta = ctas;
      to.width = job.reference.planes[c][0].width;
      to.height = job.reference.planes[c][0].height;
      to.depth = job.depth[c];
      for (int p = 0; p < 4; ++p) to.planes[p] = plane_params(job.reference.planes[c][p]);
      to.tiles_across = divide_up(to.width, bytes ? kUpsampleTileColumns : kUpsampleThreads);
      ctas += bytes ? divide_up(int64_t{to.tiles_across} * divide_up(to.height, kUpsampleRun),
                                kUpsampleThreads / 32)
                    : to.tiles_across * static_cast<uint32_t>(to.height);
    }
    if (ctas == 0) continue;
    const bool wide = type == SampleType::kU16;
    const uint32_t kernel = bytes ? uint32_t{kUpsampleBytes} : kUpsampleGeneral + (wide ? 1u : 0u);
    CT_RETURN_IF_ERROR(
        queue.launch(KernelKey{obmc_kernels(), kernel}, ctas, kUpsampleThreads, params, false));
  }
  return {};
}

template <ObmcKernelChoice kChoice, typename Job>
Status run(Device& device, Queue& queue, const Job& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  CT_RETURN_IF_ERROR(submit(device, *stream, job, kChoice));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace

}  // namespace cuda

Status probe_cuda_obmc_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::obmc_kernels(), cuda::kCompensateGeneral});
}

const ObmcOps& cuda_obmc_ops(cuda::ObmcKernelChoice choice) {
  using cuda::ObmcKernelChoice;
  static constexpr ObmcOps kOps = {"cuda", cuda::run<ObmcKernelChoice::kAuto, UpsampleJob>,
                                   cuda::run<ObmcKernelChoice::kAuto, ObmcJob>};
  static constexpr ObmcOps kGeneral = {"cuda", cuda::run<ObmcKernelChoice::kGeneral, UpsampleJob>,
                                       cuda::run<ObmcKernelChoice::kGeneral, ObmcJob>};
  return choice == ObmcKernelChoice::kAuto ? kOps : kGeneral;
}

}  // namespace cudatransform
