// Failures: as a Status with the reason, and posted as element errors.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/status.h"

namespace cudatransform {

// The error of a function of libgstcoef that has given a `reason` (transfer full); null:
// `otherwise`.
Status error_of(StatusCode code, gchar* reason, const char* otherwise);

// Posts `status` with its message after `before`; the field `reason` of the error's details is the
// message alone. Not for kCancelled, which is no error.
void post_error(GstElement* element, const Status& status, const char* before = "");

// Whether a push, or an attempt at one, that ended like this forbids further pushes. Other flows
// may become GST_FLOW_OK again.
inline bool is_fatal(GstFlowReturn flow) { return flow < GST_FLOW_EOS; }

// For the end of the stream, where no push is left to return the fate of the last frames and
// upstream would take EOS for success: posts an error if downstream has refused them. An element
// that returns GST_FLOW_ERROR has already said why.
void post_refusal(GstElement* element, GstFlowReturn flow);

}  // namespace cudatransform
