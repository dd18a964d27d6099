// From a job to its fast kernel, where there is one, and to that kernel's parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/dct8x8/plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>

#include "cuda/dct8x8/kernels.h"
#include "transform/dct8x8/decision.h"

namespace cudatransform::cuda {

CT_KERNEL_FAMILY(fast_kernels, CT_DCT8X8_FAST_IMAGES)

namespace {

// ---- Kernels by number: the features that distinguish them, as bits ----

constexpr uint32_t kInverseBit = 1, kFloatBit = 2, kWordsBit = 4, kPairsBit = 256,
                   kMeasureBit = 512, kTimedBit = 1024, kFullBit = 2048;
constexpr uint32_t kTypeShift = 3, kArrangementShift = 5;
constexpr uint32_t kQuantizerStep = 2 * kFullBit, kKernels = 3 * kQuantizerStep;

constexpr uint32_t features_of(Direction direction, Method method, SampleType samples,
                               CoefType coefs, Arrangement arrangement, Planes planes,
                               Variant variant, Quantizer quantizer = Quantizer::kRound) {
  uint32_t number = static_cast<uint32_t>(quantizer) * kQuantizerStep;
  number |= static_cast<uint32_t>(coefs) << kTypeShift;
  number |= static_cast<uint32_t>(arrangement) << kArrangementShift;
  if (direction == Direction::kInverse) number |= kInverseBit;
  if (method == Method::kFloat) number |= kFloatBit;
  if (samples != SampleType::kU8) number |= kWordsBit;
  if (planes == Planes::kPairs) number |= kPairsBit;
  if (planes == Planes::kFull) number |= kFullBit;
  if (variant == Variant::kMeasure) number |= kMeasureBit;
  if (variant == Variant::kTimed) number |= kTimedBit;
  return number;
}

// In the order of CT_DCT8X8_FAST_IMAGES.
constexpr uint32_t kFastKernels[] = {
#define CT_DECIDED(name, method, samples, coefs, arrangement, planes, variant, quantizer)         \
  features_of(Direction::kForward, Method::k##method, SampleType::k##samples, CoefType::k##coefs, \
              Arrangement::k##arrangement, Planes::k##planes, Variant::k##variant,                \
              Quantizer::k##quantizer),
    CT_FAST_DECIDED_FORWARD_KERNELS(CT_DECIDED)
#undef CT_DECIDED
#define CT_KERNEL(direction, name, method, samples, coefs, arrangement, planes, variant)           \
  features_of(Direction::direction, Method::k##method, SampleType::k##samples, CoefType::k##coefs, \
              Arrangement::k##arrangement, Planes::k##planes, Variant::k##variant),
#define CT_FORWARD(name, method, samples, coefs, arrangement, planes, variant) \
  CT_KERNEL(kForward, name, method, samples, coefs, arrangement, planes, variant)
#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant) \
  CT_KERNEL(kInverse, name, method, samples, coefs, arrangement, planes, variant)
        CT_FAST_FORWARD_KERNELS(CT_FORWARD) CT_FAST_WIDE_FORWARD_KERNELS(CT_FORWARD)
            CT_FAST_INVERSE_KERNELS(CT_INVERSE) CT_FAST_WIDE_INVERSE_KERNELS(CT_INVERSE)
                CT_FAST_SPLIT_INVERSE_KERNELS(CT_INVERSE) CT_FAST_SPLIT_PLANE_KERNELS(CT_INVERSE)
                    CT_FAST_SPLIT_FORWARD_KERNELS(CT_FORWARD)
                        CT_FAST_FULL_FORWARD_KERNELS(CT_FORWARD)
                            CT_FAST_FULL_INVERSE_KERNELS(CT_INVERSE)
#undef CT_KERNEL
#undef CT_FORWARD
#undef CT_INVERSE
#define CT_KERNEL(direction, name, method, samples, coefs, arrangement, planes, variant)        \
  features_of(Direction::direction, Method::kIslow, SampleType::k##samples, CoefType::k##coefs, \
              Arrangement::k##arrangement, Planes::k##planes, Variant::k##variant),
#define CT_FORWARD(name, method, samples, coefs, arrangement, planes, variant) \
  CT_KERNEL(kForward, name, method, samples, coefs, arrangement, planes, variant)
#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant) \
  CT_KERNEL(kInverse, name, method, samples, coefs, arrangement, planes, variant)
                                CT_FAST_DEEP_FORWARD_KERNELS(CT_FORWARD)
                                    CT_FAST_DEEP_INVERSE_KERNELS(CT_INVERSE)
#undef CT_KERNEL
#undef CT_FORWARD
#undef CT_INVERSE
};

// From features to the number among fast_kernels(); their count, where no kernel has them.
constexpr uint16_t kNoKernel = std::size(kFastKernels);
constexpr std::array<uint16_t, kKernels> numbers_by_features() {
  std::array<uint16_t, kKernels> numbers;
  numbers.fill(kNoKernel);
  for (uint16_t i = 0; i < kNoKernel; ++i) numbers[kFastKernels[i]] = i;
  return numbers;
}
constexpr std::array<uint16_t, kKernels> kNumbers = numbers_by_features();
// A line of kernels.h with the columns of another one would take its place.
static_assert(std::ranges::count_if(kNumbers, [](uint16_t number) {
                return number != kNoKernel;
              }) == kNoKernel);

uint32_t fast_kernel_number(const Dct8x8Job& job, Planes planes, bool split, bool timed) {
  const bool plane = job.layout == Layout::kPlane;
  const Arrangement arrangement = split   ? (plane ? Arrangement::kSplitPlane : Arrangement::kSplit)
                                  : plane ? Arrangement::kPlane
                                  : job.order == Order::kZigzag ? Arrangement::kZigzag
                                                                : Arrangement::kBlock;
  const Variant variant = job.measure != 0 ? Variant::kMeasure
                          : timed          ? Variant::kTimed
                                           : Variant::kPlain;
  return kNumbers[features_of(job.direction, job.method, job.samples[0].type, job.type, arrangement,
                              planes, variant, job.quantizer)];
}

// ---- The choice by size ----

bool is_small(const Dct8x8Job& job) { return total_blocks(job) <= kSmallFrame; }

uint32_t max_split_blocks(const Dct8x8Job& job) {
  if (job.direction == Direction::kForward) return kMaxSplitForward;
  return job.method == Method::kFloat ? kMaxSplitInverseFloat : kMaxSplitInverseIslow;
}

// ---- Conditions of the fast kernels ----

constexpr int64_t kMaxPitch = std::numeric_limits<int32_t>::max();

int sample_bytes(const SamplePlane& plane) { return plane.type == SampleType::kU8 ? 1 : 2; }

bool same_table(const Dct8x8Job& job, int a, int b) {
  return !job.quantized || job.tables[job.coefs[a].table] == job.tables[job.coefs[b].table];
}

// Whether the samples of components 1 and 2 alternate, as in NV12. *first is the component whose
// sample comes first.
bool is_interleaved(const Dct8x8Job& job, const SamplePlane* planes, int* first) {
  if (job.components != 3) return false;
  const SamplePlane &u = planes[1], &v = planes[2];
  const int bytes = sample_bytes(u);
  if (u.stride != 2 * bytes || v.stride != u.stride || v.type != u.type || v.pitch != u.pitch ||
      v.width != u.width || v.height != u.height || v.shift != u.shift) {
    return false;
  }
  const ptrdiff_t apart = static_cast<uint8_t*>(v.data) - static_cast<uint8_t*>(u.data);
  *first = apart > 0 ? 1 : 2;
  return apart == bytes || apart == -bytes;
}

// Interleaved planes have dedicated kernels for the most common arrangement.
bool has_pairs_kernel(const Dct8x8Job& job) {
  return job.type == CoefType::kS16 && job.layout == Layout::kBlock && job.order == Order::kRaster;
}

// Whether rows of eight samples can be moved as vectors.
bool is_fast_plane(const SamplePlane& plane, bool interleaved) {
  const int bytes = sample_bytes(plane);
  const auto alignment = static_cast<uintptr_t>(interleaved ? 16 : 8 * bytes);
  return plane.type != SampleType::kS16 && plane.row_repeat == 1 && plane.width >= 8 &&
         plane.stride == (interleaved ? 2 : 1) * bytes && plane.pitch <= kMaxPitch &&
         is_aligned(plane.data, plane.pitch, alignment);
}

bool are_fast_samples(const Dct8x8Job& job, const SamplePlane* planes, bool* interleaved) {
  int first = 1;
  *interleaved = is_interleaved(job, planes, &first);
  for (int c = 0; c < job.components; ++c) {
    const bool paired = *interleaved && c > 0;
    if (paired && c != first) continue;
    if (!is_fast_plane(planes[c], paired) || planes[c].type != planes[0].type ||
        planes[c].shift != planes[0].shift) {
      return false;
    }
  }
  return true;
}

bool are_fast_coefs(const Dct8x8Job& job) {
  const int bytes = job.type == CoefType::kS16 ? 2 : 4;
  if (bytes == 4 && (job.layout != Layout::kBlock || job.order != Order::kRaster)) return false;
  for (int c = 0; c < job.components; ++c) {
    const CoefPlane& coefs = job.coefs[c];
    if (!is_aligned(coefs.data, coefs.pitch, kCoefAlignment) || coefs.pitch > kMaxPitch)
      return false;
    if (job.layout == Layout::kBlock && coefs.pitch != ptrdiff_t{64} * bytes * coefs.blocks_w)
      return false;
  }
  return true;
}

// islow of 12 bits, whose samples have 16.
bool is_deep(Method method, int depth) { return method == Method::kIslow && depth == 12; }

// Kernels of islow multiply by bytes, those of 12 bits by words.
bool are_fast_tables(const Dct8x8Job& job) {
  if (job.method == Method::kFloat) return true;
  if (!job.quantized || job.type != CoefType::kS16) return false;
  if (is_deep(job.method, job.depth)) return true;
  const bool inverse = job.direction == Direction::kInverse || (job.measure & kMeasureSse) != 0;
  for (int c = 0; inverse && c < job.components; ++c)
    for (const uint16_t q : job.tables[job.coefs[c].table].q)
      if (q > 255) return false;
  return true;
}

// ---- Planes ----

// The plane whose first component is `c`, and whose other is `other` where two share it.
FastPlane make_plane(const Dct8x8Job& job, const SamplePlane* planes, int c, int other) {
  const SamplePlane& samples = planes[c];
  const CoefPlane& coefs = job.coefs[c];
  FastPlane plane = {};
  plane.samples = static_cast<uint8_t*>(samples.data);
  plane.pitch = static_cast<int32_t>(samples.pitch);
  plane.width = samples.width;
  plane.rows = samples.rows();
  plane.shift = samples.shift;
  plane.interleaved = c != other;
  plane.coefs[0] = static_cast<uint8_t*>(coefs.data);
  plane.coefs[1] = static_cast<uint8_t*>(job.coefs[other].data);
  plane.coef_pitch = static_cast<int32_t>(coefs.pitch);
  plane.row_step = int64_t{8} * coefs.pitch;
  plane.blocks_w = static_cast<uint32_t>(coefs.blocks_w);
  plane.by_blocks_w = make_divider(plane.blocks_w);
  plane.blocks = plane_blocks(coefs);
  if (plane.interleaved) plane.blocks *= 2;
  plane.component[0] = static_cast<uint32_t>(c);
  plane.component[1] = static_cast<uint32_t>(other);
  return plane;
}

// Fills planes[] and where the CTAs of each begin, which have `blocks_a_cta` blocks. Returns how
// many CTAs there are.
uint32_t make_planes(const Dct8x8Job& job, const SamplePlane* samples, uint32_t blocks_a_cta,
                     FastPlane* planes, uint32_t* first_cta) {
  int first = 1;
  const bool interleaved = is_interleaved(job, samples, &first);
  uint32_t ctas = 0;
  for (int i = 0; i < kMaxComponents; ++i) {
    first_cta[i] = UINT32_MAX;
    if (i >= job.components || (interleaved && i == 2)) continue;
    const bool paired = interleaved && i == 1;
    planes[i] = make_plane(job, samples, paired ? first : i, paired ? 3 - first : i);
    first_cta[i] = ctas;
    ctas += (planes[i].blocks + blocks_a_cta - 1) / blocks_a_cta;
  }
  return ctas;
}

// Whether the kernel measures its time: all that measure do.
bool measures_time(const Dct8x8Job& job) {
  return job.measure != 0 || (job.quantizer == Quantizer::kRound && job.type == CoefType::kS16 &&
                              job.layout == Layout::kBlock && job.order == Order::kRaster &&
                              job.samples[0].type == SampleType::kU8);
}

// Whether the reference frame has the output's layout, so that they share one set of steps.
bool is_fast_reference(const Dct8x8Job& job, bool interleaved) {
  bool reference_interleaved = false;
  int first = 1, reference_first = 1;
  if (!are_fast_samples(job, job.reference, &reference_interleaved)) return false;
  is_interleaved(job, job.samples, &first);
  is_interleaved(job, job.reference, &reference_first);
  return reference_interleaved == interleaved && reference_first == first &&
         job.reference[0].type == job.samples[0].type &&
         job.reference[0].shift == job.samples[0].shift;
}

bool is_fast(const Dct8x8Job& job, bool* interleaved) {
  if (!are_fast_samples(job, job.samples, interleaved) || !are_fast_coefs(job) ||
      !are_fast_tables(job)) {
    return false;
  }
  const bool deep = is_deep(job.method, job.depth);
  const bool in_bytes = job.quantizer != Quantizer::kRound || job.method == Method::kIslow;
  if (deep && *interleaved) return false;
  if (in_bytes && !deep && job.samples[0].type != SampleType::kU8) return false;
  if (*interleaved && !(has_pairs_kernel(job) && same_table(job, 1, 2) &&
                        job.coefs[1].chroma == job.coefs[2].chroma))
    return false;
  const bool compares = job.direction == Direction::kInverse && (job.measure & kMeasureSse) != 0;
  return !compares || is_fast_reference(job, *interleaved);
}

bool are_whole_blocks(const Dct8x8Job& job) {
  for (int c = 0; c < job.components; ++c)
    if (job.samples[c].width % 8 != 0 || job.samples[c].rows() % 8 != 0) return false;
  return true;
}

// `islow` inverse has one from planes, too; with `float` a thread a block is as fast there.
bool has_split_kernel(const Dct8x8Job& job, bool interleaved) {
  const bool forward = job.direction == Direction::kForward;
  const bool arranged = job.layout == Layout::kBlock || (!forward && job.method == Method::kIslow);
  return job.quantizer == Quantizer::kRound && job.measure == 0 && !interleaved &&
         job.type == CoefType::kS16 && arranged && job.order == Order::kRaster &&
         job.samples[0].type == SampleType::kU8 && (forward || are_whole_blocks(job));
}

// Without code for edges `float` is slower, unless it measures or reads large planes.
bool has_full_kernel(const Dct8x8Job& job, bool interleaved) {
  for (int c = 0; c < job.components; ++c)
    if (plane_blocks(job.coefs[c]) < kFusedBlocks) return false;
  const bool forward = job.direction == Direction::kForward, islow = job.method == Method::kIslow;
  const bool large_plane = !forward && job.layout == Layout::kPlane && !is_small(job);
  const bool faster = job.measure == 0 ? islow || large_plane : forward;
  return faster && job.quantizer == Quantizer::kRound && !interleaved &&
         job.type == CoefType::kS16 && job.samples[0].type == SampleType::kU8 &&
         are_whole_blocks(job);
}

struct CtaShape {
  uint32_t threads, blocks;
};
CtaShape cta_shape(const Dct8x8Job& job, bool split) {
  if (!split) return {kFusedThreads, kFusedBlocks};
  if (job.direction == Direction::kForward)
    return {kSplitForwardCtaThreads, kSplitForwardCtaThreads / kSplitForwardThreads};
  const unsigned threads =
      job.layout == Layout::kPlane ? kSplitPlaneCtaThreads : kSplitInverseCtaThreads;
  return {threads, threads / kSplitInverseThreads};
}

uint32_t bits_of(uint64_t value) { return static_cast<uint32_t>(std::bit_width(value)); }

// How a component's sums share words with the count of warps. False where they do not fit, which
// takes 16-bit samples.
bool make_layout(const Dct8x8Job& job, const FastPlane& plane, SumLayout* layout) {
  const uint64_t ctas = (plane.blocks + kFusedBlocks - 1) / kFusedBlocks;
  const uint64_t warps = ctas * (kFusedThreads / 32);
  const uint64_t peak = (uint64_t{1} << job.depth) - 1;
  const uint64_t samples = uint64_t{64} * plane.blocks;
  layout->warps = static_cast<uint32_t>(warps);
  layout->sse_shift = bits_of(samples) + bits_of(peak * peak);
  layout->zeros_shift = bits_of(samples);
  const uint64_t additions = warps / kSumParts + 1;
  return layout->sse_shift + bits_of(additions) <= 64;
}

// Fills the parameters for measuring.
bool make_measuring(const Dct8x8Job& job, FastFrame* frame) {
  frame->sums = job.sums;
  frame->measure = job.measure;
  for (int i = 0; i < kMaxComponents; ++i) {
    if (frame->first_cta[i] == UINT32_MAX) continue;
    const FastPlane& plane = frame->planes[i];
    for (const uint32_t component : plane.component)
      if (!make_layout(job, plane, &frame->layout[component])) return false;
  }
  return true;
}

FastFrame make_frame(const Dct8x8Job& job, uint32_t blocks_a_cta, uint32_t* ctas) {
  FastFrame frame = {};
  *ctas = make_planes(job, job.samples, blocks_a_cta, frame.planes, frame.first_cta);
  frame.successor_first = !is_small(job);
  const float level_shift = static_cast<float>(1 << (job.depth - 1));
  frame.peak = static_cast<float>((1 << job.depth) - 1);
  // Bytes have the offset that makes them fp32 numbers: FloatDevice::kByteOffset.
  const float offset = job.samples[0].type == SampleType::kU8 ? 32768.0f : 0.0f;
  frame.forward_dc = 64.0f * (offset + level_shift);
  frame.inverse_dc = level_shift / frame.peak;
  return frame;
}

}  // namespace

uint32_t smallest_fast_kernel() {
  return kNumbers[features_of(Direction::kInverse, Method::kIslow, SampleType::kU8, CoefType::kS16,
                              Arrangement::kSplit, Planes::kEdged, Variant::kPlain)];
}

bool has_fast_kernels(Method method) {
  return method == Method::kIslow || method == Method::kFloat;
}

// Fills the frame and the tables into the parameters of the job's kind of kernel. Returns these.
static void* fill_params(const Dct8x8Job& job, const FastFrame& frame, FastParamsCache& params) {
  if (job.direction == Direction::kForward) {
    if (job.quantizer != Quantizer::kRound) {
      FastDecidedParams& filled = params.decided(job);
      filled.measure.forward.frame = frame;
      return &filled;
    }
    if (job.measure == 0) {
      FastForwardParams& filled = params.forward(job);
      filled.frame = frame;
      return &filled;
    }
    FastMeasureParams& filled = params.measure(job);
    filled.forward.frame = frame;
    return &filled;
  }
  if (job.measure == 0) {
    FastPlaneInverseParams& filled = params.inverse(job);
    filled.inverse.frame = frame;
    return &filled;
  }
  FastCompareParams& filled = params.compare(job);
  filled.plane.inverse.frame = frame;
  uint32_t first_cta[kMaxComponents];
  if ((job.measure & kMeasureSse) != 0)
    make_planes(job, job.reference, kFusedBlocks, filled.reference, first_cta);
  return &filled;
}

std::optional<FastLaunch> fast_launch(const Dct8x8Job& job, SumsInProgress* progress,
                                      FastParamsCache& params, KernelChoice choice) {
  bool interleaved = false;
  if (choice == KernelChoice::kGeneral || !is_fast(job, &interleaved)) return std::nullopt;
  const bool split =
      has_split_kernel(job, interleaved) &&
      (choice == KernelChoice::kSplit ||
       (choice == KernelChoice::kAuto && total_blocks(job) <= max_split_blocks(job)));
  Planes planes = interleaved ? Planes::kPairs : Planes::kEdged;
  if (!split && choice != KernelChoice::kEdged && has_full_kernel(job, interleaved))
    planes = Planes::kFull;
  const CtaShape shape = cta_shape(job, split);
  uint32_t ctas = 0;
  FastFrame frame = make_frame(job, shape.blocks, &ctas);
  frame.progress = progress;
  frame.timed = job.timer != nullptr && measures_time(job);
  frame.times = job.times;
  if (job.measure != 0 && !make_measuring(job, &frame)) return std::nullopt;

  std::optional<FastLaunch> launch(std::in_place);
  launch->kernel = fast_kernel_number(job, planes, split, frame.timed);
  launch->ctas = ctas;
  launch->threads = shape.threads;
  launch->pairs = interleaved;
  launch->measures_time = frame.timed;
  launch->argument = fill_params(job, frame, params);
  return launch;
}

namespace {

FastForwardTable make_forward(Method method, int depth, const QuantTable* table) {
  const double larger = is_deep(method, depth) ? 0x1p-19 : 0x1p-16;
  const ForwardTable plain = make_forward_table(method, table);
  FastForwardTable result = {};
  for (int i = 0; i < 64; ++i) {
    result.mul[i] = plain.mul[i];
    if (method == Method::kIslow)
      result.mul[i] = static_cast<float>(1.0 / (8.0 * table->q[i]) * (1.0 + larger));
  }
  return result;
}

// AC is rounded from eighths, as islow's.
FastForwardTable make_decided_forward(Method method, const QuantTable& table) {
  FastForwardTable result = make_forward(Method::kIslow, 8, &table);
  result.mul[0] = make_forward(method, 8, &table).mul[0];
  return result;
}

void make_limits(int dead_zone, const QuantTable& table, int32_t* limits) {
  const int thousandths = dead_zone != 0 ? dead_zone : 500;
  for (int i = 0; i < 64; ++i) limits[i] = (thousandths * 8 * table.q[i] + 999) / 1000;
}

FastInverseTable make_float_inverse(int depth, const QuantTable* table) {
  FastInverseTable result = {};
  const InverseTable plain = make_inverse_table(Method::kFloat, table);
  const float peak = static_cast<float>((1 << depth) - 1);
  for (int i = 0; i < 64; ++i) result.mul[i] = plain.mul[i] / peak;
  return result;
}

FastInverseTable make_islow_inverse(bool zigzag, const QuantTable& table) {
  FastInverseTable result = {};
  for (int i = 0; i < 64; ++i) {
    const int natural = zigzag ? kNaturalOfZigzag[i] : i;
    const uint32_t q = table.q[natural];
    const uint32_t limit = (natural == 0 ? 2048 : 949) / std::max(q, 1u);  // see exceeds_limits()
    result.limit[i / 2] |= limit << (16 * (i % 2));
    result.q[i / 2] |= q << (24 * (i % 2));
  }
  return result;
}

FastInverseTable make_deep_inverse(bool zigzag, const QuantTable& table) {
  FastInverseTable result = {};
  for (int i = 0; i < 64; ++i)
    result.q[i / 2] |= uint32_t{table.q[zigzag ? kNaturalOfZigzag[i] : i]} << (16 * (i % 2));
  return result;
}

void make_minus_limits(const FastInverseTable& table, uint32_t* minus_limits) {
  for (int i = 0; i < 32; ++i) {
    const uint32_t pair = table.limit[i];
    minus_limits[i] = (0u - (pair & 0xffff0000u)) | ((0u - pair) & 0xffffu);
  }
}

}  // namespace

FastParamsCache::Kind FastParamsCache::kind_of(const Dct8x8Job& job) {
  const bool zigzag = job.order == Order::kZigzag && job.layout == Layout::kBlock;
  const int dead_zone = job.quantizer == Quantizer::kDeadZone ? job.dead_zone : 0;
  return {job.method, job.depth, job.quantized, zigzag, job.quantizer, dead_zone};
}

template <typename Make>
void FastParamsCache::renew(const Dct8x8Job& job, const Kind& kind, std::optional<Origin>* origins,
                            Make&& make) {
  for (int c = 0; c < job.components; ++c) {
    const QuantTable& table = job.tables[job.coefs[c].table];
    if (origins[c] && origins[c]->kind == kind && (!kind.quantized || origins[c]->table == table))
      continue;
    make(c, kind.quantized ? &table : nullptr);
    origins[c] = {kind, kind.quantized ? table : QuantTable{}};
  }
}

// Entries of islow above 255 do not fit. Only a job that counts zeros may have them, and it does
// not read them.
FastInverseTable FastParamsCache::make_inverse(const Kind& kind, const QuantTable* table) {
  if (kind.method == Method::kFloat) return make_float_inverse(kind.depth, table);
  return is_deep(kind.method, kind.depth) ? make_deep_inverse(kind.zigzag, *table)
                                          : make_islow_inverse(kind.zigzag, *table);
}

void FastParamsCache::renew_inverse(const Dct8x8Job& job, std::optional<Origin>* origins,
                                    FastPlaneInverseParams* params) {
  const Kind kind = kind_of(job);
  renew(job, kind, origins, [&](int c, const QuantTable* table) {
    FastInverseTable& made = params->inverse.tables[c] = make_inverse(kind, table);
    if (kind.method == Method::kIslow && kind.depth == 8)
      make_minus_limits(made, params->minus_limits.of[c]);
  });
}

FastForwardParams& FastParamsCache::forward(const Dct8x8Job& job) {
  const Kind kind = kind_of(job);
  renew(job, kind, forward_.origins, [&](int c, const QuantTable* table) {
    forward_.params.tables[c] = make_forward(kind.method, kind.depth, table);
  });
  return forward_.params;
}

FastMeasureParams& FastParamsCache::measure(const Dct8x8Job& job) {
  const Kind kind = kind_of(job);
  renew(job, kind, measure_.origins, [&](int c, const QuantTable* table) {
    measure_.params.forward.tables[c] = make_forward(kind.method, kind.depth, table);
    measure_.params.inverse[c] = make_inverse(kind, table);
  });
  return measure_.params;
}

FastDecidedParams& FastParamsCache::decided(const Dct8x8Job& job) {
  const Kind kind = kind_of(job);
  FastDecidedParams& params = decided_.params;
  renew(job, kind, decided_.origins, [&](int c, const QuantTable* table) {
    params.measure.forward.tables[c] = make_decided_forward(kind.method, *table);
    params.measure.inverse[c] = make_inverse(kind, table);
    make_limits(kind.dead_zone, *table, params.limit[c]);
  });
  params.rd_weight = rd_weight(job.rd_lambda);
  params.chroma = chroma_bits(job);
  return params;
}

FastPlaneInverseParams& FastParamsCache::inverse(const Dct8x8Job& job) {
  renew_inverse(job, inverse_.origins, &inverse_.params);
  return inverse_.params;
}

FastCompareParams& FastParamsCache::compare(const Dct8x8Job& job) {
  renew_inverse(job, compare_.origins, &compare_.params.plane);
  return compare_.params;
}

}  // namespace cudatransform::cuda
