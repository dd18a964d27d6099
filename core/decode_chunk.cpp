// JPEG files whose decoding on a CUDA device shares launches.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/decode_chunk.h"

#include <new>

#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/jpeg/engine.h"
#include "cuda/rgb/engine.h"
#include "cuda/transpose/engine.h"
#endif

namespace cudatransform::core {

bool DecodeChunk::add(JpegItem& item, CtBlock* block, uint8_t* pixels) {
  const size_t own = item.plan().qcoef_bytes + item.plan().plane_bytes;
  const bool is_full = bytes_ + own > kMaxBytes || entries_.size() == kMaxPictures;
  if (!entries_.empty() && is_full) return false;
  bytes_ += own;
  entries_.push_back({&item, block, pixels});
  return true;
}

// Lays out the chunk's memory.
Status DecodeChunk::place(Lane& lane) {
  for (Entry& entry : entries_) {
    const PixelPlan& plan = entry.item->plan();
    const size_t measured = entry.item->measured();
    entry.pinned_at = pinned_bytes_;
    pinned_bytes_ += aligned(measured > 0 ? measured : plan.qcoef_bytes);
    entry.qcoefs_at = qcoef_bytes_;
    if (!wants_qcoefs()) qcoef_bytes_ += plan.qcoef_bytes;
    entry.planes_at = plane_bytes_;
    plane_bytes_ += plan.plane_bytes;
  }
  CT_RETURN_IF_ERROR(take_memory(lane));
  for (Entry& entry : entries_) {
    const PixelPlan& plan = entry.item->plan();
    if (entry.block == nullptr) {
      const size_t bytes = wants_qcoefs() ? plan.qcoef_bytes : plan.pixel_bytes;
      if (const Status status = engine_.blocks->take(bytes, &entry.block); !status.ok()) {
        entry.item->fail(status);  // others may have room
        continue;
      }
      entry.pixels = entry.block->data();
    }
    entry.qcoefs = wants_qcoefs() ? entry.pixels
                                  : static_cast<uint8_t*>(lane.qcoefs->data()) + entry.qcoefs_at;
  }
  return {};
}

Status DecodeChunk::take_memory(Lane& lane) {
  Device& device = *engine_.device;
  const size_t pinned = pinned_bytes_ + entries_.size() * sizeof(JpegDecodeResult);
  CT_RETURN_IF_ERROR(make_room(device, MemoryKind::kPinned, pinned, &lane.pinned));
  if (qcoef_bytes_ > 0)
    CT_RETURN_IF_ERROR(make_room(device, MemoryKind::kDevice, qcoef_bytes_, &lane.qcoefs));
  if (plane_bytes_ > 0)
    CT_RETURN_IF_ERROR(make_room(device, MemoryKind::kDevice, plane_bytes_, &lane.planes));
  return {};
}

// The file's bits, or its quantized coefficients, in pinned memory.
void DecodeChunk::pack(Lane& lane, size_t i) {
  Entry& entry = entries_[i];
  if (!entry.item->is_sound()) return;
  uint8_t* const to = pinned(lane) + entry.pinned_at;
  try {
    if (entry.item->measured() > 0)
      entry.by_device = entry.item->pack(to);
    else
      (void)entry.item->decode(options_, to);
  } catch (const std::bad_alloc&) {
    entry.item->fail(no_memory());
  }
}

PixelJobs DecodeChunk::pixel_jobs(const Lane& lane, const Entry& entry) const {
  uint8_t* planes = nullptr;
  if (entry.item->plan().plane_bytes > 0)
    planes = static_cast<uint8_t*>(lane.planes->data()) + entry.planes_at;
  const JpegTables& tables = entry.by_device ? entry.item->scans().tables : entry.item->tables();
  return jobs_of(entry.item->plan(), tables, entry.qcoefs, planes, entry.pixels);
}

Status DecodeChunk::upload(Lane& lane, const Entry& entry, const uint8_t* qcoefs) const {
  const size_t bytes = entry.item->plan().qcoef_bytes;
  return engine_.device->upload(*lane.queue, copy_of_bytes(entry.qcoefs, qcoefs, bytes));
}

void DecodeChunk::settle(Lane& lane, const Status& status) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    JpegItem& item = *entries_[i].item;
    try {
      settle_one(lane, i, status);
    } catch (const std::bad_alloc&) {
      // The picture's block goes with the picture.
      if (item.picture().block == nullptr) unref(entries_[i].block);
      item.fail(no_memory());
    }
  }
}

