// The components of a sampling, for the files that lay out coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/format.h>

// One component of a picture, by the rules of a JPEG frame header: see #GstDctComponent.
struct GstCoefShape {
  guint id;
  guint h_samp;
  guint v_samp;
  guint width;
  guint height;
};

// The number of components; 0 for an invalid sampling.
guint gst_coef_sampling_components(GstCoefSampling sampling);
// Component `index`, below that number, of a picture of width x height samples.
GstCoefShape gst_coef_sampling_shape(GstCoefSampling sampling, guint index, gint width,
                                     gint height);
// Whether component `index` is chroma, which has quantisation tables of its own.
bool gst_coef_sampling_is_chroma(GstCoefSampling sampling, guint index);
