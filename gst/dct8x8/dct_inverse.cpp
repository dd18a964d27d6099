// The data path of cudaidct8x8: coefficients in, a raw frame out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "gst/dct8x8/dct_stream.h"
#include "gst/engine/cuda_sync.h"

namespace cudatransform {

// The source frame of the coefficients, mapped for the time of one call.
struct DctStream::Reference {
  MappedFrame mapped;
  Placed frame;
  GstBuffer* in_place = nullptr;  // borrowed from the coefficients' meta
};

// Says why there is no PSNR: without a meta, or with one of another picture.
void DctStream::warn_of_reference(const GstCoefReferenceMeta* meta) {
  if (warned_of_reference_) return;
  std::string why =
      "the coefficients come without their source frame. cudadct8x8 attaches it with "
      "keep-reference=true; coefficients from files have none";
  if (meta) {
    const auto size = [](int width, int height) {
      return std::to_string(width) + "x" + std::to_string(height);
    };
    const char* format = GST_VIDEO_INFO_NAME(&meta->info);
    why = std::string("the source frame that the coefficients carry is ") + format + " of " +
          size(meta->info.width, meta->info.height) + ", which cannot be compared with " +
          gst_dct_sampling_to_string(dct_.sampling) + " of " + size(dct_.width, dct_.height) +
          " and " + std::to_string(dct_.depth) + " bits";
  }
  warn_once("PSNR is not measured: " + why, &warned_of_reference_);
}

// Points `job` at the frame that the coefficients were made from, if they still carry it.
Status DctStream::open_reference(GstBuffer* in, Reference* reference, Dct8x8Job* job) {
  const GstCoefReferenceMeta* meta = gst_buffer_get_coef_reference_meta(in);
  if (!meta) {
    warn_of_reference(nullptr);
    return {};
  }
  const GstVideoInfo& info = meta->info;
  const RawFormat* format = find_raw_format(GST_VIDEO_INFO_FORMAT(&info));
  const bool comparable = format && format->sampling == dct_.sampling &&
                          format->depth == dct_.depth && info.width == dct_.width &&
                          info.height == dct_.height;
  if (!comparable) {
    warn_of_reference(meta);
    return {};
  }

  const auto map = [&](bool device, Rects* rects) -> Status {
    reference->mapped.unmap();
    CT_RETURN_IF_ERROR(reference->mapped.map(meta->source, info, GST_MAP_READ, device));
    *rects = reference->mapped.rects();
    return {};
  };
  CT_RETURN_IF_ERROR(
      place(meta->source, map, InPlace::kAlways, reference_blocks_, nullptr, &reference->frame));
  if (!reference->frame.block.buffer) reference->in_place = meta->source;
  component_planes(view_of(reference->frame.rects, info), dct_.sampling, job->reference);
  job->measure |= kMeasureSse;
  return {};
}

// The tables that came with the coefficients replace those of the settings.
static void take_tables(const GstDctMeta* meta, const GstDctInfo& info, FrameSettings* settings) {
  if (!meta || !info.quantized) return;
  settings->table_count = meta->n_tables;
  for (guint t = 0; t < meta->n_tables; t++)
    std::copy_n(meta->tables[t].values, 64, settings->tables[t].q);
  for (guint c = 0; c < info.n_components; c++) settings->table_of[c] = meta->components[c].table;
}

static Status wait_written(Engine& engine, const GstDctMeta* meta, gpointer stream) {
  if (!meta || !meta->fence || gst_coef_fence_wait_written(meta->fence, stream)) return {};
  return failed_work(engine.queue(QueueKind::kCompute),
                     "the work that made the coefficients has failed");
}

Status DctStream::inverse(const FrameSettings& base_settings, GstBuffer* in, SubmittedFrame* out,
                          MeasuredFrame* frame) {
  FrameSettings settings = base_settings;
  const bool timed = frame && frame->kinds & kMeasureTime;

  // Our own queues wait for the producer on the device, also where that is another one. Whoever
  // reads a map waits here.
  const Residence residence = residence_of(engine_, in);
  const GstDctMeta* meta = nullptr;
  CT_RETURN_IF_ERROR(caps_tables_.find(in, residence == Residence::kHost, &meta));
  if (residence == Residence::kDevice)
    CT_RETURN_IF_ERROR(wait_written(engine_, meta, engine_.queue(QueueKind::kCompute).native()));
  MappedCoefficients mapped;
  Placed source;
  const auto map = [&](bool device, Rects* rects) -> Status {
    mapped.unmap();
    if (!device) CT_RETURN_IF_ERROR(wait_written(engine_, meta, nullptr));
    CT_RETURN_IF_ERROR(mapped.map(in, dct_, meta, device));
    *rects = mapped.rects();
    // place() is going to copy them first, on another queue.
    if (residence == Residence::kForeignDevice || (device && !rects->aligned()))
      CT_RETURN_IF_ERROR(wait_written(engine_, meta, engine_.queue(QueueKind::kUpload).native()));
    return {};
  };
  CT_RETURN_IF_ERROR(place(in, map, InPlace::kIfAligned, dct_blocks_,
                           timed ? frame->upload.get() : nullptr, &source));
  if (frame) frame->uploaded = timed && source.block.buffer;
  take_tables(meta, dct_, &settings);

  GstBuffer* acquired = nullptr;
  const Status status = acquire_buffer(frame_pool_, "frames", &acquired);
  if (!status.ok()) return failed_allocation(engine_.queue(QueueKind::kCompute), status);
  out->buffer.reset(acquired);
  CT_RETURN_IF_ERROR(out->frame.map(acquired, raw_, GST_MAP_WRITE, raw_in_cuda_));
  if (raw_in_cuda_)
    CT_RETURN_IF_ERROR(wait_for_readers(acquired, engine_.queue(QueueKind::kCompute)));
  const Rects target = out->frame.rects();
  Rects raw = target;
  if (engine_.is_cuda() && !raw_in_cuda_) {
    DeviceBlock block;
    CT_RETURN_IF_ERROR(raw_blocks_.configure(engine_, raw.row_bytes(), raw.rows()));
    CT_RETURN_IF_ERROR(raw_blocks_.acquire(engine_.queue(QueueKind::kCompute), &block));
    out->device_copy.reset(block.buffer);
    raw = raw.stacked_in(block);
  }

  Dct8x8Job job = make_job(settings, Direction::kInverse, raw, source.rects, frame);
  Reference reference;
  if (frame && frame->kinds & kMeasurePsnr && job.scale != 1) {
    warn_once("PSNR is not measured at scale=1/" + std::to_string(job.scale) +
                  ": the source frame has another size",
              &warned_of_scale_);
  } else if (frame && frame->kinds & kMeasurePsnr) {
    CT_RETURN_IF_ERROR(open_reference(in, &reference, &job));
    frame->has_sse = job.measure & kMeasureSse;
  }
  FencePtr done;
  CT_RETURN_IF_ERROR(submit(job, frame, &done));
  if (!engine_.is_cuda()) {
    out->frame.unmap();
    return {};
  }
  GstCoefSyncPoint* point = sync_point_of(done);
  const bool in_place = !source.block.buffer;
  const bool guarded = in_place && meta && fence_guards_memory(in, meta->fence);
  if (guarded) gst_coef_fence_add_read(meta->fence, point);
  if (source.block.fence) gst_coef_fence_add_read(source.block.fence, point);
  if (reference.frame.block.fence) gst_coef_fence_add_read(reference.frame.block.fence, point);
  gst_coef_sync_point_unref(point);
  if (in_place && !guarded) hold_until_done(in, done);
  if (reference.in_place) hold_until_done(reference.in_place, done);
  if (!raw_in_cuda_) return fetch(raw, target, done, frame, &out->ready);
  out->frame.unmap();
  return hand_over(acquired, done, &out->ready);
}

}  // namespace cudatransform
