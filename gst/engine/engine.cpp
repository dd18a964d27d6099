// The engine of one element: its back end, its device, and the sharing of CUDA contexts.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/engine.h"

#include <utility>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/cuda_sync.h"
#include "gst/engine/debug.h"
#include "gst/engine/pools.h"
#include "gst/engine/properties.h"
#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform {
namespace {

bool starts_with(const char* folder, const char* name, const char* prefix) {
  const GlibPtr<gchar> path(g_build_filename("/sys/bus/pci/devices", folder, name, nullptr));
  gchar* text = nullptr;
  if (!g_file_get_contents(path.get(), &text, nullptr, nullptr)) return false;
  const GlibPtr<gchar> owner(text);
  return g_str_has_prefix(text, prefix);
}

// Whether the kernel has NVIDIA's driver, or the bus a display controller of NVIDIA's.
bool sees_nvidia_gpu() {
  for (const char* path : {"/proc/driver/nvidia/version", "/dev/nvidiactl"})
    if (g_file_test(path, G_FILE_TEST_EXISTS)) return true;
  GDir* devices = g_dir_open("/sys/bus/pci/devices", 0, nullptr);
  if (!devices) return false;
  bool found = false;
  while (const char* name = found ? nullptr : g_dir_read_name(devices))
    found = starts_with(name, "vendor", "0x10de") && starts_with(name, "class", "0x03");
  g_dir_close(devices);
  return found;
}

}  // namespace

Engine::~Engine() {
  close();
#if CT_HAVE_CUDA
  gst_clear_object(&context_);
#endif
}

#if CT_HAVE_CUDA

Status Engine::make_device() {
  guint ordinal = 0;
  g_object_get(context_, "cuda-device-id", &ordinal, nullptr);
  std::shared_ptr<void> keep_alive(gst_object_ref(context_), gst_object_unref);
  CT_RETURN_IF_ERROR(make_cuda_device(gst_cuda_context_get_handle(context_),
                                      static_cast<int>(ordinal), keep_alive, &device_));
  if (!probe_kernels_) return {};
  const Status loaded = probe_kernels_(*device_);
  if (loaded.code != StatusCode::kNotFound) return loaded;
  return Status::error(StatusCode::kNotFound,
                       std::string("no kernels for ") + device_->name() + ": " + loaded.message);
}

// A pipeline keeps its shared context even after an error has made that unusable. Replaces it with
// a new one for us and for all elements that start after us.
Status Engine::replace_context() {
  guint ordinal = 0;
  g_object_get(context_, "cuda-device-id", &ordinal, nullptr);
  gst_clear_object(&context_);
  context_ = gst_cuda_context_new(ordinal);
  if (!context_)
    return Status::error(StatusCode::kDeviceLost, "CUDA context lost, failed to create a new one");
  GstContext* shared = gst_context_new_cuda_context(context_);
  gst_element_set_context(element_, shared);
  gst_element_post_message(element_, gst_message_new_have_context(GST_OBJECT(element_), shared));
  return {};
}

Status Engine::open_cuda(int cuda_device_id) {
  // The order matters: with a driver but no device, GStreamer 1.22 hangs in its second attempt to
  // make a context. So we call it only when we know that there is a device.
  int count = 0;
  bool is_absent = false;
  const Status found = probe_cuda_driver(&count, &is_absent);
  lacks_gpu_ = is_absent && !sees_nvidia_gpu();
  CT_RETURN_IF_ERROR(found);
  if (cuda_device_id >= count)
    return Status::error(StatusCode::kNotFound, "cuda-device-id=" + std::to_string(cuda_device_id) +
                                                    " out of range (" + std::to_string(count) +
                                                    " devices)");
  if (!gst_cuda_load_library())
    return Status::error(StatusCode::kNotFound,
                         "GStreamer's CUDA library failed to load the driver");
  gst_cuda_memory_init_once();

  std::lock_guard lock(context_lock_);
  if (!gst_cuda_ensure_element_context(element_, cuda_device_id, &context_))
    return Status::error(StatusCode::kNotFound, "failed to create a CUDA context");
  Status made = make_device();
  if (made.code == StatusCode::kDeviceLost) {
    CT_RETURN_IF_ERROR(replace_context());
    made = make_device();
  }
  CT_RETURN_IF_ERROR(made);
  pinned_allocator_ = new_pinned_allocator(*device_);
  kind_ = Kind::kCuda;
  return {};
}

Status Engine::settle() {
  return device_ && !device_->is_host() ? settle_cuda_device(*device_) : Status();
}

