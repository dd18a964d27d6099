// Entries that GStreamer's loader asks the fake driver for and that nothing here uses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/fakecuda/state.h"

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
