// A failed Status as the element error that fits its code.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/status.h"

namespace cudatransform {

// Posts `status` with its message. Not for kCancelled, which is no error.
void post_error(GstElement* element, const Status& status);

// At the end of the stream, where no push is left to return what became of the last frames and
// upstream would take EOS for success: posts an error if downstream has refused them. An element
// that returns GST_FLOW_ERROR has said why.
void post_refusal(GstElement* element, GstFlowReturn flow);

}  // namespace cudatransform
