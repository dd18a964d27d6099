// Which raw video formats stand for which sampling and depth, and where their components lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <vector>

#include <gst/coef/dct.h>
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

struct RawFormat {
  GstVideoFormat format;
  GstDctSampling sampling;
  guint depth;
  bool in_cuda_memory;  // whether the gstcuda that we are built against can hold it
};

// All formats, those of one sampling and depth together, the default of each first. 4:4:0 is not
// among them: GStreamer has no such format, so cudaidct8x8 writes it as 4:4:4 of depth 8.
const std::vector<RawFormat>& raw_formats();
// Whether GStreamer 1.`minor`.`micro` puts the last plane of such frames in CUDA memory half a row
// further, where its own download does not look: whoever maps one for the CPU does not get it.
bool cuda_memory_loses_a_plane(GstVideoFormat format, int height, guint minor, guint micro);
// Null for a format that is not ours.
const RawFormat* find_raw_format(GstVideoFormat format);
// Whether frames of YCbCr-4:4:0 may be written as `format`. Only JPEG makes 4:4:0, and JPEG here is
// 8 bits.
bool holds_440(const RawFormat& format);

// A raw frame in one address space (host or device): what gst_video_frame_map() found, or a copy.
struct RawView {
  GstVideoInfo info;  // format and size; its strides and offsets are not used
  guint8* plane[GST_VIDEO_MAX_PLANES];
  gint stride[GST_VIDEO_MAX_PLANES];
};

// Bytes of one row and number of rows of a plane, visible samples only.
gsize plane_row_bytes(const GstVideoInfo& info, guint plane);
guint plane_rows(const GstVideoInfo& info, guint plane);

// Fills `samples` in JPEG component order (Y Cb Cr, R G B) and returns the number of components.
// With `sampling` 4:4:0 the chroma rows of the 4:4:4 frame come in pairs.
int component_planes(const RawView& view, GstDctSampling sampling,
                     SamplePlane samples[kMaxComponents]);

}  // namespace cudatransform
