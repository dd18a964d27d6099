// Coefficients of wavelets as GStreamer has them: their caps, and their places in buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef.h>
#include "gst/stream/coef_caps.h"
#include "gst/stream/coef_input.h"
#include "transform/dwt/bands.h"

namespace cudatransform {

// The parameters of a transform, without those of its pictures.
struct DwtShape {
  GstDwtWavelet wavelet, wavelet_ho;
  guint levels, levels_ho;
};

// All caps that the transforms accept or produce. They allow more than the two functions below.
// Transfer full.
GstCaps* dwt_template_caps();

// The caps that the other pad can have when one pad has `caps`; see coef_caps.h. Coefficients have
// `shape`; null: any shape. Transfer full.
GstCaps* raw_to_dwt_caps(const GstCaps* caps, MemoryKinds kinds, const DwtShape* shape);
GstCaps* dwt_to_raw_caps(const GstCaps* caps, MemoryKinds kinds);

// Reads caps of coefficients. Fails where they are incomplete or contradict themselves.
Status read_dwt_caps(const GstCaps* caps, GstDwtInfo* info);

// Fixes `candidates` (transfer full): device memory first if `prefer_cuda`, quantized, then the
// defaults of the elements' properties.
GstCaps* fixate_dwt_caps(GstCaps* candidates, bool prefer_cuda);

// The quantizer index of each band of each component.
struct QuantIndices {
  guint8 of[GST_DWT_MAX_COMPONENTS][kMaxDwtBands] = {};
};

// The places of the coefficients of `info` in buffers in system memory.
CoefLayout layout_of(const GstDwtInfo& info);

// Finds the places and the quantizers of the coefficients of `info` in `buffer`. Fails if meta,
// caps and size contradict each other.
Status find_coefficients(const Engine& engine, GstBuffer* buffer, const GstDwtInfo& info,
                         CoefPlaces* places, QuantIndices* indices);

// Attaches the GstDwtMeta of the coefficients of `info` at `places`.
void add_dwt_meta(GstBuffer* buffer, const GstDwtInfo& info, const QuantIndices& indices,
                  const CoefPlaces& places);

}  // namespace cudatransform
