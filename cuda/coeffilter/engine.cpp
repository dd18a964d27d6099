// Coefficient filters on the CUDA engine: the launch of a job, and its parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/coeffilter/engine.h"

#include <algorithm>

#include "cuda/coeffilter/kernels.h"
#include "cuda/coeffilter/params.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "transform/picture_check.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(coef_filter_kernels, CT_COEF_FILTER_IMAGES)
CT_KERNEL_FAMILY(convert_kernels, CT_CONVERT_IMAGES)

namespace {

// The kernels load and store 16 bytes at a time, and reach the eight rows of a block of planes by
// 32 bits.
template <typename Job>
Status check_alignment(const Job& job) {
  constexpr uintptr_t kUnit = 16;
  for (int c = 0; c < job.components; ++c)
    for (const CoefArray* array : {&job.from[c], &job.to[c]}) {
      if ((reinterpret_cast<uintptr_t>(array->data) | static_cast<uintptr_t>(array->pitch)) %
              kUnit !=
          0)
        return job_error("coefficients of component " + text(c) +
                         ": unaligned address or pitch, expected multiples of " + text(kUnit));
      if (array->pitch > INT32_MAX / 8)
        return job_error("coefficients of component " + text(c) + ": pitch " + text(array->pitch) +
                         ", expected at most " + text(INT32_MAX / 8));
    }
  return {};
}

constexpr uint32_t kFlips = 2 * kFlipWays;

// The natural index of the i-th coefficient of a block in memory.
int natural_at(CoefArrangement arrangement, int i) {
  return arrangement == CoefArrangement::kZigzagBlock ? kNaturalOfZigzag[i] : i;
}

template <typename Job, typename Plane>
void describe_memory(const Job& job, int c, Plane* to) {
  to->from = static_cast<const uint8_t*>(job.from[c].data);
  to->to = static_cast<uint8_t*>(job.to[c].data);
  to->from_steps = steps_of(job.from[c], job.number, job.arrangement);
  to->to_steps = steps_of(job.to[c], job.number, job.arrangement);
}

template <typename Params>
Status launch(StreamQueue& queue, uint32_t kernel, uint32_t ctas, Params& params) {
  return queue.launch(KernelKey{coef_filter_kernels(), kernel}, ctas, kCoefThreads, params, true);
}

// ---- Flips ----

void fill_signs(const FlipJob& job, FlipParams* params) {
  for (const bool x : {false, true})
    for (const bool y : {false, true}) {
      const uint64_t natural = flip_negated(x, y);
      uint64_t& negated = params->negated[x][y];
      negated = 0;
      for (int i = 0; i < 64; ++i) negated |= (natural >> natural_at(job.arrangement, i) & 1) << i;
    }
  for (int i = 0; i < 64; ++i) {
    const int natural = kNaturalOfZigzag[i];
    params->places[i] = kZigzagOfNatural[natural % 8 * 8 + natural / 8];
  }
}

FlipWay way_of(const FlipJob& job) {
  const bool turns = job.orientation.transposes;
  if (job.arrangement == CoefArrangement::kPlane)
    return turns ? FlipWay::kTransposedPlane : FlipWay::kPlane;
  if (!turns) return FlipWay::kStraight;
  return job.arrangement == CoefArrangement::kZigzagBlock ? FlipWay::kZigzag : FlipWay::kTransposed;
}

uint32_t fill_planes(const FlipJob& job, FlipWay way, FlipParams* params) {
  const FlipShape shape = flip_shape(way);
  uint32_t ctas = 0;
  for (int c = 0; c < kMaxCoefArrays; ++c) {
    FlipPlaneParams& to = params->planes[c];
    to.first_cta = UINT32_MAX;
    if (c >= job.components) continue;
    describe_memory(job, c, &to);
    to.blocks_w = job.to[c].blocks_w;
    to.blocks_h = job.to[c].blocks_h;
    to.place = job.places[c];
    to.first_cta = ctas;
    to.across = divide_up(to.blocks_w, shape.width);
    to.by_across = make_divider(to.across);
    ctas += to.across * divide_up(to.blocks_h, shape.height);
  }
  return ctas;
}

Status submit_flip(Device& device, Queue& queue, const FlipJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  CT_RETURN_IF_ERROR(check_alignment(job));
  FlipParams params = {};
  params.mirrors_x = job.orientation.mirrors_x;
  params.mirrors_y = job.orientation.mirrors_y;
  params.is_float = is_floating(job.number);
  fill_signs(job, &params);
  const FlipWay way = way_of(job);
  const uint32_t ctas = fill_planes(job, way, &params);
  const uint32_t kernel = static_cast<uint32_t>(way) + (bytes_of(job.number) == 2 ? 0 : kFlipWays);
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  CT_RETURN_IF_ERROR(launch(*stream, kernel, ctas, params));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? stream->record(fence) : Status{};
}

// ---- Other tables ----

uint32_t fill_planes(const RequantJob& job, RequantParams* params) {
  uint32_t ctas = 0;
  for (int c = 0; c < kMaxCoefArrays; ++c) {
    RequantPlaneParams& to = params->planes[c];
    to.first_cta = UINT32_MAX;
    if (c >= job.components) continue;
    describe_memory(job, c, &to);
    to.blocks_w = static_cast<uint32_t>(job.to[c].blocks_w);
    to.blocks = to.blocks_w * static_cast<uint32_t>(job.to[c].blocks_h);
    to.by_width = make_divider(to.blocks_w);
    for (int i = 0; i < 64; ++i) {
      const int natural = natural_at(job.arrangement, i);
      to.before[i] = job.before[job.from[c].table].q[natural];
      to.after[i] = job.after[job.to[c].table].q[natural];
      to.multiplier[i] = make_requant_entry(to.before[i], to.after[i]).multiplier;
    }
    to.first_cta = ctas;
    ctas += divide_up(to.blocks, kCoefThreads / kCoefLanes * kRequantBlocks);
  }
  return ctas;
}

// Sums are in device memory, to which the kernel adds.
Status launch_measuring(StreamQueue& queue, const RequantJob& job, uint32_t kernel, uint32_t ctas,
                        RequantParams& params) {
  CUdeviceptr sums = 0;
  CT_RETURN_IF_ERROR(queue.scratch(sizeof(PictureSums), &sums));
  CT_RETURN_IF_ERROR(queue.clear(sums, sizeof(PictureSums)));
  params.sums = reinterpret_cast<PictureSums*>(sums);
  CT_RETURN_IF_ERROR(launch(queue, kernel, ctas, params));
  return queue.read_back(job.sums, sums, sizeof(PictureSums));
}

Status submit_requant(Device& device, Queue& queue, const RequantJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  CT_RETURN_IF_ERROR(check_alignment(job));
  RequantParams params = {};
  params.are_planes = job.arrangement == CoefArrangement::kPlane;
  params.measure = job.measure;
  const uint32_t ctas = fill_planes(job, &params);
  const bool measures = job.measure != 0;
  const uint32_t kernel = kFlips + (job.number == CoefNumber::kS16 ? 0 : 2) + (measures ? 1 : 0);
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  CT_RETURN_IF_ERROR(measures ? launch_measuring(*stream, job, kernel, ctas, params)
                              : launch(*stream, kernel, ctas, params));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? stream->record(fence) : Status{};
}

// ---- Conversions ----

// Returns the number of tiles. A grid may have all that kMaxCoefBlocks allows.
uint32_t describe_planes(const ConvertJob& job, ConvertParams* params) {
  uint32_t tiles = 0;
  for (int c = 0; c < job.components; ++c) {
    const CoefArray &from = job.from[c], &to = job.to[c];
    ConvertPlane& plane = params->planes[c];
    plane.from = static_cast<uint8_t*>(from.data);
    plane.to = static_cast<uint8_t*>(to.data);
    plane.from_steps = steps_of(from, job.from_kinds.number, job.from_kinds.arrangement);
    plane.to_steps = steps_of(to, job.to_kinds.number, job.to_kinds.arrangement);
    plane.blocks_w = from.blocks_w;
    plane.blocks_h = from.blocks_h;
    plane.first = tiles;
    plane.across =
        static_cast<uint32_t>((int64_t{from.blocks_w} + kConvertBlocks - 1) / kConvertBlocks);
    plane.by_across = make_divider(plane.across);
    tiles += plane.across * static_cast<uint32_t>(from.blocks_h);
    if (needs_tables(job)) std::copy_n(table_of(job, c).q, 64, params->divisors[c]);
  }
  return tiles;
}

Status submit_convert(Device& device, Queue& queue, const ConvertJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  CT_RETURN_IF_ERROR(check_alignment(job));
  ConvertParams params = {};
  const uint32_t tiles = describe_planes(job, &params);
  params.components = job.components;
  params.from = job.from_kinds.arrangement;
  params.to = job.to_kinds.arrangement;
  std::copy_n(kNaturalOfZigzag, 64, params.natural_of_zigzag);
  std::copy_n(kZigzagOfNatural, 64, params.zigzag_of_natural);
  static_assert(sizeof *params.saturated == sizeof *job.saturated);
  params.saturated = reinterpret_cast<unsigned long long*>(job.saturated);
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  const auto kernel = static_cast<uint32_t>(conversion_of(job.from_kinds, job.to_kinds));
  CT_RETURN_IF_ERROR(
      stream->launch(KernelKey{convert_kernels(), kernel}, tiles, kConvertThreads, params, true));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

Status probe_cuda_flip_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::coef_filter_kernels(), 0});
}

Status probe_cuda_requant_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::coef_filter_kernels(), cuda::kFlips});
}

const FlipOps& cuda_flip_ops() {
  static constexpr FlipOps kOps = {"cuda", cuda::submit_flip};
  return kOps;
}

const RequantOps& cuda_requant_ops() {
  static constexpr RequantOps kOps = {"cuda", cuda::submit_requant};
  return kOps;
}

Status probe_cuda_convert_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::convert_kernels(), kConversion_copy_16});
}

const ConvertOps& cuda_convert_ops() {
  static constexpr ConvertOps kOps = {"cuda", cuda::submit_convert};
  return kOps;
}

}  // namespace cudatransform
