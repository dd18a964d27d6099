// From the quantized coefficients of a JPEG picture to its pixels: which jobs the engines get, and
// their memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/jpeg_pixels.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/engine.h"
#include "jpeg/exif.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/rgb/engine.h"
#include "cuda/transpose/engine.h"
#endif

namespace cudatransform::core {
namespace {

constexpr size_t row_bytes(uint32_t blocks) { return size_t{blocks} * 64 * sizeof(int16_t); }

Status unsupported(const std::string& what) {
  return Status::error(StatusCode::kUnsupported, what);
}

Status check_kind(const JpegHeader& header, CtOutput output) {
  if (output == CT_OUTPUT_COEFFICIENTS) return {};
  if (header.depth != 8)
    return unsupported("its samples have " + std::to_string(header.depth) +
                       " bits, pixels require 8");
  if (header.color == JpegColor::kCmyk || header.color == JpegColor::kYcck)
    return unsupported(std::string("it is of ") +
                       (header.color == JpegColor::kCmyk ? "CMYK" : "YCCK") +
                       ", pixels require grayscale, YCbCr or RGB");
  if (header.color == JpegColor::kTwo)
    return unsupported("it has two components of unspecified color");
  if (output == CT_OUTPUT_GRAY && header.color == JpegColor::kRgb)
    return unsupported("it is of RGB, which has no luma");
  const JpegSampling& sampling = header.sampling;
  if (!sampling.has_whole_ratios())
    return unsupported("its sampling factors are " + sampling.text(header.components) +
                       ", and libjpeg does not upsample by fractions");
  if (output == CT_OUTPUT_GRAY &&
      (sampling.h[0] < sampling.max_h() || sampling.v[0] < sampling.max_v()))
    return unsupported("its sampling factors are " + sampling.text(header.components) +
                       ", and luma alone is output where it has the picture's size");
  return {};
}

RgbColor rgb_color_of(JpegColor color) {
  if (color == JpegColor::kGray) return RgbColor::kGray;
  return color == JpegColor::kRgb ? RgbColor::kRgb : RgbColor::kYcbcr;
}

// The subsampling factor: samples of the picture per sample of a component.
RgbSubsampling ratio_of(const JpegSampling& sampling, size_t c) {
  return {static_cast<int>(sampling.max_h() / sampling.h[c]),
          static_cast<int>(sampling.max_v() / sampling.v[c])};
}

// Of the whole picture. A draft's is Pillow's.
int scale_of(const JpegHeader& header, const CtDecodeOptions& options) {
  if (options.draft_width == 0) return std::max(options.scale, 1);
  const uint32_t most = std::min(header.width / static_cast<uint32_t>(options.draft_width),
                                 header.height / static_cast<uint32_t>(options.draft_height));
  return most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : 1;
}

RgbScale scale_of(const PixelPlan& plan, size_t c) {
  return rgb_scale(ratio_of(plan.header.sampling, c), plan.scale);
}

void place_planes(PixelPlan* plan) {
  for (size_t c = 0; c < static_cast<size_t>(plan->components); ++c) {
    const auto [scale, by] = scale_of(*plan, c);
    plan->scales[c] = scale;
    SamplePlane& plane = plan->planes[c];
    plane.width = rgb_plane_side(plan->width, by.x);
    plane.height = rgb_plane_side(plan->height, by.y);
    plane.pitch = static_cast<ptrdiff_t>(aligned(static_cast<size_t>(plane.width)));
    plan->planes_at[c] = plan->plane_bytes;
    plan->plane_bytes += static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
  }
}

bool is_given(const CtCrop& crop) {
  return crop.left != 0 || crop.top != 0 || crop.right != 0 || crop.bottom != 0;
}

Status check_crop(const CtCrop& crop, int32_t width, int32_t height) {
  if (crop.left >= 0 && crop.top >= 0 && crop.left < crop.right && crop.top < crop.bottom &&
      crop.right <= width && crop.bottom <= height)
    return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "crop (" + std::to_string(crop.left) + ", " + std::to_string(crop.top) +
                           ", " + std::to_string(crop.right) + ", " + std::to_string(crop.bottom) +
                           ") is empty or reaches beyond the " + std::to_string(width) + "x" +
                           std::to_string(height) + " picture");
}

// The part of the file's picture that becomes `crop` of the upright one.
CtCrop before(const Orientation& upright, const CtCrop& crop, int32_t width, int32_t height) {
  CtCrop made = crop;
  if (upright.mirrors_x) {
    made.left = width - crop.right;
    made.right = width - crop.left;
  }
  if (upright.mirrors_y) {
    made.top = height - crop.bottom;
    made.bottom = height - crop.top;
  }
  if (!upright.transposes) return made;
  return {made.top, made.left, made.bottom, made.right};
}

// The MCUs along a side that pixels from `from` to `to` need.
struct McuRange {
  int32_t first, count;
};
McuRange mcus_of(int32_t from, int32_t to, int32_t side, uint32_t factor, int scale) {
  const auto largest = static_cast<int32_t>(factor);
  const int32_t mcu = 8 * largest / scale;
  // Upsampling reads a neighbor, which is itself at an edge, and repeats samples where there are
  // only two.
  const int32_t margin = 4 * largest;
  const int32_t first = std::max(from - margin, 0) / mcu;
  const int32_t end = std::min(to + margin, side);
  return {first, (end + mcu - 1) / mcu - first};
}

// Replaces the picture by the MCUs that a crop needs.
void take_part(const CtCrop& crop, PixelPlan* plan) {
  const JpegSampling& sampling = plan->header.sampling;
  const McuRange x = mcus_of(crop.left, crop.right, plan->width, sampling.max_h(), plan->scale);
  const McuRange y = mcus_of(crop.top, crop.bottom, plan->height, sampling.max_v(), plan->scale);
  const int32_t mcu_w = 8 * static_cast<int32_t>(sampling.max_h()) / plan->scale;
  const int32_t mcu_h = 8 * static_cast<int32_t>(sampling.max_v()) / plan->scale;
  const int32_t left = x.first * mcu_w, top = y.first * mcu_h;
  plan->width = std::min(plan->width - left, x.count * mcu_w);
  plan->height = std::min(plan->height - top, y.count * mcu_h);
  plan->crop = {crop.left - left, crop.top - top, crop.right - left, crop.bottom - top};
  plan->is_part = true;
  for (size_t c = 0; c < static_cast<size_t>(plan->components); ++c) {
    const auto h = static_cast<int32_t>(sampling.h[c]), v = static_cast<int32_t>(sampling.v[c]);
    BlockRange& blocks = plan->blocks[c];
    blocks.x = x.first * h;
    blocks.y = y.first * v;
    blocks.width = std::min(blocks.width - blocks.x, x.count * h);
    blocks.height = std::min(blocks.height - blocks.y, y.count * v);
  }
}

// After place_planes(): pixels that are transposed are behind the planes.
void place_pixels(bool dense, PixelPlan* plan) {
  const auto pitch_of = [&](int32_t width, bool has_no_gaps) {
    const auto bytes = static_cast<size_t>(width) * static_cast<size_t>(plan->channels);
    return has_no_gaps ? bytes : aligned(bytes);
  };
  plan->pitch = pitch_of(plan->width, dense && !plan->is_transposed());
  plan->output_pitch = plan->pitch;
  plan->pixel_bytes = plan->pitch * static_cast<size_t>(plan->height);
  if (!plan->is_transposed()) return;
  plan->transposed_at = plan->plane_bytes;
  plan->plane_bytes += plan->pixel_bytes;
  plan->output_pitch = pitch_of(plan->output_width(), dense);
  plan->pixel_bytes = plan->output_pitch * static_cast<size_t>(plan->output_height());
}

TransposeJob transpose_job(const PixelPlan& plan, const uint8_t* from, uint8_t* to) {
  TransposeJob job;
  job.orientation = plan.upright;
  job.channels = plan.channels;
  job.width = plan.output_width();
  job.height = plan.output_height();
  job.from = from + plan.crop_at();
  job.from_pitch = static_cast<ptrdiff_t>(plan.pitch);
  job.to = to;
  job.to_pitch = static_cast<ptrdiff_t>(plan.output_pitch);
  return job;
}

}  // namespace

