// Negotiation: which video/x-raw and which video/x-dwt belong together, and which to prefer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dwt.h>
#include "gst/stream/coef_caps.h"

namespace cudatransform {

// What a transform is, besides its pictures.
struct DwtShape {
  GstDwtWavelet wavelet, wavelet_ho;
  guint levels, levels_ho;
};

// Everything that the transforms take or make: more than the allowed combinations, which the two
// functions below spell out. Transfer full.
GstCaps* dwt_template_caps();

// What the other pad can have when one pad has `caps`, as coef_caps.h says. Coefficients are those
// of `shape`; null: of any. Transfer full.
GstCaps* raw_to_dwt_caps(const GstCaps* caps, MemoryKinds kinds, const DwtShape* shape);
GstCaps* dwt_to_raw_caps(const GstCaps* caps, MemoryKinds kinds);

// Reads caps of coefficients. An error where they are incomplete or contradict themselves.
Status read_dwt_caps(const GstCaps* caps, GstDwtInfo* info);

// Fixes `candidates` (transfer full): device memory first if `prefer_cuda`, quantised, then the
// defaults of the elements' properties.
GstCaps* fixate_dwt_caps(GstCaps* candidates, bool prefer_cuda);

}  // namespace cudatransform
