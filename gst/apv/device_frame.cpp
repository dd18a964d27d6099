// A frame of cudaapvenc that the engine's device encodes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// As in gst/jpeg/device_scan.cpp, the copy to the host is enqueued before the unit's size is known:
// as much as the last unit had, and a little more.

#include "gst/apv/device_frame.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "gst/engine/pools.h"
#include "transform/device/memory_budget.h"
#ifdef CT_HAVE_CUDA
#include "cuda/apv/engine.h"
#endif

namespace cudatransform {
namespace {

// For the first frame: units of high quality have this part of the bytes of their coefficients.
constexpr size_t kFirstPart = 4;

uint64_t coef_bytes(const ApvFrameFormat& format) {
  return 64 * sizeof(int16_t) * format.header.info.blocks();
}

}  // namespace

Status ApvDeviceCoder::open(Engine& of) {
  close();
#ifdef CT_HAVE_CUDA
  if (of.is_cuda()) {
    engine = &of;
    ops = &cuda_apv_encode_ops();
    files = std::make_shared<FileMemory>();
    return {};
  }
#endif
  (void)of;
  return Status::error(StatusCode::kNotFound, "no CUDA device");
}

void ApvDeviceCoder::close() {
  if (files) files->close();
  files.reset();
  engine = nullptr;
  ops = nullptr;
  last_size = 0;
}

Status ApvDeviceFrame::begin(ApvDeviceCoder& coder, const ApvFrameFormat& format,
                             const ApvSource& source, FencePtr* read) {
  clear();
  Device& device = coder.engine->device();
  format_ = format;
  CT_RETURN_IF_ERROR(grow_memory(device, MemoryKind::kDevice, coef_bytes(format), &coefs_));
  CT_RETURN_IF_ERROR(grow_memory(device, MemoryKind::kPinned,
                                 apv_encode_result_bytes(format.chain_count()), &result_));
  const ApvForwardJob job = apv_unquantized_job(format, source, coefs_->data());
  CT_RETURN_IF_ERROR(
      coder.ops->forward->submit(device, device.queue(QueueKind::kCompute), job, &transformed_));
  coder_ = &coder;
  *read = transformed_;
  return {};
}

Status ApvDeviceFrame::measure(std::span<const ApvQps> qps, uint64_t* bytes) {
  Device& device = coder_->engine->device();
  CT_RETURN_IF_ERROR(
      grow_memory(device, MemoryKind::kPinned, kMaxApvMeasuredQps * sizeof(uint64_t), &measured_));
  ApvEncodeJob job;
  job.format = &format_;
  job.coefs = static_cast<const int16_t*>(coefs_->data());
  auto* const measured = static_cast<uint64_t*>(measured_->data());
  FencePtr done;
  CT_RETURN_IF_ERROR(
      coder_->ops->measure(device, device.queue(QueueKind::kCompute), job, qps, measured, &done));
  CT_RETURN_IF_ERROR(done->wait());
  std::copy_n(measured, qps.size(), bytes);
  return {};
}

Status ApvDeviceFrame::encode(const ApvFrameFormat& format, std::span<const uint8_t> metadata) {
  format_ = format;
  try {
    unit_.begin(format, metadata);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for headers");
  }
  metadata_bytes_ = metadata.size();
  return code(coder_->last_size > 0 ? coder_->last_size : coef_bytes(format) / kFirstPart);
}

// Has room for at least `room` bytes.
Status ApvDeviceFrame::code(size_t room) {
  Device& device = coder_->engine->device();
  const size_t capacity = room_for(room);
  CT_RETURN_IF_ERROR(grow_memory(device, MemoryKind::kDevice, capacity, &output_));
  ApvEncodeJob job;
  job.format = &format_;
  job.coefs = static_cast<const int16_t*>(coefs_->data());
  job.output = static_cast<uint8_t*>(output_->data());
  job.capacity = output_->size() / sizeof(uint32_t) * sizeof(uint32_t);
  job.begin_bytes = static_cast<uint32_t>(unit_.begin_bytes());
  job.result = static_cast<ApvEncodeResult*>(result_->data());
  CT_RETURN_IF_ERROR(coder_->ops->encode(device, device.queue(QueueKind::kCompute), job, &coded_));
  CT_RETURN_IF_ERROR(device.queue(QueueKind::kDownload).wait_for(coded_));
  fetched_ = 0;
  return fetch(0, std::min<size_t>(room + room / 16, job.capacity));
}

// Enqueues the copy of the output's bytes `from` to `end` - 1.
Status ApvDeviceFrame::fetch(size_t from, size_t end) {
  Device& device = coder_->engine->device();
  Queue& queue = device.queue(QueueKind::kDownload);
  const size_t wanted = std::max<size_t>(end, output_->size()) + metadata_bytes_;
  if (!staging_ || staging_->size() < wanted) {
    // No copy to the old memory is in progress, and any earlier copy is repeated.
    from = 0;
    staging_.reset();
    CT_RETURN_IF_ERROR(coder_->files->take(*coder_->engine, wanted, &staging_));
  }
  const auto* const output = static_cast<const uint8_t*>(output_->data());
  CT_RETURN_IF_ERROR(
      device.download(queue, copy_of_bytes(staged() + from, output + from, end - from)));
  CT_RETURN_IF_ERROR(queue.record(&downloaded_));
  fetched_ = end;
  return {};
}

Status ApvDeviceFrame::finish(GstBuffer** unit) {
  CT_RETURN_IF_ERROR(downloaded_->wait());
  if (result().fits == 0) {
    CT_RETURN_IF_ERROR(code(static_cast<size_t>(result().size)));
    CT_RETURN_IF_ERROR(downloaded_->wait());
    if (result().fits == 0)
      return Status::error(StatusCode::kFailed, "frame exceeds its computed size");
  }
  const auto size = static_cast<size_t>(result().size);
  if (size > fetched_) {
    CT_RETURN_IF_ERROR(fetch(fetched_, size));
    CT_RETURN_IF_ERROR(downloaded_->wait());
  }
  coder_->last_size = size;
  return make_unit(unit);
}

Status ApvDeviceFrame::make_unit(GstBuffer** unit) {
  const std::span<const uint32_t> chains(result().chain_bytes(), format_.chain_count());
  size_t size = 0;
  CT_RETURN_IF_ERROR(unit_.measure(chains, &size));
  if (size != result().size + metadata_bytes_)
    return Status::error(StatusCode::kFailed, "sizes of chains do not match the frame's");
  // The chains are where they belong.
  unit_.write(chains, staged(), [](size_t, uint8_t*) {});
  *unit = coder_->files->wrap(&staging_, 0, size);
  if (*unit != nullptr) return {};
  *unit = new_system_buffer(size);
  if (*unit == nullptr) return no_system_memory("an access unit", size);
  gst_buffer_fill(*unit, 0, staged(), size);
  return {};
}

void ApvDeviceFrame::clear() {
  // A failure is reported where the caller waits for the work.
  for (FencePtr* fence : {&transformed_, &coded_, &downloaded_}) {
    if (*fence) (void)(*fence)->wait();
    fence->reset();
  }
  coder_ = nullptr;
  fetched_ = 0;
}

}  // namespace cudatransform