void Engine::handle_set_context(GstContext* context, int cuda_device_id) {
  std::lock_guard lock(context_lock_);
  gst_cuda_handle_set_context(element_, context, cuda_device_id, &context_);
}

bool Engine::handle_context_query(GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_CONTEXT) return false;
  // The thread that holds the lock may be asking its neighbors for a context, including us. If we
  // waited for it, two elements could wait for each other.
  std::unique_lock lock(context_lock_, std::try_to_lock);
  return lock && context_ && gst_cuda_handle_context_query(element_, query, context_);
}

#else

Status Engine::open_cuda(int) {
  lacks_gpu_ = !sees_nvidia_gpu();
  return Status::error(StatusCode::kNotFound, "built without CUDA (-Dcuda=disabled)");
}

Status Engine::settle() { return {}; }

void Engine::handle_set_context(GstContext*, int) {}

bool Engine::handle_context_query(GstQuery*) { return false; }

#endif

Status Engine::open(Backend backend, int cuda_device_id, int threads, std::string* fallback) {
  // A context that the application has set stays: it is meant for this engine.
  kind_ = Kind::kClosed;
  lacks_gpu_ = false;
  release_device();
  if (backend != Backend::kCpu) {
    Status status = open_cuda(cuda_device_id);
    if (status.ok()) return status;
    close();
    if (backend == Backend::kCuda) return status;
    *fallback = status.message;
  }
  device_ = make_host_device(threads);
  if (!device_) return Status::error(StatusCode::kFailed, "failed to start the CPU threads");
  kind_ = Kind::kCpu;
  return {};
}

Status Engine::allocate_for_copies(gsize bytes, std::unique_ptr<Memory>* memory) {
  const Status status = device_->allocate(MemoryKind::kPinned, bytes, memory);
  if (status.ok() || status.code == StatusCode::kDeviceLost) return status;
  const bool first = !std::exchange(warned_of_ordinary_memory_, true);
  gst_debug_log(GST_CAT_DEFAULT, first ? GST_LEVEL_WARNING : GST_LEVEL_DEBUG, __FILE__, __func__,
                __LINE__, G_OBJECT(element_), "no pinned memory, using pageable memory: %s",
                status.message.c_str());
  return allocate_host_memory(bytes, memory);
}

void Engine::release_device() {
  if (!settle().ok())
    GST_WARNING_OBJECT(element_, "timeout on %s, leaking its resources", device_->name());
  warned_of_ordinary_memory_ = false;
  if (pinned_allocator_) detach_pinned_allocator(pinned_allocator_);
  gst_clear_object(&pinned_allocator_);
  device_.reset();
}

Status failed_work(Queue& queue, const std::string& what) {
  FencePtr fence;
  Status status = queue.record(&fence);
  if (status.ok()) status = fence->wait();
  if (status.ok()) return Status::error(StatusCode::kFailed, what);
  return Status::error(status.code, what + ": " + status.message);
}

Status failed_allocation(Queue& queue, Status status) {
  if (status.code != StatusCode::kOutOfMemory) return status;
  Status lost = failed_work(queue, status.message);
  return lost.code == StatusCode::kDeviceLost ? lost : status;
}

void Engine::close() {
  kind_ = Kind::kClosed;
  release_device();
#if CT_HAVE_CUDA
  std::lock_guard lock(context_lock_);
  gst_clear_object(&context_);
#endif
}

bool features_have_cuda(const GstCapsFeatures* features) {
  return features && gst_caps_features_contains(features, kCudaMemoryFeature);
}

bool has_cuda_memory(const GstCaps* caps) {
  return caps && gst_caps_get_size(caps) > 0 && features_have_cuda(gst_caps_get_features(caps, 0));
}

GstCaps* without_cuda_memory(GstCaps* caps) {
  if (gst_caps_is_any(caps)) return caps;
  caps = gst_caps_make_writable(caps);
  for (guint i = gst_caps_get_size(caps); i-- > 0;)
    if (features_have_cuda(gst_caps_get_features(caps, i))) gst_caps_remove_structure(caps, i);
  return caps;
}

}  // namespace cudatransform

GType gst_cuda_transform_backend_get_type(void) {
  using cudatransform::Backend;
  static const GEnumValue kValues[] = {
      {int(Backend::kAuto), "CUDA if available, else CPU", "auto"},
      {int(Backend::kCuda), "CUDA, fails if unavailable", "cuda"},
      {int(Backend::kCpu), "CPU", "cpu"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaTransformBackend", kValues);
  return type;
}
