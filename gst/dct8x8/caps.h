// Negotiation of video/x-raw and video/x-dct: formats, sizes, ranges, and the preferred choice.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <string>
#include <vector>

#include <gst/coef/dct.h>
#include "gst/stream/coef_caps.h"
#include "transform/picture.h"

namespace cudatransform {

// JPEG's colorimetry of YCbCr: full range, BT.601's matrix.
inline constexpr char kJpegColorimetry[] = "1:4:0:0";

// All caps that the transforms accept or produce; CUDA memory first where this build has it. The
// template allows more than the two functions below, so that it stays readable. Transfer full.
GstCaps* dct_template_caps();

// The caps that the other pad of a transform of this direction can have when one pad has `caps`;
// see coef_caps.h. Raw video has 1/scale of the coefficients' width and height, rounded up.
// Forward, limited range may become full range (range_caps.h); the range as it is comes first.
// Transfer full.
GstCaps* raw_to_dct_caps(const GstCaps* caps, MemoryKinds kinds, Direction direction, int scale);
GstCaps* dct_to_raw_caps(const GstCaps* caps, MemoryKinds kinds, Direction direction, int scale);

// Where fixed `coefs` differ from `coefs_before` in width and height alone: `raw_before`, which
// belong to the latter, in the new size. Null where they differ in more. Transfer full.
GstCaps* resized_raw_caps(const GstCaps* coefs, const GstCaps* coefs_before,
                          const GstCaps* raw_before, int scale);

// Reads caps of coefficients. Fails where they are incomplete or contradict themselves.
Status read_dct_caps(const GstCaps* caps, GstDctInfo* info);

// Fixes `candidates` (transfer full): device memory first if `prefer_cuda`, then the first value of
// every field in the order of docs/elements/cudadct8x8.md. The peer's order does not count.
GstCaps* fixate_dct_caps(GstCaps* candidates, bool prefer_cuda);

// Replace width and height in `s`, if present: each is a number, a range or a list. One divides by
// `scale` (1, 2, 4 or 8) and rounds up; the other returns all sizes that the first maps to these.
// False if no size remains, because all are too large for caps.
bool scale_sizes_down(GstStructure* s, int scale);
bool scale_sizes_up(GstStructure* s, int scale);

// The full-range colorimetry that coefficients of raw video `s` can have after a conversion of the
// range, for each of limited range that it names: with BT.601's matrix JPEG's, with others the same
// but for the range. A missing field names none.
std::vector<std::string> full_range_colorimetries(const GstStructure* s);

// Whether coefficients have full range by their caps.
bool has_full_range(const GstCaps* coefs);
// Whether samples of `raw` have limited range by their caps, which read_raw_caps() has read.
inline bool has_limited_range(const GstVideoInfo& raw) {
  return raw.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
}

// Keeps that part of `candidates` (transfer full), caps of coefficients of fixed `raw`, that has
// full range if the peer of `src` names full range first, as jpegcoefenc does, and the range of
// `raw` if it does not. Where that leaves none, all stay. Transfer full.
GstCaps* choose_range(GstPad* src, const GstCaps* raw, GstCaps* candidates);

// The colorimetry of raw video upstream of `sink` that has limited range and JPEG's matrix; empty:
// there is none. Follows links through bins and elements.
std::string limited_range_upstream(GstPad* sink);

// `caps` (transfer full) of raw video that prefer a colorimetry, for elements that convert frames
// of this one: they allow the same and prefer none, but for gray, for which GStreamer's default is
// full range, this one. Transfer full.
GstCaps* prefer_range_of_input(GstCaps* caps, const std::string& colorimetry);

}  // namespace cudatransform
