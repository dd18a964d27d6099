// The engine's part of Dirac and VC-2.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/dirac/engine.h"
#include "cuda/dwt/engine.h"
#include "cuda/obmc/engine.h"
#include "dirac/jobs.h"
#include "dirac/renderer.h"
#include "gst/engine/engine.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"

namespace cudatransform {

CT_ENGINE_OPS(DiracDequantiseOps, portable_dirac_dequantise_ops, cuda_dirac_dequantise_ops)
CT_ENGINE_OPS(DwtOps, host_dwt_ops, cuda_dwt_ops)
CT_ENGINE_OPS(ObmcOps, host_obmc_ops, cuda_obmc_ops)
CT_ENGINE_OPS(DiracStoreOps, portable_dirac_store_ops, cuda_dirac_store_ops)

inline DiracRenderOps dirac_render_ops(const Engine& engine) {
  return {&engine.ops<DiracDequantiseOps>(), &engine.ops<DwtOps>(), &engine.ops<ObmcOps>()};
}

// For an Engine.
inline Status probe_dirac_kernels([[maybe_unused]] Device& device) {
#if CT_HAVE_CUDA
  CT_RETURN_IF_ERROR(probe_cuda_dwt_kernels(device));
  return probe_cuda_obmc_kernels(device);
#else
  return Status::error(StatusCode::kNotFound, "built without the CUDA engine");
#endif
}

}  // namespace cudatransform
