// The base class of cudadct8x8 and cudaidct8x8: properties, state, negotiation, the frame loop.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include <atomic>

#include "gst/dct8x8/dct_stream.h"
#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/frames_in_flight.h"
#include "gst/stream/measure.h"
#include "gst/stream/stream_gate.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_DCT_BASE (gst_cuda_dct_base_get_type())
#define GST_CUDA_DCT_BASE(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_CUDA_DCT_BASE, GstCudaDctBase))
#define GST_CUDA_DCT_BASE_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_CUDA_DCT_BASE, GstCudaDctBaseClass))

struct GstCudaDctBaseState;

struct GstCudaDctBase {
  GstBaseTransform parent;
  GstCudaDctBaseState* state;
};

struct GstCudaDctBaseClass {
  GstBaseTransformClass parent_class;
  cudatransform::Direction direction;
  const char* element_name;  // of messages and of the stats structure
  // Completes the snapshot for the next frame (method is set); the object lock is not held.
  // Null where there is nothing to add.
  cudatransform::Status (*prepare_frame)(GstCudaDctBase* self, const GstDctInfo* info,
                                         cudatransform::FrameSettings* settings);
  // Buffers that the element keeps besides the one it works on (keep-reference). May be null.
  guint (*extra_buffers)(GstCudaDctBase* self);
};

GType gst_cuda_dct_base_get_type(void);

G_END_DECLS

// Everything behind a GstCudaDctBase. Settings are guarded by the object lock.
struct GstCudaDctBaseState {
  explicit GstCudaDctBaseState(GstElement* element, const char* element_name)
      : engine(element, true), stream(engine), measure(element, element_name) {}

  // Settings.
  cudatransform::Method method = cudatransform::Method::kIslow;
  cudatransform::EngineSettings engine_settings;
  guint measure_kinds = 0;
  bool post_messages = false;
  guint async_depth = 1;
  int scale = 1;  // the denominator; cudaidct8x8 alone has the property

  // What runs, for the read-only properties.
  cudatransform::Method active_method = cudatransform::Method::kIslow;

  cudatransform::Engine engine;
  cudatransform::DctStream stream;
  cudatransform::Measure measure;
  gint64 last_notify = 0;
  cudatransform::MeasuredValues notified;  // when listeners were last told
  cudatransform::StreamGate gate;

  // The streaming thread's.
  cudatransform::FramesInFlight frames;
  guint depth = 1;             // async_depth as it was when the stream began
  bool without_delay = false;  // the frame that comes next leaves before another is taken
  // Why a drain has ended early, for good: nothing comes out any more until a flush or a new start.
  GstFlowReturn failure = GST_FLOW_OK;
  GstFlowReturn untold = GST_FLOW_OK;  // of a drain since the last buffer came
  std::atomic<GstClockTime> latency = 0;
};

// The vfuncs of dct_base_frames.cpp.
void gst_cuda_dct_base_install_frames(GstBaseTransformClass* klass);
// Pushes what is in flight, in order: before anything that has to come after it. What is left
// behind a frame that is refused is dropped.
GstFlowReturn gst_cuda_dct_base_drain(GstCudaDctBase* self);
// The same at the end of the stream. No push is left to return a refusal, of which upstream would
// make an error, so that is posted here.
void gst_cuda_dct_base_drain_at_end(GstCudaDctBase* self);
// Takes note of a new delay between frames in and frames out, after caps or allocation.
void gst_cuda_dct_base_update_latency(GstCudaDctBase* self);
// Tells those who listen to the measured properties, all together.
void gst_cuda_dct_base_notify_measured(GstCudaDctBase* self);
// The vfuncs of dct_base_negotiation.cpp.
void gst_cuda_dct_base_install_negotiation(GstBaseTransformClass* klass);
// The properties of dct_base_properties.cpp.
void gst_cuda_dct_base_install_properties(GObjectClass* klass);
// Posts `status` as the element error that fits its code.
void gst_cuda_dct_base_post_error(GstCudaDctBase* self, const cudatransform::Status& status);
