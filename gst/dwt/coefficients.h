// Translates GstDwtInfo and GstDwtMeta of a buffer to the middle's terms, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef.h>
#include "gst/stream/coef_input.h"
#include "transform/dwt/bands.h"

namespace cudatransform {

// The quantiser index of each band of each component.
struct QuantIndices {
  guint8 of[GST_DWT_MAX_COMPONENTS][kMaxDwtBands] = {};
};

// The places of the coefficients of `info` in buffers in system memory.
CoefLayout layout_of(const GstDwtInfo& info);

// Finds the places and the quantisers of the coefficients of `info` in `buffer`. Fails if meta,
// caps and size contradict each other.
Status find_coefficients(const Engine& engine, GstBuffer* buffer, const GstDwtInfo& info,
                         CoefPlaces* places, QuantIndices* indices);

// Attaches the GstDwtMeta of the coefficients of `info` at `places`.
void add_dwt_meta(GstBuffer* buffer, const GstDwtInfo& info, const QuantIndices& indices,
                  const CoefPlaces& places);

}  // namespace cudatransform
