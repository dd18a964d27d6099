// What elements have in common: errors, and the properties and states of their engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/engine/engine.h"
#include "gst/engine/properties.h"
#include "transform/device/status.h"

namespace cudatransform {

// The error of a function of libgstcoef that returned a `reason` (transfer full); null:
// `otherwise`.
Status error_of(StatusCode code, gchar* reason, const char* otherwise);

// The place in the source that an error's debug text names: as a default argument, the caller's.
struct SourceLocation {
  const char *file, *function;
  int line;
  static SourceLocation here(const char* file = __builtin_FILE(),
                             const char* function = __builtin_FUNCTION(),
                             int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

// Posts an error with the text `summary` (null: a general one for the code of `status`). The
// message of `status` is its debug text and the field `reason` of its details. Not for kCancelled,
// which is no error.
void post_error(GstElement* element, const Status& status, const char* summary = nullptr,
                const SourceLocation& location = SourceLocation::here());

// Whether a push, or an attempt at one, that ended like this forbids further pushes. Other flows
// may become GST_FLOW_OK again.
inline bool is_fatal(GstFlowReturn flow) { return flow < GST_FLOW_EOS; }

// For the end of the stream, where no later push can return the result of the last frames and
// upstream would take EOS for success: posts an error if downstream has refused them. An element
// that returns GST_FLOW_ERROR has already posted an error.
void post_refusal(GstElement* element, GstFlowReturn flow);

// Settings of an element's engine, and the values of its read-only properties. Guarded by the
// object lock.
struct EngineSettings {
  Backend backend = Backend::kAuto;
  int cuda_device_id = -1;
  guint n_threads = 0;  // of the engine, or of the element's own workers

  Backend active_backend = Backend::kAuto;
  std::string device_name;
};

// Rows of their properties. The blurbs differ.
Property backend_property(const SettingsOf<EngineSettings>& engine, const char* blurb);
Property active_backend_property(const SettingsOf<EngineSettings>& engine);
Property cuda_device_id_property(const SettingsOf<EngineSettings>& engine);
Property n_threads_property(const SettingsOf<EngineSettings>& engine, const char* blurb);

// GstElement::change_state: the engine is open from READY on. The element's `open` and `close` call
// the two functions below. The engine is closed again if the parent class fails to reach READY.
GstStateChangeReturn change_engine_state(GstElement* element, GstElementClass* parent_class,
                                         GstStateChange transition, bool (*open)(GstElement*),
                                         void (*close)(GstElement*));
// Posts an error and returns false if there is no engine. `engine_threads` is for the CPU engine;
// `*fallback` has the reason if another backend was preferred.
bool open_engine(GstElement* element, Engine& engine, EngineSettings* settings, int engine_threads,
                 std::string* fallback);
void close_engine(GstElement* element, Engine& engine, EngineSettings* settings);

// GstElement::set_context. Call it before the parent class's.
void set_engine_context(GstElement* element, Engine& engine, const EngineSettings& settings,
                        GstContext* context);

}  // namespace cudatransform
