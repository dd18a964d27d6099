// The data path of both transforms: one negotiated stream of frames through one engine.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_stream.h"

#include <algorithm>

#include "gst/engine/cuda_sync.h"
#include "gst/engine/fence_age.h"

namespace cudatransform {

void DctStream::start(guint async_depth) {
  async_depth_ = async_depth;
  warned_of_copies_ = warned_of_detour_ = warned_of_scale_ = warned_of_reference_ = false;
}

void DctStream::configure(const GstVideoInfo& raw, const GstDctInfo& dct, bool raw_in_cuda,
                          bool dct_in_cuda) {
  stop();
  raw_ = raw;
  dct_ = dct;
  raw_in_cuda_ = raw_in_cuda;
  dct_in_cuda_ = dct_in_cuda;
  known_pool_ = nullptr;
  known_foreign_context_ = nullptr;
  fence_is_honoured_ = false;
}

void DctStream::release_inputs() {
  while (!in_flight_.empty()) release_oldest();
}

void DctStream::stop() {
  release_inputs();
  raw_blocks_.clear();
  dct_blocks_.clear();
  reference_blocks_.clear();
  clear_pool(engine_, &coefficient_pool_);
  clear_pool(engine_, &frame_pool_);
}

void DctStream::settle() {
  for (QueueKind kind : {QueueKind::kUpload, QueueKind::kCompute, QueueKind::kDownload}) {
    FencePtr fence;
    if (engine_.queue(kind).record(&fence).ok()) (void)fence->wait();
  }
}

Status DctStream::allocate_coefficients(GstQuery* query) {
  fence_is_honoured_ = peers_honour_fence(query);
  waits_for_frames_ = engine_.is_cuda() && !(dct_in_cuda_ && fence_is_honoured_);
  if (dct_in_cuda_) return {};
  return make_system_pool(engine_.pinned_allocator(), dct_.size, &coefficient_pool_);
}

Status DctStream::allocate_frames(GstQuery* query, GstCaps* caps) {
  waits_for_frames_ = engine_.is_cuda() && !(raw_in_cuda_ && kFramesHaveStreams);
  return make_raw_pool(engine_, query, caps, &frame_pool_, &frame_pool_maximum_);
}

guint DctStream::usable_depth() const {
  // Who holds frames back may not wait for one of a pool that has no other.
  return frame_pool_ && frame_pool_maximum_ > 0 ? 1 : async_depth_;
}

void DctStream::warn_once(std::string warning, bool* warned) {
  if (!*warned) warning_ = std::move(warning);
  *warned = true;
}

int DctStream::scale_for(int wanted) {
  for (const int scale : {wanted, scale_, 1, 2, 4, 8}) {
    if (scaled_size(static_cast<int32_t>(dct_.width), scale) != raw_.width ||
        scaled_size(static_cast<int32_t>(dct_.height), scale) != raw_.height)
      continue;
    scale_ = scale;
    return scale;
  }
  return 0;
}

// pool_maximum(), looked up once for each pool.
guint DctStream::known_pool_maximum(GstBuffer* buffer) {
  if (!buffer->pool) return 0;
  if (buffer->pool != known_pool_) known_maximum_ = pool_maximum(buffer);
  known_pool_ = buffer->pool;
  return known_maximum_;
}

// Keeps what the GPU still reads from being reused by its owner, and lets go of what it has read.
void DctStream::hold_until_done(GstBuffer* buffer, const FencePtr& fence) {
  // Holding every buffer of a bounded pool would stop the source that is to bring the next one.
  const guint maximum = known_pool_maximum(buffer);
  const guint wanted = std::max(kReferenceBuffers, async_depth_);
  const size_t most =
      maximum == 0 ? wanted : std::min(wanted, maximum - std::min(maximum, kWorkingBuffers));
  const gint64 now = g_get_monotonic_time();
  in_flight_.push_back({gst_buffer_ref(buffer), fence, now});
  const auto fence_of = [&](size_t i) { return in_flight_[i].fence.get(); };
  const bool waits = in_flight_.size() > most;
  while (in_flight_.size() > most) release_oldest();
  // Behind one that had to be waited for, nobody need ask for the next.
  while (in_flight_.size() > 1 &&
         (waits ? fence_of(0)->known_done()
                : first_is_done_by(now, in_flight_.front().since, in_flight_.size(), fence_of))) {
    release_oldest();
  }
}

// Waits for it. A failure of the work is reported where its result is used.
void DctStream::release_oldest() {
  const Status status = in_flight_.front().fence->wait();
  GstBuffer* buffer = in_flight_.front().buffer;
  if (status.ok() || engine_.settle().ok())
    gst_buffer_unref(buffer);
  else
    keep_for_ever(buffer);
  in_flight_.pop_front();
}

static CoefType coef_type_of(GstDctFormat format) {
  if (format == GST_DCT_FORMAT_S16LE) return CoefType::kS16;
  return format == GST_DCT_FORMAT_S32LE ? CoefType::kS32 : CoefType::kF32;
}

Dct8x8Job DctStream::make_job(const FrameSettings& settings, Direction direction, const Rects& raw,
                              const Rects& dct, MeasuredFrame* frame) {
  Dct8x8Job job;
  job.direction = direction;
  job.method = settings.method;
  job.scale = settings.scale;
  job.type = coef_type_of(dct_.format);
  job.layout = dct_.layout == GST_DCT_LAYOUT_PLANE ? Layout::kPlane : Layout::kBlock;
  job.order = dct_.order == GST_DCT_ORDER_ZIGZAG ? Order::kZigzag : Order::kRaster;
  job.quantized = dct_.quantized;
  job.depth = dct_.depth;
  job.components = component_planes(view_of(raw, raw_), dct_.sampling, job.samples);
  std::copy(std::begin(settings.tables), std::end(settings.tables), std::begin(job.tables));
  for (int c = 0; c < job.components; c++) {
    CoefPlane& plane = job.coefs[c];
    plane.data = dct.rect[c].data;
    plane.pitch = static_cast<ptrdiff_t>(dct.rect[c].pitch);
    plane.blocks_w = dct_.components[c].blocks_w;
    plane.blocks_h = dct_.components[c].blocks_h;
    plane.table = settings.table_of[c];
  }
  if (!frame) return job;

  if (frame->kinds & kMeasurePsnr && direction == Direction::kForward) job.measure = kMeasureSse;
  if (frame->kinds & kMeasureZeroShare) job.measure |= kMeasureZeros;
  job.sums = &frame->results()->sums;
  if (frame->kinds & kMeasureTime) {
    job.timer = frame->kernel.get();
    job.times = &frame->results()->times;
  }
  frame->has_sse = job.measure & kMeasureSse;
  frame->components = job.components;
  frame->depth = job.depth;
  frame->method = method_name(job.method);
  frame->bytes = 0;
  // Of a block, a scaled inverse needs a part; counting zeros takes all of it.
  const int read = job.measure & kMeasureZeros ? 64 : coefficients_needed(job.method, job.scale);
  const guint64 block_bytes = guint64(read) * gst_dct_format_size(dct_.format);
  for (int c = 0; c < job.components; c++) {
    const guint64 blocks = guint64(job.coefs[c].blocks_w) * job.coefs[c].blocks_h;
    frame->samples[c] = guint64(job.samples[c].width) * job.samples[c].height;
    frame->coefficients[c] = 64 * blocks;
    frame->bytes +=
        frame->samples[c] * (job.samples[c].type == SampleType::kU8 ? 1 : 2) + blocks * block_bytes;
  }
  return job;
}

// Finds the bytes of `buffer` for the engine: in place, or in a copy on the device.
Status DctStream::place(GstBuffer* buffer, const MapFunction& map, InPlace in_place,
                        BlockPool& pool, Timer* timer, Placed* placed) {
  const Residence residence = residence_of(engine_, buffer);
  CT_RETURN_IF_ERROR(map(residence != Residence::kHost, &placed->rects));
  if (!engine_.is_cuda()) return {};
  if (residence == Residence::kDevice &&
      (in_place == InPlace::kAlways ||
       (in_place == InPlace::kIfAligned && placed->rects.aligned())))
    return wait_for_producer(buffer, engine_.queue(QueueKind::kCompute));
  if (residence == Residence::kForeignDevice) warn_of_detour(buffer);
  const Status status = bring_to_device(buffer, residence, pool, timer, placed);
  if (status.ok() || residence != Residence::kForeignDevice) return status;

  // The driver does not copy between the two.
  warn_once("Frames come from another CUDA device and are copied through system memory: " +
                status.message,
            &warned_of_detour_);
  CT_RETURN_IF_ERROR(map(false, &placed->rects));
  return bring_to_device(buffer, Residence::kHost, pool, timer, placed);
}

// Says once, for each context that frames come from, if copies from there are slow.
void DctStream::warn_of_detour(GstBuffer* buffer) {
  void* context = native_context_of(buffer);
  if (context == known_foreign_context_) return;
  known_foreign_context_ = context;
  std::string detour = describe_detour(engine_, buffer);
  if (!detour.empty()) warn_once(std::move(detour), &warned_of_detour_);
}

// Copies placed->rects into a block of `pool` on the upload queue and makes the compute queue wait
// for it.
Status DctStream::bring_to_device(GstBuffer* buffer, Residence residence, BlockPool& pool,
                                  Timer* timer, Placed* placed) {
  Queue& queue = engine_.queue(QueueKind::kUpload);
  const Rects from = placed->rects;
  CT_RETURN_IF_ERROR(pool.configure(engine_, from.row_bytes(), from.rows()));
  CT_RETURN_IF_ERROR(pool.acquire(queue, &placed->block));
  placed->owner.reset(placed->block.buffer);
  placed->rects = from.stacked_in(placed->block);
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
  GstCoefSyncPoint* point = sync_point_of(uploaded);
  gst_coef_fence_set_written(placed->block.fence, point);
  gst_coef_sync_point_unref(point);
  return engine_.queue(QueueKind::kCompute).wait_for(uploaded);
}

Status DctStream::submit(const Dct8x8Job& job, MeasuredFrame* frame, FencePtr* done) {
  Queue& queue = engine_.queue(QueueKind::kCompute);
  CT_RETURN_IF_ERROR(engine_.dct8x8().submit(engine_.device(), queue, job, done));
  if (frame) frame->fence = *done;
  return {};
}

// Copies a result from the device to system memory; it is there when `*downloaded` is done.
Status DctStream::fetch(const Rects& from, const Rects& to, const FencePtr& computed,
                        MeasuredFrame* frame, FencePtr* downloaded) {
  Queue& queue = engine_.queue(QueueKind::kDownload);
  const bool timed = frame && frame->kinds & kMeasureTime;
  CT_RETURN_IF_ERROR(queue.wait_for(computed));
  if (timed) CT_RETURN_IF_ERROR(frame->download->begin(queue));
  const Status status = download(engine_.device(), queue, from, to);
  if (status.ok() && timed) CT_RETURN_IF_ERROR(frame->download->end(queue));
  CT_RETURN_IF_ERROR(queue.record(downloaded));
  // Of planes, some may be on their way already, and `to` must stay until they are there.
  if (!status.ok()) return status;
  if (frame) {
    frame->downloaded = timed;
    frame->fence = *downloaded;
  }
  return {};
}

}  // namespace cudatransform
