// Limited and full range in caps: what becomes of it, and what neighbours have and want.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>
#include <vector>

namespace cudatransform {

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
// of this one: they allow the same and prefer none, but for grey, for which GStreamer's default is
// full range, this one. Transfer full.
GstCaps* prefer_range_of_input(GstCaps* caps, const std::string& colorimetry);

}  // namespace cudatransform
