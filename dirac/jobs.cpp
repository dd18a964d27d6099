// Jobs that only Dirac and VC-2 have, which all engines take: quantized coefficients to
// coefficients, samples to frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "dirac/jobs.h"

#include <algorithm>
#include <vector>

#include "transform/device/host_threads.h"

namespace cudatransform {
namespace {

void dequantize_component(const DiracDequantizeJob& job, int component, const DwtPlane& pyramid) {
  const DiracQcoefs& qcoefs = *job.qcoefs;
  for (int i = 0; i < qcoefs.band_count(); ++i) {
    dequantize_dirac_band(qcoefs.band(component, i), qcoefs.is_wide(), job.is_intra, pyramid.data,
                          pyramid.pitch);
  }
  if (job.predicts_dc)
    predict_dirac_dc(qcoefs.band(component, 0), qcoefs.is_wide(), pyramid.data, pyramid.pitch);
}

// Without a wavelet there is one band.
void dequantize_narrowed(const DiracDequantizeJob& job, int component, const DwtPlane& pyramid) {
  const DiracBand& band = job.qcoefs->band(component, 0);
  std::vector<int32_t> wide(static_cast<size_t>(band.width) * static_cast<size_t>(band.height));
  dequantize_component(job, component,
                       {wide.data(), ptrdiff_t{band.width} * ptrdiff_t{sizeof(int32_t)}});
  const int32_t* from = wide.data();
  for (int32_t y = 0; y < band.height; ++y, from += band.width) {
    auto* to = reinterpret_cast<int16_t*>(static_cast<uint8_t*>(pyramid.data) + y * pyramid.pitch);
    for (int32_t x = 0; x < band.width; ++x)
      to[x] = static_cast<int16_t>(std::clamp<int32_t>(from[x], INT16_MIN, INT16_MAX));
  }
}

Status prepare(Device&, BudgetedPool&, const DiracDequantizeJob&, std::unique_ptr<DiracPrepared>*) {
  return {};
}

Status submit(Device& device, Queue&, const DiracDequantizeJob& job, DiracPrepared*) {
  return run_on_host(device, "no host memory for coefficients", [&](HostThreads&) -> Status {
    for (int c = 0; c < kMaxComponents; ++c) {
      if (job.narrows && job.qcoefs->is_wide())
        dequantize_narrowed(job, c, job.pyramids[c]);
      else
        dequantize_component(job, c, job.pyramids[c]);
    }
    return {};
  });
}

}  // namespace

const DiracDequantizeOps& portable_dirac_dequantize_ops() {
  static constexpr DiracDequantizeOps kOps = {"portable", false, prepare, submit};
  return kOps;
}

namespace {

template <typename From, typename To>
void store_rows(const DiracStoreJob& job) {
  const auto* from = static_cast<const uint8_t*>(job.from.data);
  auto* to = static_cast<uint8_t*>(job.to);
  for (int32_t y = 0; y < job.rows; ++y, from += job.from.pitch, to += job.pitch) {
    const auto* in = reinterpret_cast<const From*>(from);
    auto* out = reinterpret_cast<To*>(to);
    for (int32_t x = 0; x < job.from.width; ++x) out[x] = static_cast<To>(in[x] << job.shift);
  }
}

Status submit(Device& device, Queue& queue, const DiracStoreJob& job) {
  if (is_dirac_copy(job)) return copy_dirac_rows(device, queue, job);
  if (job.from.type == SampleType::kU16)
    store_rows<uint16_t, uint16_t>(job);
  else if (job.container == 2)
    store_rows<uint8_t, uint16_t>(job);
  else
    store_rows<uint8_t, uint8_t>(job);
  return {};
}

}  // namespace

Status copy_dirac_rows(Device& device, Queue& queue, const DiracStoreJob& job) {
  Copy2D copy;
  copy.dst = job.to;
  copy.dst_pitch = job.pitch;
  copy.src = job.from.data;
  copy.src_pitch = job.from.pitch;
  copy.row_bytes = static_cast<size_t>(job.from.width) * static_cast<size_t>(job.from.stride);
  copy.rows = static_cast<size_t>(job.rows);
  return device.copy(queue, copy);
}

const DiracStoreOps& portable_dirac_store_ops() {
  static constexpr DiracStoreOps kOps = {"portable", submit};
  return kOps;
}

}  // namespace cudatransform
