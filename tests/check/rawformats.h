// Every raw format that the elements take, and the sampling of its coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace testing {

struct Raw {
  GstVideoFormat format;
  guint depth;
  const char* sampling;
};

inline constexpr Raw kRaws[] = {
    {GST_VIDEO_FORMAT_GRAY8, 8, "GRAYSCALE"},
    {GST_VIDEO_FORMAT_GRAY16_LE, 16, "GRAYSCALE"},
    {GST_VIDEO_FORMAT_I420, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_YV12, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_NV12, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_NV21, 8, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_I420_10LE, 10, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_P010_10LE, 10, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_I420_12LE, 12, "YCbCr-4:2:0"},
    {GST_VIDEO_FORMAT_Y42B, 8, "YCbCr-4:2:2"},
    {GST_VIDEO_FORMAT_I422_10LE, 10, "YCbCr-4:2:2"},
    {GST_VIDEO_FORMAT_I422_12LE, 12, "YCbCr-4:2:2"},
    {GST_VIDEO_FORMAT_Y444, 8, "YCbCr-4:4:4"},
    {GST_VIDEO_FORMAT_Y444_10LE, 10, "YCbCr-4:4:4"},
    {GST_VIDEO_FORMAT_Y444_12LE, 12, "YCbCr-4:4:4"},
    {GST_VIDEO_FORMAT_Y41B, 8, "YCbCr-4:1:1"},
    {GST_VIDEO_FORMAT_YUV9, 8, "YCbCr-4x4,1x1,1x1"},
    {GST_VIDEO_FORMAT_YVU9, 8, "YCbCr-4x4,1x1,1x1"},
    {GST_VIDEO_FORMAT_GBR, 8, "RGB"},
};

// Formats and sizes that a source changes to while it runs.
struct Step {
  GstVideoFormat format;
  int width, height;
};

// Sizes that grow, shrink, and cross block borders; formats that change component count and depth.
inline constexpr Step kSteps[] = {
    {GST_VIDEO_FORMAT_I420, 64, 48},      {GST_VIDEO_FORMAT_I420, 65, 48},
    {GST_VIDEO_FORMAT_I420, 320, 240},    {GST_VIDEO_FORMAT_I420, 1, 1},
    {GST_VIDEO_FORMAT_GRAY8, 40, 30},     {GST_VIDEO_FORMAT_I420_10LE, 40, 30},
    {GST_VIDEO_FORMAT_NV12, 33, 17},      {GST_VIDEO_FORMAT_GBR, 33, 17},
    {GST_VIDEO_FORMAT_GRAY16_LE, 16, 24}, {GST_VIDEO_FORMAT_I420, 64, 48},
};

}  // namespace testing
