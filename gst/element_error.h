// A failed Status as the element error that fits its code.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/status.h"

namespace cudatransform {

// Posts `status`, which is not ok, on the element's bus.
void post_error(GstElement* self, const Status& status);

}  // namespace cudatransform
