// What the files about video/x-dct share: debug category, refusals, flags that may be anything.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string.h>

#include <gst/coef/coef-private.h>
#include <gst/coef/dct.h>

// The category "dct".
GstDebugCategory* gst_dct_debug_category();
#define GST_CAT_DEFAULT gst_dct_debug_category()

inline gstcoef::Refusal gst_dct_refusal(gchar** reason) {
  return {gst_dct_debug_category(), reason};
}
// Sets *reason, where the caller wants one, and returns FALSE.
gboolean gst_dct_refuse(gchar** reason, const char* format, ...) G_GNUC_PRINTF(2, 3);

inline constexpr guint32 kDctMetaAllFlags =
    GST_DCT_META_FLAG_TOP_FIELD | GST_DCT_META_FLAG_BOTTOM_FIELD;

// The flags of a meta that anybody may have written to. To read a value that the enum does not have
// would be undefined behaviour in C++.
inline guint32 gst_dct_meta_raw_flags(const GstDctMeta* meta) {
  guint32 flags = 0;
  static_assert(sizeof flags == sizeof meta->flags);
  memcpy(&flags, &meta->flags, sizeof flags);
  return flags;
}
