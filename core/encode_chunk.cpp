// Images whose encoding on a CUDA device shares launches.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/encode_chunk.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/jpeg/engine.h"
#include "cuda/rgb/engine.h"
#endif

namespace cudatransform::core {
namespace {

constexpr size_t kMinCapacity = 4096;
// A file of high quality has this part of the bytes of its quantized coefficients; one that has
// more is coded by the CPU.
constexpr size_t kFilePart = 3;

size_t row_bytes(const CtImage& image) {
  return static_cast<size_t>(image.width) * static_cast<size_t>(image.channels);
}

}  // namespace

bool EncodeChunk::add(const CtImage& image, CtFile* file) {
  Entry entry = {.image = &image, .file = file};
  if (const Status status = plan_encoding(image, options_, &entry.plan); !status.ok()) {
    fail(status, file);
    return true;
  }
  const size_t own = entry.plan.qcoef_bytes + entry.plan.plane_bytes + pixel_bytes(entry);
  const bool is_full = bytes_ + own > kMaxBytes || entries_.size() == kMaxPictures;
  if (!entries_.empty() && is_full) return false;
  bytes_ += own;
  entries_.push_back(std::move(entry));
  return true;
}

// Of pixels that are brought to the device.
size_t EncodeChunk::pixel_bytes(const Entry& entry) const {
  if (entry.image->on_device != 0) return 0;
  return aligned(row_bytes(*entry.image)) * static_cast<size_t>(entry.image->height);
}

JpegEncodeResult* EncodeChunk::results(const Lane& lane) const {
  return reinterpret_cast<JpegEncodeResult*>(static_cast<uint8_t*>(lane.pinned->data()) +
                                             pinned_bytes_);
}

// Lays out the chunk's memory: in that for planes, pixels of the host's follow these.
Status EncodeChunk::place(Lane& lane) {
  for (Entry& entry : entries_) {
    entry.pinned_at = pinned_bytes_;
    pinned_bytes_ += pixel_bytes(entry);
    entry.qcoefs_at = qcoef_bytes_;
    qcoef_bytes_ += aligned(entry.plan.qcoef_bytes);
    entry.planes_at = plane_bytes_;
    plane_bytes_ += aligned(entry.plan.plane_bytes);
    entry.file_at = file_bytes_;
    entry.capacity = aligned(kMinCapacity + entry.plan.qcoef_bytes / kFilePart);
    file_bytes_ += entry.capacity;
  }
  Device& device = *engine_.device;
  const size_t pinned = pinned_bytes_ + entries_.size() * sizeof(JpegEncodeResult);
  CT_RETURN_IF_ERROR(make_room(device, MemoryKind::kPinned, pinned, &lane.pinned));
  CT_RETURN_IF_ERROR(make_room(device, MemoryKind::kDevice, qcoef_bytes_, &lane.qcoefs));
  CT_RETURN_IF_ERROR(
      make_room(device, MemoryKind::kDevice, plane_bytes_ + pinned_bytes_ + 1, &lane.planes));
  return make_room(device, MemoryKind::kDevice, file_bytes_, &lane.files);
}

void EncodeChunk::pack(Lane& lane, size_t i) {
  const Entry& entry = entries_[i];
  const CtImage& image = *entry.image;
  if (image.on_device != 0) return;
  auto* to = static_cast<uint8_t*>(lane.pinned->data()) + entry.pinned_at;
  const auto* from = static_cast<const uint8_t*>(image.data);
  const size_t bytes = row_bytes(image);
  for (int32_t y = 0; y < image.height; ++y, to += aligned(bytes), from += image.pitch)
    std::memcpy(to, from, bytes);
}

// Allocates the file, and writes the part of it in front of the scan.
Status EncodeChunk::start_file(Lane& lane, Entry& entry, size_t scan_bytes) {
  static thread_local JpegHeaders headers;
  const JpegPicture picture =
      entry.plan.picture(options_, static_cast<uint8_t*>(lane.qcoefs->data()) + entry.qcoefs_at);
  const JpegBytes* header = nullptr;
  CT_RETURN_IF_ERROR(headers.find(picture, file_options(options_), nullptr, &header));
  CtFile& file = *entry.file;
  CT_RETURN_IF_ERROR(engine_.files->take(header->size() + scan_bytes, &file.block));
  std::memcpy(file.block->data(), header->data(), header->size());
  file.data = file.block->data();
  file.size = header->size() + scan_bytes;
  file.by_device = 1;
  return {};
}

// Begins the copy of a scan into its file. False: the CPU has to code it.
bool EncodeChunk::fetch(Lane& lane, Entry& entry, const JpegEncodeResult& result) {
  if (result.faults != 0) return false;
  Status status = start_file(lane, entry, result.size);
  if (status.ok()) {
    uint8_t* const to = entry.file->block->data() + entry.file->size - result.size;
    status =
        engine_.device->download(*lane.queue, copy_of_bytes(to, entry.job.output, result.size));
  }
  if (!status.ok()) fail(status, entry.file);
  return true;
}

// Of quantized coefficients that JPEG's baseline may have no codes for, or files larger than their
// room.
void EncodeChunk::code_on_host(Lane& lane, Entry& entry) {
  std::unique_ptr<Memory> qcoefs;
  Status status = allocate_host_memory(entry.plan.qcoef_bytes, &qcoefs);
  if (status.ok()) {
    const uint8_t* const from = static_cast<uint8_t*>(lane.qcoefs->data()) + entry.qcoefs_at;
    const Copy2D copy = copy_of_bytes(qcoefs->data(), from, entry.plan.qcoef_bytes);
    status = finish(*lane.queue, engine_.device->download(*lane.queue, copy));
  }
  if (status.ok())
    write_qcoefs(entry.plan, options_, static_cast<uint8_t*>(qcoefs->data()), entry.file);
  else
    fail(status, entry.file);
}

void EncodeChunk::settle(Lane& lane, const Status& status) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    try {
      if (!status.ok())
        fail(status, entry.file);
      else if (!entry.is_coded || !fetch(lane, entry, results(lane)[i]))
        code_on_host(lane, entry);
    } catch (const std::bad_alloc&) {
      fail(no_memory(), entry.file);
    }
  }
  if (!status.ok()) return;
  const Status copied = finish(*lane.queue, {});
  if (copied.ok()) return;
  for (Entry& entry : entries_) fail(copied, entry.file);
}

