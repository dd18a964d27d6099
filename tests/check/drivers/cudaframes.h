// Contexts and frames in CUDA memory as an application makes them, for tests of several devices.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/engine/cuda_sync.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

// A new context of gstcuda's on a device.
inline GstCudaContext* new_context(guint device) {
  fail_unless(gst_cuda_load_library() && CuInit(0) == CUDA_SUCCESS);
  gst_cuda_memory_init_once();
  GstCudaContext* context = gst_cuda_context_new(device);
  fail_unless(context != nullptr, "no context on device %u", device);
  return context;
}

// The context that elements of a pipeline get in order to share `context`.
inline void set_context(GstElement* element, GstCudaContext* context) {
  GstContext* shared = gst_context_new_cuda_context(context);
  gst_element_set_context(element, shared);
  gst_context_unref(shared);
}

inline GstCaps* cuda_video_caps(const GstVideoInfo& info) {
  GstCaps* caps = video_caps(info);
  gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
  return caps;
}

// `frame` in CUDA memory of `context`. The pool lives as long as the buffer.
inline GstBuffer* to_cuda(GstCudaContext* context, const GstVideoInfo& info, GstBuffer* frame) {
  GstBufferPool* pool = gst_cuda_buffer_pool_new(context);
  g_autoptr(GstCaps) caps = cuda_video_caps(info);
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info.size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  GstBuffer* buffer = acquire(pool);
  gst_object_unref(pool);
  copy_frame(info, frame, buffer);
  return buffer;
}

// The text of the only warning on a bus since the last call; "" without one.
inline std::string take_warning(GstBus* bus) {
  const std::vector<Report> warnings = take_messages(bus, GST_MESSAGE_WARNING);
  fail_unless(warnings.size() <= 1, "more than one warning: %s", warnings[0].text.c_str());
  return warnings.empty() ? "" : warnings[0].text;
}

}  // namespace testing
