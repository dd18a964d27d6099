// The shared parts of video/x-dct: the debug category and refusals.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/coef-private.h>
#include <gst/coef/dct.h>

// The category "dct".
GstDebugCategory* gst_dct_debug_category();

inline gstcoef::Refusal gst_dct_refusal(gchar** reason) {
  return {gst_dct_debug_category(), reason};
}
