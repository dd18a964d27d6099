// Coefficients of another element: waits for them, maps them and marks them as read in their fence.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/coef_input.h"

#include <utility>

#include "gst/engine/contiguous_adapter.h"

namespace cudatransform {

void CoefInput::close() {
  if (piece_) gst_buffer_unmap(piece_.get(), &map_);
  piece_.reset();
  placed_ = {};
  buffer_ = nullptr;
  fence_ = nullptr;
  on_device_ = false;
}

Status CoefInput::map(bool device) {
  if (piece_) gst_buffer_unmap(piece_.get(), &map_);
  piece_.reset();
  BufferPtr piece;
  CT_RETURN_IF_ERROR(in_one_piece(buffer_, &piece));
  if (!gst_buffer_map(piece.get(), &map_, map_flags(GST_MAP_READ, device)))
    return Status::error(StatusCode::kFailed, "failed to map the coefficient buffer");
  piece_ = std::move(piece);
  return {};
}

Status CoefInput::open(Engine& engine, GstBuffer* buffer, const CoefPlaces& places,
                       QueueKind reader) {
  close();
  buffer_ = buffer;
  fence_ = places.fence;
  on_device_ = residence_of(engine, buffer) == Residence::kDevice;
  CT_RETURN_IF_ERROR(wait_written(engine, fence_, on_device_ ? &engine.queue(reader) : nullptr));
  CT_RETURN_IF_ERROR(map(on_device_));
  placed_.rects = places.layout.at(map_.data);
  return {};
}

Status CoefInput::bring_in(FrameMover& mover, GstBuffer* buffer, const CoefPlaces& places,
                           BlockPool& pool, MeasuredFrame* frame) {
  close();
  Engine& engine = mover.engine();
  buffer_ = buffer;
  fence_ = places.fence;
  const Residence residence = residence_of(engine, buffer);
  on_device_ = residence == Residence::kDevice;
  // Our own queues wait for the producer on the device, even if that is another one. If the map is
  // for the host, the host waits here.
  if (on_device_)
    CT_RETURN_IF_ERROR(wait_written(engine, fence_, &engine.queue(QueueKind::kCompute)));
  const auto map_for = [&](bool device, Rects* rects) -> Status {
    if (!device) CT_RETURN_IF_ERROR(wait_written(engine, fence_, nullptr));
    CT_RETURN_IF_ERROR(map(device));
    *rects = places.layout.at(map_.data);
    // The coefficients will be copied first, on another queue.
    if (residence == Residence::kForeignDevice || (device && !rects->aligned()))
      CT_RETURN_IF_ERROR(wait_written(engine, fence_, &engine.queue(QueueKind::kUpload)));
    return {};
  };
  return mover.place(buffer, map_for, InPlace::kIfAligned, pool, frame, &placed_);
}

void CoefInput::mark_read(const FencePtr& done) {
  if (is_guarded()) add_read(fence_, done);
}

void CoefInput::mark_read(FrameMover& mover, const FencePtr& done) {
  if (!mover.engine().is_cuda()) return;
  if (!placed_.block && is_guarded())
    add_read(fence_, done);
  else
    mover.mark_read(buffer_, placed_, done);
}

namespace {

const FencePtr& fence_in(gpointer user_data) { return *static_cast<FencePtr*>(user_data); }

// A sync point at the end of the work `done`.
GstCoefSyncPoint* sync_point_of(const FencePtr& done) {
  static const GstCoefSyncPointFuncs kFuncs = {
      [](gpointer data) -> gboolean { return fence_in(data)->wait().ok(); },
      [](gpointer data, gpointer stream) -> gboolean {
        return fence_in(data)->enqueue_wait(stream).ok();
      },
      [](gpointer data) -> gboolean { return fence_in(data)->done(); },
  };
  return gst_coef_sync_point_new(&kFuncs, new FencePtr(done),
                                 [](gpointer data) { delete static_cast<FencePtr*>(data); });
}

}  // namespace

void set_written(GstCoefFence* fence, const FencePtr& done) {
  GstCoefSyncPoint* point = sync_point_of(done);
  gst_coef_fence_set_written(fence, point);
  gst_coef_sync_point_unref(point);
}

void add_read(GstCoefFence* fence, const FencePtr& done) {
  GstCoefSyncPoint* point = sync_point_of(done);
  gst_coef_fence_add_read(fence, point);
  gst_coef_sync_point_unref(point);
}

Status wait_written(Engine& engine, GstCoefFence* fence, Queue* queue) {
  if (!fence || gst_coef_fence_wait_written(fence, queue ? queue->native() : nullptr)) return {};
  return failed_work(queue ? *queue : engine.queue(QueueKind::kCompute),
                     "previous GPU work on the coefficients failed");
}

}  // namespace cudatransform
