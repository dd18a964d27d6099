// Conversions of frames around the DCT: RGB to planes and back, and limited range to full.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/conversions.h"

#include <string>

#include "cuda/range/engine.h"
#include "cuda/rgb/engine.h"
#include "gst/dct8x8/caps.h"
#include "gst/stream/sampling.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/memory_budget.h"
#include "transform/rgb/arithmetic.h"
#include "transform/rgb/rgb.h"

namespace cudatransform {

CT_ENGINE_OPS(RangeOps, host_range_ops, cuda_range_ops)
CT_ENGINE_OPS(RgbOps, host_rgb_ops, cuda_rgb_ops)
namespace {

constexpr gsize kPlanePitch = 128;  // a line of a GPU's cache

RgbPacking packing_of(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_RGB:
      return RgbPacking::kRgb;
    case GST_VIDEO_FORMAT_BGR:
      return RgbPacking::kBgr;
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_RGBA:
      return RgbPacking::kRgbx;
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_BGRA:
      return RgbPacking::kBgrx;
    case GST_VIDEO_FORMAT_xRGB:
    case GST_VIDEO_FORMAT_ARGB:
      return RgbPacking::kXrgb;
    case GST_VIDEO_FORMAT_xBGR:
    case GST_VIDEO_FORMAT_ABGR:
      return RgbPacking::kXbgr;
    default:
      return RgbPacking::kPlanar;
  }
}

RgbColor color_of(GstCoefSampling sampling) {
  if (sampling == GST_COEF_SAMPLING_GRAYSCALE) return RgbColor::kGray;
  return is_of(sampling, "sRGB") ? RgbColor::kRgb : RgbColor::kYcbcr;
}

Status check_ycbcr(const GstCaps* coefs) {
  const char* text = gst_structure_get_string(gst_caps_get_structure(coefs, 0), "colorimetry");
  GstVideoColorimetry color;
  if (text && gst_video_colorimetry_from_string(&color, text) &&
      color.range == GST_VIDEO_COLOR_RANGE_0_255 && color.matrix == GST_VIDEO_COLOR_MATRIX_BT601)
    return {};
  return Status::error(
      StatusCode::kUnsupported,
      "RGB output requires JPEG YCbCr (colorimetry=" + std::string(kJpegColorimetry) + "), not " +
          (text ? "colorimetry=" + std::string(text) : "coefficients without colorimetry") +
          "; convert YUV output: cudaidct8x8 ! video/x-raw,format=I420 ! videoconvert");
}

}  // namespace

Status check_rgb(const GstVideoInfo& rgb, const GstDctInfo& dct, const GstCaps* coefs,
                 Direction direction) {
  if (dct.depth != 8)
    return Status::error(StatusCode::kUnsupported,
                         std::string("RGB ") +
                             (direction == Direction::kInverse ? "output" : "input") +
                             " requires 8-bit coefficients, not " + std::to_string(dct.depth));
  if (direction == Direction::kInverse && rgb.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235)
    return Status::error(StatusCode::kUnsupported,
                         "RGB output requires full range (colorimetry=sRGB), not limited range");
  if (!has_whole_ratios(dct.sampling))
    return Status::error(StatusCode::kUnsupported, std::string("RGB output does not support ") +
                                                       gst_coef_sampling_to_string(dct.sampling) +
                                                       ": libjpeg does not upsample by fractions");
  return color_of(dct.sampling) == RgbColor::kYcbcr ? check_ycbcr(coefs) : Status();
}

RgbScale rgb_scale_of(const GstDctInfo& dct, int component, int scale) {
  const MaxFactors max = max_factors(dct.sampling);
  const GstDctComponent& own = dct.components[component];
  return rgb_scale({static_cast<int>(max.h / own.h_samp), static_cast<int>(max.v / own.v_samp)},
                   scale);
}

Status RgbStep::begin(const GstVideoInfo& rgb, const GstDctInfo& dct, const RgbPlanes& planes) {
  job_ = {};
  job_.direction = planes.direction;
  job_.color = color_of(dct.sampling);
  // libjpeg's upsampling of pictures at an eighth of their size.
  job_.upsampling = planes.scale == 8 ? ChromaUpsampling::kNearest : planes.upsampling;
  job_.rgb.packing = packing_of(GST_VIDEO_INFO_FORMAT(&rgb));
  job_.rgb.width = rgb.width;
  job_.rgb.height = rgb.height;
  for (int c = 0; c < kMaxComponents; c++) plane_of_[c] = GST_VIDEO_INFO_COMP_PLANE(&rgb, c);
  describe_planes(dct, planes);
  return make_room();
}

