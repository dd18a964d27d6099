// The driver's entry points that the shim forwards: name, arguments, counter.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Those of cuda/device/driver_entries.h and the others that libgstcuda requests (`strings `strings
// libgstcuda-1.0.so.0`), from GStreamer 1.22 to 1.26, by their exported names. Arguments are
// integers and pointers, so forwarding needs only their number. The exceptions are handles of other
// processes' events and memory, which are passed by value: H, between the arguments before and
// after them. An entry missing from the next driver answers CUDA_ERROR_NOT_SUPPORTED.
#pragma once

#include "cuda/device/driver_entries.h"

// clang-format off
#define SHIMCUDA_GSTREAMER_ENTRIES(X) \
  X(cuGetErrorString, 2, kPlain)                        \
  X(cuDeviceGetUuid, 2, kPlain)                         \
  X(cuDeviceCanAccessPeer, 3, kPlain)                   \
  X(cuCtxCreate_v2, 3, kMakeContext)                    \
  X(cuCtxDestroy_v2, 1, kDestroyContext)                \
  X(cuCtxGetLimit, 2, kOther)                           \
  X(cuCtxSetLimit, 2, kOther)                           \
  X(cuCtxEnablePeerAccess, 2, kPlain)                   \
  X(cuCtxDisablePeerAccess, 1, kPlain)                  \
  X(cuCtxSynchronize, 0, kWaitContext)                  \
  X(cuMemAllocPitch_v2, 5, kAllocatePitch)              \
  X(cuMemAllocHost_v2, 2, kAllocatePinned)              \
  X(cuMemAllocAsync, 3, kAllocate)                      \
  X(cuMemAllocFromPoolAsync, 4, kAllocate)              \
  X(cuMemFreeAsync, 2, kFree)                           \
  X(cuMemGetInfo_v2, 2, kOther)                         \
  X(cuMemPoolCreate, 2, kOther)                         \
  X(cuMemPoolDestroy, 1, kOther)                        \
  X(cuMemPoolGetAttribute, 3, kOther)                   \
  X(cuMemPoolSetAttribute, 3, kOther)                   \
  X(cuMemCreate, 4, kAllocate)                          \
  X(cuMemRelease, 1, kFree)                             \
  X(cuMemAddressReserve, 5, kOther)                     \
  X(cuMemAddressFree, 2, kOther)                        \
  X(cuMemMap, 5, kOther)                                \
  X(cuMemUnmap, 2, kOther)                              \
  X(cuMemGetAccess, 3, kOther)                          \
  X(cuMemSetAccess, 4, kOther)                          \
  X(cuMemGetAllocationGranularity, 3, kOther)           \
  X(cuMemGetAllocationPropertiesFromHandle, 2, kOther)  \
  X(cuMemRetainAllocationHandle, 2, kOther)             \
  X(cuMemExportToShareableHandle, 4, kOther)            \
  X(cuMemImportFromShareableHandle, 3, kOther)          \
  X(cuPointerGetAttribute, 3, kOther)                   \
  X(cuMemcpy2D_v2, 1, kSyncCopy)                        \
  X(cuMemcpyDtoH_v2, 3, kSyncCopy)                      \
  X(cuMemcpyHtoD_v2, 3, kSyncCopy)                      \
  X(cuMemcpyDtoD_v2, 3, kSyncCopy)                      \
  X(cuMemsetD2D8_v2, 5, kSyncCopy)                      \
  X(cuMemsetD2D16_v2, 5, kSyncCopy)                     \
  X(cuMemsetD2D32_v2, 5, kSyncCopy)                     \
  X(cuMemcpyHtoDAsync_v2, 4, kCopyFromHost)             \
  X(cuMemcpyDtoDAsync_v2, 4, kCopy)                     \
  X(cuMemsetD2D8Async, 6, kCopy)                        \
  X(cuMemsetD2D16Async, 6, kCopy)                       \
  X(cuMemsetD2D32Async, 6, kCopy)                       \
  X(cuStreamCreateWithPriority, 3, kMakeStream)         \
  X(cuStreamDestroy, 1, kDestroyStream)                 \
  X(cuEventSynchronize, 1, kWaitEvent)                  \
  X(cuIpcGetEventHandle, 2, kOther)                     \
  X(cuIpcOpenEventHandle, 1H, kMakeEvent)               \
  X(cuIpcGetMemHandle, 2, kOther)                       \
  X(cuIpcOpenMemHandle, 1H1, kOther)                    \
  X(cuIpcCloseMemHandle, 1, kOther)                     \
  X(cuImportExternalMemory, 2, kOther)                  \
  X(cuDestroyExternalMemory, 1, kOther)                 \
  X(cuExternalMemoryGetMappedBuffer, 3, kOther)         \
  X(cuExternalMemoryGetMappedMipmappedArray, 3, kOther) \
  X(cuImportExternalSemaphore, 2, kOther)               \
  X(cuDestroyExternalSemaphore, 1, kOther)              \
  X(cuSignalExternalSemaphoresAsync, 4, kOther)         \
  X(cuWaitExternalSemaphoresAsync, 4, kOther)           \
  X(cuTexObjectCreate, 4, kOther)                       \
  X(cuTexObjectDestroy, 1, kOther)                      \
  X(cuGLGetDevices_v2, 4, kPlain)                       \
  X(cuGraphicsGLRegisterBuffer, 3, kOther)              \
  X(cuGraphicsGLRegisterImage, 4, kOther)               \
  X(cuGraphicsMapResources, 3, kOther)                  \
  X(cuGraphicsUnmapResources, 3, kOther)                \
  X(cuGraphicsUnregisterResource, 1, kOther)            \
  X(cuGraphicsResourceGetMappedPointer_v2, 3, kOther)   \
  X(cuGraphicsResourceSetMapFlags_v2, 2, kOther)        \
  X(cuGraphicsSubResourceGetMappedArray, 4, kOther)
// clang-format on
