// The CUDA driver's entry points, opened at run time, so that nothing here links libcuda.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda.h>

#include "cuda/device/driver_entries.h"
#include "transform/device/status.h"

namespace cudatransform::cuda {

struct Driver {
#define CT_CUDA_MEMBER(member, function, name, arguments, kind) \
  decltype(&::function) member = nullptr;
  CT_CUDA_ENTRY_POINTS(CT_CUDA_MEMBER)
  CT_CUDA_OPTIONAL_ENTRY_POINTS(CT_CUDA_MEMBER)
#undef CT_CUDA_MEMBER

  // Ok for CUDA_SUCCESS; otherwise a failure whose message is "<what>: <the error's CUDA name>".
  Status check(CUresult result, const char* what) const;
};

// The process's driver, loaded and initialized by the first call that succeeds; a failed call keeps
// no state and the next one tries again. The table lives as long as the process. `*is_absent` (may
// be null): whether it failed because there is no driver, or no device for it.
Status load_driver(const Driver** driver, bool* is_absent = nullptr);

}  // namespace cudatransform::cuda
