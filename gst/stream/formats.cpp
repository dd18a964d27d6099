// The raw video formats of each sampling and depth.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/formats.h"

namespace cudatransform {

const std::vector<RawFormat>& raw_formats() {
  // gstcuda holds more formats in newer versions, and asking it for another aborts the process:
  // 1.24 added I420_12LE, Y444_10LE and Y444_12LE. No version holds GRAY8, GRAY16_LE, Y41B, YUV9 or
  // YVU9. From 1.24 on it allocates NV21 of odd height one row short, and caps cannot say "even
  // heights only", so there NV21 stays in system memory.
#if GST_CHECK_VERSION(1, 23, 1)
  constexpr bool kSince124 = true;
#else
  constexpr bool kSince124 = false;
#endif
  constexpr Sampling kGray = {Color::kGray, 1, 1}, kRgb = {Color::kRgb, 1, 1};
  constexpr Sampling k420 = {Color::kYcbcr, 2, 2}, k422 = {Color::kYcbcr, 2, 1};
  constexpr Sampling k444 = {Color::kYcbcr, 1, 1}, k411 = {Color::kYcbcr, 4, 1};
  constexpr Sampling k410 = {Color::kYcbcr, 4, 4};
  static const std::vector<RawFormat> formats = {
      {GST_VIDEO_FORMAT_I420, k420, 8, true},
      {GST_VIDEO_FORMAT_YV12, k420, 8, true},
      {GST_VIDEO_FORMAT_NV12, k420, 8, true},
      {GST_VIDEO_FORMAT_NV21, k420, 8, !kSince124},
      {GST_VIDEO_FORMAT_Y42B, k422, 8, true},
      {GST_VIDEO_FORMAT_Y444, k444, 8, true},
      {GST_VIDEO_FORMAT_GRAY8, kGray, 8, false},
      {GST_VIDEO_FORMAT_GBR, kRgb, 8, true},
      {GST_VIDEO_FORMAT_Y41B, k411, 8, false},
      {GST_VIDEO_FORMAT_YUV9, k410, 8, false},
      {GST_VIDEO_FORMAT_YVU9, k410, 8, false},
      {GST_VIDEO_FORMAT_I420_10LE, k420, 10, true},
      {GST_VIDEO_FORMAT_P010_10LE, k420, 10, true},
      {GST_VIDEO_FORMAT_I422_10LE, k422, 10, true},
      {GST_VIDEO_FORMAT_Y444_10LE, k444, 10, kSince124},
      {GST_VIDEO_FORMAT_I420_12LE, k420, 12, kSince124},
      {GST_VIDEO_FORMAT_I422_12LE, k422, 12, true},
      {GST_VIDEO_FORMAT_Y444_12LE, k444, 12, kSince124},
      {GST_VIDEO_FORMAT_GRAY16_LE, kGray, 16, false},
  };
  return formats;
}

const std::vector<RgbFormat>& rgb_formats() {
  // No gstcuda holds xRGB and xBGR.
  static const std::vector<RgbFormat> formats = {
      {GST_VIDEO_FORMAT_RGB, true},  {GST_VIDEO_FORMAT_BGR, true},   {GST_VIDEO_FORMAT_RGBx, true},
      {GST_VIDEO_FORMAT_BGRx, true}, {GST_VIDEO_FORMAT_xRGB, false}, {GST_VIDEO_FORMAT_xBGR, false},
      {GST_VIDEO_FORMAT_RGBA, true}, {GST_VIDEO_FORMAT_BGRA, true},  {GST_VIDEO_FORMAT_ARGB, true},
      {GST_VIDEO_FORMAT_ABGR, true}, {GST_VIDEO_FORMAT_RGBP, true},  {GST_VIDEO_FORMAT_BGRP, true},
  };
  return formats;
}

bool is_rgb_format(GstVideoFormat format) {
  for (const RgbFormat& candidate : rgb_formats())
    if (candidate.format == format) return true;
  return false;
}

bool cuda_memory_loses_a_plane(GstVideoFormat format, int height, guint minor, guint micro) {
  const bool planar_420 = format == GST_VIDEO_FORMAT_I420 || format == GST_VIDEO_FORMAT_YV12 ||
                          format == GST_VIDEO_FORMAT_I420_10LE ||
                          format == GST_VIDEO_FORMAT_I420_12LE;
  if (!planar_420) return false;
  const bool odd = height % 2 != 0;
  if (minor <= 22) return odd;
  // GStreamer's first fix broke the even heights, until 1.24.4.
  return !odd && (minor == 23 || (minor == 24 && micro < 4));
}

const RawFormat* find_raw_format(GstVideoFormat format) {
  for (const RawFormat& candidate : raw_formats())
    if (candidate.format == format) return &candidate;
  return nullptr;
}

}  // namespace cudatransform
