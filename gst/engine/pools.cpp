// Memory of output buffers: allocators of pinned and ordinary host memory, pools for us and
// our peers.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/pools.h"

#include <string.h>
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/cuda_sync.h"
#include "gst/engine/debug.h"
#include "gst/engine/engine.h"
#include "gst/engine/peer_offer.h"
#include "transform/device/host_device.h"

namespace {

struct BoundedPool {
  GstBufferPool parent;
  gint64 size;                // of a buffer
  std::atomic<gint64> idle;   // bytes
  std::atomic<gint64> limit;  // of them
};

struct BoundedPoolClass {
  GstBufferPoolClass parent_class;
};

GType bounded_pool_get_type();
G_DEFINE_TYPE(BoundedPool, bounded_pool, GST_TYPE_BUFFER_POOL);

BoundedPool* bounded(gpointer pool) {
  return G_TYPE_CHECK_INSTANCE_CAST(pool, bounded_pool_get_type(), BoundedPool);
}

GstBufferPoolClass* parent_class() { return GST_BUFFER_POOL_CLASS(bounded_pool_parent_class); }

gboolean set_config(GstBufferPool* pool, GstStructure* config) {
  guint size = 0;
  if (gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr))
    bounded(pool)->size = size;
  return parent_class()->set_config(pool, config);
}

// Each buffer counts as idle from its creation or return until it leaves or is freed.
GstFlowReturn alloc_buffer(GstBufferPool* pool, GstBuffer** buffer,
                           GstBufferPoolAcquireParams* params) {
  const GstFlowReturn flow = parent_class()->alloc_buffer(pool, buffer, params);
  if (flow == GST_FLOW_OK) bounded(pool)->idle += bounded(pool)->size;
  return flow;
}

GstFlowReturn acquire_buffer(GstBufferPool* pool, GstBuffer** buffer,
                             GstBufferPoolAcquireParams* params) {
  const GstFlowReturn flow = parent_class()->acquire_buffer(pool, buffer, params);
  if (flow == GST_FLOW_OK) bounded(pool)->idle -= bounded(pool)->size;
  return flow;
}

void release_buffer(GstBufferPool* pool, GstBuffer* buffer) {
  BoundedPool* self = bounded(pool);
  // The parent class frees buffers with this flag.
  if ((self->idle += self->size) > self->limit)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  parent_class()->release_buffer(pool, buffer);
}

void free_buffer(GstBufferPool* pool, GstBuffer* buffer) {
  bounded(pool)->idle -= bounded(pool)->size;
  parent_class()->free_buffer(pool, buffer);
}

void bounded_pool_class_init(BoundedPoolClass* klass) {
  GstBufferPoolClass* pool_class = GST_BUFFER_POOL_CLASS(klass);
  pool_class->set_config = set_config;
  pool_class->alloc_buffer = alloc_buffer;
  pool_class->acquire_buffer = acquire_buffer;
  pool_class->release_buffer = release_buffer;
  pool_class->free_buffer = free_buffer;
}

void bounded_pool_init(BoundedPool* self) {
  new (&self->idle) std::atomic<gint64>(0);
  new (&self->limit) std::atomic<gint64>(G_MAXINT64);
}

}  // namespace

using namespace cudatransform;

namespace {

constexpr gsize kMinAlignment = 64;
constexpr gsize kPage = 4096;  // sizes are rounded up to it, so that a spare block fits more often
constexpr size_t kMaxSpare = 8;

// The state of the allocator of pinned memory.
struct PinnedState {
  std::mutex lock;
  Device* device;
  std::vector<std::unique_ptr<Memory>> spare;  // the oldest first
  std::atomic<bool> warned = false;

