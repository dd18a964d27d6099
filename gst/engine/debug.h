// The debug category of all code that is not one element's; include last.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN(cudatransform_debug);
#define GST_CAT_DEFAULT cudatransform_debug

namespace cudatransform {

// Comes before elements are registered.
void init_debug_category();

}  // namespace cudatransform
