// The engine of one element: its back end, its device, and the sharing of CUDA contexts.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "transform/device/device.h"

typedef struct _GstCudaContext GstCudaContext;

namespace cudatransform {

enum class Backend { kAuto, kCuda, kCpu };

// Whether the device can load an element's kernels: kNotFound where this build has none for it.
using KernelProbe = Status (*)(Device& device);

// Owned by the element; opened NULL to READY, closed READY to NULL. Any thread may call
// set_context() at any time; state changes and the streaming thread call the rest.
class Engine {
 public:
  // `probe_kernels` checks a CUDA device; null: the element runs no kernels, and only copies.
  explicit Engine(GstElement* element, KernelProbe probe_kernels)
      : element_(element), probe_kernels_(probe_kernels) {}
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Chooses by `backend`. kAuto falls back to the CPU and then returns the reason in `*fallback`;
  // it fails only if the CPU engine cannot start. `cuda_device_id` -1: any.
  Status open(Backend backend, int cuda_device_id, int threads, std::string* fallback);
  // Whether the last open() fell back because the machine has no GPU of NVIDIA's, which is no news
  // to its user.
  bool lacks_gpu() const { return lacks_gpu_; }
  void close();

  // Call it before giving device memory that the engine works on back to the driver: waits for the
  // device as long as for a frame. Fails if the device is stuck: then the memory has to be kept.
  // GStreamer's pools also return buffers when they are configured.
  Status settle();

  // Called for caps and allocation queries, from any thread.
  bool is_open() const { return kind_ != Kind::kClosed; }
  bool is_cuda() const { return kind_ == Kind::kCuda; }
  Device& device() { return *device_; }
  Queue& queue(QueueKind kind) { return device_->queue(kind); }
  // The functions for one kind of job: CT_ENGINE_OPS names them.
  template <typename Ops>
  const Ops& ops() const;
  // Host memory that the device copies from and to: pinned or, if the driver cannot pin any,
  // ordinary, with a line in the log. Used by the streaming thread.
  Status allocate_for_copies(gsize bytes, std::unique_ptr<Memory>* memory);
  // Allocates host memory for transfers; null on the CPU engine, where any memory will do.
  GstAllocator* pinned_allocator() const { return pinned_allocator_; }

  // The shared context, null on the CPU engine; no reference is passed.
  GstCudaContext* context() const { return context_; }

  // GstElement::set_context and the CONTEXT query, answered as nvcodec's elements do. We do not
  // answer other queries.
  void handle_set_context(GstContext* context, int cuda_device_id);
  bool handle_context_query(GstQuery* query);

 private:
  Status open_cuda(int cuda_device_id);
  Status make_device();
  Status replace_context();
  void release_device();

  GstElement* element_;
  const KernelProbe probe_kernels_;
  std::recursive_mutex context_lock_;
  GstCudaContext* context_ = nullptr;
  enum class Kind { kClosed, kCpu, kCuda };
  std::atomic<Kind> kind_ =
      Kind::kClosed;  // set after, and cleared before, the state that it names
  std::unique_ptr<Device> device_;
  GstAllocator* pinned_allocator_ = nullptr;
  bool lacks_gpu_ = false;
  bool warned_of_ordinary_memory_ = false;
};

// CT_ENGINE_OPS: in namespace cudatransform, what Engine::ops<Ops>() returns. CT_CUDA_PROBE: a
// KernelProbe, null where this build has no CUDA engine.
#if CT_HAVE_CUDA
#define CT_ENGINE_OPS(Ops, host_ops, cuda_ops)  \
  template <>                                   \
  inline const Ops& Engine::ops() const {       \
    return is_cuda() ? cuda_ops() : host_ops(); \
  }
#define CT_CUDA_PROBE(probe) (probe)
#else
#define CT_ENGINE_OPS(Ops, host_ops, cuda_ops) \
  template <>                                  \
  inline const Ops& Engine::ops() const {      \
    return host_ops();                         \
  }
#define CT_CUDA_PROBE(probe) nullptr
#endif

// The error of work on `queue` that has failed elsewhere: `what`, and the driver's name for it if
// the driver still reports.
Status failed_work(Queue& queue, const std::string& what);
// Refines the `status` of an allocation by GStreamer, which reports no reason: the driver's error
// if the device is lost, else `status`.
Status failed_allocation(Queue& queue, Status status);

inline constexpr char kCudaMemoryFeature[] = "memory:CUDAMemory";

// The memories that an element may offer: both until it has an engine, then those within its reach.
struct MemoryKinds {
  bool cuda;
};

bool features_have_cuda(const GstCapsFeatures* features);
bool has_cuda_memory(const GstCaps* caps);  // of the first structure

// Drops the structures in CUDA memory. Transfer full, in and out.
GstCaps* without_cuda_memory(GstCaps* caps);

}  // namespace cudatransform

// The enum of the backend property, for every element that has one.
#define GST_TYPE_CUDA_TRANSFORM_BACKEND (gst_cuda_transform_backend_get_type())
GType gst_cuda_transform_backend_get_type(void);
