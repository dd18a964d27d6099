// The common parts of jpegcoefdec and jpegcoefenc: an engine that only moves coefficients, and the
// vfuncs of GObject and GstElement around it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/property_types.h"
#include "gst/stream/stream_gate.h"

namespace cudatransform {

// The property `entropy`: the engine that does the entropy coding.
enum class JpegEntropy { kAuto, kCpu, kCuda };

inline GType jpeg_entropy_type() {
  static const GEnumValue kValues[] = {
      {int(JpegEntropy::kAuto), "The GPU where it can and is faster, else the CPU", "auto"},
      {int(JpegEntropy::kCpu), "CPU", "cpu"},
      {int(JpegEntropy::kCuda), "The GPU where it can, or an error without one", "cuda"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstJpegCoefEntropy", kValues);
  return type;
}

// The instance data after its parent's part.
struct JpegElementState {
  explicit JpegElementState(GstElement* element) : engine(element, nullptr) {}

  EngineSettings engine_settings;  // guarded by the object lock
  Engine engine;
  StreamGate gate;
};

// For a State derived from it, with
//   static State& of(gpointer instance);
//   static GstDebugCategory* category();
//   static constexpr char kWithoutCuda[];  what follows where there is no CUDA device, for the log
//   void interrupt();                      from PAUSED to READY, before pads are deactivated
//   void release();                        before the engine is closed
template <class State>
class JpegElement {
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
    if (!open_engine(element, state.engine, &state.engine_settings, 1, &fallback)) return false;
    // The device would only copy, so its absence costs no speed, and this is no message.
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
