// The CUDA engine's RGB: which kernel a job gets, with which parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/rgb/engine.h"

#include <algorithm>
#include <iterator>

#include "cuda/common/batch_launch.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/params.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(rgb_kernels, CT_RGB_IMAGES)

namespace {

// A fast kernel's job.
struct FastKernel {
  int x, y;
  RgbColor color;
};
#define CT_FAST(name, x, y, color, what) {x, y, RgbColor::color},
constexpr FastKernel kFast[] = {CT_RGB_INVERSE_KERNELS(CT_FAST) CT_RGB_FORWARD_KERNELS(CT_FAST)};
#undef CT_FAST
constexpr size_t kFastCount = std::size(kFast);
#define CT_COUNT(...) +1
constexpr size_t kFirstForward = CT_RGB_INVERSE_KERNELS(CT_COUNT);
#undef CT_COUNT

bool is_forward(const RgbJob& job) { return job.direction == Direction::kForward; }

// The first of the kernels of a job whose luma is at full size and both chroma alike; else
// kFastCount.
size_t fast_kernel(const RgbJob& job) {
  const auto same = [](const RgbSubsampling& a, const RgbSubsampling& b) {
    return a.x == b.x && a.y == b.y;
  };
  if (!same(job.subsampling[0], {1, 1})) return kFastCount;
  const bool gray = job.color == RgbColor::kGray;
  if (!gray && !same(job.subsampling[1], job.subsampling[2])) return kFastCount;
  const RgbSubsampling by = gray ? RgbSubsampling{1, 1} : job.subsampling[1];
  const size_t end = is_forward(job) ? kFastCount : kFirstForward;
  size_t i = is_forward(job) ? kFirstForward : 0;
  while (i < end && (kFast[i].color != job.color || !same({kFast[i].x, kFast[i].y}, by))) ++i;
  return i < end ? i : kFastCount;
}

void describe_image(const RgbImage& rgb, RgbParams* to) {
  const RgbLayout layout = rgb_layout(rgb.packing);
  to->width = rgb.width;
  to->height = rgb.height;
  to->pixel_bytes = layout.pixel_bytes;
  to->x_place = layout.x;
  to->place[0] = std::min(layout.r, layout.b);
  to->place[1] = layout.g;
  to->place[2] = std::max(layout.r, layout.b);
  to->places = rgb.packing == RgbPacking::kPlanar ? RgbPlaces::kPlanes
               : layout.x < 0                     ? RgbPlaces::kTriples
               : layout.x == 0                    ? RgbPlaces::kXFirst
                                                  : RgbPlaces::kXLast;
  for (int p = 0; p < 3; ++p) {
    const int from = rgb.planes() == 1 ? 0 : p;
    to->rgb[p] = static_cast<uint8_t*>(rgb.data[from]);
    to->pitch[p] = rgb.pitch[from];
  }
}

constexpr RgbPair pair_of(int32_t low, int32_t high) {
  return static_cast<uint16_t>(low) | static_cast<uint32_t>(static_cast<uint16_t>(high)) << 16;
}
constexpr RgbPair halves_of(int32_t factor) { return pair_of(factor / 2, factor - factor / 2); }

// Makes `factor` times chroma that of chroma less its middle, and rounds.
constexpr uint32_t sum_of(int32_t factor, int32_t middle) {
  return static_cast<uint32_t>(kRgbHalf - factor * middle);
}

void describe_color(bool red_first, RgbParams* to) {
  const int32_t first = red_first ? kRedOfCr : kBlueOfCb, third = red_first ? kBlueOfCb : kRedOfCr;
  to->red_first = red_first;
  to->inverse = {halves_of(first),
                 halves_of(third),
                 red_first ? pair_of(kGreenOfCr, kGreenOfCb) : pair_of(kGreenOfCb, kGreenOfCr),
                 sum_of(first, kRgbMiddle),
                 sum_of(third, kRgbMiddle),
                 sum_of(kGreenOfCb + kGreenOfCr, 255 - kRgbMiddle)};
  const auto weights = [&](int32_t red, int32_t green, int32_t blue) {
    return RgbForwardWeights{pair_of(red_first ? red : blue, green),
                             pair_of(red_first ? blue : red, 0)};
  };
  to->luma = weights(kLumaOfRed, kLumaOfGreen, kLumaOfBlue);
  const RgbForwardWeights cb = weights(kCbOfRed, kCbOfGreen, -kRgbHalf);
  const RgbForwardWeights cr = weights(-kRgbHalf, kCrOfGreen, kCrOfBlue);
  to->first = red_first ? cr : cb;
  to->third = red_first ? cb : cr;
}

void describe_planes(const RgbJob& job, bool red_first, RgbParams* to) {
  // Components of the first color, and of the third.
  const bool rgb = job.color == RgbColor::kRgb;
  const int red = rgb ? 0 : 2, blue = rgb ? 2 : 1;
  const int order[] = {rgb ? 1 : 0, red_first ? red : blue, red_first ? blue : red};
  for (int p = 0; p < job.components(); ++p) {
    const SamplePlane& plane = job.planes[order[p]];
    const RgbSubsampling& by = job.subsampling[order[p]];
    to->planes[p] = {static_cast<uint8_t*>(plane.data),
                     plane.pitch,
                     plane.width,
                     plane.height,
                     by.x,
                     by.y,
                     rgb_filter(job.upsampling, by, plane.width)};
  }
}

// The bytes of a thread's columns are read and written in units of at most 16.
bool is_aligned(const void* data, int64_t pitch, int64_t bytes) {
  const int64_t unit = std::min<int64_t>(bytes & -bytes, 16);
  return reinterpret_cast<intptr_t>(data) % unit == 0 && pitch % unit == 0;
}

void find_whole_words(const RgbJob& job, RgbParams* to) {
  bool aligned = true;
  to->whole_width = job.rgb.width;
  to->whole_height = job.rgb.height;
  for (int p = 0; p < job.rgb.planes(); ++p)
    aligned = aligned && is_aligned(to->rgb[p], to->pitch[p], kRgbColumns * to->pixel_bytes);
  for (int p = 0; p < job.components(); ++p) {
    const RgbPlaneParams& plane = to->planes[p];
    aligned = aligned && is_aligned(plane.data, plane.pitch, kRgbColumns / plane.x);
    to->whole_width = std::min(to->whole_width, plane.width * plane.x);
    to->whole_height = std::min(to->whole_height, plane.height * plane.y);
  }
  if (!aligned) to->whole_width = 0;
}

RgbParams params_of(const RgbJob& job) {
  RgbParams params = {};
  const RgbLayout layout = rgb_layout(job.rgb.packing);
  const bool red_first = layout.r <= layout.b;
  params.color = job.color;
  describe_image(job.rgb, &params);
  describe_color(red_first, &params);
  describe_planes(job, red_first, &params);
  return params;
}

Status launch(StreamQueue& queue, size_t kernel, uint32_t ctas, RgbParams& params) {
  return queue.launch(KernelKey{rgb_kernels(), static_cast<uint32_t>(kernel)}, ctas, kRgbThreads,
                      params, true);
}

// Fills the rest of a fast kernel's parameters. Returns whether it has edges.
bool plan_fast(const RgbJob& job, size_t kernel, RgbParams& params) {
  const int rows = kFast[kernel].y;
  params.columns = params.width;
  params.rows = params.height;
  for (int c = 0; c < job.components() && is_forward(job); ++c) {
    const RgbPlaneParams& plane = params.planes[c];
    params.columns = std::max(params.columns, plane.width * plane.x);
    params.rows = std::max(params.rows, plane.height * plane.y);
  }
  params.blends = params.planes[1].filter != RgbFilter::kNearest;
  find_whole_words(job, &params);
  constexpr unsigned kDown = kRgbThreads / kRgbLanesAcross;
  params.across = divide_up(params.columns, kRgbColumns * kRgbLanesAcross);
  params.count = params.across * divide_up(params.rows, rows * kDown);
  params.by_across = make_divider(params.across);
  return params.whole_width < params.columns || params.columns % kRgbColumns != 0 ||
         params.whole_height < params.rows || params.rows % rows != 0;
}

Status submit_fast(StreamQueue& queue, const RgbJob& job, size_t kernel, RgbParams& params) {
  const bool has_edges = plan_fast(job, kernel, params);
  if (is_forward(job))
    kernel += has_edges ? 1 : 0;
  else
    kernel += has_edges ? 0 : 1 + static_cast<size_t>(params.places);
  return launch(queue, kernel, params.count, params);
}

Status submit_general(StreamQueue& queue, const RgbJob& job, RgbParams& params) {
  const auto launch_rows = [&](int32_t width, int32_t height) {
    params.across = divide_up(width, kRgbThreads);
    params.by_across = make_divider(params.across);
    params.count = params.across * static_cast<uint32_t>(height);
    return launch(queue, kFastCount + (is_forward(job) ? 1 : 0), params.count, params);
  };
  if (!is_forward(job)) return launch_rows(params.width, params.height);
  for (int c = 0; c < job.components(); ++c) {
    params.component = static_cast<uint32_t>(c);
    CT_RETURN_IF_ERROR(launch_rows(params.planes[c].width, params.planes[c].height));
  }
  return {};
}

bool is_fast(size_t kernel, const RgbParams& params) {
  return kernel < kFastCount && params.planes[1].filter == params.planes[2].filter;
}

template <RgbKernelChoice kChoice>
Status submit(Device& device, Queue& queue, const RgbJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  RgbParams params = params_of(job);
  const size_t kernel = kChoice == RgbKernelChoice::kAuto ? fast_kernel(job) : kFastCount;
  if (is_fast(kernel, params))
    CT_RETURN_IF_ERROR(submit_fast(*stream, job, kernel, params));
  else
    CT_RETURN_IF_ERROR(submit_general(*stream, job, params));
  return fence != nullptr ? stream->record(fence) : Status{};
}

// The number of the batch kernel for a fast kernel.
uint32_t batch_kernel(size_t kernel) {
#define CT_COUNT(...) +1
  constexpr size_t kInverse = CT_RGB_INVERSE_BATCH_KERNELS(CT_COUNT);
  constexpr size_t kForward = CT_RGB_FORWARD_BATCH_KERNELS(CT_COUNT);
#undef CT_COUNT
  if (kernel < kFirstForward) return static_cast<uint32_t>(kernel / (kFirstForward / kInverse));
  constexpr size_t kEach = (kFastCount - kFirstForward) / kForward;
  return static_cast<uint32_t>(kInverse + (kernel - kFirstForward) / kEach);
}

}  // namespace

