// The debug category that libgstdct's own files share.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/lib/gstdct.h"

// The category "dct".
GstDebugCategory* gst_dct_debug_category();
#define GST_CAT_DEFAULT gst_dct_debug_category()
