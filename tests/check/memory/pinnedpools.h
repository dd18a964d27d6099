// Helpers for tests of pinned memory: its detection, proposed pools, frames in it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/check/drivers/fakedriver.h"

namespace testing {

inline constexpr char kPinned[] = "CudaTransformPinnedMemory";

inline bool is_pinned(GstBuffer* buffer) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), kPinned);
}
// The driver's answer about it: only pinned memory is of type 1.
inline bool is_page_locked(const void* address) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto ask = reinterpret_cast<int (*)(unsigned, int*, void**, guintptr)>(
      dlsym(driver, "cuPointerGetAttributes"));
  unsigned type = 0;
  int attribute = 2;
  void* values[] = {&type};
  return ask(1, &attribute, values, reinterpret_cast<guintptr>(address)) == 0 && type == 1;
}
// On the fake driver everything is freed after each test of a program that includes this.
inline const bool kLooksAfterEachTest = [] {
  after_each_test = [] {
    if (is_fake()) check_clean();
  };
  return true;
}();

// The pool that the element proposes for `caps` (transfer full), configured with the padding of
// `alignment`, if any, and started.
inline GstBufferPool* proposed_pool(GstHarness* h, GstCaps* caps,
                                    const GstVideoAlignment* alignment) {
  g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
  fail_unless(gst_pad_peer_query(h->srcpad, query));
  fail_unless(gst_query_get_n_allocation_pools(query) > 0, "no pool");
  fail_unless(gst_query_get_n_allocation_params(query) > 0, "no allocator");
  GstBufferPool* pool = nullptr;
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  guint size = 0, min = 0, max = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  fail_unless_equals_string(allocator->mem_type, kPinned);
  fail_unless(params.align >= 63);
  fail_unless_equals_int(max, 0);
  // As decoders do.
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  if (alignment) {
    fail_unless(gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
    gst_buffer_pool_config_set_video_alignment(config, alignment);
  }
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  gst_object_unref(allocator);
  return pool;
}

// A frame like make_frame()'s in a buffer of the pool, with the buffer's own strides.
inline GstBuffer* frame_from(GstBufferPool* pool, const GstVideoInfo& info, guint seed) {
  GstBuffer *buffer = acquire(pool), *plain = make_frame(info, seed);
  copy_frame(info, plain, buffer);
  gst_buffer_unref(plain);
  return buffer;
}

}  // namespace testing
