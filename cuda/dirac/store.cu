// Samples of a rendered picture into wider containers: a thread for each.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dirac/kernels.h"
#include "cuda/dirac/params.h"

namespace cudatransform::cuda {
namespace {

template <typename From, typename To>
__device__ __forceinline__ void store_sample(const StoreParams& params) {
  const uint32_t y = blockIdx.x / params.ctas_across;
  const uint32_t x = blockIdx.x % params.ctas_across * kExpandThreads + threadIdx.x;
  if (x >= params.width) return;
  const auto* from = reinterpret_cast<const From*>(params.from + y * params.from_pitch);
  auto* to = reinterpret_cast<To*>(params.to + y * params.to_pitch);
  to[x] = static_cast<To>(from[x] << params.shift);
}

}  // namespace

#define CT_STORE(name, from, to)                               \
  extern "C" __global__ void __launch_bounds__(kExpandThreads) \
      name(const __grid_constant__ StoreParams params) {       \
    store_sample<from, to>(params);                            \
  }
CT_DIRAC_STORE_KERNELS(CT_STORE)

}  // namespace cudatransform::cuda