JpegQcoefs PixelPlan::qcoefs(int component, uint8_t* base) const {
  const auto c = static_cast<size_t>(component);
  return {reinterpret_cast<int16_t*>(base + qcoefs_at[c]),
          static_cast<ptrdiff_t>(row_bytes(header.blocks_w[c])), header.blocks_w[c],
          header.blocks_h[c]};
}

Status plan_pixels(const JpegHeader& header, const CtDecodeOptions& options, int orientation,
                   const CtCrop& crop, bool dense, PixelPlan* plan) {
  CT_RETURN_IF_ERROR(check_kind(header, options.output));
  *plan = {};
  plan->header = header;
  plan->output = options.output;
  plan->scale = scale_of(header, options);
  for (size_t c = 0; c < static_cast<size_t>(header.components); ++c) {
    plan->qcoefs_at[c] = plan->qcoef_bytes;
    plan->qcoef_bytes += aligned(row_bytes(header.blocks_w[c]) * header.blocks_h[c]);
  }
  plan->width = static_cast<int32_t>(header.width);
  plan->height = static_cast<int32_t>(header.height);
  if (options.output == CT_OUTPUT_COEFFICIENTS)
    return is_given(crop) ? Status::error(StatusCode::kInvalidArgument, "a crop needs pixels")
                          : Status();
  plan->width = scaled_size(plan->width, plan->scale);
  plan->height = scaled_size(plan->height, plan->scale);
  const bool is_gray = options.output == CT_OUTPUT_GRAY;
  plan->channels = is_gray ? 1 : 3;
  plan->components = is_gray || header.components == 1 ? 1 : 3;
  for (size_t c = 0; c < static_cast<size_t>(plan->components); ++c)
    plan->blocks[c] = {0, 0, static_cast<int32_t>(header.blocks_w[c]),
                       static_cast<int32_t>(header.blocks_h[c])};
  plan->crop = {0, 0, plan->width, plan->height};
  if (options.upright != 0) plan->upright = upright_orientation(orientation);
  if (is_given(crop)) {
    const int32_t width = plan->output_width(), height = plan->output_height();
    CT_RETURN_IF_ERROR(check_crop(crop, width, height));
    take_part(before(plan->upright, crop, width, height), plan);
  }
  // libjpeg's upsampling of pictures at an eighth of their size.
  const bool repeats = plan->scale == 8 || options.upsampling == CT_UPSAMPLING_NEAREST;
  plan->upsampling = repeats ? ChromaUpsampling::kNearest : ChromaUpsampling::kFancy;
  place_planes(plan);
  if (is_gray) plan->plane_bytes = 0;  // the inverse DCT writes pixels
  place_pixels(dense, plan);
  return {};
}

