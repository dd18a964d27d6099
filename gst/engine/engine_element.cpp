// What elements have in common: errors, and the properties and states of their engine.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/engine_element.h"

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
  const char* summary;
};

ErrorKind kind_of(StatusCode code) {
  switch (code) {
    case StatusCode::kNotFound:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "No usable CUDA device"};
    case StatusCode::kOutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "Out of memory"};
    case StatusCode::kInvalidSetting:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "Invalid property values"};
    case StatusCode::kInvalidArgument:
      return {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "Invalid input"};
    case StatusCode::kUnsupported:
      return {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "Unsupported format"};
    case StatusCode::kDeviceLost:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "GPU failure"};
    default:
      return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "Processing failed"};
  }
}

}  // namespace

void post_error(GstElement* element, const Status& status, const char* summary,
                const SourceLocation& location) {
  const ErrorKind kind = kind_of(status.code);
  const char* text = summary ? summary : kind.summary;
  const char* reason = status.message.c_str();
  GST_WARNING_OBJECT(element, "error: %s: %s", text, reason);
  gst_element_message_full_with_details(
      element, GST_MESSAGE_ERROR, kind.domain, kind.code, g_strdup(text), g_strdup(reason),
      location.file, location.function, location.line,
      gst_structure_new("details", "reason", G_TYPE_STRING, reason, nullptr));
}

void post_refusal(GstElement* element, GstFlowReturn flow) {
  const bool refused = flow == GST_FLOW_NOT_LINKED || is_fatal(flow);
  if (refused && flow != GST_FLOW_ERROR) GST_ELEMENT_FLOW_ERROR(element, flow);
}

void init_debug_category() {
  GST_DEBUG_CATEGORY_INIT(cudatransform_debug, "cudatransform", 0, "cudatransform shared code");
}

Property backend_property(const SettingsOf<EngineSettings>& engine, const char* blurb) {
  return engine.row("backend", "Backend", blurb, &EngineSettings::backend,
                    {.type = GST_TYPE_CUDA_TRANSFORM_BACKEND, .flags = kUpToReady});
}

Property active_backend_property(const SettingsOf<EngineSettings>& engine) {
  return engine.row("active-backend", "Active Backend", "Backend in use (auto = not chosen yet)",
                    &EngineSettings::active_backend,
                    {.type = GST_TYPE_CUDA_TRANSFORM_BACKEND, .flags = kReadOnly});
}

Property cuda_device_id_property(const SettingsOf<EngineSettings>& engine) {
  return engine.row(
      "cuda-device-id", "CUDA Device ID", "Set the GPU device to use for operations (-1 = auto)",
      &EngineSettings::cuda_device_id, {.min = -1, .max = G_MAXINT, .flags = kUpToReady});
}

Property n_threads_property(const SettingsOf<EngineSettings>& engine, const char* blurb) {
  return engine.row("n-threads", "Threads", blurb, &EngineSettings::n_threads,
                    {.max = 1024, .flags = kUpToReady});
}

GstStateChangeReturn change_engine_state(GstElement* element, GstElementClass* parent_class,
                                         GstStateChange transition, bool (*open)(GstElement*),
                                         void (*close)(GstElement*)) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !open(element))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result = parent_class->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    close(element);
  return result;
}

bool open_engine(GstElement* element, Engine& engine, EngineSettings* settings, int engine_threads,
                 std::string* fallback) {
  const EngineSettings wanted = locked(element, *settings);
  const Status status =
      engine.open(wanted.backend, wanted.cuda_device_id, engine_threads, fallback);
  if (!status.ok()) {
    post_error(element, status);
    return false;
  }
  GST_OBJECT_LOCK(element);
  settings->active_backend = engine.is_cuda() ? Backend::kCuda : Backend::kCpu;
  settings->device_name = engine.device().name();
  GST_OBJECT_UNLOCK(element);
  g_object_notify(G_OBJECT(element), "active-backend");
  GST_INFO_OBJECT(element, "engine: %s", engine.device().name());
  return true;
}

void close_engine(GstElement* element, Engine& engine, EngineSettings* settings) {
  engine.close();
  GST_OBJECT_LOCK(element);
  settings->active_backend = Backend::kAuto;
  settings->device_name.clear();
  GST_OBJECT_UNLOCK(element);
  g_object_notify(G_OBJECT(element), "active-backend");
}

void set_engine_context(GstElement* element, Engine& engine, const EngineSettings& settings,
                        GstContext* context) {
  engine.handle_set_context(context, locked(element, settings.cuda_device_id));
}

}  // namespace cudatransform