#if CT_HAVE_CUDA

Status EncodeChunk::probe(Device& device) {
  CT_RETURN_IF_ERROR(probe_cuda_jpeg_encode_kernels(device));
  CT_RETURN_IF_ERROR(probe_cuda_kernels(device));
  return probe_cuda_rgb_kernels(device);
}

Status EncodeChunk::submit_pixels(Lane& lane) {
  Device& device = *engine_.device;
  auto* const pixels = static_cast<uint8_t*>(lane.planes->data()) + aligned(plane_bytes_);
  if (pinned_bytes_ > 0) {
    CT_RETURN_IF_ERROR(
        device.upload(*lane.queue, copy_of_bytes(pixels, lane.pinned->data(), pinned_bytes_)));
  }
  std::vector<RgbJob> rgb;
  std::vector<Dct8x8Job> dct;
  for (const Entry& entry : entries_) {
    const CtImage& image = *entry.image;
    const bool is_there = image.on_device != 0;
    const uint8_t* const from =
        is_there ? static_cast<const uint8_t*>(image.data) : pixels + entry.pinned_at;
    const int64_t pitch = is_there ? image.pitch : static_cast<int64_t>(aligned(row_bytes(image)));
    auto* const planes = static_cast<uint8_t*>(lane.planes->data()) + entry.planes_at;
    auto* const qcoefs = static_cast<uint8_t*>(lane.qcoefs->data()) + entry.qcoefs_at;
    if (entry.plan.has_rgb()) rgb.push_back(entry.plan.rgb_job(image, from, pitch, planes));
    dct.push_back(entry.plan.dct_job(from, pitch, planes, qcoefs));
  }
  if (!rgb.empty()) CT_RETURN_IF_ERROR(cuda::submit_rgb_batch(device, *lane.queue, rgb));
  return cuda::submit_dct8x8_batch(device, *lane.queue, dct);
}

Status EncodeChunk::code(Lane& lane) {
  JpegHuffmanTables tables;
  JpegCodes codes;
  CT_RETURN_IF_ERROR(JpegHeaders::standard_tables(&tables));
  CT_RETURN_IF_ERROR(make_jpeg_codes(tables, &codes));
  std::vector<JpegEncodeJob> jobs;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const JpegPicture picture =
        entry.plan.picture(options_, static_cast<uint8_t*>(lane.qcoefs->data()) + entry.qcoefs_at);
    JpegEncodeJob& job = entry.job;
    if (!make_jpeg_scan_layout(picture, file_options(options_), &job.layout).ok()) continue;
    for (int c = 0; c < picture.components(); ++c)
      job.qcoefs[c] = {picture.qcoefs[c].data, picture.qcoefs[c].stride};
    job.codes = &codes;
    job.output = static_cast<uint8_t*>(lane.files->data()) + entry.file_at;
    job.capacity = entry.capacity;
    job.result = results(lane) + i;
    entry.is_coded = true;
    jobs.push_back(job);
  }
  return jobs.empty() ? Status() : cuda::encode_jpeg_batch(*engine_.device, *lane.queue, jobs);
}

Status EncodeChunk::submit(Lane& lane) {
  const bool waits = std::any_of(entries_.begin(), entries_.end(),
                                 [](const Entry& entry) { return entry.image->on_device != 0; });
  if (waits) CT_RETURN_IF_ERROR(wait_for_caller(engine_, *lane.queue));
  CT_RETURN_IF_ERROR(submit_pixels(lane));
  return code(lane);
}

#else

Status EncodeChunk::probe(Device&) {
  return Status::error(StatusCode::kNotFound, "built without CUDA (-Dcuda=disabled)");
}
Status EncodeChunk::submit_pixels(Lane&) { return probe(*engine_.device); }
Status EncodeChunk::code(Lane&) { return probe(*engine_.device); }
Status EncodeChunk::submit(Lane&) { return probe(*engine_.device); }

#endif

}  // namespace cudatransform::core
