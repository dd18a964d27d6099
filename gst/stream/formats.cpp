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
  static const std::vector<RawFormat> formats = {
      {GST_VIDEO_FORMAT_I420, GST_DCT_SAMPLING_420, 8, true},
      {GST_VIDEO_FORMAT_YV12, GST_DCT_SAMPLING_420, 8, true},
      {GST_VIDEO_FORMAT_NV12, GST_DCT_SAMPLING_420, 8, true},
      {GST_VIDEO_FORMAT_NV21, GST_DCT_SAMPLING_420, 8, !kSince124},
      {GST_VIDEO_FORMAT_Y42B, GST_DCT_SAMPLING_422, 8, true},
      {GST_VIDEO_FORMAT_Y444, GST_DCT_SAMPLING_444, 8, true},
      {GST_VIDEO_FORMAT_GRAY8, GST_DCT_SAMPLING_GRAYSCALE, 8, false},
      {GST_VIDEO_FORMAT_GBR, GST_DCT_SAMPLING_RGB, 8, true},
      {GST_VIDEO_FORMAT_Y41B, GST_DCT_SAMPLING_411, 8, false},
      {GST_VIDEO_FORMAT_I420_10LE, GST_DCT_SAMPLING_420, 10, true},
      {GST_VIDEO_FORMAT_P010_10LE, GST_DCT_SAMPLING_420, 10, true},
      {GST_VIDEO_FORMAT_I422_10LE, GST_DCT_SAMPLING_422, 10, true},
      {GST_VIDEO_FORMAT_Y444_10LE, GST_DCT_SAMPLING_444, 10, kSince124},
      {GST_VIDEO_FORMAT_I420_12LE, GST_DCT_SAMPLING_420, 12, kSince124},
      {GST_VIDEO_FORMAT_I422_12LE, GST_DCT_SAMPLING_422, 12, true},
      {GST_VIDEO_FORMAT_Y444_12LE, GST_DCT_SAMPLING_444, 12, kSince124},
      {GST_VIDEO_FORMAT_GRAY16_LE, GST_DCT_SAMPLING_GRAYSCALE, 16, false},
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

bool holds_440(const RawFormat& format) {
  return format.sampling == GST_DCT_SAMPLING_444 && format.depth == 8;
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

int component_planes(const RawView& view, GstDctSampling sampling,
                     SamplePlane samples[kMaxComponents]) {
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
    if (c > 0 && sampling == GST_DCT_SAMPLING_440) s.row_repeat = 2;
  }
  return components;
}

}  // namespace cudatransform
