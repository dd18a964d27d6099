// The debug category of all code that is not one element's.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/debug.h"

GST_DEBUG_CATEGORY(cudatransform_debug);

namespace cudatransform {

void init_debug_category() {
  GST_DEBUG_CATEGORY_INIT(cudatransform_debug, "cudatransform", 0, "Block transforms");
}

}  // namespace cudatransform
