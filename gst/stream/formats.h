// Which raw video formats stand for which sampling and depth, and where their components lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <vector>

#include "transform/picture.h"

namespace cudatransform {

enum class Color { kGray, kYcbcr, kRgb };

// How many samples of the first component there are for one of the others, across and down.
struct Sampling {
  Color color = Color::kGray;
  int chroma_h = 1, chroma_v = 1;
};

struct RawFormat {
  GstVideoFormat format;
  Sampling sampling;
  guint depth;
  bool in_cuda_memory;  // whether the gstcuda that we are built against can hold it
};

// All formats, those of one sampling and depth together, the default of each first.
const std::vector<RawFormat>& raw_formats();
// Whether GStreamer 1.`minor`.`micro` puts the last plane of such frames in CUDA memory half a row
// further, where its own download does not look: whoever maps one for the CPU does not get it.
bool cuda_memory_loses_a_plane(GstVideoFormat format, int height, guint minor, guint micro);
// Null for a format that is not ours.
const RawFormat* find_raw_format(GstVideoFormat format);

// A raw frame in one address space (host or device): what gst_video_frame_map() found, or a copy.
struct RawView {
  GstVideoInfo info;  // format and size; its strides and offsets are not used
  guint8* plane[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];
};

// Bytes of one row and number of rows of a plane, visible samples only.
gsize plane_row_bytes(const GstVideoInfo& info, guint plane);
guint plane_rows(const GstVideoInfo& info, guint plane);

// Fills `samples` in the order Y Cb Cr, or R G B, and returns the number of components. Of the
// second and third, each row stands `chroma_rows` times in the frame.
int component_planes(const RawView& view, SamplePlane samples[kMaxComponents], int chroma_rows = 1);

}  // namespace cudatransform
