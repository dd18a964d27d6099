// The base class of elements that transform frame by frame: the common properties.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/debug.h"
#include "gst/engine/property_types.h"
#include "gst/stream/transform_base.h"

using cudatransform::Backend;
using cudatransform::kReadOnly;
using cudatransform::kUpToReady;
using cudatransform::kWhilePlaying;

namespace {

enum {
  PROP_0,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_N_THREADS,
  PROP_ASYNC_DEPTH,
  PROP_MEASURE,
  PROP_POST_MESSAGES,
  PROP_PSNR,
  PROP_PSNR_Y,
  PROP_PSNR_U,
  PROP_PSNR_V,
  PROP_KERNEL_TIME,
  PROP_UPLOAD_TIME,
  PROP_DOWNLOAD_TIME,
  PROP_STATS,
};

constexpr cudatransform::EngineProperties kEngineProperties = {
    .backend = PROP_BACKEND,
    .active_backend = PROP_ACTIVE_BACKEND,
    .cuda_device_id = PROP_CUDA_DEVICE_ID,
    .n_threads = PROP_N_THREADS,
    .backend_blurb = "The engine to use, chosen when the element goes to READY",
    .n_threads_blurb =
        "Threads of the CPU engine, chosen when the element goes to READY; one per core at most "
        "(0 = one per core)",
};

const char* backend_nick(Backend backend) {
  return backend == Backend::kCuda ? "cuda" : backend == Backend::kCpu ? "cpu" : "auto";
}

}  // namespace

