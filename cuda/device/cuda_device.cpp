// A CUDA context as a Device: streams, memory, copies and timers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/device/cuda_device.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/device/queue.h"

namespace cudatransform {
namespace cuda {
namespace {

CUdeviceptr device_address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class EventTimer final : public Timer {
 public:
  explicit EventTimer(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~EventTimer() override {
    if (begin_ != nullptr) context_->give_event(true, begin_);
    if (end_ != nullptr) context_->give_event(true, end_);
  }

  Status begin(Queue& queue) override {
    ended_ = false;
    return record(queue, &begin_);
  }

  Status end(Queue& queue) override {
    CT_RETURN_IF_ERROR(record(queue, &end_));
    ended_ = begin_ != nullptr;
    return {};
  }

  // Work that failed counts as finished, in 0 ns: its fence has the error.
  bool read_ns(uint64_t* nanoseconds) override {
    if (!ended_) return false;
    *nanoseconds = 0;
    ScopedContext scoped(*context_);
    if (!scoped.status().ok()) return true;
    const Driver& driver = context_->driver();
    if (driver.event_query(end_) == CUDA_ERROR_NOT_READY) return false;
    float milliseconds = 0;
    if (driver.event_elapsed_time(&milliseconds, begin_, end_) == CUDA_SUCCESS)
      *nanoseconds = static_cast<uint64_t>(std::llround(milliseconds * 1e6));
    return true;
  }

 private:
  Status record(Queue& queue, CUevent* event) {
    if (*event == nullptr) CT_RETURN_IF_ERROR(context_->take_event(true, event));
    CT_ENTER_CONTEXT(*context_);
    const Driver& driver = context_->driver();
    return driver.check(driver.event_record(*event, static_cast<CUstream>(queue.native())),
                        "cuEventRecord");
  }

  std::shared_ptr<Context> context_;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
  bool ended_ = false;
};

class DriverMemory final : public Memory {
 public:
  DriverMemory(std::shared_ptr<Context> context, MemoryKind kind, void* data, size_t size)
      : context_(std::move(context)), kind_(kind), data_(data), size_(size) {}
  ~DriverMemory() override {
    if (!context_->settle()) return;
    // If the context cannot be entered, this is lost: there is no second attempt.
    if (!free()) (void)free();
  }

  void* data() const override { return data_; }
  size_t size() const override { return size_; }

 private:
  bool free() {
    ScopedContext scoped(*context_);
    if (!scoped.status().ok()) return false;
    if (kind_ == MemoryKind::kDevice)
      context_->driver().mem_free(device_address(data_));
    else
      context_->driver().mem_free_host(data_);
    return true;
  }

  std::shared_ptr<Context> context_;
  MemoryKind kind_;
  void* data_;
  size_t size_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<Context> context, std::string name)
      : context_(std::move(context)), name_(std::move(name)) {}

  Status make_queues() {
    for (std::unique_ptr<Queue>& queue : queues_) CT_RETURN_IF_ERROR(make_queue(&queue));
    return {};
  }
  Status make_queue(std::unique_ptr<Queue>* queue) {
    CT_ENTER_CONTEXT(*context_);
    const Driver& driver = context_->driver();
    CUstream stream = nullptr;
    CT_RETURN_IF_ERROR(
        driver.check(driver.stream_create(&stream, CU_STREAM_DEFAULT), "cuStreamCreate"));
    *queue = std::make_unique<StreamQueue>(context_, stream);
    return {};
  }

  bool is_host() const override { return false; }
  const char* name() const override { return name_.c_str(); }
  Queue& queue(QueueKind kind) override { return *queues_[static_cast<int>(kind)]; }

  Status allocate(MemoryKind kind, size_t bytes, std::unique_ptr<Memory>* memory) override {
    CT_ENTER_CONTEXT(*context_);
    const Driver& driver = context_->driver();
    const size_t at_least_one = std::max<size_t>(bytes, 1);
    void* data = nullptr;
    if (kind == MemoryKind::kDevice) {
      CUdeviceptr address = 0;
      CT_RETURN_IF_ERROR(driver.check(driver.mem_alloc(&address, at_least_one), "cuMemAlloc"));
      data = reinterpret_cast<void*>(address);
    } else {
      CT_RETURN_IF_ERROR(driver.check(
          driver.mem_host_alloc(&data, at_least_one, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc"));
    }
    *memory = std::make_unique<DriverMemory>(context_, kind, data, bytes);
    return {};
  }

  Status settle() { return context_->settle() ? Status{} : context_->stuck_status(); }

  std::unique_ptr<Timer> make_timer() override { return std::make_unique<EventTimer>(context_); }

  Status upload(Queue& queue, const Copy2D& copy) override {
    return enqueue(queue, copy, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE);
  }
  Status download(Queue& queue, const Copy2D& copy) override {
    return enqueue(queue, copy, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST);
  }
  Status copy(Queue& queue, const Copy2D& copy) override {
    if (copy.src_context != nullptr && copy.src_context != context_->handle())
      return settled(queue, enqueue_from_peer(queue, copy));
    return enqueue(queue, copy, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE);
  }

 private:
  static Status settled(Queue& queue, const Status& status);
  Status enqueue(Queue& queue, const Copy2D& copy, CUmemorytype from, CUmemorytype to);
  Status enqueue_from_peer(Queue& queue, const Copy2D& copy);
  Status try_enqueue(Queue& queue, const Copy2D& copy, CUmemorytype from, CUmemorytype to);
  bool is_pageable(const void* host) const;

  std::shared_ptr<Context> context_;
  std::string name_;
  std::unique_ptr<Queue> queues_[3];
};

// The driver knows pinned memory only; not knowing other memory is no error.
bool CudaDevice::is_pageable(const void* host) const {
  unsigned type = 0;
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void* values[] = {&type};
  const CUresult result =
      context_->driver().pointer_get_attributes(1, &attribute, values, device_address(host));
  return result != CUDA_SUCCESS || type != CU_MEMORYTYPE_HOST;
}

// After a failed copy, earlier ones may still use memory that the caller is about to give up.
Status CudaDevice::settled(Queue& queue, const Status& status) {
  if (!status.ok()) (void)static_cast<StreamQueue&>(queue).synchronize();
  return status;
}

Status CudaDevice::enqueue(Queue& queue, const Copy2D& copy, CUmemorytype from, CUmemorytype to) {
  return settled(queue, try_enqueue(queue, copy, from, to));
}

Status CudaDevice::try_enqueue(Queue& queue, const Copy2D& copy, CUmemorytype from,
                               CUmemorytype to) {
  if (copy.rows == 0 || copy.row_bytes == 0) return {};
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  // Inside the driver a copy of pageable memory may wait for the stream's earlier work.
  const void* host = from == CU_MEMORYTYPE_HOST ? copy.src : copy.dst;
  const bool pageable = from != to && is_pageable(host);
  auto& stream_queue = static_cast<StreamQueue&>(queue);
  if (pageable) CT_RETURN_IF_ERROR(stream_queue.synchronize());
  CUDA_MEMCPY2D what = {};
  what.srcMemoryType = from;
  what.srcHost = copy.src;
  what.srcDevice = device_address(copy.src);
  what.dstMemoryType = to;
  what.dstHost = copy.dst;
  what.dstDevice = device_address(copy.dst);
  what.WidthInBytes = copy.row_bytes;
  what.Height = copy.rows;
  // The pitch of a single row has no effect, but the driver checks it.
  what.srcPitch = copy.rows == 1 ? copy.row_bytes : static_cast<size_t>(copy.src_pitch);
  what.dstPitch = copy.rows == 1 ? copy.row_bytes : static_cast<size_t>(copy.dst_pitch);
  CUstream stream = static_cast<CUstream>(queue.native());
  CT_RETURN_IF_ERROR(driver.check(driver.memcpy_2d_async(&what, stream), "cuMemcpy2DAsync"));

  // For pageable memory the driver promises no more than that the copy "might" be synchronous;
  // where the GPU reads the host's page tables it is not.
  return pageable ? stream_queue.synchronize() : Status{};
}

// Contexts have separate address spaces, so the call names which is meant. It copies
// between any two of them: directly where one device reaches the other and peer access is enabled,
// else by way of the host's memory.
Status CudaDevice::enqueue_from_peer(Queue& queue, const Copy2D& copy) {
  if (copy.rows == 0 || copy.row_bytes == 0) return {};
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  CUDA_MEMCPY3D_PEER what = {};
  what.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  what.srcContext = static_cast<CUcontext>(copy.src_context);
  what.srcDevice = device_address(copy.src);
  what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  what.dstContext = context_->handle();
  what.dstDevice = device_address(copy.dst);
  what.WidthInBytes = copy.row_bytes;
  what.Height = what.srcHeight = what.dstHeight = copy.rows;
  what.Depth = 1;
  // As in try_enqueue().
  what.srcPitch = copy.rows == 1 ? copy.row_bytes : static_cast<size_t>(copy.src_pitch);
  what.dstPitch = copy.rows == 1 ? copy.row_bytes : static_cast<size_t>(copy.dst_pitch);
  return driver.check(driver.memcpy_3d_peer_async(&what, static_cast<CUstream>(queue.native())),
                      "cuMemcpy3DPeerAsync");
}

}  // namespace
}  // namespace cuda

Status make_cuda_device(void* context, int ordinal, std::shared_ptr<void> keep_alive,
                        std::unique_ptr<Device>* device) {
  const cuda::Driver* driver = nullptr;
  CT_RETURN_IF_ERROR(cuda::load_driver(&driver));
  CUdevice number = 0;
  CT_RETURN_IF_ERROR(driver->check(driver->device_get(&number, ordinal), "cuDeviceGet"));
  char name[256] = "";
  CT_RETURN_IF_ERROR(
      driver->check(driver->device_get_name(name, sizeof name, number), "cuDeviceGetName"));
  auto shared = std::make_shared<cuda::Context>(*driver, static_cast<CUcontext>(context),
                                                std::move(keep_alive));
  auto made = std::make_unique<cuda::CudaDevice>(std::move(shared), name);
  CT_RETURN_IF_ERROR(made->make_queues());
  *device = std::move(made);
  return {};
}

Status make_cuda_queue(Device& device, std::unique_ptr<Queue>* queue) {
  return static_cast<cuda::CudaDevice&>(device).make_queue(queue);
}

Status settle_cuda_device(Device& device) {
  return static_cast<cuda::CudaDevice&>(device).settle();
}

Status make_primary_cuda_device(int ordinal, std::unique_ptr<Device>* device) {
  const cuda::Driver* driver = nullptr;
  CT_RETURN_IF_ERROR(cuda::load_driver(&driver));
  CUdevice number = 0;
  CT_RETURN_IF_ERROR(driver->check(driver->device_get(&number, ordinal), "cuDeviceGet"));
  CUcontext context = nullptr;
  CT_RETURN_IF_ERROR(
      driver->check(driver->primary_ctx_retain(&context, number), "cuDevicePrimaryCtxRetain"));
  std::shared_ptr<void> keep_alive(
      context, [driver, number](void*) { driver->primary_ctx_release(number); });
  return make_cuda_device(context, ordinal, std::move(keep_alive), device);
}

}  // namespace cudatransform
