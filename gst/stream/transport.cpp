// Moves one stream's frames to the engine and back: the part that both ends of every element share.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/transport.h"

#include <algorithm>

#include "gst/engine/cuda_sync.h"
#include "gst/engine/pools.h"
#include "gst/stream/coef_input.h"

namespace cudatransform {

// The most input buffers that the device may be reading, if their pool has that many.
static constexpr guint kMostHeld = 4;

void Transport::start(guint async_depth) {
  async_depth_ = async_depth;
  warned_of_detour_ = false;
}

void Transport::reconfigure() {
  release_inputs();
  known_pool_ = nullptr;
  known_foreign_context_ = nullptr;
}

void Transport::release_inputs() {
  while (!held_.empty()) release_oldest();
}

void Transport::settle() {
  for (QueueKind kind : {QueueKind::kUpload, QueueKind::kCompute, QueueKind::kDownload}) {
    FencePtr fence;
    if (engine_.queue(kind).record(&fence).ok()) (void)fence->wait();
  }
}

void Transport::warn_once(std::string warning, bool* warned) {
  if (!std::exchange(*warned, true)) warnings_.push_back(std::move(warning));
}

// We look it up once for each pool.
guint Transport::known_pool_maximum(GstBuffer* buffer) {
  if (!buffer->pool) return 0;
  if (buffer->pool != known_pool_) known_maximum_ = pool_maximum(buffer);
  known_pool_ = buffer->pool;
  return known_maximum_;
}

// Keeps a buffer that the GPU still reads from being reused, and lets go of those already read.
void Transport::hold_until_done(GstBuffer* buffer, const FencePtr& fence) {
  // If we held every buffer of a bounded pool, its source could not bring the next one.
  const guint maximum = known_pool_maximum(buffer);
  const guint wanted = std::max(kMostHeld, async_depth_);
  const size_t most =
      maximum == 0 ? wanted : std::min(wanted, maximum - std::min(maximum, kWorkingBuffers));
  const gint64 now = g_get_monotonic_time();
  held_.push_back({BufferPtr(gst_buffer_ref(buffer)), fence, now});
  const auto fence_of = [&](size_t i) { return held_[i].fence.get(); };
  const bool waits = held_.size() > most;
  while (held_.size() > most) release_oldest();
  // After a wait for one buffer, the device need not be asked about the next.
  while (held_.size() > 1 &&
         (waits ? fence_of(0)->known_done()
                : first_is_done_by(now, held_.front().since, held_.size(), fence_of))) {
    release_oldest();
  }
}

// Waits for the work. Users of its result report a failure.
void Transport::release_oldest() {
  HeldBuffer& oldest = held_.front();
  if (!oldest.fence->wait().ok() && !engine_.settle().ok()) keep_for_ever(oldest.buffer.release());
  held_.pop_front();
}

Status Transport::place(GstBuffer* buffer, const MapFunction& map, InPlace in_place,
                        BlockPool& pool, MeasuredFrame* frame, Placed* placed) {
  const Residence residence = residence_of(engine_, buffer);
  const bool timed = frame && frame->kinds & kMeasureTime;
  Timer* timer = timed ? frame->upload.get() : nullptr;
  CT_RETURN_IF_ERROR(map(residence != Residence::kHost, &placed->rects));
  if (!engine_.is_cuda()) return {};
  if (residence == Residence::kDevice &&
      (in_place == InPlace::kAlways ||
       (in_place == InPlace::kIfAligned && placed->rects.aligned())))
    return wait_for_producer(buffer, engine_.queue(QueueKind::kCompute));
  if (frame) frame->uploaded = timed;
  if (residence == Residence::kForeignDevice) warn_of_detour(buffer);
  const Status status = bring_to_device(buffer, residence, pool, timer, placed);
  if (status.ok() || residence != Residence::kForeignDevice) return status;

  // The driver does not copy between these two devices.
  warn_once("Frames come from another CUDA device and are copied through system memory: " +
                status.message,
            &warned_of_detour_);
  CT_RETURN_IF_ERROR(map(false, &placed->rects));
  return bring_to_device(buffer, Residence::kHost, pool, timer, placed);
}

// Warns of slow copies, once for each context that frames come from.
void Transport::warn_of_detour(GstBuffer* buffer) {
  void* context = native_context_of(buffer);
  if (context == known_foreign_context_) return;
  known_foreign_context_ = context;
  std::string detour = describe_detour(engine_, buffer);
  if (!detour.empty()) warn_once(std::move(detour), &warned_of_detour_);
}

// Copies placed->rects into a block of `pool` on the upload queue; the compute queue waits for the
// copy.
Status Transport::bring_to_device(GstBuffer* buffer, Residence residence, BlockPool& pool,
                                  Timer* timer, Placed* placed) {
  Queue& queue = engine_.queue(QueueKind::kUpload);
  const Rects from = placed->rects;
  CT_RETURN_IF_ERROR(stack_in_pool(engine_, pool, queue, &placed->block, &placed->rects));
  if (residence == Residence::kDevice) CT_RETURN_IF_ERROR(wait_for_producer(buffer, queue));
  if (residence == Residence::kForeignDevice) finish_producer(buffer);
  if (timer) CT_RETURN_IF_ERROR(timer->begin(queue));
  if (residence == Residence::kHost)
    CT_RETURN_IF_ERROR(upload(engine_.device(), queue, from, placed->rects));
  else
    CT_RETURN_IF_ERROR(
        copy(engine_.device(), queue, from, native_context_of(buffer), placed->rects));
  if (timer) CT_RETURN_IF_ERROR(timer->end(queue));
  FencePtr uploaded;
  CT_RETURN_IF_ERROR(queue.record(&uploaded));
  hold_until_done(buffer, uploaded);
  set_written(placed->block.fence, uploaded);
  return engine_.queue(QueueKind::kCompute).wait_for(uploaded);
}

void Transport::mark_read(GstBuffer* buffer, const Placed& placed, const FencePtr& done) {
  if (!engine_.is_cuda()) return;
  if (placed.block)
    add_read(placed.block.fence, done);
  else
    hold_until_done(buffer, done);
}

Status Transport::fetch(const Rects& from, const Rects& to, const FencePtr& computed,
                        MeasuredFrame* frame, FencePtr* downloaded) {
  Queue& queue = engine_.queue(QueueKind::kDownload);
  const bool timed = frame && frame->kinds & kMeasureTime;
  CT_RETURN_IF_ERROR(queue.wait_for(computed));
  if (timed) CT_RETURN_IF_ERROR(frame->download->begin(queue));
  const Status status = download(engine_.device(), queue, from, to);
  if (status.ok() && timed) CT_RETURN_IF_ERROR(frame->download->end(queue));
  CT_RETURN_IF_ERROR(queue.record(downloaded));
  // Some of a frame's planes may already be on their way, and `to` must stay until they are there.
  if (!status.ok()) return status;
  if (frame) {
    frame->downloaded = timed;
    frame->fence = *downloaded;
  }
  return {};
}

}  // namespace cudatransform
