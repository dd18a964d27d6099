// The MD5s of the planes that an access unit is decoded to, as OpenAPV writes and checks them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/apv/frame_hash.h"

#include <glib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "apv/frame.h"
#include "transform/apv/apv.h"

namespace cudatransform {
namespace {

// Of samples of 16 bits, little-endian: all rows of macroblocks, and columns up to a multiple of
// 16. Where the component has fewer, as chroma of 4:2:2 in an odd number of macroblocks, they are
// zero.
void hash_plane(const uint16_t* samples, uint32_t coded, uint32_t columns, uint32_t rows,
                uint8_t* hash) {
  GChecksum* checksum = g_checksum_new(G_CHECKSUM_MD5);
  std::vector<uint8_t> row(size_t{2} * columns);
  for (uint32_t y = 0; y < rows; y++, samples += coded) {
    for (uint32_t x = 0; x < std::min(coded, columns); x++) {
      row[2 * x] = static_cast<uint8_t>(samples[x]);
      row[2 * x + 1] = static_cast<uint8_t>(samples[x] >> 8);
    }
    g_checksum_update(checksum, row.data(), static_cast<gssize>(row.size()));
  }
  gsize bytes = kApvHashBytes;
  g_checksum_get_digest(checksum, hash, &bytes);
  g_checksum_free(checksum);
}

Status hash_frame(Device& host, std::span<const uint8_t> unit, ApvBytes* hashes) {
  ApvAccessUnit read;
  CT_RETURN_IF_ERROR(read_apv_access_unit(unit, &read));
  ApvFrame frame;
  CT_RETURN_IF_ERROR(frame.begin(read.frame, nullptr, {}));
  std::unique_ptr<Memory> memory;
  CT_RETURN_IF_ERROR(
      host.allocate(MemoryKind::kDevice, sizeof(int16_t) * frame.coef_count(), &memory));
  auto* const coefs = static_cast<int16_t*>(memory->data());
  for (size_t i = 0; i < frame.chain_count(); i++) frame.decode_chain(i, coefs);
  if (const char* damage = frame.damage(); damage != nullptr)
    return Status::error(StatusCode::kFailed,
                         std::string("an encoded frame is damaged: ") + damage);
  ApvInverseJob job = frame.inverse_job();
  std::vector<uint16_t> planes[kMaxApvComponents];
  for (int c = 0; c < job.components; c++) {
    ApvPlane& plane = job.plane[c];
    plane.width = 8 * plane.blocks_across;
    plane.height = 8 * plane.blocks_down;
    planes[c].resize(static_cast<size_t>(plane.width) * static_cast<size_t>(plane.height));
    plane.coefs = coefs + frame.coef_offset(c);
    plane.samples = planes[c].data();
    plane.pitch = ptrdiff_t{2} * plane.width;
  }
  CT_RETURN_IF_ERROR(
      host_apv_inverse_ops().submit(host, host.queue(QueueKind::kCompute), job, nullptr));
  hashes->resize(kApvHashBytes * static_cast<size_t>(job.components));
  for (int c = 0; c < job.components; c++) {
    const ApvPlane& plane = job.plane[c];
    hash_plane(planes[c].data(), static_cast<uint32_t>(plane.width),
               (frame.info().width_of(c) + 15) / 16 * 16, static_cast<uint32_t>(plane.height),
               hashes->data() + kApvHashBytes * static_cast<size_t>(c));
  }
  return {};
}

}  // namespace

Status hash_apv_frame(Device& host, std::span<const uint8_t> unit, ApvBytes* hashes) {
  try {
    return hash_frame(host, unit, hashes);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for the hash of a frame");
  }
}

}  // namespace cudatransform
