// The CUDA driver's entry points that we call: the engine's, and those of benchmarks alone. Tests'
// drivers in front of the real one (tests/check/shimcuda) forward the same.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// X(member, function, name, arguments, kind): its name in cuda::Driver; its function in cuda.h, for
// the type; the name that the driver exports, which cuda.h's macros do not give: they follow the
// toolkit, and with CUDA 13's header cuEventElapsedTime means _v2, which drivers before CUDA 12.8
// do not export; how many arguments it has, all integers or pointers; and its purpose, in the words
// of tests/check/shimcuda/ledger.h. To be used by #name directly: another macro in between would
// let those of cuda.h in.
#pragma once

// clang-format off

// Without these the engine does not start.
#define CT_CUDA_ENTRY_POINTS(X) \
  X(init, cuInit, cuInit, 1, kPlain)                                                         \
  X(get_error_name, cuGetErrorName, cuGetErrorName, 2, kPlain)                               \
  X(device_get_count, cuDeviceGetCount, cuDeviceGetCount, 1, kPlain)                         \
  X(device_get, cuDeviceGet, cuDeviceGet, 2, kPlain)                                         \
  X(device_get_name, cuDeviceGetName, cuDeviceGetName, 3, kPlain)                            \
  X(primary_ctx_retain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 2, kPlain)       \
  X(primary_ctx_release, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, 1, kPlain) \
  X(ctx_push_current, cuCtxPushCurrent, cuCtxPushCurrent_v2, 1, kPlain)                      \
  X(ctx_pop_current, cuCtxPopCurrent, cuCtxPopCurrent_v2, 1, kPlain)                         \
  X(stream_create, cuStreamCreate, cuStreamCreate, 2, kMakeStream)                           \
  X(stream_destroy, cuStreamDestroy, cuStreamDestroy_v2, 1, kDestroyStream)                  \
  X(stream_query, cuStreamQuery, cuStreamQuery, 1, kQuery)                                   \
  X(stream_wait_event, cuStreamWaitEvent, cuStreamWaitEvent, 3, kStreamWait)                 \
  X(event_create, cuEventCreate, cuEventCreate, 2, kMakeEvent)                               \
  X(event_destroy, cuEventDestroy, cuEventDestroy_v2, 1, kDestroyEvent)                      \
  X(event_record, cuEventRecord, cuEventRecord, 2, kRecord)                                  \
  X(event_query, cuEventQuery, cuEventQuery, 1, kQueryEvent)                                 \
  X(event_elapsed_time, cuEventElapsedTime, cuEventElapsedTime, 3, kOther)                   \
  X(mem_alloc, cuMemAlloc, cuMemAlloc_v2, 2, kAllocate)                                      \
  X(mem_free, cuMemFree, cuMemFree_v2, 1, kFree)                                             \
  X(mem_host_alloc, cuMemHostAlloc, cuMemHostAlloc, 3, kAllocatePinned)                      \
  X(mem_free_host, cuMemFreeHost, cuMemFreeHost, 1, kFreePinned)                             \
  X(memset_d8_async, cuMemsetD8Async, cuMemsetD8Async, 4, kCopy)                             \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 4, kCopyToHost)              \
  X(pointer_get_attributes, cuPointerGetAttributes, cuPointerGetAttributes, 4, kOther)       \
  X(memcpy_2d_async, cuMemcpy2DAsync, cuMemcpy2DAsync_v2, 2, kCopy2D)                        \
  X(memcpy_3d_peer_async, cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync, 2, kCopy)                \
  X(module_load_data, cuModuleLoadData, cuModuleLoadData, 2, kMakeModule)                    \
  X(module_unload, cuModuleUnload, cuModuleUnload, 1, kDestroyModule)                        \
  X(module_get_function, cuModuleGetFunction, cuModuleGetFunction, 3, kOther)                \
  X(func_set_attribute, cuFuncSetAttribute, cuFuncSetAttribute, 3, kOther)                   \
  X(launch_kernel, cuLaunchKernel, cuLaunchKernel, 11, kLaunch)

// Those that the engine does without where the driver is too old to have them.
#define CT_CUDA_OPTIONAL_ENTRY_POINTS(X) \
  X(ctx_get_device, cuCtxGetDevice, cuCtxGetDevice, 1, kPlain)                   \
  X(device_get_attribute, cuDeviceGetAttribute, cuDeviceGetAttribute, 3, kPlain) \
  X(launch_kernel_ex, cuLaunchKernelEx, cuLaunchKernelEx, 4, kLaunch)

// Those that only benchmarks call.
#define CT_CUDA_BENCHMARK_ENTRY_POINTS(X) \
  X(driver_get_version, cuDriverGetVersion, cuDriverGetVersion, 1, kPlain)                                            \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 3, kPlain)                                       \
  X(ctas_per_sm, cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, 4, kOther) \
  X(stream_synchronize, cuStreamSynchronize, cuStreamSynchronize, 1, kWaitStream)                                     \
  X(stream_begin_capture, cuStreamBeginCapture, cuStreamBeginCapture_v2, 2, kOther)                                   \
  X(stream_end_capture, cuStreamEndCapture, cuStreamEndCapture, 2, kOther)                                            \
  X(graph_get_nodes, cuGraphGetNodes, cuGraphGetNodes, 3, kOther)                                                     \
  X(graph_instantiate, cuGraphInstantiate, cuGraphInstantiateWithFlags, 3, kOther)                                    \
  X(graph_destroy, cuGraphDestroy, cuGraphDestroy, 1, kOther)                                                         \
  X(graph_exec_destroy, cuGraphExecDestroy, cuGraphExecDestroy, 1, kOther)                                            \
  X(graph_launch, cuGraphLaunch, cuGraphLaunch, 2, kLaunch)
// clang-format on
