// The common part of codecs' elements: an engine, and the vfuncs of GObject and GstElement around
// it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"

namespace cudatransform {

// The instance data after its parent's part.
struct CodecElementState {
  CodecElementState(GstElement* element, KernelProbe probe_kernels)
      : engine(element, probe_kernels) {}

  EngineSettings engine_settings;  // guarded by the object lock
  Engine engine;
};

// For a State derived from it, with
//   static State& of(gpointer instance);
//   static GstDebugCategory* category();
//   static constexpr char kWithoutCuda[];  what follows where there is no CUDA device, for the log
//   static constexpr bool kEngineHasThreads;  whether n-threads is of the CPU engine, too
//   void interrupt();                      from PAUSED to READY, before pads are deactivated
//   void release();                        before the engine is closed
template <class State>
class CodecElement {
 public:
  // Called by class_init. Takes the caps of both pads.
  static void install(GstElementClass* klass, GstCaps* sink, GstCaps* src) {
    parent_class = GST_ELEMENT_CLASS(g_type_class_peek_parent(klass));
    G_OBJECT_CLASS(klass)->finalize = finalize;
    klass->change_state = GST_DEBUG_FUNCPTR(change_state);
    klass->set_context = GST_DEBUG_FUNCPTR(set_context);
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
    gst_caps_unref(sink);
    gst_caps_unref(src);
  }

 private:
  static void finalize(GObject* object) {
    delete &State::of(object);
    G_OBJECT_CLASS(parent_class)->finalize(object);
  }

  static bool open(GstElement* element) {
    State& state = State::of(element);
    std::string fallback;
    const int threads =
        State::kEngineHasThreads ? int(locked(element, state.engine_settings.n_threads)) : 1;
    if (!open_engine(element, state.engine, &state.engine_settings, threads, &fallback))
      return false;
    if (!fallback.empty())
      GST_CAT_INFO_OBJECT(State::category(), element, "%s: %s", State::kWithoutCuda,
                          fallback.c_str());
    return true;
  }

  static void close(GstElement* element) {
    State& state = State::of(element);
    state.release();
    close_engine(element, state.engine, &state.engine_settings);
  }

  static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
    if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) State::of(element).interrupt();
    return change_engine_state(element, parent_class, transition, open, close);
  }

  static void set_context(GstElement* element, GstContext* context) {
    State& state = State::of(element);
    set_engine_context(element, state.engine, state.engine_settings, context);
    parent_class->set_context(element, context);
  }

  static inline GstElementClass* parent_class = nullptr;
};

}  // namespace cudatransform
