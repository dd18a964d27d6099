// The common parts of elements with an engine: properties, state changes and context.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/engine/engine.h"

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

// The properties of EngineSettings: the ids that the element gives them, and the texts that differ.
struct EngineProperties {
  guint backend;
  guint active_backend;  // 0: the element lacks it
  guint cuda_device_id;
  guint n_threads;
  const char* backend_blurb;
  const char* n_threads_blurb;
};

void install_engine_properties(GObjectClass* klass, const EngineProperties& properties);
// False if `id` is none of `properties`. The caller holds the object lock.
bool set_engine_property(const EngineProperties& properties, EngineSettings* settings, guint id,
                         const GValue* value);
bool get_engine_property(const EngineProperties& properties, const EngineSettings& settings,
                         guint id, GValue* value);

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