  explicit PinnedState(Device& of) : device(&of) {}
  Status take(gsize bytes, std::unique_ptr<Memory>* block);
  void give(std::unique_ptr<Memory> block);
  void detach();
};

Status PinnedState::take(gsize bytes, std::unique_ptr<Memory>* block) {
  std::lock_guard guard(lock);
  if (!device) return Status::error(StatusCode::kNotFound, "device closed");
  const auto fits = [&](const auto& memory) { return memory->size() == bytes; };
  if (auto found = std::find_if(spare.begin(), spare.end(), fits); found != spare.end()) {
    *block = std::move(*found);
    spare.erase(found);
    return {};
  }
  return device->allocate(MemoryKind::kPinned, bytes, block);
}

void PinnedState::give(std::unique_ptr<Memory> block) {
  std::unique_ptr<Memory> oldest;  // freed after the lock
  std::lock_guard guard(lock);
  if (!device) {
    oldest = std::move(block);
    return;
  }
  spare.push_back(std::move(block));
  if (spare.size() <= kMaxSpare) return;
  oldest = std::move(spare.front());
  spare.erase(spare.begin());
}

void PinnedState::detach() {
  std::vector<std::unique_ptr<Memory>> gone;
  std::lock_guard guard(lock);
  device = nullptr;
  gone.swap(spare);
}

struct HostMemory {
  GstMemory parent;
  Memory* block;  // owned; null in memory that shares its parent's
  guint8* data;
};

struct GstCudaTransformHostAllocator {
  GstAllocator parent;
  PinnedState* state;  // null: of ordinary memory
};

struct GstCudaTransformHostAllocatorClass {
  GstAllocatorClass parent_class;
};

HostMemory* host(GstMemory* memory) { return reinterpret_cast<HostMemory*>(memory); }

}  // namespace

GType gst_cuda_transform_host_allocator_get_type(void);
G_DEFINE_TYPE(GstCudaTransformHostAllocator, gst_cuda_transform_host_allocator, GST_TYPE_ALLOCATOR);

static PinnedState* state_of(GstAllocator* allocator) {
  return reinterpret_cast<GstCudaTransformHostAllocator*>(allocator)->state;
}

static GstMemory* make_memory(GstAllocator* allocator, std::unique_ptr<Memory> block, gsize maxsize,
                              gsize align, gsize size, const GstAllocationParams* params) {
  auto* memory = g_new0(HostMemory, 1);
  const auto address = reinterpret_cast<guintptr>(block->data());
  memory->data = static_cast<guint8*>(block->data()) + ((align + 1 - (address & align)) & align);
  memory->block = block.release();
  gst_memory_init(&memory->parent, params->flags, allocator, nullptr, maxsize, align,
                  params->prefix, size);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED) memset(memory->data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset(memory->data + params->prefix + size, 0, params->padding);
  return &memory->parent;
}

// Memory that the driver has locked; null, with a line in the log, if it cannot lock any.
static std::unique_ptr<Memory> take_pinned(GstAllocator* allocator, gsize bytes) {
  PinnedState* state = state_of(allocator);
  std::unique_ptr<Memory> block;
  // The driver aligns to pages, but does not document that.
  const Status status = state->take((bytes + kPage) & ~(kPage - 1), &block);
  if (status.ok()) return block;
  const bool first = !state->warned.exchange(true);
  gst_debug_log(GST_CAT_DEFAULT, first ? GST_LEVEL_WARNING : GST_LEVEL_DEBUG, __FILE__, __func__,
                __LINE__, G_OBJECT(allocator), "no pinned memory, using pageable memory: %s",
                status.message.c_str());
  return nullptr;
}

static std::unique_ptr<Memory> take_ordinary(GstAllocator* allocator, gsize bytes) {
  std::unique_ptr<Memory> block;
  const Status status = allocate_host_memory(bytes, &block);
  if (!status.ok()) GST_WARNING_OBJECT(allocator, "%s", status.message.c_str());
  return block;
}

static GstMemory* host_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const gsize align = params->align | (kMinAlignment - 1);
  const gsize extra = params->prefix + params->padding;
  if (extra < params->padding || size > G_MAXSIZE / 2 - extra || align > G_MAXSIZE / 4)
    return nullptr;
  const gsize maxsize = size + extra;
  const bool is_ordinary = !state_of(allocator);
  std::unique_ptr<Memory> block;
  if (!is_ordinary) {
    block = take_pinned(allocator, maxsize + align);
  } else {
    const bool is_aligned = align < kMinAlignment;  // as ordinary memory always is
    block = take_ordinary(allocator, maxsize + (is_aligned ? 0 : align));
  }
  if (block) return make_memory(allocator, std::move(block), maxsize, align, size, params);
  if (is_ordinary) return nullptr;
  GstAllocationParams ordinary = *params;
  ordinary.align = align;
  return gst_allocator_alloc(ordinary_allocator(), size, &ordinary);
}

