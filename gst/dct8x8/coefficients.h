// Translates GstDctInfo and GstDctMeta of a buffer to the middle's terms, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef.h>
#include "gst/dct8x8/caps_tables.h"
#include "gst/stream/coef_input.h"

namespace cudatransform {

// The places of the coefficients of `info` in buffers in system memory.
CoefLayout layout_of(const GstDctInfo& info);

// Finds the meta of `buffer`, or its substitute (CapsTables), and the places of the coefficients of
// `info`. Fails if meta, caps and size contradict each other. `*meta` may be null.
Status find_coefficients(const Engine& engine, GstBuffer* buffer, const GstDctInfo& info,
                         const CapsTables& caps_tables, const GstDctMeta** meta,
                         CoefPlaces* places);

// Attaches the GstDctMeta of the coefficients of `info` at `places`.
void add_dct_meta(GstBuffer* buffer, const GstDctInfo& info, const DctTables& tables,
                  const CoefPlaces& places);

}  // namespace cudatransform
