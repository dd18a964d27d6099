// A peer's offer of allocators and pools, and the start of a pool.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/peer_offer.h"

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/cuda_sync.h"

namespace cudatransform {

GstAllocationParams aligned_params() {
  constexpr gsize kAlignment = 64;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kAlignment - 1;
  return params;
}

Allocation::Allocation() {
  gst_allocation_params_init(&params);
  gst_video_alignment_reset(&alignment);
}

void Allocation::write_to(GstStructure* config) const {
  if (has_params) gst_buffer_pool_config_set_allocator(config, allocator, &params);
  if (!has_alignment) return;
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment(config, &alignment);
}

PeerOffer::PeerOffer(GstQuery* query) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  allocation.has_params = gst_query_get_n_allocation_params(query) > 0;
  if (allocation.has_params)
    gst_query_parse_nth_allocation_param(query, 0, &allocation.allocator, &allocation.params);
  if (!pool) return;
  const StructurePtr config(gst_buffer_pool_get_config(pool));
  allocation.has_alignment =
      gst_buffer_pool_config_has_option(config.get(), GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT) &&
      gst_buffer_pool_config_get_video_alignment(config.get(), &allocation.alignment);
}

static bool is_system_allocator(GstAllocator* allocator) {
  return !allocator || g_strcmp0(allocator->mem_type, GST_ALLOCATOR_SYSMEM) == 0;
}

bool PeerOffer::is_plain_memory() const {
  if (!is_system_allocator(allocation.allocator)) return false;
  if (!pool) return true;
  if (G_OBJECT_TYPE(pool) != GST_TYPE_BUFFER_POOL &&
      G_OBJECT_TYPE(pool) != GST_TYPE_VIDEO_BUFFER_POOL)
    return false;
  GstAllocator* allocator = nullptr;
  const StructurePtr config(gst_buffer_pool_get_config(pool));
  gst_buffer_pool_config_get_allocator(config.get(), &allocator, nullptr);
  return is_system_allocator(allocator);
}

bool start_pool(GstBufferPool* pool, GstCaps* caps, gsize size, guint min, guint max,
                bool video_meta, const Allocation& allocation, GstCudaContext* context) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  allocation.write_to(config);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (video_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (context) add_stream(config, context);
  if (!gst_buffer_pool_set_config(pool, config)) {
    // The pool may have adjusted the configuration to its abilities. That is good enough if its
    // buffers still meet our needs.
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, size, min, max)) {
      gst_structure_free(config);
      return false;
    }
    if (!gst_buffer_pool_set_config(pool, config)) return false;
  }
  return gst_buffer_pool_set_active(pool, TRUE);
}

}  // namespace cudatransform
