// Frames and coefficients as rectangles of bytes, and their way to the engine and back.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/frame_mover.h"

#include <string.h>
#include <algorithm>

#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/cuda_sync.h"
#include "gst/engine/pools.h"
#include "gst/stream/coef_input.h"

namespace cudatransform {

namespace {
constexpr gsize kDevicePitch = 512;     // the alignment of rows on today's devices
constexpr gsize kPlaneAlignment = 256;  // divides it
constexpr gsize kVector = 16;           // the kernels' loads and stores

gsize round_up(gsize value, gsize unit) { return (value + unit - 1) / unit * unit; }
}  // namespace

bool Rects::aligned() const {
  for (int i = 0; i < count; i++)
    if (reinterpret_cast<guintptr>(rect[i].data) % kVector != 0 || rect[i].pitch % kVector != 0)
      return false;
  return true;
}

Rects CoefLayout::at(guint8* base) const {
  Rects rects;
  rects.count = count;
  rects.gapless = gapless;
  for (int i = 0; i < count; i++) {
    const guintptr address = reinterpret_cast<guintptr>(base) + plane[i].offset;
    rects.rect[i] = {reinterpret_cast<guint8*>(address), plane[i].pitch, plane[i].row_bytes,
                     plane[i].rows};
  }
  return rects;
}

int component_planes(const GstVideoInfo& frame, const Rects& planes,
                     SamplePlane samples[kMaxComponents], int chroma_rows) {
  const GstVideoInfo* info = &frame;
  const int components = GST_VIDEO_INFO_N_COMPONENTS(info);
  for (int c = 0; c < components; c++) {
    const guint plane = GST_VIDEO_INFO_COMP_PLANE(info, c);
    SamplePlane& s = samples[c];
    s = SamplePlane();
    const bool wide = GST_VIDEO_INFO_COMP_DEPTH(info, c) > 8;
    // GStreamer's offset of P010's V is 1 byte after U; it is one sample, 2 bytes.
    guint offset = GST_VIDEO_INFO_COMP_POFFSET(info, c);
    if (wide && offset == 1) offset = 2;
    s.data = planes.rect[plane].data + offset;
    s.pitch = static_cast<ptrdiff_t>(planes.rect[plane].pitch);
    s.width = GST_VIDEO_INFO_COMP_WIDTH(info, c);
    s.height = GST_VIDEO_INFO_COMP_HEIGHT(info, c);
    s.stride = GST_VIDEO_INFO_COMP_PSTRIDE(info, c);
    s.shift = GST_VIDEO_FORMAT_INFO_SHIFT(info->finfo, c);
    s.type = wide ? SampleType::kU16 : SampleType::kU8;
    if (c > 0) s.row_repeat = chroma_rows;
  }
  return components;
}

// The bytes from row to row without gaps but those for vectors.
static gsize packed_pitch(const Rect& rect) { return round_up(rect.row_bytes, kVector); }

// Moves `*rects` into the block one below the other, with that pitch or, if 0, packed.
static void place_in(const DeviceBlock& block, gsize pitch, Rects* rects) {
  guint8* data = block.data;
  for (int i = 0; i < rects->count; i++) {
    Rect& rect = rects->rect[i];
    rect.data = data;
    rect.pitch = pitch ? pitch : packed_pitch(rect);
    data += round_up(rect.pitch * rect.rows, kPlaneAlignment);
  }
}

Status stack_in_pool(Engine& engine, BlockPool& pool, Queue& writer, DeviceBlock* block,
                     Rects* rects) {
  gsize row_bytes = 0, packed = 0;
  guint rows = 0;
  for (int i = 0; i < rects->count; i++) {
    const Rect& rect = rects->rect[i];
    row_bytes = std::max(row_bytes, rect.row_bytes);
    rows += rect.rows;
    packed += round_up(packed_pitch(rect) * rect.rows, kPlaneAlignment);
  }
  // Without gaps, a row of blocks ends where the device begins a new row, and there are as many of
  // these as all bytes fill.
  if (rects->gapless && !pool.pads_rows) {
    const gsize whole = round_up(row_bytes, kDevicePitch);
    CT_RETURN_IF_ERROR(pool.configure(engine, whole, guint(round_up(packed, whole) / whole)));
    CT_RETURN_IF_ERROR(pool.acquire(writer, block));
    if (block->pitch == whole) {
      place_in(*block, 0, rects);
      return {};
    }
    // If a device has longer rows, it leaves bytes between them that CPU maps of the block skip.
    pool.pads_rows = true;
    *block = {};
  }
  CT_RETURN_IF_ERROR(pool.configure(engine, row_bytes, rows));
  CT_RETURN_IF_ERROR(pool.acquire(writer, block));
  place_in(*block, block->pitch, rects);
  return {};
}

size_t max_kept(GstBuffer* buffer) {
  const guint maximum = pool_maximum(buffer);
  if (maximum == 0) return SIZE_MAX;
  return maximum > kWorkingBuffers ? maximum - kWorkingBuffers : 1;
}

Residence residence_of([[maybe_unused]] const Engine& engine, [[maybe_unused]] GstBuffer* buffer) {
#if CT_HAVE_CUDA
  if (engine.is_cuda() && gst_buffer_n_memory(buffer) == 1) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
    // We do not compare the objects: an application may have wrapped one context twice.
    if (gst_is_cuda_memory(memory))
      return native_context_of(buffer) == gst_cuda_context_get_handle(engine.context())
                 ? Residence::kDevice
                 : Residence::kForeignDevice;
  }
#endif
  return Residence::kHost;
}

