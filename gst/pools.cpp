// Where output buffers come from: pools of device blocks, of coefficients and of raw frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/pools.h"

#include <string>
#include <utility>

#include "gst/buffer_ptr.h"
#include "gst/caps.h"
#include "gst/cuda_gst.h"
#include "gst/cuda_sync.h"

namespace cudatransform {
namespace {

constexpr guint kAlignment = 64;  // a cache line, and the widest vector

Status pool_failed(const char* what, gsize bytes) {
  return Status::error(StatusCode::kFailed, std::string("no buffer pool for ") + what + " of " +
                                                std::to_string(bytes) + " bytes could be started");
}

#if CT_HAVE_CUDA
// A CUDA pool allocates when it is configured, to learn the pitch. We only ask for formats that it
// can hold, so what fails there is the allocation.
Status no_device_memory(const char* what, gsize bytes) {
  return Status::error(StatusCode::kOutOfMemory, std::string("no device memory for ") + what +
                                                     " of " + std::to_string(bytes) + " bytes");
}
#endif

// How a pool allocates; fields that are null or unset say nothing.
struct Allocation {
  GstAllocator* allocator = nullptr;  // owned
  bool has_params = false;
  GstAllocationParams params;
  bool has_alignment = false;
  GstVideoAlignment alignment;

  Allocation() {
    gst_allocation_params_init(&params);
    gst_video_alignment_reset(&alignment);
  }
  ~Allocation() { gst_clear_object(&allocator); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  void write_to(GstStructure* config) const {
    if (has_params) gst_buffer_pool_config_set_allocator(config, allocator, &params);
    if (!has_alignment) return;
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
    gst_buffer_pool_config_set_video_alignment(config, &alignment);
  }
};

// Configures and starts `pool`; the caller keeps it, failed or not. With `context`, frames in CUDA
// memory have a stream.
bool start_pool(GstBufferPool* pool, GstCaps* caps, gsize size, guint min, guint max,
                bool video_meta, const Allocation& allocation = {},
                GstCudaContext* context = nullptr) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  allocation.write_to(config);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (video_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (context) add_stream(config, context);
  if (!gst_buffer_pool_set_config(pool, config)) {
    // The pool may have adjusted the configuration to what it can do; that is good enough if it
    // still makes what we asked for.
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, size, min, max)) {
      gst_structure_free(config);
      return false;
    }
    if (!gst_buffer_pool_set_config(pool, config)) return false;
  }
  return gst_buffer_pool_set_active(pool, TRUE);
}

#if CT_HAVE_CUDA
GQuark fence_quark() {
  static const GQuark quark = g_quark_from_static_string("cudatransform-block-fence");
  return quark;
}

// gstcuda's pool describes every buffer as the stand-in RGBA picture, which is not what we put in.
void remove_stand_in_meta(GstBuffer* buffer) {
  GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta) return;
  meta->meta.flags = static_cast<GstMetaFlags>(meta->meta.flags & ~GST_META_FLAG_LOCKED);
  gst_buffer_remove_meta(buffer, &meta->meta);
}

bool pool_is_on(GstBufferPool* pool, GstCudaContext* context) {
  return GST_IS_CUDA_BUFFER_POOL(pool) && GST_CUDA_BUFFER_POOL(pool)->context == context;
}
#endif

}  // namespace

Status acquire_buffer(GstBufferPool* pool, const char* what, GstBuffer** buffer) {
  if (!pool) return Status::error(StatusCode::kFailed, std::string("no pool for ") + what);
  switch (gst_buffer_pool_acquire_buffer(pool, buffer, nullptr)) {
    case GST_FLOW_OK:
      return {};
    case GST_FLOW_FLUSHING:
      return Status::error(StatusCode::kCancelled,
                           std::string("the pool for ") + what + " is flushing");
    default:
      return Status::error(StatusCode::kOutOfMemory, std::string("no memory for ") + what);
  }
}

bool peers_honour_fence(GstQuery* query) {
  guint index = 0;
  if (!gst_query_find_allocation_meta(query, GST_DCT_META_API_TYPE, &index)) return false;
  const GstStructure* params = nullptr;
  gst_query_parse_nth_allocation_meta(query, index, &params);
  return params == nullptr;
}

static GstAllocationParams aligned_params() {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kAlignment - 1;
  return params;
}

GstBuffer* new_system_buffer(gsize size) {
  GstAllocationParams params = aligned_params();
  return gst_buffer_new_allocate(nullptr, size, &params);
}

guint pool_maximum(GstBuffer* buffer) {
  if (!buffer->pool) return 0;
  guint maximum = 0;
  GstStructure* config = gst_buffer_pool_get_config(buffer->pool);
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &maximum);
  gst_structure_free(config);
  return maximum;
}

void clear_pool(GstBufferPool** pool) {
  if (!*pool) return;
  gst_buffer_pool_set_active(*pool, FALSE);
  gst_clear_object(pool);
}

#if CT_HAVE_CUDA

