// The scaled inverse of the CUDA engine: from a job to parameters, kernels and their launches.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>

#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/params.h"
#include "cuda/dct8x8/plan.h"
#include "cuda/device/queue.h"
#include "transform/dct8x8/scaled.h"

namespace cudatransform::cuda {

CT_KERNEL_FAMILY(scaled_kernels, CT_DCT8X8_SCALED_IMAGES)

namespace {

void describe_coefs(const Dct8x8Job& job, const CoefPlane& coefs, ScaledPlaneParams* plane) {
  const int64_t group = job.type == CoefType::kS16 ? 16 : 32;
  const bool block_layout = job.layout == Layout::kBlock;
  plane->coefs = static_cast<const uint8_t*>(coefs.data);
  plane->block_step = block_layout ? 8 * group : group;
  plane->row_step = block_layout ? coefs.pitch : 8 * coefs.pitch;
  plane->group_step = block_layout ? group : coefs.pitch;
  plane->blocks_w = coefs.blocks_w;
  plane->ctas_per_row =
      (static_cast<uint32_t>(coefs.blocks_w) + kScaledThreads - 1) / kScaledThreads;
}

void describe_samples(const Dct8x8Job& job, const SamplePlane& samples, ScaledPlaneParams* plane) {
  plane->samples = static_cast<uint8_t*>(samples.data);
  plane->pitch = samples.pitch;
  plane->width = samples.width;
  plane->rows = samples.rows();
  plane->height = samples.height;
  plane->row_repeat = samples.row_repeat;
  plane->stride = samples.stride;
  plane->shift = samples.shift;
  const int32_t level_shift = 1 << (job.depth - 1);
  const bool is_signed = samples.type == SampleType::kS16;
  plane->level_shift = level_shift;
  plane->low = is_signed ? level_shift - 32768 : 0;
  plane->high = is_signed ? level_shift + 32767 : (1 << job.depth) - 1;
  plane->bias = is_signed ? level_shift : 0;
}

// The fast islow kernels' table: see scaled_fast_islow().
FastInverseTable islow_table(const QuantTable* table) {
  FastInverseTable result = {};
  for (int i = 0; i < 64; ++i) {
    const uint32_t q = table != nullptr ? table->q[i] : 1;
    result.q[i / 2] |= q << (24 * (i % 2));
    result.limit[i / 2] |=
        static_cast<uint32_t>(i == 0 ? ScaledIslow<4>::kLargestDc : ScaledIslow<4>::kLargestAc) /
            std::max(q, 1u)
        << (16 * (i % 2));
  }
  return result;
}

const QuantTable* table_of(const Dct8x8Job& job, int component) {
  return job.quantized ? &job.tables[job.coefs[component].table] : nullptr;
}

bool takes_islow_table(const Dct8x8Job& job) {
  return job.method == Method::kIslow && job.scale != 8;
}

Status make_scaled_params(const Dct8x8Job& job, bool fast, PictureSums* sums, ScaledParams* params,
                          uint32_t* ctas) {
  *params = {};
  params->sums = sums;
  params->order = job.order;
  params->sample_type = job.samples[0].type;
  *ctas = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    ScaledPlaneParams& plane = params->planes[c];
    plane.first_cta = UINT32_MAX;
    if (c >= job.components) continue;
    const CoefPlane& coefs = job.coefs[c];
    CT_RETURN_IF_ERROR(check_coef_alignment(job, c));
    describe_coefs(job, coefs, &plane);
    describe_samples(job, job.samples[c], &plane);
    plane.first_cta = *ctas;
    *ctas += plane.ctas_per_row * static_cast<uint32_t>(coefs.blocks_h);
    if (fast && takes_islow_table(job))
      params->islow_tables[c] = islow_table(table_of(job, c));
    else
      params->tables[c] = make_inverse_table(job.method, table_of(job, c), job.scale);
  }
  return {};
}

// The conditions of the fast kernels.
bool is_fast(const Dct8x8Job& job) {
  if (job.method == Method::kReference || job.type != CoefType::kS16 ||
      job.layout != Layout::kBlock || job.order != Order::kRaster) {
    return false;
  }
  for (int c = 0; c < job.components; ++c) {
    const SamplePlane& plane = job.samples[c];
    if (plane.type != SampleType::kU8 || plane.stride != 1 || plane.row_repeat != 1 ||
        !is_aligned(plane.data, plane.pitch, static_cast<uintptr_t>(8 / job.scale))) {
      return false;
    }
    const QuantTable* table = table_of(job, c);
    if (takes_islow_table(job) && table != nullptr &&
        *std::max_element(std::begin(table->q), std::end(table->q)) > 255)
      return false;
  }
  return true;
}

enum class Family { kFast, kGeneral, kDeep };
struct ScaledKernel {
  Method method;
  int scale;
  Family family;
  CoefType type;
};
constexpr ScaledKernel kScaledKernels[] = {
#define CT_FAST(name, method, scale) {Method::k##method, scale, Family::kFast, CoefType::kS16},
#define CT_GENERAL(name, method, scale, coefs) \
  {Method::k##method, scale, Family::kGeneral, CoefType::k##coefs},
#define CT_DEEP(name, method, scale, coefs) \
  {Method::kIslow, scale, Family::kDeep, CoefType::k##coefs},
    CT_SCALED_FAST_KERNELS(CT_FAST) CT_SCALED_GENERAL_KERNELS(CT_GENERAL)
        CT_SCALED_DEEP_KERNELS(CT_DEEP)
#undef CT_FAST
#undef CT_GENERAL
#undef CT_DEEP
};

constexpr CoefType kZeros[] = {
#define CT_ZEROS(name, coefs) CoefType::k##coefs,
    CT_SCALED_ZEROS_KERNELS(CT_ZEROS)
#undef CT_ZEROS
};

// Numbers among scaled_kernels(), which concatenates these tables.
uint32_t kernel_number(const Dct8x8Job& job, bool fast) {
  const bool is_deep = job.method == Method::kIslow && job.depth == 12 && job.scale != 8;
  const Family family = fast ? Family::kFast : is_deep ? Family::kDeep : Family::kGeneral;
  const auto* const found = std::ranges::find_if(kScaledKernels, [&](const ScaledKernel& kernel) {
    return kernel.method == job.method && kernel.scale == job.scale && kernel.family == family &&
           kernel.type == job.type;
  });
  return static_cast<uint32_t>(found - std::begin(kScaledKernels));
}
uint32_t zeros_kernel_number(CoefType type) {
  return static_cast<uint32_t>(std::size(kScaledKernels) +
                               (std::ranges::find(kZeros, type) - std::begin(kZeros)));
}

}  // namespace

Status submit_scaled(StreamQueue& queue, const Dct8x8Job& job) {
  CUdeviceptr sums = 0;
  if (job.measure != 0) CT_RETURN_IF_ERROR(queue.scratch(sizeof(PictureSums), &sums));
  ScaledParams params;
  uint32_t ctas = 0;
  const bool fast = is_fast(job);
  CT_RETURN_IF_ERROR(
      make_scaled_params(job, fast, reinterpret_cast<PictureSums*>(sums), &params, &ctas));
  CT_RETURN_IF_ERROR(queue.launch({scaled_kernels(), kernel_number(job, fast)}, ctas,
                                  kScaledThreads, params, false));
  if (job.measure != 0) {
    // All coefficients, while the inverse reads but a part of them.
    CT_RETURN_IF_ERROR(queue.clear(sums, sizeof(PictureSums)));
    CT_RETURN_IF_ERROR(queue.launch({scaled_kernels(), zeros_kernel_number(job.type)}, ctas,
                                    kScaledThreads, params, false));
    CT_RETURN_IF_ERROR(queue.read_back(job.sums, sums, sizeof(PictureSums)));
  }
  return {};
}

}  // namespace cudatransform::cuda
