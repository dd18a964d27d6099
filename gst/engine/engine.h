// The engine of one element: which back end, on which device, and how CUDA contexts are shared.
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

// Whether an element's kernels can be loaded on the device: kNotFound where this build has none for
// it.
using KernelProbe = Status (*)(Device& device);

// Owned by the element; opened NULL to READY, closed READY to NULL. set_context() may arrive from
// any thread at any time; the rest is called by state changes and the streaming thread.
class Engine {
 public:
  // `probe_kernels` is asked on a CUDA device; null: the element runs no kernels, and only copies.
  explicit Engine(GstElement* element, KernelProbe probe_kernels)
      : element_(element), probe_kernels_(probe_kernels) {}
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Chooses by `backend`. kAuto falls back to the CPU and then says why in `*fallback`; it fails
  // only if the CPU engine cannot start. `cuda_device_id` -1: any.
  Status open(Backend backend, int cuda_device_id, int threads, std::string* fallback);
  void close();

  // Before device memory that the engine works on is given back to the driver: waits for the device
  // as long as for a frame. Fails when it is stuck: then whatever it may work on has to be kept.
  // Pools of GStreamer's give back a buffer when they are configured, too.
  Status settle();

  // Asked by caps and allocation queries, which come from any thread.
  bool is_open() const { return kind_ != Kind::kClosed; }
  bool is_cuda() const { return kind_ == Kind::kCuda; }
  Device& device() { return *device_; }
  Queue& queue(QueueKind kind) { return device_->queue(kind); }
  // Host memory that the device copies from and to: page-locked or, where the driver locks none,
  // ordinary, with a line in the log. Used by the streaming thread.
  Status allocate_for_copies(gsize bytes, std::unique_ptr<Memory>* memory);
  // Of host memory for transfers; null on the CPU engine, where any memory will do.
  GstAllocator* pinned_allocator() const { return pinned_allocator_; }

  // The shared context, null on the CPU engine; no reference is passed.
  GstCudaContext* context() const { return context_; }

  // GstElement::set_context and the CONTEXT query, as nvcodec's elements answer them. Other queries
  // are not ours to answer.
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
  std::atomic<Kind> kind_ = Kind::kClosed;  // set after, and cleared before, what it stands for
  std::unique_ptr<Device> device_;
  GstAllocator* pinned_allocator_ = nullptr;
  bool warned_of_ordinary_memory_ = false;
};

// The error of work on `queue` that has failed somewhere else: `what`, and the driver's name for it
// where the driver still says it.
Status failed_work(Queue& queue, const std::string& what);
// For the `status` of an allocation by GStreamer, which gives no reason: the driver's error where
// the device is lost, else `status`.
Status failed_allocation(Queue& queue, Status status);

}  // namespace cudatransform

// The enum of the backend property, for every element that has one.
#define GST_TYPE_CUDA_TRANSFORM_BACKEND (gst_cuda_transform_backend_get_type())
GType gst_cuda_transform_backend_get_type(void);