#if CT_HAVE_CUDA

static GstCudaContext* context_of(GstBuffer* buffer) {
  return GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context;
}

void* native_context_of(GstBuffer* buffer) {
  return gst_cuda_context_get_handle(context_of(buffer));
}

std::string describe_detour(const Engine& engine, GstBuffer* buffer) {
  guint ours = 0, theirs = 0;
  g_object_get(engine.context(), "cuda-device-id", &ours, nullptr);
  g_object_get(context_of(buffer), "cuda-device-id", &theirs, nullptr);
  if (ours == theirs) return {};
  CUdevice device = 0, peer = 0;
  int direct = 0;
  if (CuDeviceGet(&device, static_cast<int>(ours)) == CUDA_SUCCESS &&
      CuDeviceGet(&peer, static_cast<int>(theirs)) == CUDA_SUCCESS &&
      CuDeviceCanAccessPeer(&direct, device, peer) == CUDA_SUCCESS && direct)
    return {};
  return "CUDA device " + std::to_string(ours) + " cannot access device " + std::to_string(theirs) +
         ", copying through system memory";
}

#else

void* native_context_of(GstBuffer*) { return nullptr; }

std::string describe_detour(const Engine&, GstBuffer*) { return {}; }

#endif

GstMapFlags map_flags(int flags, [[maybe_unused]] bool device) {
#if CT_HAVE_CUDA
  if (device) return static_cast<GstMapFlags>(flags | GST_MAP_CUDA);
#endif
  return static_cast<GstMapFlags>(flags);
}

void MappedFrame::unmap() {
  if (mapped_) gst_video_frame_unmap(&frame_);
  mapped_ = false;
  piece_.reset();
}

// The planes of a mapped frame, visible samples only.
static Rects planes_of(const GstVideoFrame& frame) {
  const GstVideoInfo* info = &frame.info;
  Rects rects;
  rects.count = GST_VIDEO_FRAME_N_PLANES(&frame);
  for (int p = 0; p < rects.count; p++) {
    guint first = 0;  // component in it
    while (first + 1 < GST_VIDEO_INFO_N_COMPONENTS(info) &&
           static_cast<int>(GST_VIDEO_INFO_COMP_PLANE(info, first)) != p)
      first++;
    Rect& rect = rects.rect[p];
    rect.data = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    rect.pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
    rect.row_bytes =
        gsize(GST_VIDEO_INFO_COMP_WIDTH(info, first)) * GST_VIDEO_INFO_COMP_PSTRIDE(info, first);
    rect.rows = GST_VIDEO_INFO_COMP_HEIGHT(info, first);
  }
  return rects;
}

// The format in a meta, which any code may have written: reading a value outside of the enum would
// be undefined behavior in C++, and GStreamer names only its own values.
static guint32 raw_format_of(const GstVideoMeta* meta) {
  guint32 format = 0;
  static_assert(sizeof format == sizeof meta->format);
  memcpy(&format, &meta->format, sizeof format);
  return format;
}

static std::string format_name(guint32 format) {
  // The last format that GStreamer 1.22 has.
  const bool named =
      format > GST_VIDEO_FORMAT_UNKNOWN && format <= GST_VIDEO_FORMAT_NV12_10BE_8L128;
  const char* name =
      named ? gst_video_format_to_string(static_cast<GstVideoFormat>(format)) : nullptr;
  return name ? name : "format " + std::to_string(format);
}

