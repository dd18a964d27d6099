// The checks that keep resampling inside its buffers, and the plan of a job.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/resize/resize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "transform/picture_check.h"
#include "transform/resize/axis.h"
#include "transform/resize/plan.h"

namespace cudatransform {

namespace {

int sample_bytes(ResizeType type) {
  return type == ResizeType::kU8 ? 1 : type == ResizeType::kF32 ? 4 : 2;
}

Status check_picture(const char* what, const ResizePicture& picture, int channels, int bytes) {
  if (picture.width < 1 || picture.height < 1 || picture.width > kMaxResizeSide ||
      picture.height > kMaxResizeSide) {
    return job_error(std::string(what) + " of " + text(picture.width) + " x " +
                     text(picture.height) + " samples, expected 1 to " + text(kMaxResizeSide) +
                     " on a side");
  }
  constexpr int32_t kMaxStep = 256;
  if (picture.step < bytes || picture.step > kMaxStep) {
    return job_error(std::string(what) + " with a step of " + text(picture.step) +
                     " bytes, expected " + text(bytes) + " to " + text(kMaxStep));
  }
  if (picture.step % bytes != 0) {
    return job_error(std::string(what) + " with a step of " + text(picture.step) +
                     " bytes, expected a multiple of " + text(bytes));
  }
  const int64_t row_bytes = (int64_t{picture.width} - 1) * picture.step + bytes;
  for (int c = 0; c < channels; ++c) {
    CT_RETURN_IF_ERROR(check_pitch({what, c}, picture.data[c], picture.pitch[c], row_bytes,
                                   picture.height, bytes));
  }
  return {};
}

struct Extent {
  uintptr_t begin, end;
};
Extent extent_of(const ResizePicture& picture, int channel, int bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(picture.data[channel]);
  return {begin,
          begin +
              static_cast<uintptr_t>(picture.pitch[channel]) *
                  static_cast<uintptr_t>(picture.height - 1) +
              static_cast<uintptr_t>(picture.width - 1) * static_cast<uintptr_t>(picture.step) +
              static_cast<uintptr_t>(bytes)};
}

Status check_apart(const ResizeJob& job) {
  for (int c = 0; c < job.channels; ++c) {
    const Extent to = extent_of(job.to, c, sample_bytes(job.type));
    for (int k = 0; k < job.channels; ++k) {
      const Extent from = extent_of(job.from, k, 1);
      if (to.begin < from.end && from.begin < to.end) {
        return job_error("channel " + text(c) + " of the output overlaps channel " + text(k) +
                         " of the input");
      }
      if (k < c && job.to.data[k] == job.to.data[c])
        return job_error("channels " + text(k) + " and " + text(c) + " of the output overlap");
    }
  }
  return {};
}

Status check_reduction(const ResizeJob& job) {
  const ResizeReduction& by = job.reduction;
  if (by.x < 1 || by.y < 1 || int64_t{by.x} * by.y > kMaxReduction) {
    return job_error("a reduction by " + text(by.x) + " x " + text(by.y) + ", expected 1 to " +
                     text(kMaxReduction) + " samples");
  }
  if (!by.exists()) return {};
  if (by.left < 0 || by.top < 0 || by.right > job.from.width || by.bottom > job.from.height ||
      by.left >= by.right || by.top >= by.bottom) {
    return job_error("a reduction of " + text(by.left) + ", " + text(by.top) + " to " +
                     text(by.right) + ", " + text(by.bottom) + ", expected a part of " +
                     text(job.from.width) + " x " + text(job.from.height));
  }
  if (job.filter == ResizeFilter::kNearest)
    return job_error("nearest and a reduction, expected another filter");
  return {};
}

// NaN fails every comparison.
bool is_within(double from, double to, int32_t side) {
  return from >= 0. && to <= side && static_cast<float>(from) < static_cast<float>(to);
}

Status check_box(const ResizeBox& box, int32_t width, int32_t height) {
  if (is_within(box.left, box.right, width) && is_within(box.top, box.bottom, height)) return {};
  return job_error("box " + std::to_string(box.left) + ", " + std::to_string(box.top) + " to " +
                   std::to_string(box.right) + ", " + std::to_string(box.bottom) +
                   ", expected one that is not empty within " + text(width) + " x " + text(height));
}

int32_t reduced_side(int32_t side, int32_t by) { return (side + by - 1) / by; }

bool is_whole(double value) { return value == std::floor(value); }

ResizeSide side_of(int32_t in, double from, double to, int32_t out) {
  const double first = static_cast<float>(from), last = static_cast<float>(to);
  return {out != in || first != 0. || last != out, in, out, first, last};
}

// A box of whole samples, as large as the output.
bool is_crop(const ResizeSide& side) {
  return is_whole(side.from) && static_cast<float>(side.to) - static_cast<float>(side.from) ==
                                    static_cast<float>(side.out);
}

bool rows_first(ResizeOrder order, const ResizeSide& x, const ResizeSide& y) {
  if (y.in <= y.out) return false;
  switch (order) {
    case ResizeOrder::kPillow13:
      return int64_t{y.in} - y.out > 2 * (int64_t{x.in} - x.out);
    case ResizeOrder::kPillow12:
      return y.in > int64_t{100} * x.in;
    case ResizeOrder::kPillow11:
      break;
  }
  return false;
}

}  // namespace

int32_t ResizeJob::reduced_width() const {
  return reduction.exists() ? reduced_side(reduction.right - reduction.left, reduction.x)
                            : from.width;
}
int32_t ResizeJob::reduced_height() const {
  return reduction.exists() ? reduced_side(reduction.bottom - reduction.top, reduction.y)
                            : from.height;
}

ResizeBox whole_box(const ResizeJob& job) {
  return {0., 0., double(job.reduced_width()), double(job.reduced_height())};
}

Status set_reducing_gap(double gap, ResizeJob* job) {
  if (!(gap >= 1.))
    return job_error("reducing gap " + std::to_string(gap) + ", expected 1 or more");
  CT_RETURN_IF_ERROR(check_box(job->box, job->from.width, job->from.height));
  if (job->to.width < 1 || job->to.height < 1)
    return job_error("output of " + text(job->to.width) + " x " + text(job->to.height));
  if (job->filter == ResizeFilter::kNearest ||
      (job->has_alpha && job->order != ResizeOrder::kPillow13))
    return {};
  const ResizeBox box = job->box;
  const double width = box.right - box.left, height = box.bottom - box.top;
  ResizeReduction by;
  by.x = std::max(1, static_cast<int32_t>(width / job->to.width / gap));
  by.y = std::max(1, static_cast<int32_t>(height / job->to.height / gap));
  if (!by.exists()) return {};
  const double beyond = resize_support(job->filter) - .5;
  const double beyond_x = beyond * (width / job->to.width);
  const double beyond_y = beyond * (height / job->to.height);
  by.left = std::max(0, static_cast<int32_t>(box.left - beyond_x));
  by.top = std::max(0, static_cast<int32_t>(box.top - beyond_y));
  by.right =
      static_cast<int32_t>(std::min(double(job->from.width), std::ceil(box.right + beyond_x)));
  by.bottom =
      static_cast<int32_t>(std::min(double(job->from.height), std::ceil(box.bottom + beyond_y)));
  job->reduction = by;
  job->box = {(box.left - by.left) / by.x, (box.top - by.top) / by.y, (box.right - by.left) / by.x,
              (box.bottom - by.top) / by.y};
  return {};
}

Status validate(const ResizeJob& job) {
  if (job.channels < 1 || job.channels > kMaxResizeChannels)
    return job_error(text(job.channels) + " channels, expected 1 to " + text(kMaxResizeChannels));
  if (job.has_alpha && job.channels < 2) return job_error("alpha alone, expected a color, too");
  if (!within(job.filter, ResizeFilter::kMks2021))
    return job_error("unknown filter " + text(int(job.filter)));
  if (!within(job.order, ResizeOrder::kPillow11))
    return job_error("unknown order " + text(int(job.order)));
  if (!within(job.type, ResizeType::kBf16)) return job_error("unknown type " + text(int(job.type)));
  if ((job.table != nullptr) != (job.type != ResizeType::kU8))
    return job_error("a table of values, expected with floats and not with bytes");
  CT_RETURN_IF_ERROR(check_picture("input", job.from, job.channels, 1));
  CT_RETURN_IF_ERROR(check_picture("output", job.to, job.channels, sample_bytes(job.type)));
  CT_RETURN_IF_ERROR(check_reduction(job));
  CT_RETURN_IF_ERROR(check_box(job.box, job.reduced_width(), job.reduced_height()));
  return check_apart(job);
}

ResizePlan plan_resize(const ResizeJob& job) {
  ResizePlan plan;
  plan.x = side_of(job.reduced_width(), job.box.left, job.box.right, job.to.width);
  plan.y = side_of(job.reduced_height(), job.box.top, job.box.bottom, job.to.height);
  const bool is_copy = !plan.x.is_filtered && !plan.y.is_filtered;
  plan.premultiplies =
      job.has_alpha && job.filter != ResizeFilter::kNearest && (!is_copy || job.reduction.exists());
  if (is_crop(plan.x) && is_crop(plan.y)) plan.x.is_filtered = plan.y.is_filtered = false;
  plan.picks = job.filter == ResizeFilter::kNearest && plan.filters();
  plan.rows_first =
      plan.x.is_filtered && plan.y.is_filtered && rows_first(job.order, plan.x, plan.y);
  return plan;
}

uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // not a number
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and more
  if (magnitude < 0x38800000) {                       // below 2^-14: multiples of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.f;
    return sign | static_cast<uint16_t>(std::nearbyintf(scaled));
  }
  return sign |
         static_cast<uint16_t>((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

}  // namespace cudatransform
