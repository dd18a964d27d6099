// A buffer pool that limits its idle memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/bounded_pool.h"

#include <algorithm>
#include <atomic>
#include <new>

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

namespace cudatransform {

GstBufferPool* bounded_pool_new() {
  auto* pool = static_cast<GstBufferPool*>(g_object_new(bounded_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  return pool;
}

void bounded_pool_set_limit(GstBufferPool* pool, gsize limit) {
  BoundedPool* self = bounded(pool);
  self->limit = static_cast<gint64>(std::min(limit, static_cast<gsize>(G_MAXINT64)));
  // A returning buffer is freed if it is one too many, so each need only come back again.
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