static void host_free(GstAllocator* allocator, GstMemory* memory) {
  std::unique_ptr<Memory> block(host(memory)->block);
  PinnedState* state = state_of(allocator);
  if (block && state) state->give(std::move(block));
  g_free(memory);
}

static gpointer host_map(GstMemory* memory, gsize /*maxsize*/, GstMapFlags /*flags*/) {
  return host(memory)->data;
}

static void host_unmap(GstMemory* /*memory*/) {}

static GstMemory* host_share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* root = memory->parent ? memory->parent : memory;
  if (size == -1) size = static_cast<gssize>(memory->size) - offset;
  auto* part = g_new0(HostMemory, 1);
  part->data = host(memory)->data;
  gst_memory_init(
      &part->parent,
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
      memory->allocator, root, memory->maxsize, memory->align, memory->offset + offset,
      static_cast<gsize>(size));
  return &part->parent;
}

// GStreamer's own allocator only warns where there is no memory.
static GstMemory* host_copy(GstMemory* memory, gssize offset, gssize size) {
  if (size == -1) size = static_cast<gssize>(memory->size) - offset;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = memory->align;
  GstMemory* copy = gst_allocator_alloc(memory->allocator, static_cast<gsize>(size), &params);
  if (!copy) return nullptr;
  memcpy(host(copy)->data, host(memory)->data + memory->offset + offset, static_cast<gsize>(size));
  return copy;
}

// Adjacent parts of one block, as gst_memory_is_span() defines: the caller compares the offsets.
static gboolean host_is_span(GstMemory* first, GstMemory* second, gsize* offset) {
  if (offset) *offset = first->offset - first->parent->offset;
  return host(first)->data + first->offset + first->size == host(second)->data + second->offset;
}

static void host_finalize(GObject* object) {
  delete state_of(GST_ALLOCATOR(object));
  G_OBJECT_CLASS(gst_cuda_transform_host_allocator_parent_class)->finalize(object);
}

static void gst_cuda_transform_host_allocator_init(GstCudaTransformHostAllocator* self) {
  GstAllocator* allocator = &self->parent;
  allocator->mem_type = GST_ALLOCATOR_SYSMEM;
  allocator->mem_map = host_map;
  allocator->mem_unmap = host_unmap;
  allocator->mem_share = host_share;
  allocator->mem_copy = host_copy;
  allocator->mem_is_span = host_is_span;
}

static void gst_cuda_transform_host_allocator_class_init(
    GstCudaTransformHostAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = host_finalize;
  klass->parent_class.alloc = host_alloc;
  klass->parent_class.free = host_free;
}

