// Which raw video formats stand for which sampling and depth, and where their components lie.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/formats.h"

namespace cudatransform {

const std::vector<RawFormat>& raw_formats() {
  // What gstcuda could hold grew over time, and asking it for anything else aborts the process:
  // 1.24 added I420_12LE, Y444_10LE and Y444_12LE. No version holds GRAY8, GRAY16_LE or Y41B.
  // NV21 of odd height is allocated one row short from 1.24 on, and caps cannot say "even heights
  // only", so from there on NV21 stays in system memory.
#if GST_CHECK_VERSION(1, 23, 1)
  constexpr bool kSince124 = true;
#else
  constexpr bool kSince124 = false;
#endif
  constexpr Sampling kGray = {Color::kGray, 1, 1}, kRgb = {Color::kRgb, 1, 1};
  constexpr Sampling k420 = {Color::kYcbcr, 2, 2}, k422 = {Color::kYcbcr, 2, 1};
  constexpr Sampling k444 = {Color::kYcbcr, 1, 1}, k411 = {Color::kYcbcr, 4, 1};
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

bool cuda_memory_loses_a_plane(GstVideoFormat format, int height, guint minor, guint micro) {
  const bool planar_420 = format == GST_VIDEO_FORMAT_I420 || format == GST_VIDEO_FORMAT_YV12 ||
                          format == GST_VIDEO_FORMAT_I420_10LE ||
                          format == GST_VIDEO_FORMAT_I420_12LE;
  if (!planar_420) return false;
  const bool odd = height % 2 != 0;
  if (minor <= 22) return odd;
  // What was meant to mend that broke the others, until 1.24.4.
  return !odd && (minor == 23 || (minor == 24 && micro < 4));
}

const RawFormat* find_raw_format(GstVideoFormat format) {
  for (const RawFormat& candidate : raw_formats())
    if (candidate.format == format) return &candidate;
  return nullptr;
}

static guint first_component_of(const GstVideoInfo& info, guint plane) {
  guint component = 0;
  while (component + 1 < GST_VIDEO_INFO_N_COMPONENTS(&info) &&
         static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info, component)) != plane)
    component++;
  return component;
}

gsize plane_row_bytes(const GstVideoInfo& info, guint plane) {
  const guint component = first_component_of(info, plane);
  return gsize(GST_VIDEO_INFO_COMP_WIDTH(&info, component)) *
         GST_VIDEO_INFO_COMP_PSTRIDE(&info, component);
}

guint plane_rows(const GstVideoInfo& info, guint plane) {
  return GST_VIDEO_INFO_COMP_HEIGHT(&info, first_component_of(info, plane));
}

int component_planes(const RawView& view, SamplePlane samples[kMaxComponents], int chroma_rows) {
  const GstVideoInfo* info = &view.info;
  const int components = GST_VIDEO_INFO_N_COMPONENTS(info);
  for (int c = 0; c < components; c++) {
    const guint plane = GST_VIDEO_INFO_COMP_PLANE(info, c);
    SamplePlane& s = samples[c];
    s = SamplePlane();
    const bool wide = GST_VIDEO_INFO_COMP_DEPTH(info, c) > 8;
    // GStreamer says that P010's V is 1 byte after U; it is one sample, 2 bytes.
    guint offset = GST_VIDEO_INFO_COMP_POFFSET(info, c);
    if (wide && offset == 1) offset = 2;
    s.data = view.plane[plane] + offset;
    s.pitch = view.stride[plane];
    s.width = GST_VIDEO_INFO_COMP_WIDTH(info, c);
    s.height = GST_VIDEO_INFO_COMP_HEIGHT(info, c);
    s.stride = GST_VIDEO_INFO_COMP_PSTRIDE(info, c);
    s.shift = GST_VIDEO_FORMAT_INFO_SHIFT(info->finfo, c);
    s.type = wide ? SampleType::kU16 : SampleType::kU8;
    if (c > 0) s.row_repeat = chroma_rows;
  }
  return components;
}

}  // namespace cudatransform
