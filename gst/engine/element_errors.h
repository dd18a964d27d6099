// A failed Status as the element error that fits its code.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/status.h"

namespace cudatransform {

// Posts `status` with its message. Not for kCancelled, which is no error.
void post_error(GstElement* element, const Status& status);

}  // namespace cudatransform