void RgbStep::describe_planes(const GstDctInfo& dct, const RgbPlanes& planes) {
  for (int c = 0; c < job_.components(); c++) {
    const RgbSubsampling by = rgb_scale_of(dct, c, planes.scale).left;
    job_.subsampling[c] = by;
    SamplePlane& plane = job_.planes[c];
    plane.width = rgb_plane_side(job_.rgb.width, job_.subsampling[c].x);
    plane.height = rgb_plane_side(job_.rgb.height, job_.subsampling[c].y);
    // After its last column the DCT repeats it. cjpeg repeats the picture's last column, and takes
    // the mean of that and its like.
    if (planes.fills_blocks && by.x * by.y > 1) {
      plane.width = dct.components[c].blocks_w * 8;
      plane.height = dct.components[c].blocks_h * 8;
    }
  }
}

Status RgbStep::make_room() {
  gsize size = 0;
  gsize offset[kMaxComponents] = {};
  for (int c = 0; c < job_.components(); c++) {
    SamplePlane& plane = job_.planes[c];
    const gsize pitch = (gsize(plane.width) + kPlanePitch - 1) / kPlanePitch * kPlanePitch;
    plane.pitch = static_cast<ptrdiff_t>(pitch);
    offset[c] = size;
    size += pitch * gsize(plane.height);
  }
  CT_RETURN_IF_ERROR(grow_memory(engine_.device(), MemoryKind::kDevice, size, &memory_));
  for (int c = 0; c < job_.components(); c++)
    job_.planes[c].data = static_cast<guint8*>(memory_->data()) + offset[c];
  return {};
}

guint64 RgbStep::frame_bytes() const {
  const int bytes = rgb_layout(job_.rgb.packing).pixel_bytes * job_.rgb.planes();
  return guint64(job_.rgb.width) * guint64(job_.rgb.height) * guint64(bytes);
}

Status RgbStep::submit(const Rects& frame) {
  for (int p = 0; p < job_.rgb.planes(); p++) {
    const Rect& rect = frame.rect[job_.rgb.planes() == 1 ? 0 : plane_of_[p]];
    job_.rgb.data[p] = rect.data;
    job_.rgb.pitch[p] = static_cast<ptrdiff_t>(rect.pitch);
  }
  return engine_.ops<RgbOps>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job_,
                                      nullptr);
}

Status RangeStep::begin(const GstVideoInfo& info, guint depth, const Rects& frame) {
  const bool is_rgb = GST_VIDEO_INFO_IS_RGB(&info);
  const gsize sample_bytes = depth == 8 ? 1 : 2;
  job_ = {};
  job_.depth = static_cast<int>(depth);
  job_.shift =
      GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0) + bits_below(GST_VIDEO_INFO_FORMAT(&info), depth);
  job_.planes = frame.count;
  converted_ = frame;
  gsize size = 0;
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  for (int p = 0; p < frame.count; p++) {
    Rect& rect = converted_.rect[p];
    rect.pitch = (rect.row_bytes + kPlanePitch - 1) / kPlanePitch * kPlanePitch;
    offset[p] = size;
    size += rect.pitch * rect.rows;
  }
  CT_RETURN_IF_ERROR(grow_memory(engine_.device(), MemoryKind::kDevice, size, &memory_));
  for (int p = 0; p < frame.count; p++) {
    Rect& rect = converted_.rect[p];
    rect.data = static_cast<guint8*>(memory_->data()) + offset[p];
    job_.plane[p] = {.from = frame.rect[p].data,
                     .to = rect.data,
                     .from_pitch = static_cast<ptrdiff_t>(frame.rect[p].pitch),
                     .to_pitch = static_cast<ptrdiff_t>(rect.pitch),
                     .samples = static_cast<int32_t>(rect.row_bytes / sample_bytes),
                     .rows = static_cast<int32_t>(rect.rows),
                     .is_chroma = p > 0 && !is_rgb};
  }
  return {};
}

Status RangeStep::submit() {
  return engine_.ops<RangeOps>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job_,
                                        nullptr);
}

}  // namespace cudatransform