Status BlockPool::configure(Engine& engine, gsize row_bytes, guint rows) {
  if (pool_ && row_bytes == row_bytes_ && rows == rows_) return {};
  clear();
  GstVideoInfo info;
  const gsize width = (row_bytes + 3) / 4;
  if (width > G_MAXINT32 || rows > G_MAXINT32 ||
      !gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, width, rows))
    return Status::error(StatusCode::kUnsupported, "a frame of " + std::to_string(rows) +
                                                       " rows of " + std::to_string(row_bytes) +
                                                       " bytes is too large for device memory");
  GstCaps* caps = gst_video_info_to_caps(&info);
  pool_ = gst_cuda_buffer_pool_new(engine.context());
  const bool started = start_pool(pool_, caps, GST_VIDEO_INFO_SIZE(&info), 0, 0, false);
  gst_caps_unref(caps);
  if (!started) {
    clear_pool(&pool_);
    return failed_allocation(engine.queue(QueueKind::kCompute),
                             no_device_memory("a frame", GST_VIDEO_INFO_SIZE(&info)));
  }
  row_bytes_ = row_bytes;
  rows_ = rows;
  return {};
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
    return Status::error(StatusCode::kFailed, "a device frame could not be mapped");
  block->data = map.data;
  block->pitch = GST_VIDEO_INFO_PLANE_STRIDE(&GST_CUDA_MEMORY_CAST(memory)->info, 0);
  gst_memory_unmap(memory, &map);

  auto* memory_object = GST_MINI_OBJECT_CAST(memory);
  auto* last = static_cast<GstDctFence*>(gst_mini_object_get_qdata(memory_object, fence_quark()));
  if (last && !(gst_dct_fence_wait_written(last, writer.native()) &&
                gst_dct_fence_wait_read(last, writer.native())))
    return failed_work(writer, "earlier work on a device frame has failed");
  block->fence = gst_dct_fence_new();
  gst_mini_object_set_qdata(memory_object, fence_quark(), block->fence,
                            reinterpret_cast<GDestroyNotify>(gst_dct_fence_unref));
  block->buffer = owner.release();
  return {};
}

bool fence_guards_memory(GstBuffer* buffer, const GstDctFence* fence) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return fence && gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), fence_quark()) == fence;
}

#else

bool fence_guards_memory(GstBuffer*, const GstDctFence*) { return false; }

Status BlockPool::configure(Engine&, gsize, guint) {
  return Status::error(StatusCode::kUnsupported, "this build has no CUDA engine");
}

Status BlockPool::acquire(Queue&, DeviceBlock*) {
  return Status::error(StatusCode::kUnsupported, "this build has no CUDA engine");
}

#endif

void BlockPool::clear() {
  clear_pool(&pool_);
  row_bytes_ = 0;
  rows_ = 0;
}

static GstStructure* system_config(GstBufferPool* pool, GstCaps* caps, gsize size, guint min,
                                   GstAllocator* allocator) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  const GstAllocationParams params = aligned_params();
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size), min, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  return config;
}

GstAllocator* proposed_allocator(GstQuery* query) {
  GstAllocator* allocator = nullptr;
  if (gst_query_get_n_allocation_params(query) > 0)
    gst_query_parse_nth_allocation_param(query, 0, &allocator, nullptr);
  if (allocator && GST_OBJECT_FLAG_IS_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC))
    gst_clear_object(&allocator);
  return allocator;
}

Status make_system_pool(GstAllocator* allocator, gsize size, GstBufferPool** pool) {
  clear_pool(pool);
  if (size > G_MAXUINT)
    return Status::error(StatusCode::kUnsupported, "coefficients of " + std::to_string(size) +
                                                       " bytes a frame are too large");
  GstBufferPool* made = gst_buffer_pool_new();
  GstStructure* config = system_config(made, nullptr, size, 0, allocator);
  if (!gst_buffer_pool_set_config(made, config) || !gst_buffer_pool_set_active(made, TRUE)) {
    gst_object_unref(made);
    return pool_failed("coefficients", size);
  }
  *pool = made;
  return {};
}

static GstBufferPool* new_raw_pool([[maybe_unused]] Engine& engine, [[maybe_unused]] bool cuda) {
#if CT_HAVE_CUDA
  if (cuda) return gst_cuda_buffer_pool_new(engine.context());
#endif
  return gst_video_buffer_pool_new();
}

// What the peer answered: its first pool, its first allocator and parameters.
namespace {
struct PeerOffer {
  GstBufferPool* pool = nullptr;  // owned
  guint size = 0, min = 0, max = 0;
  Allocation allocation;

  explicit PeerOffer(GstQuery* query);
  ~PeerOffer() { gst_clear_object(&pool); }
  PeerOffer(const PeerOffer&) = delete;
  PeerOffer& operator=(const PeerOffer&) = delete;
  bool is_plain_memory() const;
};
}  // namespace

PeerOffer::PeerOffer(GstQuery* query) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  allocation.has_params = gst_query_get_n_allocation_params(query) > 0;
  if (allocation.has_params)
    gst_query_parse_nth_allocation_param(query, 0, &allocation.allocator, &allocation.params);
  if (!pool) return;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  allocation.has_alignment =
      gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT) &&
      gst_buffer_pool_config_get_video_alignment(config, &allocation.alignment);
  gst_structure_free(config);
}

