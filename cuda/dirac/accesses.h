// The memory that the kernels for Dirac read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/dirac/kernels.h"
#include "cuda/dirac/params.h"

namespace cudatransform::cuda {

// Of the kernels that expand quantized coefficients or decode slices; these write cleared pyramids
// in part.
template <typename Params>
void dirac_pyramid_accesses(const Params& params, int64_t bytes, AccessList* list) {
  list->add_bytes(params.packed, static_cast<int64_t>(params.packed_bytes), false);
  for (const PyramidParams& pyramid : params.pyramids)
    list->add(pyramid.data, pyramid.pitch, pyramid.width * bytes, pyramid.height, true);
}

inline void dirac_store_accesses(const StoreParams& params, int64_t from_bytes, int64_t to_bytes,
                                 uint32_t ctas, AccessList* list) {
  const int64_t rows = ctas / params.ctas_across, width = params.width;
  list->add(params.from, params.from_pitch, width * from_bytes, rows, false);
  list->add(params.to, params.to_pitch, width * to_bytes, rows, true);
}

#define CT_EXPAND(name, qcoefs, coefs) \
  CT_ACCESSES(name, ExpandParams, dirac_pyramid_accesses, sizeof(coefs))
#define CT_SLICES(name, coefs) CT_ACCESSES(name, SliceParams, dirac_pyramid_accesses, sizeof(coefs))
#define CT_STORE(name, samples, containers) \
  CT_ACCESSES(name, StoreParams, dirac_store_accesses, sizeof(samples), sizeof(containers), ctas)

inline constexpr KernelAccesses kDiracAccesses[] = {CT_DIRAC_EXPAND_KERNELS(CT_EXPAND)   //
                                                    CT_DIRAC_SLICE_KERNELS(CT_SLICES)    //
                                                    CT_DIRAC_PREDICT_KERNELS(CT_SLICES)  //
                                                    CT_DIRAC_STORE_KERNELS(CT_STORE)};

#undef CT_EXPAND
#undef CT_SLICES
#undef CT_STORE

}  // namespace cudatransform::cuda
