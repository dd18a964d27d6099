// The memory that the kernels of resampling read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/resize/kernels.h"
#include "cuda/resize/params.h"

namespace cudatransform::cuda {

inline void add_resize_view(const ResizeView& view, int channels, int bytes, bool is_written,
                            AccessList* list) {
  for (int c = 0; c < channels; ++c)
    list->add({view.data[c], view.pitch[c], int64_t{view.width - 1} * view.step + bytes,
               view.height, is_written, bytes, view.step});
}

// Of pictures that share a launch, the first.
template <typename Params>
void resize_accesses(const Params& params, AccessList* list) {
  const int bytes = params.type == ResizeType::kU8 ? 1 : params.type == ResizeType::kF32 ? 4 : 2;
  add_resize_view(params.from, params.channels, 1, false, list);
  add_resize_view(params.to, params.channels, bytes, true, list);
}

#define CT_PASS(name, ...) CT_ACCESSES(name, ResizePassParams, resize_accesses)
#define CT_FUSED(name, ...) CT_ACCESSES(name, ResizeFusedParams, resize_accesses)
inline constexpr KernelAccesses kResizeAccesses[] = {CT_RESIZE_PASS_KERNELS(CT_PASS)
                                                         CT_RESIZE_FUSED_KERNELS(CT_FUSED)};
#undef CT_PASS
#undef CT_FUSED

}  // namespace cudatransform::cuda
