// From the levels of a JPEG picture to its pixels: which jobs the engines get, and their memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/jpeg_pixels.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/engine.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/rgb/engine.h"
#endif

namespace cudatransform::core {
namespace {

constexpr size_t row_bytes(uint32_t blocks) { return size_t{blocks} * 64 * sizeof(int16_t); }

Status unsupported(const std::string& what) {
  return Status::error(StatusCode::kUnsupported, what);
}

Status check_kind(const JpegHeader& header, CtOutput output) {
  if (output == CT_OUTPUT_LEVELS) return {};
  if (header.depth != 8)
    return unsupported("its samples have " + std::to_string(header.depth) +
                       " bits, and pixels are made of 8");
  if (header.color == JpegColor::kCmyk || header.color == JpegColor::kYcck)
    return unsupported(std::string("it is of ") +
                       (header.color == JpegColor::kCmyk ? "CMYK" : "YCCK") +
                       ", and pixels are made of grayscale, YCbCr and RGB");
  if (header.color == JpegColor::kTwo)
    return unsupported("it has two components, whose colors no file names");
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

// How many samples of the picture one of a component stands for.
RgbSubsampling ratio_of(const JpegSampling& sampling, size_t c) {
  return {static_cast<int>(sampling.max_h() / sampling.h[c]),
          static_cast<int>(sampling.max_v() / sampling.v[c])};
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

}  // namespace

JpegLevels PixelPlan::levels(int component, uint8_t* base) const {
  const auto c = static_cast<size_t>(component);
  return {reinterpret_cast<int16_t*>(base + levels_at[c]),
          static_cast<ptrdiff_t>(row_bytes(header.blocks_w[c])), header.blocks_w[c],
          header.blocks_h[c]};
}

Status plan_pixels(const JpegHeader& header, const CtDecodeOptions& options, bool dense,
                   PixelPlan* plan) {
  CT_RETURN_IF_ERROR(check_kind(header, options.output));
  *plan = {};
  plan->header = header;
  plan->output = options.output;
  plan->scale = std::max(options.scale, 1);
  for (size_t c = 0; c < static_cast<size_t>(header.components); ++c) {
    plan->levels_at[c] = plan->level_bytes;
    plan->level_bytes += aligned(row_bytes(header.blocks_w[c]) * header.blocks_h[c]);
  }
  plan->width = static_cast<int32_t>(header.width);
  plan->height = static_cast<int32_t>(header.height);
  if (options.output == CT_OUTPUT_LEVELS) return {};
  plan->width = scaled_size(plan->width, plan->scale);
  plan->height = scaled_size(plan->height, plan->scale);
  const bool is_gray = options.output == CT_OUTPUT_GRAY;
  plan->channels = is_gray ? 1 : 3;
  plan->components = is_gray || header.components == 1 ? 1 : 3;
  plan->pitch = static_cast<size_t>(plan->width) * static_cast<size_t>(plan->channels);
  if (!dense) plan->pitch = aligned(plan->pitch);
  plan->pixel_bytes = plan->pitch * static_cast<size_t>(plan->height);
  // libjpeg's upsampling of pictures at an eighth of their size.
  const bool repeats = plan->scale == 8 || options.upsampling == CT_UPSAMPLING_NEAREST;
  plan->upsampling = repeats ? ChromaUpsampling::kNearest : ChromaUpsampling::kFancy;
  place_planes(plan);
  if (is_gray) plan->plane_bytes = 0;
  return {};
}

PixelJobs jobs_of(const PixelPlan& plan, const JpegTables& tables, uint8_t* levels, uint8_t* planes,
                  uint8_t* pixels) {
  PixelJobs jobs;
  Dct8x8Job all;
  all.direction = Direction::kInverse;
  all.components = plan.components;
  std::copy_n(tables.tables, tables.count, all.tables);
  const bool is_gray = plan.output == CT_OUTPUT_GRAY;
  for (int c = 0; c < plan.components; ++c) {
    const auto i = static_cast<size_t>(c);
    const JpegLevels from = plan.levels(c, levels);
    all.coefs[c] = {.data = from.data,
                    .pitch = from.stride,
                    .blocks_w = static_cast<int32_t>(from.blocks_w),
                    .blocks_h = static_cast<int32_t>(from.blocks_h),
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
  return jobs.has_rgb ? CT_OPS(device, rgb).submit(device, queue, jobs.rgb, nullptr) : Status();
}

}  // namespace cudatransform::core