void DecodeChunk::settle_one(Lane& lane, size_t i, const Status& status) {
  Entry& entry = entries_[i];
  JpegItem& item = *entry.item;
  if (item.is_sound() && !status.ok()) item.fail(status);
  if (!item.is_sound())
    unref(entry.block);
  else if (item.measured() == 0 || (entry.by_device && item.settle(results(lane)[i])))
    item.finish(options_, entry.block, entry.pixels);
  else
    decode_again(lane, entry);
}

// What the device has not decoded, the CPU decodes: only libjpeg reports damage.
void DecodeChunk::decode_again(Lane& lane, Entry& entry) const {
  JpegItem& item = *entry.item;
  entry.by_device = false;
  std::unique_ptr<Memory> qcoefs;
  Status status = allocate_host_memory(item.plan().qcoef_bytes, &qcoefs);
  if (status.ok()) {
    auto* const host = static_cast<uint8_t*>(qcoefs->data());
    if (!item.decode(options_, host)) return unref(entry.block);
    status = finish(*lane.queue, make_again(lane, entry, host));
  }
  if (status.ok()) return item.finish(options_, entry.block, entry.pixels);
  unref(entry.block);
  item.fail(status);
}

Status DecodeChunk::make_again(Lane& lane, const Entry& entry, const uint8_t* qcoefs) const {
  CT_RETURN_IF_ERROR(upload(lane, entry, qcoefs));
  if (wants_qcoefs()) return {};
  return core::submit(*engine_.device, *lane.queue, pixel_jobs(lane, entry));
}

#if CT_HAVE_CUDA

Status DecodeChunk::probe(Device& device) {
  CT_RETURN_IF_ERROR(probe_cuda_jpeg_decode(device));
  CT_RETURN_IF_ERROR(probe_cuda_kernels(device));
  CT_RETURN_IF_ERROR(probe_cuda_rgb_kernels(device));
  return probe_cuda_transpose_kernels(device);
}

Status DecodeChunk::submit(Lane& lane) {
  CT_RETURN_IF_ERROR(wait_for_caller(engine_, *lane.queue));
  std::vector<JpegDecodeJob> decode;
  std::vector<Dct8x8Job> dct;
  std::vector<RgbJob> rgb;
  std::vector<TransposeJob> transpose;
  decode.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.item->is_sound()) continue;
    const PixelPlan& plan = entry.item->plan();
    if (entry.by_device) {
      JpegDecodeJob job;
      job.scans = &entry.item->scans();
      job.block = pinned(lane) + entry.pinned_at;
      job.result = results(lane) + i;
      job.is_alone = lane.is_alone;
      for (int c = 0; c < job.scans->components; ++c) job.qcoefs[c] = plan.qcoefs(c, entry.qcoefs);
      entry.by_device = validate(job).ok();
      if (entry.by_device) decode.push_back(job);
    }
    if (!entry.by_device) {
      if (entry.item->measured() > 0) continue;  // decode_again() does it all
      CT_RETURN_IF_ERROR(upload(lane, entry, pinned(lane) + entry.pinned_at));
    }
    if (wants_qcoefs()) continue;
    const PixelJobs jobs = pixel_jobs(lane, entry);
    dct.insert(dct.end(), jobs.dct.begin(), jobs.dct.begin() + jobs.dct_count);
    if (jobs.has_rgb) rgb.push_back(jobs.rgb);
    if (jobs.has_transpose) transpose.push_back(jobs.transpose);
  }
  Device& device = *engine_.device;
  if (!decode.empty()) CT_RETURN_IF_ERROR(cuda::decode_jpeg_batch(device, *lane.queue, decode));
  if (!dct.empty()) CT_RETURN_IF_ERROR(cuda::submit_dct8x8_batch(device, *lane.queue, dct));
  if (!rgb.empty()) CT_RETURN_IF_ERROR(cuda::submit_rgb_batch(device, *lane.queue, rgb));
  if (transpose.empty()) return {};
  return cuda_transpose_ops().submit(device, *lane.queue, transpose, nullptr);
}

#else

Status DecodeChunk::probe(Device&) {
  return Status::error(StatusCode::kNotFound, "built without CUDA (-Dcuda=disabled)");
}
Status DecodeChunk::submit(Lane&) { return probe(*engine_.device); }

#endif

}  // namespace cudatransform::core
