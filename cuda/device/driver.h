// The CUDA driver's entry points, opened at run time, so that nothing here links libcuda.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda.h>

#include "transform/device/status.h"

namespace cudatransform::cuda {

// Every entry point that this engine calls: member, function of cuda.h (for its type) and exported
// name. The name is spelt out rather than taken from cuda.h, whose macros follow the toolkit: with
// CUDA 13's header cuEventElapsedTime means _v2, which drivers before CUDA 12.8 do not export.
#define CT_CUDA_ENTRY_POINTS(X)                                                     \
  X(init, cuInit, "cuInit")                                                         \
  X(get_error_name, cuGetErrorName, "cuGetErrorName")                               \
  X(device_get_count, cuDeviceGetCount, "cuDeviceGetCount")                         \
  X(device_get, cuDeviceGet, "cuDeviceGet")                                         \
  X(device_get_name, cuDeviceGetName, "cuDeviceGetName")                            \
  X(primary_ctx_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")       \
  X(primary_ctx_release, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2") \
  X(ctx_push_current, cuCtxPushCurrent, "cuCtxPushCurrent_v2")                      \
  X(ctx_pop_current, cuCtxPopCurrent, "cuCtxPopCurrent_v2")                         \
  X(stream_create, cuStreamCreate, "cuStreamCreate")                                \
  X(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2")                          \
  X(stream_query, cuStreamQuery, "cuStreamQuery")                                   \
  X(stream_wait_event, cuStreamWaitEvent, "cuStreamWaitEvent")                      \
  X(event_create, cuEventCreate, "cuEventCreate")                                   \
  X(event_destroy, cuEventDestroy, "cuEventDestroy_v2")                             \
  X(event_record, cuEventRecord, "cuEventRecord")                                   \
  X(event_query, cuEventQuery, "cuEventQuery")                                      \
  X(event_elapsed_time, cuEventElapsedTime, "cuEventElapsedTime")                   \
  X(mem_alloc, cuMemAlloc, "cuMemAlloc_v2")                                         \
  X(mem_free, cuMemFree, "cuMemFree_v2")                                            \
  X(mem_host_alloc, cuMemHostAlloc, "cuMemHostAlloc")                               \
  X(mem_free_host, cuMemFreeHost, "cuMemFreeHost")                                  \
  X(memset_d8_async, cuMemsetD8Async, "cuMemsetD8Async")                            \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                   \
  X(pointer_get_attributes, cuPointerGetAttributes, "cuPointerGetAttributes")       \
  X(memcpy_2d_async, cuMemcpy2DAsync, "cuMemcpy2DAsync_v2")                         \
  X(memcpy_3d_peer_async, cuMemcpy3DPeerAsync, "cuMemcpy3DPeerAsync")               \
  X(module_load_data, cuModuleLoadData, "cuModuleLoadData")                         \
  X(module_unload, cuModuleUnload, "cuModuleUnload")                                \
  X(module_get_function, cuModuleGetFunction, "cuModuleGetFunction")                \
  X(launch_kernel, cuLaunchKernel, "cuLaunchKernel")

// Those that the engine does without where the driver is too old to have them.
#define CT_CUDA_OPTIONAL_ENTRY_POINTS(X)                                \
  X(ctx_get_device, cuCtxGetDevice, "cuCtxGetDevice")                   \
  X(device_get_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute") \
  X(launch_kernel_ex, cuLaunchKernelEx, "cuLaunchKernelEx")

struct Driver {
#define CT_CUDA_MEMBER(member, function, name) decltype(&::function) member = nullptr;
  CT_CUDA_ENTRY_POINTS(CT_CUDA_MEMBER)
  CT_CUDA_OPTIONAL_ENTRY_POINTS(CT_CUDA_MEMBER)
#undef CT_CUDA_MEMBER

  // Ok for CUDA_SUCCESS; otherwise a failure whose message is "<what>: <the error's CUDA name>".
  Status check(CUresult result, const char* what) const;
};

// The process's driver, loaded and initialised by the first call that succeeds; a failed call
// leaves nothing behind and the next one tries again. The table lives as long as the process.
Status load_driver(const Driver** driver);

}  // namespace cudatransform::cuda
