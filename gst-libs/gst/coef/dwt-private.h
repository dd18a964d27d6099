// The shared parts of video/x-dwt: the debug category, refusals and the counts of bands.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef-private.h>
#include <gst/coef/dwt.h>

// The category "dwt".
GstDebugCategory* gst_dwt_debug_category();

// The wavelets, whose nicks caps have as names.
GEnumClass* gst_dwt_wavelet_class();

inline gstcoef::Refusal gst_dwt_refusal(gchar** reason) {
  return {gst_dwt_debug_category(), reason};
}

inline guint gst_dwt_band_count(guint levels, guint levels_ho) {
  return 1 + levels_ho + 3 * levels;
}
