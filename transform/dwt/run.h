// The frame around a wavelet job of every CPU engine: checks, timing, errors, the fence.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/device/host_threads.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

// Does a job that validate() has passed, and writes `sums`, which are zero, where it measures. May
// throw std::bad_alloc.
using DwtWork = void (*)(const DwtJob& job, HostThreads& threads, PictureSums* sums);

// The portable engine's.
void work_portably(const DwtJob& job, HostThreads& threads, PictureSums* sums);

Status run_dwt(Device& device, Queue& queue, const DwtJob& job, DwtWork work, FencePtr* fence);

}  // namespace cudatransform