Status MappedFrame::map(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
                        bool device) {
  const auto promised = [&] {
    return gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)) + std::string(" ") +
           std::to_string(info.width) + "x" + std::to_string(info.height);
  };
  const auto wrong = [](const std::string& what) {
    return Status::error(StatusCode::kInvalidArgument, what);
  };
  const auto wrong_meta = [&](const std::string& found) {
    return wrong("video meta " + found + " does not match caps " + promised());
  };
  unmap();
  const guint memories = gst_buffer_n_memory(buffer);
  const gsize size = gst_buffer_get_size(buffer);
  // We check this before gst_video_frame_map(), which takes such a meta for a bug of the program.
  if (const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer)) {
    if (meta->width < guint(info.width) || meta->height < guint(info.height))
      return wrong_meta(std::to_string(meta->width) + "x" + std::to_string(meta->height));
    const guint32 format = raw_format_of(meta);
    if (format != guint32{GST_VIDEO_INFO_FORMAT(&info)}) return wrong_meta(format_name(format));
    if (meta->n_planes != GST_VIDEO_INFO_N_PLANES(&info))
      return wrong_meta("of " + std::to_string(meta->n_planes) + " planes");
  }
  // We map a meta's planes one by one, each in one memory, like the rest of GStreamer.
  if (memories > 1 && flags == GST_MAP_READ && !gst_buffer_get_video_meta(buffer)) {
    CT_RETURN_IF_ERROR(in_one_piece(buffer, &piece_));
    buffer = piece_.get();
  }
  // The frame takes no reference, which would make metadata read-only.
  const GstMapFlags all = map_flags(int(flags) | int(GST_VIDEO_FRAME_MAP_FLAG_NO_REF), device);
  if (!gst_video_frame_map(&frame_, &info, buffer, all))
    return wrong("failed to map buffer of " + std::to_string(size) + " bytes, expected " +
                 std::to_string(GST_VIDEO_INFO_SIZE(&info)) + " for " + promised());
  mapped_ = true;
  frame_.info.width = info.width;
  frame_.info.height = info.height;

  // gst_video_frame_map() trusts a meta's strides and offsets; a kernel must not.
  rects_ = planes_of(frame_);
  for (int p = 0; p < rects_.count; p++) {
    const Rect& rect = rects_.rect[p];
    const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, p);
    const GstMapInfo& map = frame_.map[frame_.meta ? p : 0];
    const gsize skip = rect.data - map.data;
    if (stride < 0 || rect.pitch < rect.row_bytes || rect.data < map.data || skip > map.size ||
        rect.pitch * (rect.rows - 1) + rect.row_bytes > map.size - skip)
      return wrong(
          "plane " + std::to_string(p) + " (stride " + std::to_string(stride) + ", offset " +
          std::to_string(GST_VIDEO_FRAME_PLANE_OFFSET(&frame_, p)) + ") of " + promised() +
          " exceeds the buffer of " + std::to_string(size) + " bytes" +
          (frame_.meta && memories > 1 ? " in " + std::to_string(memories) + " memories" : ""));
  }
  return {};
}

namespace {

using CopyFunction = Status (Device::*)(Queue&, const Copy2D&);

Status move(Device& device, Queue& queue, const Rects& from, const Rects& to, CopyFunction function,
            void* from_context = nullptr) {
  for (int i = 0; i < from.count; i++) {
    Copy2D job;
    job.dst = to.rect[i].data;
    job.dst_pitch = static_cast<ptrdiff_t>(to.rect[i].pitch);
    job.src = from.rect[i].data;
    job.src_pitch = static_cast<ptrdiff_t>(from.rect[i].pitch);
    job.row_bytes = from.rect[i].row_bytes;
    job.rows = from.rect[i].rows;
    job.src_context = from_context;
    CT_RETURN_IF_ERROR((device.*function)(queue, job));
  }
  return {};
}

}  // namespace

Status upload(Device& device, Queue& queue, const Rects& from, const Rects& to) {
  return move(device, queue, from, to, &Device::upload);
}

Status download(Device& device, Queue& queue, const Rects& from, const Rects& to) {
  return move(device, queue, from, to, &Device::download);
}

Status copy(Device& device, Queue& queue, const Rects& from, void* from_context, const Rects& to) {
  return move(device, queue, from, to, &Device::copy, from_context);
}

// The most input buffers that the device may be reading, if their pool has that many.
static constexpr guint kMaxHeld = 4;

void FrameMover::start(guint async_depth) {
  async_depth_ = async_depth;
  warned_of_detour_ = false;
}

