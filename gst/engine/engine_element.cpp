// The common parts of elements with an engine: properties, state changes and context.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/engine_element.h"

#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/property_types.h"

namespace cudatransform {

void install_engine_properties(GObjectClass* klass, const EngineProperties& properties) {
  g_object_class_install_property(
      klass, properties.backend,
      g_param_spec_enum("backend", "Backend", properties.backend_blurb,
                        GST_TYPE_CUDA_TRANSFORM_BACKEND, int(Backend::kAuto), kUpToReady));
  if (properties.active_backend)
    g_object_class_install_property(
        klass, properties.active_backend,
        g_param_spec_enum("active-backend", "Active backend",
                          "The engine in use: cuda or cpu from READY on, auto before it is chosen",
                          GST_TYPE_CUDA_TRANSFORM_BACKEND, int(Backend::kAuto), kReadOnly));
  g_object_class_install_property(
      klass, properties.cuda_device_id,
      g_param_spec_int("cuda-device-id", "CUDA device ID",
                       "The CUDA device to use, chosen when the element goes to READY (-1 = any)",
                       -1, G_MAXINT, -1, kUpToReady));
  g_object_class_install_property(
      klass, properties.n_threads,
      g_param_spec_uint("n-threads", "Threads", properties.n_threads_blurb, 0, 1024, 0,
                        kUpToReady));
}

bool set_engine_property(const EngineProperties& properties, EngineSettings* settings, guint id,
                         const GValue* value) {
  if (id == properties.backend)
    settings->backend = static_cast<Backend>(g_value_get_enum(value));
  else if (id == properties.cuda_device_id)
    settings->cuda_device_id = g_value_get_int(value);
  else if (id == properties.n_threads)
    settings->n_threads = g_value_get_uint(value);
  else
    return false;
  return true;
}

bool get_engine_property(const EngineProperties& properties, const EngineSettings& settings,
                         guint id, GValue* value) {
  if (id == properties.backend)
    g_value_set_enum(value, int(settings.backend));
  else if (id == properties.active_backend)
    g_value_set_enum(value, int(settings.active_backend));
  else if (id == properties.cuda_device_id)
    g_value_set_int(value, settings.cuda_device_id);
  else if (id == properties.n_threads)
    g_value_set_uint(value, settings.n_threads);
  else
    return false;
  return true;
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

// Some elements lack the property.
static void notify_active_backend(GstElement* element) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "active-backend"))
    g_object_notify(G_OBJECT(element), "active-backend");
}

bool open_engine(GstElement* element, Engine& engine, EngineSettings* settings, int engine_threads,
                 std::string* fallback) {
  GST_OBJECT_LOCK(element);
  const Backend backend = settings->backend;
  const int device_id = settings->cuda_device_id;
  GST_OBJECT_UNLOCK(element);
  const Status status = engine.open(backend, device_id, engine_threads, fallback);
  if (!status.ok()) {
    post_error(element, status);
    return false;
  }
  GST_OBJECT_LOCK(element);
  settings->active_backend = engine.is_cuda() ? Backend::kCuda : Backend::kCpu;
  settings->device_name = engine.device().name();
  GST_OBJECT_UNLOCK(element);
  notify_active_backend(element);
  GST_INFO_OBJECT(element, "engine: %s", engine.device().name());
  return true;
}

void close_engine(GstElement* element, Engine& engine, EngineSettings* settings) {
  engine.close();
  GST_OBJECT_LOCK(element);
  settings->active_backend = Backend::kAuto;
  settings->device_name.clear();
  GST_OBJECT_UNLOCK(element);
  notify_active_backend(element);
}

void set_engine_context(GstElement* element, Engine& engine, const EngineSettings& settings,
                        GstContext* context) {
  GST_OBJECT_LOCK(element);
  const int device_id = settings.cuda_device_id;
  GST_OBJECT_UNLOCK(element);
  engine.handle_set_context(context, device_id);
}

}  // namespace cudatransform
