// From decoded levels to coefficients, on the host.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/dequantiser.h"

#include <algorithm>
#include <vector>

#include "transform/device/host_threads.h"

namespace cudatransform {

namespace {

void dequantise_component(const DiracDequantiseJob& job, int component, const DwtPlane& pyramid) {
  const DiracLevels& levels = *job.levels;
  for (int i = 0; i < levels.band_count(); ++i) {
    dequantise_dirac_band(levels.band(component, i), levels.is_wide(), job.is_intra, pyramid.data,
                          pyramid.pitch);
  }
  if (job.predicts_dc)
    predict_dirac_dc(levels.band(component, 0), levels.is_wide(), pyramid.data, pyramid.pitch);
}

// Without a wavelet there is one band.
void dequantise_narrowed(const DiracDequantiseJob& job, int component, const DwtPlane& pyramid) {
  const DiracBand& band = job.levels->band(component, 0);
  std::vector<int32_t> wide(static_cast<size_t>(band.width) * static_cast<size_t>(band.height));
  dequantise_component(job, component,
                       {wide.data(), ptrdiff_t{band.width} * ptrdiff_t{sizeof(int32_t)}});
  const int32_t* from = wide.data();
  for (int32_t y = 0; y < band.height; ++y, from += band.width) {
    auto* to = reinterpret_cast<int16_t*>(static_cast<uint8_t*>(pyramid.data) + y * pyramid.pitch);
    for (int32_t x = 0; x < band.width; ++x)
      to[x] = static_cast<int16_t>(std::clamp<int32_t>(from[x], INT16_MIN, INT16_MAX));
  }
}

Status prepare(Device&, DiracMemoryPool&, const DiracDequantiseJob&,
               std::unique_ptr<DiracPrepared>*) {
  return {};
}

Status submit(Device& device, Queue&, const DiracDequantiseJob& job, DiracPrepared*) {
  return run_on_host(device, "no host memory for coefficients", [&](HostThreads&) -> Status {
    for (int c = 0; c < kMaxComponents; ++c) {
      if (job.narrows && job.levels->is_wide())
        dequantise_narrowed(job, c, job.pyramids[c]);
      else
        dequantise_component(job, c, job.pyramids[c]);
    }
    return {};
  });
}

}  // namespace

const DiracDequantiseOps& portable_dirac_dequantise_ops() {
  static constexpr DiracDequantiseOps kOps = {"portable", false, prepare, submit};
  return kOps;
}

}  // namespace cudatransform
