// The memory that the kernels of motion compensation read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/obmc/kernels.h"
#include "cuda/obmc/params.h"

namespace cudatransform::cuda {

// `bytes` are those of a sample.
inline void obmc_compensate_accesses(const ObmcParams& params, int64_t bytes, AccessList* list) {
  const ObmcComponentParams& luma = params.components[0];
  list->add_bytes(params.blocks,
                  int64_t{luma.across.axis.blocks} * luma.down.axis.blocks *
                      static_cast<int64_t>(sizeof(ObmcBlock)),
                  false);
  for (const ObmcComponentParams& component : params.components) {
    if (component.first_cta == UINT32_MAX) continue;
    const auto plane = [&](const ObmcPlaneParams& plane, int64_t size, bool is_written) {
      list->add(plane.data, plane.pitch, component.width * size, component.height, is_written);
    };
    plane(component.samples, bytes, true);
    plane(component.residual, 2, false);
    for (const auto& planes : component.references)
      for (const ObmcPlaneParams& reference : planes) plane(reference, bytes, false);
  }
}

inline void obmc_upsample_accesses(const UpsampleParams& params, int64_t bytes, AccessList* list) {
  for (const UpsampleComponentParams& component : params.components) {
    if (component.first_cta == UINT32_MAX) continue;
    for (int p = 0; p < 4; p++)
      list->add(component.planes[p].data, component.planes[p].pitch, component.width * bytes,
                component.height, p > 0);
  }
}

#define CT_COMPENSATE(name, sample) \
  CT_ACCESSES(name, ObmcParams, obmc_compensate_accesses, sizeof(sample))
#define CT_UPSAMPLE(name, sample) \
  CT_ACCESSES(name, UpsampleParams, obmc_upsample_accesses, sizeof(sample))

inline constexpr KernelAccesses kObmcAccesses[] = {
    CT_OBMC_BYTES_COMPENSATE_KERNELS(CT_COMPENSATE)    //
    CT_OBMC_BYTES_UPSAMPLE_KERNELS(CT_UPSAMPLE)        //
    CT_OBMC_GENERAL_COMPENSATE_KERNELS(CT_COMPENSATE)  //
    CT_OBMC_GENERAL_UPSAMPLE_KERNELS(CT_UPSAMPLE)};

#undef CT_COMPENSATE
#undef CT_UPSAMPLE

}  // namespace cudatransform::cuda