PixelJobs jobs_of(const PixelPlan& plan, const JpegTables& tables, uint8_t* qcoefs, uint8_t* planes,
                  uint8_t* output) {
  PixelJobs jobs;
  uint8_t* const pixels = plan.is_transposed() ? planes + plan.transposed_at : output;
  jobs.has_transpose = plan.is_transposed();
  if (jobs.has_transpose) jobs.transpose = transpose_job(plan, pixels, output);
  Dct8x8Job all;
  all.direction = Direction::kInverse;
  all.components = plan.components;
  std::copy_n(tables.tables, tables.count, all.tables);
  const bool is_gray = plan.output == CT_OUTPUT_GRAY;
  for (int c = 0; c < plan.components; ++c) {
    const auto i = static_cast<size_t>(c);
    const JpegQcoefs from = plan.qcoefs(c, qcoefs);
    const BlockRange& blocks = plan.blocks[i];
    all.coefs[c] = {.data = from.row(static_cast<uint32_t>(blocks.y)) + ptrdiff_t{64} * blocks.x,
                    .pitch = from.stride,
                    .blocks_w = blocks.width,
                    .blocks_h = blocks.height,
                    .table = tables.table_of[c],
                    .chroma = c > 0};
    all.samples[c] = plan.planes[i];
    all.samples[c].data = is_gray ? pixels : planes + plan.planes_at[i];
    if (is_gray) all.samples[c].pitch = static_cast<ptrdiff_t>(plan.pitch);
  }
  const auto end = plan.scales.begin() + plan.components;
  if (std::all_of(plan.scales.begin(), end, [&](int s) { return s == plan.scales[0]; })) {
    all.scale = plan.scales[0];
    all.method = effective_method(Method::kIslow, 8, all.scale);
    jobs.dct[0] = all;
    jobs.dct_count = 1;
  } else {
    for (int c = 0; c < plan.components; ++c) {
      Dct8x8Job& one = jobs.dct[static_cast<size_t>(c)];
      one = all;
      one.components = 1;
      one.scale = plan.scales[static_cast<size_t>(c)];
      one.method = effective_method(Method::kIslow, 8, one.scale);
      one.coefs[0] = all.coefs[c];
      one.samples[0] = all.samples[c];
    }
    jobs.dct_count = plan.components;
  }
  if (is_gray) return jobs;
  jobs.has_rgb = true;
  jobs.rgb.direction = Direction::kInverse;
  jobs.rgb.color = rgb_color_of(plan.header.color);
  jobs.rgb.upsampling = plan.upsampling;
  for (int c = 0; c < plan.components; ++c) {
    jobs.rgb.subsampling[c] = scale_of(plan, static_cast<size_t>(c)).left;
    jobs.rgb.planes[c] = all.samples[c];
  }
  jobs.rgb.rgb.width = plan.width;
  jobs.rgb.rgb.height = plan.height;
  jobs.rgb.rgb.data[0] = pixels;
  jobs.rgb.rgb.pitch[0] = static_cast<ptrdiff_t>(plan.pitch);
  return jobs;
}

Status submit(Device& device, Queue& queue, const PixelJobs& jobs) {
  for (int i = 0; i < jobs.dct_count; ++i)
    CT_RETURN_IF_ERROR(
        CT_OPS(device, dct8x8).submit(device, queue, jobs.dct[static_cast<size_t>(i)], nullptr));
  if (jobs.has_rgb)
    CT_RETURN_IF_ERROR(CT_OPS(device, rgb).submit(device, queue, jobs.rgb, nullptr));
  if (!jobs.has_transpose) return {};
  return CT_OPS(device, transpose).submit(device, queue, {&jobs.transpose, 1}, nullptr);
}

}  // namespace cudatransform::core
