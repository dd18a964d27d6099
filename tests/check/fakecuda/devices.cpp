// The fake driver itself, its devices, the names of its errors, and entries that nothing here uses.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cstring>

#include "tests/check/fakecuda/state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace fakecuda;  // the whole file belongs to it

namespace {

struct Name {
  int code;
  const char* name;
};
constexpr Name kNames[] = {
    {kSuccess, "CUDA_SUCCESS"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {kPeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
    {kNotReady, "CUDA_ERROR_NOT_READY"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {kPeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {kPeerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
    {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
};

}  // namespace

EXPORT int cuInit(unsigned) {
  if (mode_is("no-init")) return kNoDevice;
  std::lock_guard lock(state().mutex);
  state().initialized = true;
  return kSuccess;
}

EXPORT int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

EXPORT int cuGetErrorName(int code, const char** name) {
  for (const Name& known : kNames) {
    if (known.code != code) continue;
    *name = known.name;
    return kSuccess;
  }
  *name = nullptr;
  return kInvalidValue;
}

EXPORT int cuGetErrorString(int code, const char** text) { return cuGetErrorName(code, text); }

EXPORT int cuDeviceGetCount(int* count) {
  if (!state().initialized) return kNotInitialized;
  *count = device_count();
  return kSuccess;
}

EXPORT int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

EXPORT int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return kSuccess;
}

EXPORT int cuDeviceGetPCIBusId(char* id, int size, int) {
  std::strncpy(id, "0000:00:00.0", static_cast<size_t>(size));
  return kSuccess;
}

// Alignments, and features that have no entry points here.
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kVirtualMemory = 102, kFileDescriptors = 103, kMemoryPools = 115;
  constexpr int kSharedOfMultiprocessor = 81, kSharedMemory = 97;
  const bool absent =
      attribute == kVirtualMemory || attribute == kFileDescriptors || attribute == kMemoryPools;
  *value = absent                                 ? 0
           : attribute == kSharedMemory           ? kMaxShared
           : attribute == kSharedOfMultiprocessor ? kMaxShared + 1024
                                                  : static_cast<int>(kPitch);
  return kSuccess;
}

EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = are_peers(device, peer);
  return kSuccess;
}

#define UNSUPPORTED(name)                                            \
  extern "C" __attribute__((visibility("default"))) int name(void) { \
    return fakecuda::kNotSupported;                                  \
  }

UNSUPPORTED(cuGraphicsMapResources)
UNSUPPORTED(cuGraphicsUnmapResources)
UNSUPPORTED(cuGraphicsUnregisterResource)
UNSUPPORTED(cuGraphicsGLRegisterImage)
UNSUPPORTED(cuGraphicsGLRegisterBuffer)
UNSUPPORTED(cuGraphicsResourceSetMapFlags_v2)
UNSUPPORTED(cuGraphicsSubResourceGetMappedArray)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2)
UNSUPPORTED(cuGLGetDevices_v2)
UNSUPPORTED(cuTexObjectCreate)
UNSUPPORTED(cuTexObjectDestroy)

// From GStreamer 1.24 or 1.26 on.
UNSUPPORTED(cuCtxSynchronize)
UNSUPPORTED(cuCtxGetLimit)
UNSUPPORTED(cuCtxSetLimit)
UNSUPPORTED(cuMemcpyDtoD_v2)
UNSUPPORTED(cuMemcpyDtoDAsync_v2)
UNSUPPORTED(cuMemcpyDtoH_v2)
UNSUPPORTED(cuMemcpyHtoD_v2)
UNSUPPORTED(cuMemcpyHtoDAsync_v2)
UNSUPPORTED(cuMemsetD2D8_v2)
UNSUPPORTED(cuMemsetD2D8Async)
UNSUPPORTED(cuMemsetD2D16_v2)
UNSUPPORTED(cuMemsetD2D16Async)
UNSUPPORTED(cuMemsetD2D32_v2)
UNSUPPORTED(cuMemsetD2D32Async)
UNSUPPORTED(cuIpcGetEventHandle)
UNSUPPORTED(cuIpcOpenEventHandle)
UNSUPPORTED(cuIpcGetMemHandle)
UNSUPPORTED(cuIpcOpenMemHandle)
UNSUPPORTED(cuIpcCloseMemHandle)
UNSUPPORTED(cuImportExternalMemory)
UNSUPPORTED(cuDestroyExternalMemory)
UNSUPPORTED(cuExternalMemoryGetMappedBuffer)
UNSUPPORTED(cuExternalMemoryGetMappedMipmappedArray)
UNSUPPORTED(cuImportExternalSemaphore)
UNSUPPORTED(cuDestroyExternalSemaphore)
UNSUPPORTED(cuSignalExternalSemaphoresAsync)
UNSUPPORTED(cuWaitExternalSemaphoresAsync)
