// The debug category of video/x-dct, and how its functions refuse.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct-private.h>

GstDebugCategory* gst_dct_debug_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "dct", 0, "video/x-dct caps and metas");
    return made;
  }();
  return category;
}

gboolean gst_dct_refuse(gchar** reason, const char* format, ...) {
  va_list args;
  va_start(args, format);
  gst_dct_refusal(reason).say(format, args);
  va_end(args);
  return FALSE;
}
