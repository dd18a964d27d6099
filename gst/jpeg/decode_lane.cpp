// Decodes one JPEG picture at a time on the device, in parallel with other lanes.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/decode_lane.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "transform/device/memory_budget.h"

#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/engine.h"
#endif

namespace cudatransform {
namespace {

#if CT_HAVE_CUDA
const JpegDecodeOps& ops() { return cuda_jpeg_decode_ops(); }
#else
Status probe_cuda_jpeg_decode(Device&) {
  return Status::error(StatusCode::kNotFound, "built without CUDA (-Dcuda=disabled)");
}
Status make_cuda_queue(Device& device, std::unique_ptr<Queue>*) {
  return probe_cuda_jpeg_decode(device);
}
const JpegDecodeOps& ops() { return portable_jpeg_decode_ops(); }
#endif

}  // namespace

Status JpegDecodeLane::make(Device& device, std::unique_ptr<JpegDecodeLane>* made) {
  std::unique_ptr<JpegDecodeLane> lane(new JpegDecodeLane(device));
  CT_RETURN_IF_ERROR(make_cuda_queue(device, &lane->queue_));
  CT_RETURN_IF_ERROR(
      device.allocate(MemoryKind::kPinned, sizeof(JpegDecodeResult), &lane->result_));
  *made = std::move(lane);
  return {};
}

Status JpegDecodeLane::submit(size_t measured, const JpegQcoefs* qcoefs, JpegTables* tables,
                              bool* submitted) {
  *submitted = false;
  // Without pinned memory the CPU is as fast.
  if (const Status status =
          grow_memory(device_, MemoryKind::kPinned, measured, &block_, room_for(measured));
      !status.ok())
    return status.code == StatusCode::kDeviceLost ? status : Status();
  auto* const block = static_cast<uint8_t*>(block_->data());
  if (!reader_.read(block, &scans_)) return {};
  JpegDecodeJob job;
  job.scans = &scans_;
  job.block = block;
  job.result = static_cast<JpegDecodeResult*>(result_->data());
  std::copy_n(qcoefs, scans_.components, job.qcoefs);
  if (!validate(job).ok()) return {};
  const Status status = ops().submit(device_, *queue_, job, nullptr);
  // Enqueued work still uses memory of this lane and of the picture.
  if (!status.ok()) (void)wait_for_queue();
  if (status.code == StatusCode::kOutOfMemory) return {};
  CT_RETURN_IF_ERROR(status);
  *tables = scans_.tables;
  *submitted = true;
  return {};
}

bool JpegDecodeLane::is_ready() const {
  const std::atomic_ref segments(static_cast<JpegDecodeResult*>(result_->data())->segments);
  return segments.load(std::memory_order_acquire) != JpegDecodeResult::kPending;
}

// Waits for the result for a short while without asking the driver, which has one lock per context.
// Threads that submit pictures need that lock as well.
void JpegDecodeLane::await() const {
  using std::chrono::microseconds;
  constexpr microseconds kLong(10000), kShort(300), kNap(20);
  const auto begin = std::chrono::steady_clock::now();
  while (!is_ready()) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kLong) break;
    if (waited > kShort) std::this_thread::sleep_for(kNap);
  }
}

Status JpegDecodeLane::wait_for_queue() {
  FencePtr over;
  CT_RETURN_IF_ERROR(queue_->record(&over));
  return over->wait();
}

// The device writes the result last, so once it is there no work is left to wait for. Failed work
// never writes it.
Status JpegDecodeLane::finish(bool* decoded, uint32_t* irregular) {
  *decoded = false;
  await();
  if (!is_ready()) CT_RETURN_IF_ERROR(wait_for_queue());
  const auto& result = *static_cast<const JpegDecodeResult*>(result_->data());
  *decoded = is_decoded(scans_, result);
  *irregular = irregularities(scans_, result);
  return {};
}

void JpegDecodeLane::give_back(size_t most) {
  if (block_ && block_->size() > most) block_.reset();
}

Status JpegDecodeLanes::probe(Device& device) {
  if (!std::exchange(is_probed_, true)) probed_ = probe_cuda_jpeg_decode(device);
  return probed_;
}

Status JpegDecodeLanes::take(Device& device, std::unique_ptr<JpegDecodeLane>* lane) {
  CT_RETURN_IF_ERROR(probe(device));
  if (idle_.empty()) return JpegDecodeLane::make(device, lane);
  *lane = std::move(idle_.back());
  idle_.pop_back();
  return {};
}

void JpegDecodeLanes::give(std::unique_ptr<JpegDecodeLane> lane) {
  if (!lane || idle_.size() >= kMax) return;
  lane->give_back(kMaxKept);
  idle_.push_back(std::move(lane));
}

void JpegDecodeLanes::clear() {
  idle_.clear();
  is_probed_ = false;
}

}  // namespace cudatransform
