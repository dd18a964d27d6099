// From a job to its fast kernel, where there is one, and to that kernel's parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

#include "cuda/dct8x8/engine.h"
#include "cuda/dct8x8/fast_params.h"
#include "cuda/device/kernel_family.h"

namespace cudatransform::cuda {

class FastParamsCache;

const KernelFamily& fast_kernels();
// The number of one whose image is the smallest: a device that runs it runs all, which are compiled
// for the same devices.
uint32_t smallest_fast_kernel();

struct FastLaunch {
  uint32_t kernel;  // its number among fast_kernels()
  uint32_t ctas;
  uint32_t threads;  // in a CTA
  bool tells_time;   // writes Dct8x8Job::times: the timer is not needed
  void* argument;    // the kernel's parameters, passed by value; belong to the cache
};

bool has_fast_kernels(Method method);

// The launch for a job that validate() has passed and whose method has fast kernels, or nothing
// where only the general one will do. `progress` is device memory, zero before the kernel and after
// it; null where nothing is measured or timed. `params` are kept from job to job.
std::optional<FastLaunch> fast_launch(const Dct8x8Job& job, SumsInProgress* progress,
                                      FastParamsCache& params,
                                      KernelChoice choice = KernelChoice::kAuto);

}  // namespace cudatransform::cuda
