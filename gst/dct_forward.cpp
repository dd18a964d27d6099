// The data path of cudadct8x8: a raw frame in, its coefficients out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "gst/buffer_ptr.h"
#include "gst/dct_stream.h"

namespace cudatransform {

// A new coefficient buffer, or (for system memory behind a GPU) the device block that it will be
// downloaded from. `rects` is where the engine writes.
Status DctStream::make_coefficients(GstBuffer** buffer, DeviceBlock* block, Rects* rects) {
  if (!dct_in_cuda_ &&
      gst_buffer_pool_acquire_buffer(coefficient_pool_, buffer, nullptr) != GST_FLOW_OK)
    return Status::error(StatusCode::kOutOfMemory, "no memory for a frame of coefficients");
  if (!engine_.is_cuda()) return {};
  const Rects shape = coefficient_rects(dct_, dct_.components, nullptr);
  CT_RETURN_IF_ERROR(dct_blocks_.configure(engine_, shape.row_bytes(), shape.rows()));
  CT_RETURN_IF_ERROR(dct_blocks_.acquire(engine_.queue(QueueKind::kCompute), block));
  *rects = shape.stacked_in(*block);
  return {};
}

static void add_meta(GstBuffer* buffer, const GstDctInfo& info, const FrameSettings& settings,
                     const Rects* on_device, const guint8* base) {
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  for (guint c = 0; c < info.n_components; c++) {
    meta->components[c].table = info.quantized ? settings.table_of[c] : 0;
    if (!on_device) continue;
    meta->components[c].offset = on_device->rect[c].data - base;
    meta->components[c].stride = on_device->rect[c].pitch;
  }
  if (!info.quantized) return;
  meta->n_tables = settings.table_count;
  for (int t = 0; t < settings.table_count; t++)
    std::copy_n(settings.tables[t].q, 64, meta->tables[t].values);
}

// Attaches what the engine read to `out`, for cudaidct8x8 measure=psnr.
Status DctStream::keep_source(GstBuffer* in, DeviceBlock* uploaded, const Rects& planes,
                              GstBuffer* out) {
  GstVideoInfo info = raw_;
  const guint8* base = uploaded->buffer ? uploaded->data : planes.rect[0].data;
  GstBuffer* source = uploaded->buffer;
  BufferPtr copy;
  if (!source) {
    // Held frames may be all that a small pool has: copying keeps the source running.
    source = in;
    guint max = 0;
    if (in->pool) {
      GstStructure* config = gst_buffer_pool_get_config(in->pool);
      gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &max);
      gst_structure_free(config);
    }
    if (max > 0 && max < 4) {
      copy.reset(gst_buffer_copy_deep(in));
      if (!copy) return Status::error(StatusCode::kOutOfMemory, "no memory to keep the source");
      source = copy.get();
      if (!warned_)
        warning_ = "keep-reference copies every frame: the source's pool has only " +
                   std::to_string(max) + " buffers";
      warned_ = true;
    }
  }
  for (int p = 0; p < planes.count; p++) {
    GST_VIDEO_INFO_PLANE_STRIDE(&info, p) = static_cast<gint>(planes.rect[p].pitch);
    if (uploaded->buffer) GST_VIDEO_INFO_PLANE_OFFSET(&info, p) = planes.rect[p].data - base;
  }
  GST_VIDEO_INFO_SIZE(&info) = MIN(GST_VIDEO_INFO_SIZE(&info), gst_buffer_get_size(source));
  gst_buffer_add_dct_reference_meta(out, source, &info);
  return {};
}

Status DctStream::forward(const FrameSettings& settings, GstBuffer* in, GstBuffer** out,
                          MeasuredFrame* frame) {
  MappedFrame source;
  const Residence residence = residence_of(engine_, in);
  CT_RETURN_IF_ERROR(source.map(in, raw_, GST_MAP_READ, residence != Residence::kHost));

  // The source, where the engine can read it.
  DeviceBlock uploaded, computed;
  Rects raw = source.rects();
  BufferPtr upload_owner, block_owner, coefficients;
  if (engine_.is_cuda() && residence != Residence::kDevice) {
    Timer* timer = frame && frame->kinds & kMeasureTime ? frame->upload.get() : nullptr;
    const Status status =
        bring_to_device(source.rects(), in, residence, raw_blocks_, &uploaded, &raw, timer);
    upload_owner.reset(uploaded.buffer);
    CT_RETURN_IF_ERROR(status);
    if (frame) frame->uploaded = timer != nullptr;
  }

  // The coefficients, where the engine can write them and where the caps want them.
  Rects dct;
  GstBuffer* system_buffer = nullptr;
  const Status made = make_coefficients(&system_buffer, &computed, &dct);
  coefficients.reset(system_buffer);
  block_owner.reset(computed.buffer);
  CT_RETURN_IF_ERROR(made);
  GstMapInfo map;
  if (system_buffer && !gst_buffer_map(system_buffer, &map, GST_MAP_WRITE))
    return Status::error(StatusCode::kFailed, "a coefficient buffer could not be mapped");
  MapGuard unmap(system_buffer, &map);
  const Rects in_system =
      system_buffer ? coefficient_rects(dct_, dct_.components, map.data) : Rects();
  if (!engine_.is_cuda()) dct = in_system;

  FencePtr done;
  const Dct8x8Job job = make_job(settings, Direction::kForward, raw, dct, frame);
  CT_RETURN_IF_ERROR(submit(job, frame, &done));
  if (residence == Residence::kDevice) hold_until_done(in, done);
  GstDctSyncPoint* point = engine_.is_cuda() ? sync_point_of(done) : nullptr;
  if (uploaded.fence) gst_dct_fence_add_read(uploaded.fence, point);
  if (computed.fence) gst_dct_fence_set_written(computed.fence, point);
  if (point) gst_dct_sync_point_unref(point);

  if (!dct_in_cuda_) {
    if (engine_.is_cuda()) CT_RETURN_IF_ERROR(fetch(dct, in_system, done, frame));
    add_meta(coefficients.get(), dct_, settings, nullptr, nullptr);
  } else {
    coefficients = std::move(block_owner);
    add_meta(coefficients.get(), dct_, settings, &dct, computed.data);
    gst_dct_meta_set_fence(gst_buffer_get_dct_meta(coefficients.get()), computed.fence);
    // A peer that does not know the fence reads whenever it likes.
    if (!fence_is_honoured_) CT_RETURN_IF_ERROR(done->wait());
  }
  if (settings.keep_reference)
    CT_RETURN_IF_ERROR(keep_source(in, &uploaded, raw, coefficients.get()));
  *out = coefficients.release();
  return {};
}

}  // namespace cudatransform
