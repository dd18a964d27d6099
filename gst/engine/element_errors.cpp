// Failures: as a Status with the reason, and posted as element errors.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/element_errors.h"

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"

namespace cudatransform {

Status error_of(StatusCode code, gchar* reason, const char* otherwise) {
  const GlibPtr<gchar> owner(reason);
  return Status::error(code, reason ? reason : otherwise);
}

void post_error(GstElement* element, const Status& status) {
  const char* message = status.message.c_str();
  switch (status.code) {
    case StatusCode::kNotFound:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", message), (nullptr));
      break;
    case StatusCode::kOutOfMemory:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", message), (nullptr));
      break;
    case StatusCode::kInvalidSetting:
      GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("%s", message), (nullptr));
      break;
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnsupported:
      GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s", message), (nullptr));
      break;
    default:
      GST_ELEMENT_ERROR(element, LIBRARY, FAILED, ("%s", message), (nullptr));
      break;
  }
}

void post_refusal(GstElement* element, GstFlowReturn flow) {
  const bool refused = flow == GST_FLOW_NOT_LINKED || is_fatal(flow);
  if (refused && flow != GST_FLOW_ERROR) GST_ELEMENT_FLOW_ERROR(element, flow);
}

}  // namespace cudatransform