namespace cudatransform {

static GstAllocator* new_allocator() {
  return GST_ALLOCATOR(
      gst_object_ref_sink(g_object_new(gst_cuda_transform_host_allocator_get_type(), nullptr)));
}

GstAllocator* new_pinned_allocator(Device& device) {
  GstAllocator* allocator = new_allocator();
  allocator->mem_type = kPinnedMemoryType;
  reinterpret_cast<GstCudaTransformHostAllocator*>(allocator)->state = new PinnedState(device);
  return allocator;
}

void detach_pinned_allocator(GstAllocator* allocator) { state_of(allocator)->detach(); }

GstAllocator* ordinary_allocator() {
  // One for the process, like GStreamer's own: it has no state, and memory may outlive elements.
  static GstAllocator* const allocator = [] {
    GstAllocator* made = new_allocator();
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return allocator;
}

static Status pool_failed(const char* what, gsize bytes) {
  return Status::error(StatusCode::kFailed, std::string("failed to start a buffer pool for ") +
                                                what + " of " + std::to_string(bytes) + " bytes");
}

Status no_device_memory(const char* what, gsize bytes) {
  return Status::error(StatusCode::kOutOfMemory, std::string("no device memory for ") + what +
                                                     " of " + std::to_string(bytes) + " bytes");
}

static guint buffer_size(GstBufferPool* pool) {
  guint size = 0;
  const StructurePtr config(gst_buffer_pool_get_config(pool));
  gst_buffer_pool_config_get_params(config.get(), nullptr, &size, nullptr, nullptr);
  return size;
}

Status no_system_memory(const char* what, gsize bytes) {
  return Status::error(StatusCode::kOutOfMemory, std::string("no memory for ") + what + " of " +
                                                     std::to_string(bytes) + " bytes");
}

Status acquire_buffer(GstBufferPool* pool, const char* what, GstBuffer** buffer) {
  if (!pool) return Status::error(StatusCode::kFailed, std::string("no pool for ") + what);
  switch (gst_buffer_pool_acquire_buffer(pool, buffer, nullptr)) {
    case GST_FLOW_OK:
      return {};
    case GST_FLOW_FLUSHING:
      return Status::error(StatusCode::kCancelled,
                           std::string("pool for ") + what + " is flushing");
    default:
      return no_system_memory(what, buffer_size(pool));
  }
}

void promise_to_honor_fence(GstQuery* query) {
  gst_query_add_allocation_meta(query, GST_COEF_FENCE_API_TYPE, nullptr);
}

bool peers_honor_fence(GstQuery* query) {
  guint index = 0;
  if (!gst_query_find_allocation_meta(query, GST_COEF_FENCE_API_TYPE, &index)) return false;
  const GstStructure* params = nullptr;
  gst_query_parse_nth_allocation_meta(query, index, &params);
  return params == nullptr;
}

GstBuffer* new_system_buffer(gsize size) {
  GstAllocationParams params = aligned_params();
  return gst_buffer_new_allocate(ordinary_allocator(), size, &params);
}

guint pool_maximum(GstBuffer* buffer) {
  if (!buffer->pool) return 0;
  guint maximum = 0;
  const StructurePtr config(gst_buffer_pool_get_config(buffer->pool));
  gst_buffer_pool_config_get_params(config.get(), nullptr, nullptr, nullptr, &maximum);
  return maximum;
}

void keep_for_ever(gpointer object) {
  static GMutex lock;
  static GPtrArray* kept = nullptr;
  g_mutex_lock(&lock);
  if (!kept) kept = g_ptr_array_new();
  g_ptr_array_add(kept, object);
  g_mutex_unlock(&lock);
}

void clear_pool(Engine& engine, GstBufferPool** pool) {
  if (*pool && !engine.settle().ok()) keep_for_ever(std::exchange(*pool, nullptr));
  clear_pool(pool);
}

void clear_pool(GstBufferPool** pool) {
  if (!*pool) return;
  gst_buffer_pool_set_active(*pool, FALSE);
  gst_clear_object(pool);
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

Status make_system_pool(GstAllocator* allocator, gsize size, GstBufferPool** pool,
                        GstBufferPool* (*make)()) {
  clear_pool(pool);
  if (size > G_MAXUINT)
    return Status::error(StatusCode::kUnsupported, "frame of " + std::to_string(size) +
                                                       " bytes of coefficients is too large");
  PoolPtr made(make());
  GstStructure* config =
      system_config(made.get(), nullptr, size, 0, allocator ? allocator : ordinary_allocator());
  if (!gst_buffer_pool_set_config(made.get(), config) ||
      !gst_buffer_pool_set_active(made.get(), TRUE))
    return pool_failed("coefficients", size);
  *pool = made.release();
  return {};
}

static GstBufferPool* new_raw_pool([[maybe_unused]] Engine& engine, [[maybe_unused]] bool cuda) {
#if CT_HAVE_CUDA
  if (cuda) return gst_cuda_buffer_pool_new(engine.context());
#endif
  return gst_video_buffer_pool_new();
}

static bool fits([[maybe_unused]] Engine& engine, GstBufferPool* pool, bool cuda) {
  if (!pool || !cuda) return pool;
#if CT_HAVE_CUDA
  return GST_IS_CUDA_BUFFER_POOL(pool) && GST_CUDA_BUFFER_POOL(pool)->context == engine.context();
#else
  return false;
#endif
}

Status make_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, GstBufferPool** pool,
                     guint* maximum) {
  clear_pool(engine, pool);
  *maximum = 0;
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps))
    return Status::error(StatusCode::kInvalidArgument, "the output caps are not raw video");
  const bool cuda = has_cuda_memory(caps);
  if (cuda) CT_RETURN_IF_ERROR(engine.settle());
  const bool video_meta =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) || cuda;
  GstCudaContext* context = cuda ? engine.context() : nullptr;
  PeerOffer peer(query);
  // When a pool fails to start, GStreamer leaks the buffers that the pool has allocated. So we make
  // device memory, and buffers of our own pools, only when they are needed.
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
  allocation.has_params = !cuda;
  if (pinned || !allocation.allocator) {
    GstAllocator* ours = pinned ? engine.pinned_allocator() : ordinary_allocator();
    gst_object_replace(reinterpret_cast<GstObject**>(&allocation.allocator), GST_OBJECT(ours));
    allocation.params.align |= aligned_params().align;
  }
  *pool = new_raw_pool(engine, cuda);
  if (start_pool(*pool, caps, size, 0, 0, video_meta, allocation, context)) return {};
  clear_pool(engine, pool);
  if (cuda)
    return failed_allocation(engine.queue(QueueKind::kCompute), no_device_memory("frames", size));
  return pool_failed("frames", size);
}

