// The driver's entry points that the shim forwards: name, arguments, what is counted.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Those of cuda/device/driver.h and those that libgstcuda asks for (`strings libgstcuda-1.0.so.0`),
// from GStreamer 1.22 to 1.26, by their exported names. Arguments are integers and pointers, so
// that forwarding has to know no more than how many there are, but for the handles of other
// processes' events and memory: they are passed by value, and are H between what comes before and
// after them. What the next driver lacks answers CUDA_ERROR_NOT_SUPPORTED.
#pragma once

// clang-format off
#define SHIMCUDA_ENTRIES(X)                                 \
  X(cuInit, 1, kPlain)                                      \
  X(cuDriverGetVersion, 1, kPlain)                          \
  X(cuGetErrorName, 2, kPlain)                              \
  X(cuGetErrorString, 2, kPlain)                            \
  X(cuDeviceGetCount, 1, kPlain)                            \
  X(cuDeviceGet, 2, kPlain)                                 \
  X(cuDeviceGetName, 3, kPlain)                             \
  X(cuDeviceGetPCIBusId, 3, kPlain)                         \
  X(cuDeviceGetUuid, 2, kPlain)                             \
  X(cuDeviceGetAttribute, 3, kPlain)                        \
  X(cuDeviceCanAccessPeer, 3, kPlain)                       \
  X(cuDevicePrimaryCtxRetain, 2, kPlain)                    \
  X(cuDevicePrimaryCtxRelease_v2, 1, kPlain)                \
  X(cuCtxCreate_v2, 3, kMakeContext)                        \
  X(cuCtxDestroy_v2, 1, kDestroyContext)                    \
  X(cuCtxPushCurrent_v2, 1, kPlain)                         \
  X(cuCtxPopCurrent_v2, 1, kPlain)                          \
  X(cuCtxGetDevice, 1, kPlain)                              \
  X(cuCtxGetLimit, 2, kOther)                               \
  X(cuCtxSetLimit, 2, kOther)                               \
  X(cuCtxEnablePeerAccess, 2, kPlain)                       \
  X(cuCtxDisablePeerAccess, 1, kPlain)                      \
  X(cuCtxSynchronize, 0, kWaitContext)                      \
  X(cuMemAlloc_v2, 2, kAllocate)                            \
  X(cuMemAllocPitch_v2, 5, kAllocatePitch)                  \
  X(cuMemAllocHost_v2, 2, kAllocatePinned)                  \
  X(cuMemHostAlloc, 3, kAllocatePinned)                     \
  X(cuMemFree_v2, 1, kFree)                                 \
  X(cuMemFreeHost, 1, kFreePinned)                          \
  X(cuMemAllocAsync, 3, kAllocate)                          \
  X(cuMemAllocFromPoolAsync, 4, kAllocate)                  \
  X(cuMemFreeAsync, 2, kFree)                               \
  X(cuMemGetInfo_v2, 2, kOther)                             \
  X(cuMemPoolCreate, 2, kOther)                             \
  X(cuMemPoolDestroy, 1, kOther)                            \
  X(cuMemPoolGetAttribute, 3, kOther)                       \
  X(cuMemPoolSetAttribute, 3, kOther)                       \
  X(cuMemCreate, 4, kAllocate)                              \
  X(cuMemRelease, 1, kFree)                                 \
  X(cuMemAddressReserve, 5, kOther)                         \
  X(cuMemAddressFree, 2, kOther)                            \
  X(cuMemMap, 5, kOther)                                    \
  X(cuMemUnmap, 2, kOther)                                  \
  X(cuMemGetAccess, 3, kOther)                              \
  X(cuMemSetAccess, 4, kOther)                              \
  X(cuMemGetAllocationGranularity, 3, kOther)               \
  X(cuMemGetAllocationPropertiesFromHandle, 2, kOther)      \
  X(cuMemRetainAllocationHandle, 2, kOther)                 \
  X(cuMemExportToShareableHandle, 4, kOther)                \
  X(cuMemImportFromShareableHandle, 3, kOther)              \
  X(cuPointerGetAttribute, 3, kOther)                       \
  X(cuPointerGetAttributes, 4, kOther)                      \
  X(cuMemcpy2D_v2, 1, kSyncCopy)                            \
  X(cuMemcpyDtoH_v2, 3, kSyncCopy)                          \
  X(cuMemcpyHtoD_v2, 3, kSyncCopy)                          \
  X(cuMemcpyDtoD_v2, 3, kSyncCopy)                          \
  X(cuMemsetD2D8_v2, 5, kSyncCopy)                          \
  X(cuMemsetD2D16_v2, 5, kSyncCopy)                         \
  X(cuMemsetD2D32_v2, 5, kSyncCopy)                         \
  X(cuMemcpy2DAsync_v2, 2, kCopy2D)                         \
  X(cuMemcpy3DPeerAsync, 2, kCopy)                          \
  X(cuMemcpyDtoHAsync_v2, 4, kCopyToHost)                   \
  X(cuMemcpyHtoDAsync_v2, 4, kCopyFromHost)                 \
  X(cuMemcpyDtoDAsync_v2, 4, kCopy)                         \
  X(cuMemsetD8Async, 4, kCopy)                              \
  X(cuMemsetD2D8Async, 6, kCopy)                            \
  X(cuMemsetD2D16Async, 6, kCopy)                           \
  X(cuMemsetD2D32Async, 6, kCopy)                           \
  X(cuStreamCreate, 2, kMakeStream)                         \
  X(cuStreamCreateWithPriority, 3, kMakeStream)             \
  X(cuStreamDestroy, 1, kDestroyStream)                     \
  X(cuStreamDestroy_v2, 1, kDestroyStream)                  \
  X(cuStreamSynchronize, 1, kWaitStream)                    \
  X(cuStreamQuery, 1, kQuery)                               \
  X(cuStreamWaitEvent, 3, kStreamWait)                      \
  X(cuEventCreate, 2, kMakeEvent)                           \
  X(cuEventDestroy_v2, 1, kDestroyEvent)                    \
  X(cuEventRecord, 2, kRecord)                              \
  X(cuEventQuery, 1, kQueryEvent)                           \
  X(cuEventSynchronize, 1, kWaitEvent)                      \
  X(cuEventElapsedTime, 3, kOther)                          \
  X(cuIpcGetEventHandle, 2, kOther)                         \
  X(cuIpcOpenEventHandle, 1H, kMakeEvent)                   \
  X(cuIpcGetMemHandle, 2, kOther)                           \
  X(cuIpcOpenMemHandle, 1H1, kOther)                        \
  X(cuIpcCloseMemHandle, 1, kOther)                         \
  X(cuImportExternalMemory, 2, kOther)                      \
  X(cuDestroyExternalMemory, 1, kOther)                     \
  X(cuExternalMemoryGetMappedBuffer, 3, kOther)             \
  X(cuExternalMemoryGetMappedMipmappedArray, 3, kOther)     \
  X(cuImportExternalSemaphore, 2, kOther)                   \
  X(cuDestroyExternalSemaphore, 1, kOther)                  \
  X(cuSignalExternalSemaphoresAsync, 4, kOther)             \
  X(cuWaitExternalSemaphoresAsync, 4, kOther)               \
  X(cuModuleLoadData, 2, kMakeModule)                       \
  X(cuModuleUnload, 1, kDestroyModule)                      \
  X(cuModuleGetFunction, 3, kOther)                         \
  X(cuFuncSetAttribute, 3, kOther)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 4, kOther) \
  X(cuLaunchKernel, 11, kLaunch)                            \
  X(cuLaunchKernelEx, 4, kLaunch)                           \
  X(cuGraphLaunch, 2, kLaunch)                              \
  X(cuTexObjectCreate, 4, kOther)                           \
  X(cuTexObjectDestroy, 1, kOther)                          \
  X(cuGLGetDevices_v2, 4, kPlain)                           \
  X(cuGraphicsGLRegisterBuffer, 3, kOther)                  \
  X(cuGraphicsGLRegisterImage, 4, kOther)                   \
  X(cuGraphicsMapResources, 3, kOther)                      \
  X(cuGraphicsUnmapResources, 3, kOther)                    \
  X(cuGraphicsUnregisterResource, 1, kOther)                \
  X(cuGraphicsResourceGetMappedPointer_v2, 3, kOther)       \
  X(cuGraphicsResourceSetMapFlags_v2, 2, kOther)            \
  X(cuGraphicsSubResourceGetMappedArray, 4, kOther)
// clang-format on
