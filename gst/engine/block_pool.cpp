// Pools of device blocks: CUDA memory that a fence guards from its last use to its next.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/block_pool.h"

#include <gst/video/video.h>

#include <string>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/cuda_sync.h"
#include "gst/engine/debug.h"
#include "gst/engine/peer_offer.h"
#include "gst/engine/pools.h"

namespace cudatransform {

#if CT_HAVE_CUDA
namespace {

GQuark fence_quark() {
  static const GQuark quark = g_quark_from_static_string("cudatransform-block-fence");
  return quark;
}

// gstcuda's pool describes every buffer as the placeholder RGBA picture, but we store other data.
void remove_stand_in_meta(GstBuffer* buffer) {
  GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta) return;
  meta->meta.flags = static_cast<GstMetaFlags>(meta->meta.flags & ~GST_META_FLAG_LOCKED);
  gst_buffer_remove_meta(buffer, &meta->meta);
}

}  // namespace

Status BlockPool::configure(Engine& engine, gsize row_bytes, guint rows) {
  if (pool_ && row_bytes == row_bytes_ && rows == rows_) return {};
  clear();
  GstVideoInfo info;
  const gsize width = (row_bytes + 3) / 4;
  if (width > G_MAXINT32 || rows > G_MAXINT32 ||
      !gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, width, rows))
    return Status::error(StatusCode::kUnsupported, "frame of " + std::to_string(rows) +
                                                       " rows of " + std::to_string(row_bytes) +
                                                       " bytes is too large for device memory");
  CT_RETURN_IF_ERROR(engine.settle());
  const CapsPtr caps(gst_video_info_to_caps(&info));
  engine_ = &engine;
  pool_ = gst_cuda_buffer_pool_new(engine.context());
  const bool started = start_pool(pool_, caps.get(), GST_VIDEO_INFO_SIZE(&info), 0, 0, false);
  if (!started) {
    clear_pool(engine, &pool_);
    return failed_allocation(engine.queue(QueueKind::kCompute),
                             no_device_memory("a frame", GST_VIDEO_INFO_SIZE(&info)));
  }
  row_bytes_ = row_bytes;
  rows_ = rows;
  blocks_ = 0;
  return {};
}

// A block returns as soon as the work that reads it has been submitted. With one block, the next
// writer waits on the device for that work, and no two frames' kernels or copies overlap. A pool of
// two alternates between them. It allocates the second when the first is reused: by then all memory
// that a frame needs is there.
void BlockPool::make_spare() {
  blocks_++;
  GstBuffer* spare = nullptr;
  // If there is no memory for a second block, one has to do.
  if (acquire_buffer(pool_, "a device frame", &spare).ok()) gst_buffer_unref(spare);
}

// Whether `writer` may write to the memory that `last` guards, now or after its present waits.
// Failed work of other users does not matter: the next bytes are new.
static bool is_left(GstCoefFence* last, Queue& writer) {
  const bool written = gst_coef_fence_wait_written(last, writer.native());
  // After the first answer, a fence has forgotten the readers that have failed and are done.
  const bool read =
      gst_coef_fence_wait_read(last, writer.native()) || gst_coef_fence_wait_read(last, nullptr);
  return written && read;
}

Status BlockPool::acquire(Queue& writer, DeviceBlock* block) {
  GstBuffer* buffer = nullptr;
  const Status acquired = acquire_buffer(pool_, "a device frame", &buffer);
  if (!acquired.ok()) return failed_allocation(writer, acquired);
  BufferPtr owner(buffer);
  remove_stand_in_meta(buffer);
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  GstMapInfo map;
  if (!gst_memory_map(memory, &map, static_cast<GstMapFlags>(GST_MAP_WRITE | GST_MAP_CUDA)))
    return Status::error(StatusCode::kFailed, "failed to map a device frame");
  block->data = map.data;
  block->pitch = GST_VIDEO_INFO_PLANE_STRIDE(&GST_CUDA_MEMORY_CAST(memory)->info, 0);
  gst_memory_unmap(memory, &map);

  auto* memory_object = GST_MINI_OBJECT_CAST(memory);
  auto* last = static_cast<GstCoefFence*>(gst_mini_object_get_qdata(memory_object, fence_quark()));
  if (last && !is_left(last, writer)) {
    Status status = failed_work(writer, "previous GPU work on this buffer failed");
    if (status.code == StatusCode::kDeviceLost) return status;
    // Work that cannot be waited for may still use the block, so the pool must allocate another.
    GST_WARNING("%s, setting it aside", status.message.c_str());
    set_aside(std::move(owner), writer);
    return acquire(writer, block);
  }
  if (!last) blocks_++;
  if (last && blocks_ == 1) make_spare();
  block->fence = gst_coef_fence_new();
  gst_mini_object_set_qdata(memory_object, fence_quark(), block->fence,
                            reinterpret_cast<GDestroyNotify>(gst_coef_fence_unref));
  block->buffer = std::move(owner);
  return {};
}

// Collects blocks that have become free. We do not return them to the pool: from GStreamer 1.24 on
// it would reuse the memory even while the buffer is in use.
void BlockPool::set_aside(BufferPtr block, Queue& writer) {
  std::erase_if(aside_, [&](const BufferPtr& other) {
    auto* memory = GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(other.get(), 0));
    return is_left(static_cast<GstCoefFence*>(gst_mini_object_get_qdata(memory, fence_quark())),
                   writer);
  });
  aside_.push_back(std::move(block));
}

bool fence_guards_memory(GstBuffer* buffer, const GstCoefFence* fence) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return fence && gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), fence_quark()) == fence;
}

#else

bool fence_guards_memory(GstBuffer*, const GstCoefFence*) { return false; }

Status BlockPool::configure(Engine&, gsize, guint) {
  return Status::error(StatusCode::kUnsupported, "built without CUDA");
}

Status BlockPool::acquire(Queue&, DeviceBlock*) {
  return Status::error(StatusCode::kUnsupported, "built without CUDA");
}

#endif

void BlockPool::clear() {
  if (!aside_.empty() && !engine_->settle().ok())
    for (BufferPtr& block : aside_) keep_for_ever(block.release());
  aside_.clear();
  if (pool_) clear_pool(*engine_, &pool_);
  row_bytes_ = 0;
  rows_ = 0;
}

}  // namespace cudatransform
