// Delivers an element's coefficients in the memory that caps require.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/coef_output.h"

#include <algorithm>
#include <utility>

#include "gst/engine/pools.h"
#include "gst/stream/coef_input.h"

namespace cudatransform {
namespace {

constexpr size_t kMaxUploads = 8;  // in flight

// Small frames share a pool, for all sizes: creating one takes longer than decoding them.
gsize pool_size(gsize frame) { return std::max(frame, gsize{1} << 14); }

Status no_memory(gsize bytes) { return no_system_memory("a frame of coefficients", bytes); }

}  // namespace

void CoefFrame::unmap() {
  if (buffer && data) gst_buffer_unmap(buffer.get(), &map);
  data = nullptr;
}

void CoefOutput::configure(const CoefLayout& layout, bool in_cuda) {
  // This comes first: if downstream is flushing, the query that makes new pools does not come.
  const bool is_of_use = maker_ == CoefMaker::kCpu && !in_cuda && !in_cuda_ && pool_ &&
                         pool_size_ == pool_size(layout.size);
  if (is_of_use)
    blocks_.clear();
  else
    stop();
  layout_ = layout;
  in_cuda_ = in_cuda;
  fence_is_honored_ = false;
}

Status CoefOutput::allocate(GstQuery* query) {
  fence_is_honored_ = peers_honor_fence(query);
  if (maker_ == CoefMaker::kEngine) {
    if (in_cuda_) return {};
    return make_system_pool(engine_.pinned_allocator(), layout_.size, &pool_);
  }
  // An uploading peer proposes memory from which it uploads without staging.
  GstAllocator* allocator = in_cuda_ ? nullptr : proposed_allocator(query);
  Status status;
  const gsize size = pool_size(layout_.size);
  if (!pool_ || pool_size_ != size || pool_allocator_ != allocator) {
    stop();
    status = make_system_pool(allocator, size, &pool_, bounded_pool_new);
    pool_size_ = size;
    pool_allocator_ = allocator;
  }
  gst_clear_object(&allocator);
  if (status.ok()) bounded_pool_set_limit(pool_, max_kept_);
  return status;
}

// A buffer of the pool, with the size of a frame.
Status CoefOutput::acquire(GstBuffer** buffer) {
  CT_RETURN_IF_ERROR(acquire_buffer(pool_, "coefficients", buffer));
  gst_buffer_set_size(*buffer, static_cast<gssize>(layout_.size));
  return {};
}

void CoefOutput::stop() {
  for (auto& [memory, uploaded] : pinned_)
    if (uploaded) (void)uploaded->wait();
  pinned_.clear();
  blocks_.clear();
  clear_pool(engine_, &pool_);
}

CoefPlaces CoefOutput::places_in(const DeviceBlock& block, const Rects& rects) const {
  CoefPlaces places = {layout_, block.fence};
  for (int i = 0; i < rects.count; i++) {
    places.layout.plane[i].offset = rects.rect[i].data - block.data;
    places.layout.plane[i].pitch = rects.rect[i].pitch;
  }
  return places;
}

Status CoefOutput::begin_on_engine(SubmittedFrame* out, EngineCoefs* coefs) {
  if (!in_cuda_) {
    GstBuffer* buffer = nullptr;
    CT_RETURN_IF_ERROR(acquire_buffer(pool_, "a frame of coefficients", &buffer));
    out->buffer.reset(buffer);
  }
  if (engine_.is_cuda()) {
    coefs->rects = layout_.at(nullptr);
    CT_RETURN_IF_ERROR(stack_in_pool(engine_, blocks_, engine_.queue(QueueKind::kCompute),
                                     &coefs->block, &coefs->rects));
  }
  if (in_cuda_) return {};
  if (!out->memory.map(out->buffer.get(), GST_MAP_WRITE))
    return Status::error(StatusCode::kFailed, "failed to map a coefficient buffer");
  coefs->in_system = layout_.at(out->memory.data());
  if (!engine_.is_cuda()) coefs->rects = coefs->in_system;
  return {};
}

Status CoefOutput::finish_on_engine(FrameMover& mover, EngineCoefs coefs, const FencePtr& done,
                                    MeasuredFrame* frame, SubmittedFrame* out, CoefPlaces* places) {
  if (frame) frame->fence = done;
  if (coefs.block) set_written(coefs.block.fence, done);
  if (!in_cuda_) {
    *places = {layout_};
    out->device_copy = std::move(coefs.block.buffer);
    if (!engine_.is_cuda()) return {};
    return mover.fetch(coefs.rects, coefs.in_system, done, frame, &out->ready);
  }
  *places = places_in(coefs.block, coefs.rects);
  out->buffer = std::move(coefs.block.buffer);
  // A peer that does not know the fence may read at any time.
  if (!fence_is_honored_) out->ready = done;
  return {};
}

void CoefOutput::limit_kept(gsize max) {
  max_kept_ = max;
  if (pool_) bounded_pool_set_limit(pool_, max);
  while (!pinned_.empty() && pinned_.size() * layout_.size > max) {
    if (pinned_.front().second) (void)pinned_.front().second->wait();
    pinned_.pop_front();
  }
}

gsize CoefOutput::reusable(const CoefLayout& layout) const {
  if (layout != layout_) return 0;
  const bool any = in_cuda_ ? !pinned_.empty() : pool_ && bounded_pool_idle(pool_) > 0;
  return any ? layout.size : 0;
}

// Memory whose upload is over, or new memory, which is slow to allocate. A producer that is
// faster than the bus would use all memory, or exceed the limit; then this waits for the oldest
// upload.
Status CoefOutput::begin_pinned(CoefFrame* frame) {
  const auto is_free = [this] { return !pinned_.front().second || pinned_.front().second->done(); };
  const gsize with_new = (pinned_.size() + 1) * layout_.size;
  const bool full = pinned_.size() >= kMaxUploads || with_new > max_kept_;
  if (!pinned_.empty() && full && !is_free()) CT_RETURN_IF_ERROR(pinned_.front().second->wait());
  if (!pinned_.empty() && is_free()) {
    frame->pinned = std::move(pinned_.front().first);
    pinned_.pop_front();
  } else {
    CT_RETURN_IF_ERROR(engine_.allocate_for_copies(layout_.size, &frame->pinned));
  }
  frame->data = static_cast<guint8*>(frame->pinned->data());
  frame->is_kept = true;
  return {};
}

void CoefOutput::discard(std::unique_ptr<CoefFrame> frame) {
  if (frame->is_kept && frame->layout == layout_)
    pinned_.emplace_front(std::move(frame->pinned), nullptr);
}

Status CoefOutput::begin(const CoefLayout& layout, std::unique_ptr<CoefFrame>* made) {
  auto frame = std::make_unique<CoefFrame>();
  frame->layout = layout;
  const bool negotiated = pool_ && layout == layout_;
  if (negotiated && in_cuda_) {
    CT_RETURN_IF_ERROR(begin_pinned(frame.get()));
    *made = std::move(frame);
    return {};
  }
  GstBuffer* buffer = nullptr;
  if (negotiated) {
    CT_RETURN_IF_ERROR(acquire(&buffer));
  } else {
    buffer = new_system_buffer(layout.size);
  }
  if (!buffer) return no_memory(layout.size);
  frame->buffer.reset(buffer);
  if (!gst_buffer_map(buffer, &frame->map, GST_MAP_WRITE)) return no_memory(layout.size);
  frame->data = frame->map.data;
  *made = std::move(frame);
  return {};
}

Status CoefOutput::finish(std::unique_ptr<CoefFrame> frame, BufferPtr* buffer, CoefPlaces* places) {
  if (in_cuda_) return upload_frame(std::move(frame), buffer, places);
  if (frame->pinned) {  // begun when caps required device memory
    GstBuffer* copy = new_system_buffer(layout_.size);
    if (!copy) return no_memory(layout_.size);
    gst_buffer_fill(copy, 0, frame->data, layout_.size);
    frame->data = nullptr;
    frame->buffer.reset(copy);
  }
  frame->unmap();
  *places = {layout_};
  *buffer = std::move(frame->buffer);
  return {};
}

Status CoefOutput::upload_frame(std::unique_ptr<CoefFrame> frame, BufferPtr* buffer,
                                CoefPlaces* places) {
  Queue& queue = engine_.queue(QueueKind::kUpload);
  Rects to = layout_.at(nullptr);
  DeviceBlock block;
  CT_RETURN_IF_ERROR(stack_in_pool(engine_, blocks_, queue, &block, &to));
  CT_RETURN_IF_ERROR(upload(engine_.device(), queue, layout_.at(frame->data), to));
  FencePtr uploaded;
  CT_RETURN_IF_ERROR(queue.record(&uploaded));
  set_written(block.fence, uploaded);
  // Other memory is not pinned, so the driver has read it by now.
  if (frame->is_kept) pinned_.emplace_back(std::move(frame->pinned), uploaded);
  // A peer that does not know the fence may read at any time.
  if (!fence_is_honored_) CT_RETURN_IF_ERROR(uploaded->wait());
  *places = places_in(block, to);
  *buffer = std::move(block.buffer);
  return {};
}

Status CoefOutput::begin_on_device(const CoefLayout& layout, Queue& writer, DeviceCoefs* coefs) {
  coefs->layout = layout;
  coefs->rects = layout.at(nullptr);
  return stack_in_pool(engine_, blocks_, writer, &coefs->block, &coefs->rects);
}

void CoefOutput::discard(DeviceCoefs coefs, Queue& writer) {
  FencePtr left;
  // If recording fails, all work of the queue is over.
  if (coefs.block && writer.record(&left).ok()) set_written(coefs.block.fence, left);
}

Status CoefOutput::finish_on_device(DeviceCoefs coefs, BufferPtr* buffer, CoefPlaces* places) {
  if (in_cuda_) {
    *places = places_in(coefs.block, coefs.rects);
    *buffer = std::move(coefs.block.buffer);
    return {};
  }
  GstBuffer* fetched = nullptr;
  CT_RETURN_IF_ERROR(acquire(&fetched));
  BufferPtr owner(fetched);
  GstMapInfo map;
  if (!gst_buffer_map(fetched, &map, GST_MAP_WRITE)) return no_memory(layout_.size);
  Queue& queue = engine_.queue(QueueKind::kDownload);
  Status status = download(engine_.device(), queue, coefs.rects, layout_.at(map.data));
  FencePtr arrived;
  if (status.ok()) status = queue.record(&arrived);
  if (status.ok()) status = arrived->wait();
  gst_buffer_unmap(fetched, &map);
  CT_RETURN_IF_ERROR(status);
  *places = {layout_};
  *buffer = std::move(owner);
  return {};
}

}  // namespace cudatransform
