// The fast kernels for batches of jobs (cuda/common/batch.h): those of JPEG files.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: each job by itself.
#include "cuda/common/batch.h"
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/fast_inverse.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {

#define CT_FORWARD(name, method, samples, coefs, arrangement, planes, variant)                \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name)                   \
      name(const __grid_constant__ BatchParams<ForwardParamsOf<Variant::k##variant>> batch) { \
    run_job(batch, [](const auto& params) {                                                   \
      fast_forward<Fast##method, samples##Row<Planes::k##planes>, coefs,                      \
                   Arrangement::k##arrangement, Variant::k##variant>(params);                 \
    });                                                                                       \
  }
CT_FAST_BATCH_FORWARD_KERNELS(CT_FORWARD)

#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant)                    \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name)                       \
      name(const __grid_constant__                                                                \
               BatchParams<InverseParamsOf<Arrangement::k##arrangement, Variant::k##variant>>     \
                   batch) {                                                                       \
    run_job(batch, [](const auto& params) {                                                       \
      fast_inverse<Inverse##method, samples##Row<Planes::k##planes>, Arrangement::k##arrangement, \
                   Variant::k##variant>(params);                                                  \
    });                                                                                           \
  }
CT_FAST_BATCH_INVERSE_KERNELS(CT_INVERSE)

}  // namespace cudatransform::cuda