static bool is_system_allocator(GstAllocator* allocator) {
  return !allocator || g_strcmp0(allocator->mem_type, GST_ALLOCATOR_SYSMEM) == 0;
}

// Whether nothing in the offer is more than memory that anybody could have allocated. Pools of
// other types, and other allocators, are of memory that the peer needs: shared with a process, a
// display, a device.
bool PeerOffer::is_plain_memory() const {
  if (!is_system_allocator(allocation.allocator)) return false;
  if (!pool) return true;
  if (G_OBJECT_TYPE(pool) != GST_TYPE_BUFFER_POOL &&
      G_OBJECT_TYPE(pool) != GST_TYPE_VIDEO_BUFFER_POOL)
    return false;
  GstAllocator* allocator = nullptr;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_allocator(config, &allocator, nullptr);
  const bool plain = is_system_allocator(allocator);
  gst_structure_free(config);
  return plain;
}

static bool fits([[maybe_unused]] Engine& engine, GstBufferPool* pool, bool cuda) {
  if (!pool || !cuda) return pool;
#if CT_HAVE_CUDA
  return pool_is_on(pool, engine.context());
#else
  return false;
#endif
}

Status make_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, GstBufferPool** pool,
                     guint* maximum) {
  clear_pool(pool);
  *maximum = 0;
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps))
    return Status::error(StatusCode::kInvalidArgument, "the output caps are not raw video");
  const bool cuda = has_cuda_memory(caps);
  const bool video_meta =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) || cuda;
  GstCudaContext* context = cuda ? engine.context() : nullptr;
  PeerOffer peer(query);
  // When a pool fails to start, GStreamer forgets the buffers that it has made until then. Device
  // memory is what runs out, so nothing of it is made before it is needed.
  if (cuda) peer.min = 0;
  const guint size = MAX(peer.size, GST_VIDEO_INFO_SIZE(&info));
  const bool pinned = !cuda && engine.pinned_allocator() && peer.is_plain_memory();
  if (!pinned && fits(engine, peer.pool, cuda) &&
      start_pool(peer.pool, caps, size, peer.min, peer.max, video_meta, {}, context)) {
    *maximum = peer.max;
    *pool = std::exchange(peer.pool, nullptr);
    return {};
  }

  Allocation& allocation = peer.allocation;
  allocation.has_alignment = pinned && allocation.has_alignment && video_meta;
  if (cuda) allocation.has_params = false;
  if (pinned) {
    gst_object_replace(reinterpret_cast<GstObject**>(&allocation.allocator),
                       GST_OBJECT(engine.pinned_allocator()));
    allocation.params.align |= aligned_params().align;
    allocation.has_params = true;
  }
  *pool = new_raw_pool(engine, cuda);
  if (start_pool(*pool, caps, size, peer.min, 0, video_meta, allocation, context)) return {};
  clear_pool(pool);
#if CT_HAVE_CUDA
  if (cuda)
    return failed_allocation(engine.queue(QueueKind::kCompute), no_device_memory("frames", size));
#endif
  return pool_failed("frames", size);
}

// Upstream configures the pool anew, with the first allocator of the answer rather than with the
// pool's: both are ours.
static void propose(GstQuery* query, GstBufferPool* pool, GstStructure* config,
                    GstAllocator* allocator) {
  const GstAllocationParams params = aligned_params();
  if (allocator) gst_query_add_allocation_param(query, allocator, &params);
  if (!gst_buffer_pool_set_config(pool, config)) return;
  // A pool may learn its size (pitch and all) when it is configured.
  guint size = 0, min = 0;
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, &min, nullptr);
  gst_structure_free(config);
  gst_query_add_allocation_pool(query, pool, size, min, 0);
}

void propose_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, guint min_buffers) {
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return;
  const bool cuda = has_cuda_memory(caps);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (cuda && !engine.is_cuda()) return;
  GstBufferPool* pool = new_raw_pool(engine, cuda);
  GstAllocator* allocator = cuda ? nullptr : engine.pinned_allocator();
  GstStructure* config;
  if (allocator) {
    // VIDEO_ALIGNMENT is offered by the pool itself, and configured by who needs padding.
    config = system_config(pool, caps, GST_VIDEO_INFO_SIZE(&info), min_buffers, allocator);
  } else {
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), min_buffers, 0);
  }
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  propose(query, pool, config, allocator);
  gst_object_unref(pool);
}

void propose_coefficient_pool(Engine& engine, GstQuery* query, GstCaps* caps, gsize size,
                              guint min_buffers) {
  GstAllocator* allocator = engine.pinned_allocator();
  if (!allocator || has_cuda_memory(caps) || size > G_MAXUINT) return;
  GstBufferPool* pool = gst_buffer_pool_new();
  propose(query, pool, system_config(pool, caps, size, min_buffers, allocator), allocator);
  gst_object_unref(pool);
}

}  // namespace cudatransform
