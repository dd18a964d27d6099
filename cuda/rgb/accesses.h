// The memory that the kernels of RGB read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/rgb/kernels.h"
#include "cuda/rgb/params.h"

namespace cudatransform::cuda {

// `all_components`: the general forward kernel writes one.
inline void rgb_accesses(const RgbParams& params, bool inverse, bool all_components,
                         AccessList* list) {
  const bool planar = params.places == RgbPlaces::kPlanes;
  for (uint32_t c = 0; c < 3; ++c) {
    const RgbPlaneParams& plane = params.planes[c];
    if (all_components || c == params.component)
      list->add(plane.data, plane.pitch, plane.width, plane.height, !inverse);
    if (c == 0 || planar)
      list->add(params.rgb[c], params.pitch[c], int64_t{params.width} * params.pixel_bytes,
                params.height, inverse);
  }
}

#define CT_INVERSE(name, ...) CT_ACCESSES(name, RgbParams, rgb_accesses, true, true)
#define CT_FORWARD(name, ...) CT_ACCESSES(name, RgbParams, rgb_accesses, false, true)
#define CT_GENERAL(name, inverse) CT_ACCESSES(name, RgbParams, rgb_accesses, inverse, inverse)

inline constexpr KernelAccesses kRgbAccesses[] = {CT_RGB_INVERSE_KERNELS(CT_INVERSE)  //
                                                  CT_RGB_FORWARD_KERNELS(CT_FORWARD)  //
                                                  CT_RGB_GENERAL_KERNELS(CT_GENERAL)};

#undef CT_INVERSE
#undef CT_FORWARD
#undef CT_GENERAL

}  // namespace cudatransform::cuda