void FrameMover::reconfigure() {
  release_inputs();
  known_pool_ = nullptr;
  known_foreign_context_ = nullptr;
}

void FrameMover::release_inputs() {
  while (!held_.empty()) release_oldest();
}

void FrameMover::settle() {
  for (QueueKind kind : {QueueKind::kUpload, QueueKind::kCompute, QueueKind::kDownload}) {
    FencePtr fence;
    if (engine_.queue(kind).record(&fence).ok()) (void)fence->wait();
  }
}

void FrameMover::warn_once(std::string warning, bool* warned) {
  if (!std::exchange(*warned, true)) warnings_.push_back(std::move(warning));
}

// We look it up once for each pool.
guint FrameMover::known_pool_maximum(GstBuffer* buffer) {
  if (!buffer->pool) return 0;
  if (buffer->pool != known_pool_) known_maximum_ = pool_maximum(buffer);
  known_pool_ = buffer->pool;
  return known_maximum_;
}

// Keeps a buffer that the GPU still reads from being reused, and releases those already read.
void FrameMover::hold_until_done(GstBuffer* buffer, const FencePtr& fence) {
  // If we held every buffer of a bounded pool, its source could not bring the next one.
  const guint maximum = known_pool_maximum(buffer);
  const guint wanted = std::max(kMaxHeld, async_depth_);
  const size_t most =
      maximum == 0 ? wanted : std::min(wanted, maximum - std::min(maximum, kWorkingBuffers));
  const gint64 now = g_get_monotonic_time();
  held_.push_back({BufferPtr(gst_buffer_ref(buffer)), fence, now});
  const auto fence_of = [&](size_t i) { return held_[i].fence.get(); };
  const bool waits = held_.size() > most;
  while (held_.size() > most) release_oldest();
  // After a wait for one buffer, the device need not be polled for the next.
  while (held_.size() > 1 &&
         (waits ? fence_of(0)->known_done()
                : first_is_done_by(now, held_.front().since, held_.size(), fence_of))) {
    release_oldest();
  }
}

// Waits for the work. Users of its result report a failure.
void FrameMover::release_oldest() {
  HeldBuffer& oldest = held_.front();
  if (!oldest.fence->wait().ok() && !engine_.settle().ok()) keep_for_ever(oldest.buffer.release());
  held_.pop_front();
}

Status FrameMover::place(GstBuffer* buffer, const MapFunction& map, InPlace in_place,
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
  warn_once("Failed to copy between CUDA devices, copying through system memory: " + status.message,
            &warned_of_detour_);
  CT_RETURN_IF_ERROR(map(false, &placed->rects));
  return bring_to_device(buffer, Residence::kHost, pool, timer, placed);
}

// Warns of slow copies, once for each context that frames come from.
void FrameMover::warn_of_detour(GstBuffer* buffer) {
  void* context = native_context_of(buffer);
  if (context == known_foreign_context_) return;
  known_foreign_context_ = context;
  std::string detour = describe_detour(engine_, buffer);
  if (!detour.empty()) warn_once(std::move(detour), &warned_of_detour_);
}

// Copies placed->rects into a block of `pool` on the upload queue; the compute queue waits for the
// copy.
Status FrameMover::bring_to_device(GstBuffer* buffer, Residence residence, BlockPool& pool,
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

void FrameMover::mark_read(GstBuffer* buffer, const Placed& placed, const FencePtr& done) {
  if (!engine_.is_cuda()) return;
  if (placed.block)
    add_read(placed.block.fence, done);
  else
    hold_until_done(buffer, done);
}

Status FrameMover::fetch(const Rects& from, const Rects& to, const FencePtr& computed,
                         MeasuredFrame* frame, FencePtr* downloaded) {
  Queue& queue = engine_.queue(QueueKind::kDownload);
  const bool timed = frame && frame->kinds & kMeasureTime;
  CT_RETURN_IF_ERROR(queue.wait_for(computed));
  if (timed) CT_RETURN_IF_ERROR(frame->download->begin(queue));
  const Status status = download(engine_.device(), queue, from, to);
  if (status.ok() && timed) CT_RETURN_IF_ERROR(frame->download->end(queue));
  CT_RETURN_IF_ERROR(queue.record(downloaded));
  // Some of a frame's planes may already be in flight, and `to` must stay until they arrive.
  if (!status.ok()) return status;
  if (frame) {
    frame->downloaded = timed;
    frame->fence = *downloaded;
  }
  return {};
}

}  // namespace cudatransform
