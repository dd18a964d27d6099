// The engine's part of Dirac and VC-2.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/jobs.h"
#include "dirac/renderer.h"
#include "gst/engine/engine.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"
#ifdef CT_HAVE_CUDA
#include "cuda/dirac/engine.h"
#include "cuda/dwt/engine.h"
#include "cuda/obmc/engine.h"
#endif

namespace cudatransform {

inline DiracRenderOps dirac_render_ops([[maybe_unused]] const Engine& engine) {
#ifdef CT_HAVE_CUDA
  if (engine.is_cuda()) return {&cuda_dirac_dequantise_ops(), &cuda_dwt_ops(), &cuda_obmc_ops()};
#endif
  return {&portable_dirac_dequantise_ops(), &host_dwt_ops(), &host_obmc_ops()};
}

inline const DiracStoreOps& dirac_store_ops([[maybe_unused]] const Engine& engine) {
#ifdef CT_HAVE_CUDA
  if (engine.is_cuda()) return cuda_dirac_store_ops();
#endif
  return portable_dirac_store_ops();
}

// For an Engine.
inline Status probe_dirac_kernels([[maybe_unused]] Device& device) {
#ifdef CT_HAVE_CUDA
  CT_RETURN_IF_ERROR(probe_cuda_dwt_kernels(device));
  return probe_cuda_obmc_kernels(device);
#else
  return Status::error(StatusCode::kNotFound, "built without the CUDA engine");
#endif
}

}  // namespace cudatransform
