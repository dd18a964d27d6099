// Samples of a rendered picture to where the caller wants them, on the host.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/store.h"

namespace cudatransform {

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
