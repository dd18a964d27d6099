// From a job to its general or teaching kernel, and to that kernel's parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <string>

#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/plan.h"
#include "transform/dct8x8/decision.h"

namespace cudatransform::cuda {

CT_KERNEL_FAMILY(general_kernels, CT_DCT8X8_GENERAL_IMAGES)

namespace {

int64_t coef_bytes(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

SampleParams sample_params(const SamplePlane& plane) {
  SampleParams params = {};
  params.data = static_cast<uint8_t*>(plane.data);
  params.pitch = plane.pitch;
  params.width = plane.width;
  params.rows = plane.rows();
  params.height = plane.height;
  params.stride = plane.stride;
  params.shift = plane.shift;
  params.row_repeat = plane.row_repeat;
  params.type = plane.type;
  return params;
}

CoefParams coef_params(const Dct8x8Job& job, const CoefPlane& plane) {
  const int64_t group = 8 * coef_bytes(job.type);
  CoefParams params = {};
  params.data = static_cast<uint8_t*>(plane.data);
  if (job.layout == Layout::kBlock) {
    params.block_step = 8 * group;
    params.row_step = plane.pitch;
    params.group_step = group;
  } else {
    params.block_step = group;
    params.row_step = 8 * plane.pitch;
    params.group_step = plane.pitch;
  }
  return params;
}

// The float kernels work on samples divided by the peak.
void normalize(int32_t peak, InverseTable* table) {
  for (float& mul : table->mul) mul /= static_cast<float>(peak);
}

bool teaches(Method method) {
  return method != Method::kIslow && method != Method::kFloat && method != Method::kIfast;
}

// As kValues of the methods in teaching.cu has it.
uint32_t blocks_a_cta(Method method) {
  if (!teaches(method)) return kFusedBlocks;
  const bool rows = method == Method::kDecomposed || method == Method::kShuffle;
  return kTeachingThreads / (rows ? 8 : 64);
}

uint32_t plane_ctas(const CoefPlane& plane, Method method) {
  const uint32_t blocks = blocks_a_cta(method);
  return (plane_blocks(plane) + blocks - 1) / blocks;
}

struct GeneralKernel {
  Direction direction;
  Method method;
  CoefType type;
  bool measure;
};
struct DecidedKernel {
  Method method;
  Quantizer quantizer;
  bool measure;
};
struct TeachingKernel {
  Direction direction;
  Method method;
};
constexpr GeneralKernel kGeneralKernels[] = {
#define CT_FORWARD(name, method, coefs, measure) \
  {Direction::kForward, Method::k##method, CoefType::k##coefs, measure},
#define CT_INVERSE(name, method, coefs, measure) \
  {Direction::kInverse, Method::k##method, CoefType::k##coefs, measure},
    CT_GENERAL_FORWARD_KERNELS(CT_FORWARD) CT_GENERAL_INVERSE_KERNELS(CT_INVERSE)
#undef CT_FORWARD
#undef CT_INVERSE
};
constexpr GeneralKernel kDeepKernels[] = {
#define CT_FORWARD(name, method, coefs, measure) \
  {Direction::kForward, Method::kIslow, CoefType::k##coefs, measure},
#define CT_INVERSE(name, method, coefs, measure) \
  {Direction::kInverse, Method::kIslow, CoefType::k##coefs, measure},
    CT_DEEP_FORWARD_KERNELS(CT_FORWARD) CT_DEEP_INVERSE_KERNELS(CT_INVERSE)
#undef CT_FORWARD
#undef CT_INVERSE
};
constexpr DecidedKernel kDecidedKernels[] = {
#define CT_DECIDED(name, method, quantizer, measure) \
  {Method::k##method, Quantizer::k##quantizer, measure},
    CT_DECIDED_FORWARD_KERNELS(CT_DECIDED)
#undef CT_DECIDED
};
constexpr TeachingKernel kTeachingKernels[] = {
#define CT_FORWARD(name, method) {Direction::kForward, Method::k##method},
#define CT_INVERSE(name, method) {Direction::kInverse, Method::k##method},
    CT_TEACHING_FORWARD_KERNELS(CT_FORWARD) CT_TEACHING_INVERSE_KERNELS(CT_INVERSE)
#undef CT_FORWARD
#undef CT_INVERSE
};

// The number of the first kernel of a table that fits, or the table's size.
template <size_t kCount, typename Kernel, typename Fits>
uint32_t find(const Kernel (&kernels)[kCount], Fits&& fits) {
  return static_cast<uint32_t>(std::find_if(kernels, kernels + kCount, fits) - kernels);
}

// The number among general_kernels(), which concatenates these tables.
uint32_t kernel_number(const Dct8x8Job& job) {
  const bool measures = job.measure != 0;
  constexpr auto kFirstDeep = static_cast<uint32_t>(std::size(kGeneralKernels));
  constexpr auto kFirstDecided = kFirstDeep + static_cast<uint32_t>(std::size(kDeepKernels));
  constexpr auto kFirstTeaching = kFirstDecided + static_cast<uint32_t>(std::size(kDecidedKernels));
  if (teaches(job.method))
    return kFirstTeaching + find(kTeachingKernels, [&](const TeachingKernel& kernel) {
             return kernel.direction == job.direction && kernel.method == job.method;
           });
  if (job.quantizer != Quantizer::kRound)
    return kFirstDecided + find(kDecidedKernels, [&](const DecidedKernel& kernel) {
             return kernel.method == job.method && kernel.quantizer == job.quantizer &&
                    kernel.measure == measures;
           });
  const auto fits = [&](const GeneralKernel& kernel) {
    return kernel.direction == job.direction && kernel.method == job.method &&
           kernel.type == job.type && kernel.measure == measures;
  };
  const bool is_deep = job.method == Method::kIslow && job.depth == 12;
  return is_deep ? kFirstDeep + find(kDeepKernels, fits) : find(kGeneralKernels, fits);
}

}  // namespace

// Decided quantized coefficients start from islow's, for any method.
static ForwardTable forward_table(const Dct8x8Job& job, const QuantTable* table) {
  const bool rounds = job.quantizer == Quantizer::kRound;
  return make_forward_table(rounds ? job.method : Method::kIslow, table);
}

static void set_quantizer(const Dct8x8Job& job, DecidedParams* params) {
  params->dead_zone = job.dead_zone;
  params->rd_weight = rd_weight(job.rd_lambda);
  params->chroma = chroma_bits(job);
}

Status make_general_params(const Dct8x8Job& job, PictureSums* sums, DecidedParams* all) {
  *all = {};
  if (job.quantizer != Quantizer::kRound) set_quantizer(job, all);
  ForwardParams* params = &all->forward;
  FrameParams& frame = params->frame;
  frame.sums = sums;
  frame.measure = job.measure;
  frame.type = job.type;
  frame.order = job.order;
  frame.peak = (1 << job.depth) - 1;
  const bool inverse = job.direction == Direction::kInverse;
  const int32_t level_shift = 1 << (job.depth - 1);

  uint32_t ctas = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    PlaneParams& plane = frame.planes[c];
    plane.first_cta = UINT32_MAX;
    if (c >= job.components) continue;
    const CoefPlane& coefs = job.coefs[c];
    CT_RETURN_IF_ERROR(check_coef_alignment(job, c));
    plane.samples = sample_params(job.samples[c]);
    if (inverse && (job.measure & kMeasureSse) != 0)
      plane.reference = sample_params(job.reference[c]);
    plane.coefs = coef_params(job, coefs);
    plane.blocks_w = static_cast<uint32_t>(coefs.blocks_w);
    plane.by_blocks_w = make_divider(plane.blocks_w);
    plane.blocks = plane_blocks(coefs);
    plane.first_cta = ctas;
    plane.level_shift = level_shift;
    const bool is_signed = job.samples[c].type == SampleType::kS16;
    plane.samples.bias = is_signed ? level_shift : 0;
    plane.low = is_signed ? level_shift - 32768 : 0;
    plane.high = is_signed ? level_shift + 32767 : frame.peak;
    ctas += plane_ctas(coefs, job.method);

    const QuantTable* table = job.quantized ? &job.tables[coefs.table] : nullptr;
    if (!inverse) params->tables[c] = forward_table(job, table);
    if (inverse || (job.measure & kMeasureSse) != 0)
      params->inverse_tables[c] = make_inverse_table(job.method, table);
    if (job.method == Method::kFloat) normalize(frame.peak, &params->inverse_tables[c]);
  }
  return {};
}

Status check_coef_alignment(const Dct8x8Job& job, int c) {
  if (is_aligned(job.coefs[c].data, job.coefs[c].pitch, kCoefAlignment)) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "coefficients of component " + std::to_string(c) +
                           ": unaligned address or pitch, expected multiples of " +
                           std::to_string(kCoefAlignment));
}

GeneralLaunch general_launch(const Dct8x8Job& job) {
  GeneralLaunch launch = {kernel_number(job), 0,
                          teaches(job.method) ? kTeachingThreads : kFusedThreads};
  for (int c = 0; c < job.components; ++c) launch.ctas += plane_ctas(job.coefs[c], job.method);
  return launch;
}

}  // namespace cudatransform::cuda
