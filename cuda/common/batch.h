// Jobs that share launches: CTA (x, y) of a batch kernel is CTA x of job y.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Jobs of different sizes share one launch, a grid of the largest job's CTAs side by side: CTAs
// that their job does not have end immediately.
#pragma once

#include <cstdint>

#include "transform/device/host_device_macros.h"

namespace cudatransform::cuda {

// A job's parameters, as its kernel takes them when it is launched alone.
template <typename Params>
struct BatchJob {
  Params params;
  uint32_t ctas;
};

// The parameters of a batch kernel. `jobs` is device memory.
template <typename Params>
struct BatchParams {
  const BatchJob<Params>* jobs;
  uint32_t step;  // of kernels that are launched several times for the same jobs
};

#if defined(__CUDACC__) || defined(CT_EMULATED)
// Calls body(params) for the job of this CTA, `kParts` of which share the work of one of its CTAs.
template <uint32_t kParts = 1, typename Params, typename Body>
__device__ __forceinline__ void run_job(const BatchParams<Params>& batch, const Body& body) {
  const BatchJob<Params>* const job = batch.jobs + blockIdx.y;
  if (blockIdx.x < kParts * job->ctas) body(job->params);
}
#endif

}  // namespace cudatransform::cuda