// Upstream reconfigures the pool, with the first allocator of the answer and not the pool's: both
// are ours.
static void propose(GstQuery* query, GstBufferPool* pool, GstStructure* config,
                    GstAllocator* allocator) {
  const GstAllocationParams params = aligned_params();
  if (allocator) gst_query_add_allocation_param(query, allocator, &params);
  if (!gst_buffer_pool_set_config(pool, config)) return;
  // A pool may learn its size (pitch included) when it is configured.
  guint size = 0, min = 0;
  const StructurePtr configured(gst_buffer_pool_get_config(pool));
  gst_buffer_pool_config_get_params(configured.get(), nullptr, &size, &min, nullptr);
  gst_query_add_allocation_pool(query, pool, size, min, 0);
}

void propose_raw_pool(Engine& engine, GstQuery* query, GstCaps* caps, guint min_buffers) {
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) return;
  const bool cuda = has_cuda_memory(caps);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (cuda && (!engine.is_cuda() || !engine.settle().ok())) return;
  const PoolPtr owner(new_raw_pool(engine, cuda));
  GstBufferPool* pool = owner.get();
  GstAllocator* allocator = nullptr;
  GstStructure* config;
  if (!cuda) {
    allocator = engine.pinned_allocator() ? engine.pinned_allocator() : ordinary_allocator();
    // The pool itself offers VIDEO_ALIGNMENT; a peer that needs padding configures it.
    config = system_config(pool, caps, GST_VIDEO_INFO_SIZE(&info), min_buffers, allocator);
  } else {
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), min_buffers, 0);
    add_stream(config, engine.context());
  }
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  propose(query, pool, config, allocator);
}

void propose_coefficient_pool(Engine& engine, GstQuery* query, GstCaps* caps, gsize size,
                              guint min_buffers) {
  GstAllocator* allocator = engine.pinned_allocator();
  if (!allocator || has_cuda_memory(caps) || size > G_MAXUINT) return;
  const PoolPtr pool(gst_buffer_pool_new());
  propose(query, pool.get(), system_config(pool.get(), caps, size, min_buffers, allocator),
          allocator);
}

GstBufferPool* bounded_pool_new() {
  auto* pool = static_cast<GstBufferPool*>(g_object_new(bounded_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  return pool;
}

void bounded_pool_set_limit(GstBufferPool* pool, gsize limit) {
  BoundedPool* self = bounded(pool);
  self->limit = static_cast<gint64>(std::min(limit, static_cast<gsize>(G_MAXINT64)));
  // A returned buffer is freed if it exceeds the limit, so each need only be returned again.
  for (gint64 most = self->idle; most > 0 && self->idle > self->limit; most -= self->size) {
    GstBuffer* buffer = nullptr;
    if (self->size == 0 || gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK)
      break;
    gst_buffer_unref(buffer);
  }
}

gsize bounded_pool_idle(GstBufferPool* pool) {
  return static_cast<gsize>(std::max(gint64{0}, bounded(pool)->idle.load()));
}

}  // namespace cudatransform
