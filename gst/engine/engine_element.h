// The common parts of elements with an engine: properties, state changes and context.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/engine/engine.h"
#include "gst/engine/properties.h"

namespace cudatransform {

// Settings of an element's engine, and the values of its read-only properties. Guarded by the
// object lock.
struct EngineSettings {
  Backend backend = Backend::kAuto;
  int cuda_device_id = -1;
  guint n_threads = 0;  // of the engine, or of the element's own workers

  Backend active_backend = Backend::kAuto;
  std::string device_name;
};

// Rows of their properties. An element may lack active-backend. The blurbs differ.
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
// `*fallback` says why that was chosen, if the user hoped for another.
bool open_engine(GstElement* element, Engine& engine, EngineSettings* settings, int engine_threads,
                 std::string* fallback);
void close_engine(GstElement* element, Engine& engine, EngineSettings* settings);

// GstElement::set_context. Call it before the parent class's.
void set_engine_context(GstElement* element, Engine& engine, const EngineSettings& settings,
                        GstContext* context);

}  // namespace cudatransform
