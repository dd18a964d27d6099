// The engine's part of Dirac and VC-2.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/jobs.h"
#include "dirac/renderer.h"
#include "gst/engine/engine.h"

namespace cudatransform {

DiracRenderOps dirac_render_ops(const Engine& engine);
const DiracStoreOps& dirac_store_ops(const Engine& engine);
// For an Engine.
Status probe_dirac_kernels(Device& device);

}  // namespace cudatransform
