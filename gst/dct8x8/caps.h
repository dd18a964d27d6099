// Negotiation: the matching of video/x-raw and video/x-dct, and the preferred choice.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/dct.h>
#include "gst/stream/coef_caps.h"
#include "transform/picture.h"

namespace cudatransform {

// JPEG's colorimetry of YCbCr: full range, BT.601's matrix.
inline constexpr char kJpegColorimetry[] = "1:4:0:0";

// All caps that the transforms take or make; CUDA memory first where this build has it. The
// template allows more than the two functions below, so that people can read it. Transfer full.
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

}  // namespace cudatransform
