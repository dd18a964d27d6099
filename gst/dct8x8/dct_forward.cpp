// The data path of cudadct8x8: a raw frame in, its coefficients out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "gst/dct8x8/dct_stream.h"
#include "gst/engine/one_piece.h"

namespace cudatransform {

// A new coefficient buffer, or (for system memory behind a GPU) the device block that it will be
// downloaded from. `rects` is where the engine writes.
Status DctStream::make_coefficients(GstBuffer** buffer, DeviceBlock* block, Rects* rects) {
  if (!dct_in_cuda_)
    CT_RETURN_IF_ERROR(acquire_buffer(coefficient_pool_, "a frame of coefficients", buffer));
  if (!engine_.is_cuda()) return {};
  const Rects shape = coefficient_rects(dct_, dct_.components, nullptr);
  CT_RETURN_IF_ERROR(dct_blocks_.configure(engine_, shape.row_bytes(), shape.rows()));
  CT_RETURN_IF_ERROR(dct_blocks_.acquire(engine_.queue(QueueKind::kCompute), block));
  *rects = shape.stacked_in(*block);
  return {};
}

// Not gst_buffer_copy_deep(), which ends the process where there is no memory.
static GstBuffer* copy_frame(GstBuffer* in) {
  GstBuffer* copy = copy_bytes(in);
  if (!copy) return nullptr;
  constexpr int kParts = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS;
  gst_buffer_copy_into(copy, in, static_cast<GstBufferCopyFlags>(kParts), 0, -1);
  if (GstVideoMeta* meta = gst_buffer_get_video_meta(in))
    gst_buffer_add_video_meta_full(copy, meta->flags, meta->format, meta->width, meta->height,
                                   meta->n_planes, meta->offset, meta->stride);
  return copy;
}

// Attaches what the engine read to `out`, for cudaidct8x8 measure=psnr.
Status DctStream::keep_source(GstBuffer* in, bool copy, const Placed& source, GstBuffer* out) {
  GstVideoInfo info = raw_;
  const Rects& planes = source.rects;
  if (source.block.buffer) {
    for (int p = 0; p < planes.count; p++) {
      GST_VIDEO_INFO_PLANE_STRIDE(&info, p) = static_cast<gint>(planes.rect[p].pitch);
      GST_VIDEO_INFO_PLANE_OFFSET(&info, p) = planes.rect[p].data - source.block.data;
    }
    GST_VIDEO_INFO_SIZE(&info) =
        MIN(GST_VIDEO_INFO_SIZE(&info), gst_buffer_get_size(source.block.buffer));
    gst_buffer_add_coef_reference_meta(out, source.block.buffer, &info);
    return {};
  }
  if (const GstVideoMeta* meta = gst_buffer_get_video_meta(in)) {
    for (int p = 0; p < planes.count; p++) {
      GST_VIDEO_INFO_PLANE_STRIDE(&info, p) = meta->stride[p];
      GST_VIDEO_INFO_PLANE_OFFSET(&info, p) = meta->offset[p];
    }
  }
  BufferPtr copied(copy ? copy_frame(in) : nullptr);
  if (copy && !copied) return no_system_memory("a source to keep", gst_buffer_get_size(in));
  gst_buffer_add_coef_reference_meta(out, copied ? copied.get() : in, &info);
  return {};
}

Status DctStream::forward(const FrameSettings& settings, GstBuffer* in, SubmittedFrame* out,
                          MeasuredFrame* frame) {
  // Frames kept downstream may be all that a small pool has: copying keeps the source running.
  const guint maximum = settings.keep_reference ? known_pool_maximum(in) : 0;
  const guint kept = kWorkingBuffers + kReferenceBuffers + async_depth_ - 1;
  const bool copy_source = maximum > 0 && maximum < kept;
  if (copy_source)
    warn_once("keep-reference copies every frame: the source's pool has only " +
                  std::to_string(maximum) + " buffers",
              &warned_of_copies_);

  // The source, where the engine can read it.
  const bool timed = frame && frame->kinds & kMeasureTime;
  MappedFrame mapped;
  Placed source;
  const auto map = [&](bool device, Rects* rects) -> Status {
    mapped.unmap();
    CT_RETURN_IF_ERROR(mapped.map(in, raw_, GST_MAP_READ, device));
    *rects = mapped.rects();
    return {};
  };
  CT_RETURN_IF_ERROR(place(in, map, copy_source ? InPlace::kNever : InPlace::kAlways, raw_blocks_,
                           timed ? frame->upload.get() : nullptr, &source));
  if (frame) frame->uploaded = timed && source.block.buffer;

  // The coefficients, where the engine can write them and where the caps want them.
  DeviceBlock computed;
  Rects dct;
  GstBuffer* system_buffer = nullptr;
  const Status made = make_coefficients(&system_buffer, &computed, &dct);
  out->buffer.reset(system_buffer);
  BufferPtr block_owner(computed.buffer);
  CT_RETURN_IF_ERROR(made);
  if (system_buffer && !out->memory.map(system_buffer, GST_MAP_WRITE))
    return Status::error(StatusCode::kFailed, "a coefficient buffer could not be mapped");
  const Rects in_system =
      system_buffer ? coefficient_rects(dct_, dct_.components, out->memory.data()) : Rects();
  if (!engine_.is_cuda()) dct = in_system;

  FencePtr done;
  const Dct8x8Job job = make_job(settings, Direction::kForward, source.rects, dct, frame);
  CT_RETURN_IF_ERROR(submit(job, frame, &done));
  if (engine_.is_cuda()) {
    GstCoefSyncPoint* point = sync_point_of(done);
    gst_coef_fence_set_written(computed.fence, point);
    if (source.block.fence) gst_coef_fence_add_read(source.block.fence, point);
    gst_coef_sync_point_unref(point);
    if (!source.block.buffer) hold_until_done(in, done);
  }

  const DctTables tables = {settings.tables, settings.table_count, settings.table_of};
  if (!dct_in_cuda_) {
    out->device_copy = std::move(block_owner);
    if (engine_.is_cuda()) CT_RETURN_IF_ERROR(fetch(dct, in_system, done, frame, &out->ready));
    add_dct_meta(out->buffer.get(), dct_, tables, nullptr, nullptr);
  } else {
    out->buffer = std::move(block_owner);
    add_dct_meta(out->buffer.get(), dct_, tables, &dct, computed.data);
    gst_dct_meta_set_fence(gst_buffer_get_dct_meta(out->buffer.get()), computed.fence);
    // A peer that does not know the fence reads whenever it likes.
    if (!fence_is_honoured_) out->ready = done;
  }
  if (settings.keep_reference)
    CT_RETURN_IF_ERROR(keep_source(in, copy_source, source, out->buffer.get()));
  return {};
}

}  // namespace cudatransform
