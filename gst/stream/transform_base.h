// The base class of elements that transform frame by frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/frame_transform.h"
#include "gst/stream/measure.h"
#include "gst/stream/stream_gate.h"

#define GST_TYPE_CUDA_TRANSFORM_BASE (gst_cuda_transform_base_get_type())
#define GST_CUDA_TRANSFORM_BASE(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_CUDA_TRANSFORM_BASE, GstCudaTransformBase))
#define GST_CUDA_TRANSFORM_BASE_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_CUDA_TRANSFORM_BASE, GstCudaTransformBaseClass))
#define GST_CUDA_TRANSFORM_BASE_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_CUDA_TRANSFORM_BASE, GstCudaTransformBaseClass))

namespace cudatransform {

struct FrameLoopSettings {
  guint async_depth = 1;
  guint measure_kinds = 0;
  bool post_messages = false;
};

}  // namespace cudatransform

struct GstCudaTransformBaseState;

struct GstCudaTransformBase {
  GstBaseTransform parent;
  GstCudaTransformBaseState* state;
};

// An element's class_init fills this in. Caps are GstBaseTransform's vfuncs, which an element
// overrides if its caps differ from pad to pad.
struct GstCudaTransformBaseClass {
  GstBaseTransformClass parent_class;
  const char* element_name;    // of messages and of the stats structure
  GstDebugCategory* category;  // the frame loop's debug category
  cudatransform::KernelProbe probe_kernels;
  guint only_measures;  // the MeasureKinds of the element; 0: all
  // Makes the transform of a new element, which has this frame mover and its engine.
  std::unique_ptr<cudatransform::FrameTransform> (*make_transform)(
      cudatransform::FrameMover& mover);
};

G_BEGIN_DECLS
GType gst_cuda_transform_base_get_type(void);
G_END_DECLS

// The state of a GstCudaTransformBase. Settings are guarded by the object lock.
struct GstCudaTransformBaseState {
  GstCudaTransformBaseState(GstElement* element, const GstCudaTransformBaseClass* klass)
      : engine(element, klass->probe_kernels),
        mover(engine),
        measure(element, klass->element_name) {}

  cudatransform::EngineSettings engine_settings;
  cudatransform::FrameLoopSettings settings;

  cudatransform::Engine engine;
  cudatransform::FrameMover mover;
  std::unique_ptr<cudatransform::FrameTransform> transform;
  cudatransform::Measure measure;
  gint64 last_notify = 0;
  cudatransform::MeasuredValues notified;  // when listeners were last notified
  cudatransform::StreamGate gate;

  // State of the streaming thread.
  cudatransform::FramesInFlight frames;
  guint depth = 1;             // async_depth when the stream began
  bool can_hold = true;        // the transform has buffers for more than one frame in flight
  bool without_delay = false;  // the next frame leaves before another is taken
  int fps_n = 0, fps_d = 1;    // of the caps
  // The reason why a drain has ended for good: no frame comes out until a flush or a new start.
  GstFlowReturn failure = GST_FLOW_OK;
  GstFlowReturn pending = GST_FLOW_OK;  // of a drain since the last buffer
  std::atomic<GstClockTime> latency = 0;
};

// For elements' vfuncs: both memories until the element has an engine, so that pipelines can be
// linked; then the memories within its reach.
cudatransform::MemoryKinds gst_cuda_transform_base_memories(GstCudaTransformBase* self);
// Call it in class_init: the pads' templates (transfer full).
void gst_cuda_transform_base_add_templates(GstElementClass* klass, GstCaps* sink, GstCaps* src);

namespace cudatransform {

// The make_transform of an element's class.
template <class Transform, auto... arguments>
std::unique_ptr<FrameTransform> make_transform(FrameMover& mover) {
  return std::make_unique<Transform>(mover, arguments...);
}

template <class Transform>
Transform& transform_of(gpointer element) {
  return static_cast<Transform&>(*GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}

template <class Member, class Transform>
std::type_identity<Transform> class_of(Member Transform::*);

// Makes rows of the settings that `first` is, a member of the transform, or of those that `rest`
// leads to, members of that one.
template <auto first, auto... rest>
auto settings_of() {
  using Transform = typename decltype(class_of(first))::type;
  using Settings =
      std::remove_reference_t<decltype(((std::declval<Transform&>().*first).*....*rest))>;
  return SettingsOf<Settings>([](gpointer element) -> Settings& {
    return ((transform_of<Transform>(element).*first).*....*rest);
  });
}

}  // namespace cudatransform
