// Negotiation: which video/x-raw and which video/x-dct belong together, and which to prefer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/dct.h>
#include "gst/stream/coef_caps.h"

namespace cudatransform {

// Everything that the transforms take or make; CUDA memory first where this build has it. That is
// more than the allowed combinations, which the two functions below spell out: a template is read
// by people. `with_440`: also what only JPEG files have. Transfer full.
GstCaps* dct_template_caps(bool with_440);

// What the other pad can have when one pad has `caps`, as coef_caps.h says. Raw video has 1/scale
// of the coefficients' width and height, rounded up. Transfer full.
GstCaps* raw_to_dct_caps(const GstCaps* caps, MemoryKinds kinds, bool with_440, int scale);
GstCaps* dct_to_raw_caps(const GstCaps* caps, MemoryKinds kinds, int scale);

// Reads caps of coefficients. An error where they are incomplete or contradict themselves.
Status read_dct_caps(const GstCaps* caps, GstDctInfo* info);

// Fixes `candidates` (transfer full): device memory first if `prefer_cuda`, then the first value of
// every field as docs/elements/cudadct8x8.md lists them, whatever the peer's order is.
GstCaps* fixate_dct_caps(GstCaps* candidates, bool prefer_cuda);

}  // namespace cudatransform
