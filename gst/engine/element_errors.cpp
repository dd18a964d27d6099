// Failures: as a Status with the reason, posted as element errors, and the debug category.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/element_errors.h"

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"

GST_DEBUG_CATEGORY(cudatransform_debug);

namespace cudatransform {

Status error_of(StatusCode code, gchar* reason, const char* otherwise) {
  const GlibPtr<gchar> owner(reason);
  return Status::error(code, reason ? reason : otherwise);
}

namespace {

struct ErrorKind {
  GQuark domain;
  gint code;
};

ErrorKind kind_of(StatusCode code) {
  switch (code) {
    case StatusCode::kNotFound:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND};
    case StatusCode::kOutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT};
    case StatusCode::kInvalidSetting:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS};
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnsupported:
      return {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT};
    default:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED};
  }
}

}  // namespace

void post_error(GstElement* element, const Status& status, const char* before) {
  const ErrorKind kind = kind_of(status.code);
  const char* reason = status.message.c_str();
  GST_WARNING_OBJECT(element, "error: %s%s", before, reason);
  gst_element_message_full_with_details(
      element, GST_MESSAGE_ERROR, kind.domain, kind.code, g_strconcat(before, reason, nullptr),
      nullptr, __FILE__, GST_FUNCTION, __LINE__,
      gst_structure_new("details", "reason", G_TYPE_STRING, reason, nullptr));
}

void post_refusal(GstElement* element, GstFlowReturn flow) {
  const bool refused = flow == GST_FLOW_NOT_LINKED || is_fatal(flow);
  if (refused && flow != GST_FLOW_ERROR) GST_ELEMENT_FLOW_ERROR(element, flow);
}

void init_debug_category() {
  GST_DEBUG_CATEGORY_INIT(cudatransform_debug, "cudatransform", 0, "Block transforms");
}

}  // namespace cudatransform
