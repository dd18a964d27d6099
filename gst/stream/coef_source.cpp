// Coefficients that the CPU makes, delivered in the memory that caps want.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/coef_source.h"

#include <utility>

#include "gst/engine/bounded_pool.h"

namespace cudatransform {
namespace {

constexpr size_t kMostUploads = 8;  // in flight

Status no_memory(gsize bytes) { return no_system_memory("a frame of coefficients", bytes); }

}  // namespace

void CoefFrame::unmap() {
  if (buffer && data) gst_buffer_unmap(buffer.get(), &map);
  data = nullptr;
}

bool CoefSource::is_negotiated(const GstDctInfo& info) const {
  return info_.size == info.size && info_.width == info.width && info_.height == info.height &&
         info_.sampling == info.sampling;
}

void CoefSource::configure(const GstDctInfo& info, bool in_cuda) {
  // Before anything else: the query that makes new pools does not come if downstream is flushing.
  stop();
  info_ = info;
  in_cuda_ = in_cuda;
}

Status CoefSource::allocate(GstQuery* query) {
  fence_is_honoured_ = peers_honour_fence(query);
  stop();
  // A peer that uploads proposes memory that it uploads from without staging.
  GstAllocator* allocator = in_cuda_ ? nullptr : proposed_allocator(query);
  const Status status = make_system_pool(allocator, info_.size, &pool_, bounded_pool_new);
  gst_clear_object(&allocator);
  if (status.ok()) bounded_pool_set_limit(pool_, most_kept_);
  return status;
}

void CoefSource::stop() {
  for (auto& [memory, uploaded] : pinned_)
    if (uploaded) (void)uploaded->wait();
  pinned_.clear();
  blocks_.clear();
  clear_pool(engine_, &pool_);
}

void CoefSource::limit_kept(gsize most) {
  most_kept_ = most;
  if (pool_) bounded_pool_set_limit(pool_, most);
  while (!pinned_.empty() && pinned_.size() * info_.size > most) {
    if (pinned_.front().second) (void)pinned_.front().second->wait();
    pinned_.pop_front();
  }
}

gsize CoefSource::reusable(const GstDctInfo& info) const {
  if (!is_negotiated(info)) return 0;
  const bool any = in_cuda_ ? !pinned_.empty() : pool_ && bounded_pool_idle(pool_) > 0;
  return any ? info_.size : 0;
}

// Memory whose upload is over, or new memory, which takes the driver long. It waits for the oldest
// upload rather than let a producer that is faster than the bus take all there is, or more than it
// may keep beside what it takes.
Status CoefSource::begin_pinned(CoefFrame* frame) {
  const auto is_free = [this] { return !pinned_.front().second || pinned_.front().second->done(); };
  const gsize with_new = (pinned_.size() + 1) * info_.size;
  const bool full = pinned_.size() >= kMostUploads || with_new > most_kept_;
  if (!pinned_.empty() && full && !is_free()) CT_RETURN_IF_ERROR(pinned_.front().second->wait());
  if (!pinned_.empty() && is_free()) {
    frame->pinned = std::move(pinned_.front().first);
    pinned_.pop_front();
  } else {
    CT_RETURN_IF_ERROR(engine_.allocate_for_copies(info_.size, &frame->pinned));
  }
  frame->data = static_cast<guint8*>(frame->pinned->data());
  return {};
}

void CoefSource::discard(std::unique_ptr<CoefFrame> frame) {
  if (frame->pinned && is_negotiated(frame->info))
    pinned_.emplace_front(std::move(frame->pinned), nullptr);
}

Status CoefSource::begin(const GstDctInfo& info, std::unique_ptr<CoefFrame>* made) {
  auto frame = std::make_unique<CoefFrame>();
  frame->info = info;
  const bool negotiated = pool_ && is_negotiated(info);
  if (negotiated && in_cuda_) {
    CT_RETURN_IF_ERROR(begin_pinned(frame.get()));
    *made = std::move(frame);
    return {};
  }
  GstBuffer* buffer = nullptr;
  if (negotiated) {
    CT_RETURN_IF_ERROR(acquire_buffer(pool_, "coefficients", &buffer));
  } else {
    buffer = new_system_buffer(info.size);
  }
  if (!buffer) return no_memory(info.size);
  frame->buffer.reset(buffer);
  if (!gst_buffer_map(buffer, &frame->map, GST_MAP_WRITE)) return no_memory(info.size);
  frame->data = frame->map.data;
  *made = std::move(frame);
  return {};
}

Status CoefSource::finish(std::unique_ptr<CoefFrame> frame, const DctTables& tables,
                          GstBuffer** buffer) {
  if (in_cuda_) return upload_frame(std::move(frame), tables, buffer);
  if (frame->pinned) {  // begun when caps were of device memory
    GstBuffer* copy = new_system_buffer(info_.size);
    if (!copy) return no_memory(info_.size);
    gst_buffer_fill(copy, 0, frame->data, info_.size);
    frame->data = nullptr;
    frame->buffer.reset(copy);
  }
  frame->unmap();
  add_dct_meta(frame->buffer.get(), info_, tables, nullptr, nullptr);
  *buffer = frame->buffer.release();
  return {};
}

Status CoefSource::upload_frame(std::unique_ptr<CoefFrame> frame, const DctTables& tables,
                                GstBuffer** buffer) {
  Queue& queue = engine_.queue(QueueKind::kUpload);
  const Rects from = coefficient_rects(info_, info_.components, frame->data);
  CT_RETURN_IF_ERROR(blocks_.configure(engine_, from.row_bytes(), from.rows()));
  DeviceBlock block;
  CT_RETURN_IF_ERROR(blocks_.acquire(queue, &block));
  BufferPtr owner(block.buffer);
  const Rects to = from.stacked_in(block);
  CT_RETURN_IF_ERROR(upload(engine_.device(), queue, from, to));
  FencePtr uploaded;
  CT_RETURN_IF_ERROR(queue.record(&uploaded));
  GstCoefSyncPoint* point = sync_point_of(uploaded);
  gst_coef_fence_set_written(block.fence, point);
  gst_coef_sync_point_unref(point);
  add_dct_meta(block.buffer, info_, tables, &to, block.data);
  gst_dct_meta_set_fence(gst_buffer_get_dct_meta(block.buffer), block.fence);
  if (frame->pinned) pinned_.emplace_back(std::move(frame->pinned), uploaded);
  // A peer that does not know the fence reads whenever it likes.
  if (!fence_is_honoured_) CT_RETURN_IF_ERROR(uploaded->wait());
  *buffer = owner.release();
  return {};
}

}  // namespace cudatransform