CT_KERNEL_FAMILY(rgb_batch_kernels, CT_RGB_BATCH_IMAGES)

Status submit_rgb_batch(Device& device, Queue& queue, std::span<const RgbJob> jobs) {
  if (jobs.size() == 1) return submit<RgbKernelChoice::kAuto>(device, queue, jobs[0], nullptr);
  for (const RgbJob& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  Batch<RgbParams> batch;
  for (const RgbJob& job : jobs) {
    RgbParams params = params_of(job);
    const size_t kernel = fast_kernel(job);
    if (!is_fast(kernel, params)) {
      CT_RETURN_IF_ERROR(submit_general(*stream, job, params));
      continue;
    }
    plan_fast(job, kernel, params);
    batch.add(batch_kernel(kernel), params.count, params);
  }
  if (batch.is_empty()) return {};
  CT_RETURN_IF_ERROR(batch.send(device, *stream));
  return batch.launch(*stream, rgb_batch_kernels(), kRgbThreads, 0, 1,
                      [](uint32_t kernel) { return kernel; });
}

}  // namespace cuda

Status probe_cuda_rgb_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::rgb_kernels(), cuda::kFastCount});
}

const RgbOps& cuda_rgb_ops(cuda::RgbKernelChoice choice) {
  using cuda::RgbKernelChoice;
  static constexpr RgbOps kOps = {"cuda", cuda::submit<RgbKernelChoice::kAuto>};
  static constexpr RgbOps kGeneral = {"cuda", cuda::submit<RgbKernelChoice::kGeneral>};
  return choice == RgbKernelChoice::kAuto ? kOps : kGeneral;
}

}  // namespace cudatransform