#define GST_TYPE_CUDA_TRANSFORM_MEASURE (gst_cuda_transform_measure_get_type())
static GType gst_cuda_transform_measure_get_type(void) {
  static const GFlagsValue kValues[] = {
      {cudatransform::kMeasurePsnr, "PSNR of the reconstruction", "psnr"},
      {cudatransform::kMeasureTime, "Kernel, upload and download time", "time"},
      {cudatransform::kMeasureZeroShare, "Share of coefficients that are zero", "zeros"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaTransformMeasure", kValues);
  return type;
}

static void gst_cuda_transform_base_set_property(GObject* object, guint id, const GValue* value,
                                                 GParamSpec* pspec) {
  auto* self = GST_CUDA_TRANSFORM_BASE(object);
  GstCudaTransformBaseState* state = self->state;
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROP_ASYNC_DEPTH:
      state->async_depth = g_value_get_uint(value);
      break;
    case PROP_MEASURE:
      state->measure_kinds = g_value_get_flags(value);
      break;
    case PROP_POST_MESSAGES:
      state->post_messages = g_value_get_boolean(value);
      break;
    default:
      if (!set_engine_property(kEngineProperties, &state->engine_settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(self);
}

static GstStructure* statistics(GstCudaTransformBase* self) {
  const std::string name = std::string("application/x-") +
                           GST_CUDA_TRANSFORM_BASE_GET_CLASS(self)->element_name + "-stats";
  GST_OBJECT_LOCK(self);
  const auto& engine_settings = self->state->engine_settings;
  GstStructure* s = gst_structure_new(name.c_str(), "backend", G_TYPE_STRING,
                                      backend_nick(engine_settings.active_backend), nullptr);
  self->state->transform->describe(s);
  gst_structure_set(s, "device", G_TYPE_STRING, engine_settings.device_name.c_str(), nullptr);
  GST_OBJECT_UNLOCK(self);
  return self->state->measure.statistics(s);
}

static void gst_cuda_transform_base_get_property(GObject* object, guint id, GValue* value,
                                                 GParamSpec* pspec) {
  auto* self = GST_CUDA_TRANSFORM_BASE(object);
  GstCudaTransformBaseState* state = self->state;
  // Measure has its own lock.
  switch (id) {
    case PROP_PSNR:
      g_value_set_double(value, state->measure.last_psnr(-1));
      return;
    case PROP_PSNR_Y:
    case PROP_PSNR_U:
    case PROP_PSNR_V:
      g_value_set_double(value, state->measure.last_psnr(id - PROP_PSNR_Y));
      return;
    case PROP_KERNEL_TIME:
    case PROP_UPLOAD_TIME:
    case PROP_DOWNLOAD_TIME:
      g_value_set_int64(value, state->measure.last_values().time[id - PROP_KERNEL_TIME]);
      return;
    case PROP_STATS:
      g_value_take_boxed(value, statistics(self));
      return;
    default:
      break;
  }
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROP_ASYNC_DEPTH:
      g_value_set_uint(value, state->async_depth);
      break;
    case PROP_MEASURE:
      g_value_set_flags(value, state->measure_kinds);
      break;
    case PROP_POST_MESSAGES:
      g_value_set_boolean(value, state->post_messages);
      break;
    default:
      if (!get_engine_property(kEngineProperties, state->engine_settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(self);
}

static void install_read_only(GObjectClass* klass) {
  const auto install_psnr = [&](guint id, const char* name, const char* nick, const char* blurb) {
    g_object_class_install_property(
        klass, id, g_param_spec_double(name, nick, blurb, -1, G_MAXDOUBLE, -1, kReadOnly));
  };
  install_psnr(PROP_PSNR, "psnr", "PSNR",
               "PSNR of the last frame in dB, from the error of all samples together; infinity for "
               "equal frames, -1 when not measured");
  install_psnr(PROP_PSNR_Y, "psnr-y", "PSNR of Y",
               "PSNR of the last frame's first component (Y or R) in dB; -1 when not measured");
  install_psnr(PROP_PSNR_U, "psnr-u", "PSNR of U",
               "PSNR of the last frame's second component (Cb or G) in dB; -1 when not measured");
  install_psnr(PROP_PSNR_V, "psnr-v", "PSNR of V",
               "PSNR of the last frame's third component (Cr or B) in dB; -1 when not measured");
  const auto install_time = [&](guint id, const char* name, const char* nick, const char* blurb) {
    g_object_class_install_property(
        klass, id, g_param_spec_int64(name, nick, blurb, -1, G_MAXINT64, -1, kReadOnly));
  };
  install_time(PROP_KERNEL_TIME, "kernel-time", "Kernel time",
               "Time of the last frame's transform in ns; -1 when not measured");
  install_time(PROP_UPLOAD_TIME, "upload-time", "Upload time",
               "Time of the last frame's copy from the host to the GPU in ns; -1 when not measured "
               "or when there is none");
  install_time(PROP_DOWNLOAD_TIME, "download-time", "Download time",
               "Time of the last frame's copy from the GPU to the host in ns; -1 when not measured "
               "or when there is none");
  g_object_class_install_property(
      klass, PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "What was measured since PAUSED, as a structure; "
                         "docs/elements/measuring.md lists its fields",
                         GST_TYPE_STRUCTURE, kReadOnly));
}

void gst_cuda_transform_base_install_properties(GObjectClass* klass) {
  klass->set_property = gst_cuda_transform_base_set_property;
  klass->get_property = gst_cuda_transform_base_get_property;
  install_engine_properties(klass, kEngineProperties);
  g_object_class_install_property(
      klass, PROP_ASYNC_DEPTH,
      g_param_spec_uint("async-depth", "Asynchronous depth",
                        "Frames that may be in work on the GPU before the first of them is pushed; "
                        "each beyond 1 adds a frame of latency where frames are waited for (no "
                        "effect on the CPU engine)",
                        1, cudatransform::FramesInFlight::kMost, 1, kUpToReady));
  g_object_class_install_property(
      klass, PROP_MEASURE,
      g_param_spec_flags("measure", "Measure", "What to measure on every frame",
                         GST_TYPE_CUDA_TRANSFORM_MEASURE, 0, kWhilePlaying));
  g_object_class_install_property(
      klass, PROP_POST_MESSAGES,
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post an element message for every measured frame", FALSE,
                           kWhilePlaying));
  install_read_only(klass);
}
