// Where output buffers come from: pools of device blocks, of coefficients and of raw frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/pools.h"

#include <string>

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

// Configures and starts `pool`; the caller keeps it, failed or not. With `context`, frames in CUDA
// memory have a stream.
bool start_pool(GstBufferPool* pool, GstCaps* caps, gsize size, guint min, guint max,
                bool video_meta, GstAllocator* allocator = nullptr,
                const GstAllocationParams* params = nullptr, GstCudaContext* context = nullptr) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  if (params) gst_buffer_pool_config_set_allocator(config, allocator, params);
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
    return no_device_memory("a frame", GST_VIDEO_INFO_SIZE(&info));
  }
  row_bytes_ = row_bytes;
  rows_ = rows;
  return {};
}

Status BlockPool::acquire(Queue& writer, DeviceBlock* block) {
  GstBuffer* buffer = nullptr;
  CT_RETURN_IF_ERROR(acquire_buffer(pool_, "a device frame", &buffer));
  remove_stand_in_meta(buffer);
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  GstMapInfo map;
  if (!gst_memory_map(memory, &map, static_cast<GstMapFlags>(GST_MAP_WRITE | GST_MAP_CUDA))) {
    gst_buffer_unref(buffer);
    return Status::error(StatusCode::kFailed, "a device frame could not be mapped");
  }
  block->buffer = buffer;
  block->data = map.data;
  block->pitch = GST_VIDEO_INFO_PLANE_STRIDE(&GST_CUDA_MEMORY_CAST(memory)->info, 0);
  gst_memory_unmap(memory, &map);

  auto* memory_object = GST_MINI_OBJECT_CAST(memory);
  auto* last = static_cast<GstDctFence*>(gst_mini_object_get_qdata(memory_object, fence_quark()));
  if (last && !(gst_dct_fence_wait_written(last, writer.native()) &&
                gst_dct_fence_wait_read(last, writer.native()))) {
    gst_buffer_unref(buffer);
    return Status::error(StatusCode::kFailed, "earlier work on a device frame has failed");
  }
  block->fence = gst_dct_fence_new();
  gst_mini_object_set_qdata(memory_object, fence_quark(), block->fence,
                            reinterpret_cast<GDestroyNotify>(gst_dct_fence_unref));
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

Status make_system_pool(gsize size, GstBufferPool** pool) {
  clear_pool(pool);
  if (size > G_MAXUINT)
    return Status::error(StatusCode::kUnsupported, "coefficients of " + std::to_string(size) +
                                                       " bytes a frame are too large");
  GstBufferPool* made = gst_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(made);
  const GstAllocationParams params = aligned_params();
  gst_buffer_pool_config_set_params(config, nullptr, size, 0, 0);
  gst_buffer_pool_config_set_allocator(config, nullptr, &params);
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

// The first pool in the peer's answer that makes buffers we can write to; transfer full.
static GstBufferPool* peer_pool([[maybe_unused]] Engine& engine, GstQuery* query, bool cuda,
                                guint* size, guint* min, guint* max) {
  if (gst_query_get_n_allocation_pools(query) == 0) return nullptr;
  GstBufferPool* pool = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, size, min, max);
  if (!pool || !cuda) return pool;
#if CT_HAVE_CUDA
  if (pool_is_on(pool, engine.context())) return pool;
#endif
  gst_object_unref(pool);
  return nullptr;
}

Status make_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, GstBufferPool** pool) {
  clear_pool(pool);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps))
    return Status::error(StatusCode::kInvalidArgument, "the output caps are not raw video");
  const bool cuda = has_cuda_memory(caps);
  const bool video_meta =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) || cuda;
  GstCudaContext* context = cuda ? engine.context() : nullptr;
  guint size = 0, min = 0, max = 0;
  GstBufferPool* peers = peer_pool(engine, query, cuda, &size, &min, &max);
  size = MAX(size, GST_VIDEO_INFO_SIZE(&info));
  if (peers) {
    if (start_pool(peers, caps, size, min, max, video_meta, nullptr, nullptr, context)) {
      *pool = peers;
      return {};
    }
    gst_object_unref(peers);
  }
  *pool = new_raw_pool(engine, cuda);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  const bool has_params = !cuda && gst_query_get_n_allocation_params(query) > 0;
  if (has_params) gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  const bool started = start_pool(*pool, caps, size, min, 0, video_meta, allocator,
                                  has_params ? &params : nullptr, context);
  gst_clear_object(&allocator);
  if (started) return {};
  clear_pool(pool);
#if CT_HAVE_CUDA
  if (cuda) return no_device_memory("frames", size);
#endif
  return pool_failed("frames", size);
}

void propose_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, guint min_buffers) {
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return;
  const bool cuda = has_cuda_memory(caps);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (cuda && !engine.is_cuda()) return;
  GstBufferPool* pool = new_raw_pool(engine, cuda);
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), min_buffers, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool, config)) {
    // A CUDA pool learns its size (pitch and all) when it is configured.
    guint size = GST_VIDEO_INFO_SIZE(&info);
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
    gst_structure_free(config);
    gst_query_add_allocation_pool(query, pool, size, min_buffers, 0);
  }
  gst_object_unref(pool);
}

}  // namespace cudatransform
