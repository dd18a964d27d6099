// The pinned pools that elements propose upstream and take from, and how long their memory
// lives.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on a GPU and on the fake driver, whose counters are more detailed.

#include "tests/check/memory/pinnedpools.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// Frames in proposed memory, with a decoder's padding, give the bytes of frames in plain memory.
CHECK_TEST(test_padded_frames) {
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420_10LE}) {
    const GstVideoInfo info = video_info(format, 67, 46);
    GstHarness* h = harness_of(forward("async-depth=3") + " ! capsfilter caps=video/x-dct", info);
    GstVideoAlignment alignment;
    gst_video_alignment_reset(&alignment);
    alignment.padding_top = 16;
    alignment.padding_left = 32;
    alignment.padding_right = 13;
    alignment.padding_bottom = 5;
    for (guint& stride : alignment.stride_align) stride = 63;
    g_autoptr(GstCaps) caps = video_caps(info);
    GstBufferPool* pool = proposed_pool(h, caps, &alignment);
    std::vector<GstBuffer*> pushed;
    for (guint i = 0; i < 5; i++) {
      GstBuffer* in = frame_from(pool, info, i);
      fail_unless(is_pinned(in));
      const GstVideoMeta* meta = gst_buffer_get_video_meta(in);
      fail_unless(meta != nullptr);
      fail_unless(meta->offset[0] >= static_cast<gsize>(16 * meta->stride[0] + 32));
      GstMapInfo map;
      fail_unless(gst_buffer_map(in, &map, GST_MAP_READ));
      fail_unless(is_page_locked(map.data));
      fail_unless_equals_int(reinterpret_cast<guintptr>(map.data) % 64, 0);
      gst_buffer_unmap(in, &map);
      for (guint p = 0; p < meta->n_planes; p++) fail_unless_equals_int(meta->stride[p] % 64, 0);
      fail_unless_equals_int(gst_harness_push(h, in), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    g_autoptr(GstHarness) plain = harness_of(forward() + " ! capsfilter caps=video/x-dct", info);
    for (guint i = 0; i < 5; i++) {
      gst_harness_push(plain, make_frame(info, i));
      GstBuffer *a = gst_harness_pull(h), *b = gst_harness_pull(plain);
      fail_unless(is_pinned(a), "coefficients in plain memory");
      if (!is_fake() || is_deferred()) fail_unless(bytes_of(a) == bytes_of(b));
      gst_buffer_unref(a);
      gst_buffer_unref(b);
    }
    free_pool(pool);
    gst_harness_teardown(h);
  }
}

// The owner may not write to a buffer during its upload.
CHECK_TEST(test_inputs_are_held) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstHarness) h =
      harness_of(forward("async-depth=3") + " ! capsfilter caps=video/x-dct", info);
  g_autoptr(GstCaps) caps = video_caps(info);
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  g_autoptr(GstBuffer) in = frame_from(pool, info, 1);
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
  if (is_fake()) fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(in), 2);
  drain(h);
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(in), 1);
  free_pool(pool);
}

CHECK_TEST(test_coefficients_are_proposed_memory) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* f = harness_of(forward() + " ! capsfilter caps=video/x-dct", info);
  gst_harness_push(f, make_frame(info));
  GstBuffer* coefficients = gst_harness_pull(f);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(f->sinkpad);
  g_autoptr(GstHarness) h =
      gst_harness_new_parse((inverse() + " ! capsfilter caps=video/x-raw").c_str());
  gst_harness_set_src_caps(h, gst_caps_ref(caps));
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  GstBuffer* in = acquire(pool);
  fail_unless(is_pinned(in));
  fail_unless_equals_uint64(gst_buffer_get_size(in), gst_buffer_get_size(coefficients));
  const std::vector<guint8> bytes = bytes_of(coefficients);
  gst_buffer_fill(in, 0, bytes.data(), bytes.size());
  GstDctInfo dct;
  fail_unless(gst_dct_info_from_caps(&dct, caps, nullptr));
  const GstDctMeta* meta = gst_buffer_get_dct_meta(coefficients);
  GstDctMeta* own = gst_buffer_add_dct_meta(in, &dct);
  for (guint c = 0; c < meta->n_components; c++)
    own->components[c].table = meta->components[c].table;
  for (guint t = 0; t < meta->n_tables; t++) gst_dct_meta_set_table(own, t, meta->tables[t].values);
  for (GstBuffer* buffer : {coefficients, in}) {
    g_autoptr(GstBuffer) out = passed(h, buffer);
    fail_unless(is_pinned(out), "frames in plain memory");
  }
  free_pool(pool);
  gst_harness_teardown(f);
}

// Buffers, parts of them and pools outlive the element, and give everything back.
CHECK_TEST(test_memory_outlives_the_element) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h = harness_of(forward() + " ! capsfilter caps=video/x-dct", info);
  g_autoptr(GstCaps) caps = video_caps(info);
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  GstBuffer* in = frame_from(pool, info, 1);
  const std::vector<guint8> before = bytes_of(in);
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
  GstBuffer* out = gst_harness_pull(h);
  gst_harness_teardown(h);

  GstBuffer* part = gst_buffer_copy_region(in, GST_BUFFER_COPY_MEMORY, 64, 1000);
  fail_unless(is_pinned(part));
  GstBuffer* copy = gst_buffer_copy_deep(in);
  fail_unless(bytes_of(in) == before);
  fail_unless(bytes_of(copy) == before);
  fail_unless(!is_pinned(copy));
  // The pool still works, with ordinary memory.
  std::vector<GstBuffer*> late;
  do {
    late.push_back(acquire(pool));
    fail_unless_equals_uint64(gst_buffer_get_size(late.back()), info.size);
  } while (is_pinned(late.back()) && late.size() < 100);
  fail_unless(!is_pinned(late.back()));
  for (GstBuffer* buffer : late) gst_buffer_unref(buffer);
  gst_buffer_unref(in);
  fail_unless(bytes_of(part) == std::vector<guint8>(before.begin() + 64, before.begin() + 1064));
  GstBuffer* rest = gst_buffer_copy_region(part, GST_BUFFER_COPY_MEMORY, 100, 50);
  gst_buffer_unref(part);
  fail_unless(bytes_of(rest) == std::vector<guint8>(before.begin() + 164, before.begin() + 214));
  gst_buffer_unref(rest);
  gst_buffer_unref(copy);
  gst_buffer_unref(out);
  free_pool(pool);
}

// A source that allocates every frame, without a pool, does not lock pages for every frame.
CHECK_TEST(test_blocks_are_used_again) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstHarness) h = harness_of(forward() + " ! capsfilter caps=video/x-dct", info);
  g_autoptr(GstCaps) caps = video_caps(info);
  g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
  fail_unless(gst_pad_peer_query(h->srcpad, query));
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  int after_first = 0;
  for (int i = 0; i < 20; i++) {
    params.prefix = 16;
    params.padding = 32;
    params.flags =
        static_cast<GstMemoryFlags>(GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
    GstBuffer* buffer = gst_buffer_new_allocate(allocator, info.size, &params);
    fail_unless(is_pinned(buffer));
    gsize offset = 0, maxsize = 0;
    fail_unless_equals_uint64(gst_buffer_get_sizes(buffer, &offset, &maxsize), info.size);
    fail_unless_equals_uint64(offset, 16);
    fail_unless_equals_uint64(maxsize, info.size + 48);
    gst_buffer_memset(buffer, 0, 7, info.size);
    GstMapInfo map;
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
    fail_unless_equals_int(map.data[-1] + map.data[-16] + map.data[info.size], 0);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
    if (!is_fake()) continue;
    if (i == 0) after_first = counts().allocations;
    fail_unless_equals_int(counts().allocations, after_first);
  }
  gst_object_unref(allocator);
}

// Without pinned memory everything works with ordinary memory.
CHECK_TEST(test_no_page_locked_memory) {
  if (!is_fake()) return;
  g_setenv("FAKECUDA_MODE", "no-pinned", TRUE);
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstHarness) h =
      harness_of(forward("async-depth=3") + " ! video/x-dct ! " + inverse("async-depth=3") +
                     " ! capsfilter caps=video/x-raw",
                 info);
  g_autoptr(GstCaps) caps = video_caps(info);
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  for (guint i = 0; i < 6; i++) {
    GstBuffer* in = frame_from(pool, info, i);
    fail_unless(!is_pinned(in));
    fail_unless_equals_int(gst_harness_push(h, in), GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(gst_harness_buffers_received(h), 6);
  g_unsetenv("FAKECUDA_MODE");
  free_pool(pool);
}

}  // namespace

// Runs on a GPU and on the fake driver.

namespace {

using namespace testing;  // the helpers are half of every line here

// A pool of a special type represents a peer that needs its own memory.
struct SpecialPool {
  GstBufferPool parent;
};
struct SpecialPoolClass {
  GstBufferPoolClass parent_class;
};
GType special_pool_get_type();
G_DEFINE_TYPE(SpecialPool, special_pool, GST_TYPE_BUFFER_POOL)
void special_pool_class_init(SpecialPoolClass*) {}
void special_pool_init(SpecialPool*) {}

struct Peer {
  GstBufferPool* pool = nullptr;
  guint max = 0;
  bool alignment = false;
  guint align = 0;
};

GstPadProbeReturn answer(GstPad*, GstPadProbeInfo* info, gpointer data) {
  const auto* peer = static_cast<const Peer*>(data);
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo video;
  fail_unless(gst_video_info_from_caps(&video, caps));
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (peer->align) {
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = peer->align;
    gst_query_add_allocation_param(query, nullptr, &params);
  }
  if (peer->pool) {
    GstStructure* config = gst_buffer_pool_get_config(peer->pool);
    gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(video.size), 0, peer->max);
    if (peer->alignment) {
      GstVideoAlignment alignment;
      gst_video_alignment_reset(&alignment);
      alignment.padding_bottom = 20;
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
      gst_buffer_pool_config_set_video_alignment(config, &alignment);
    }
    fail_unless(gst_buffer_pool_set_config(peer->pool, config));
    gst_query_add_allocation_pool(query, peer->pool, static_cast<guint>(video.size), 0, peer->max);
  }
  return GST_PAD_PROBE_HANDLED;
}

// Frames from an inverse in front of such a peer, six of them.
std::vector<GstBuffer*> frames_for(Peer* peer, GstHarness** harness, int keep) {
  GstHarness* h =
      gst_harness_new_parse((forward() + " ! video/x-dct ! " + inverse("async-depth=4") +
                             " ! capsfilter caps=video/x-raw")
                                .c_str());
  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer, peer, nullptr);
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, video_caps(info));
  std::vector<GstBuffer*> out;
  for (guint i = 0; i < 6; i++) {
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, i)), GST_FLOW_OK);
    while (GstBuffer* buffer = gst_harness_try_pull(h)) {
      if (static_cast<int>(out.size()) < keep)
        out.push_back(buffer);
      else
        gst_buffer_unref(buffer);
    }
  }
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(gst_harness_buffers_received(h), 6);
  *harness = h;
  return out;
}

CHECK_TEST(test_peers_pool) {
  const struct {
    GType type;
    guint max, align;
    bool alignment, ours;
  } cases[] = {
      {G_TYPE_NONE, 0, 0, false, true},
      {G_TYPE_NONE, 0, 255, false, true},
      {GST_TYPE_VIDEO_BUFFER_POOL, 0, 0, false, true},
      {GST_TYPE_VIDEO_BUFFER_POOL, 2, 0, true, true},
      {GST_TYPE_BUFFER_POOL, 0, 0, false, true},
      {special_pool_get_type(), 0, 0, false, false},
      // The test keeps one buffer and the element another: frames in flight would stop the stream.
      {special_pool_get_type(), 2, 0, false, false},
  };
  for (const auto& c : cases) {
    Peer peer;
    if (c.type != G_TYPE_NONE)
      peer.pool = GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(c.type, nullptr)));
    peer.max = c.max;
    peer.align = c.align;
    peer.alignment = c.alignment;
    GstHarness* h = nullptr;
    std::vector<GstBuffer*> frames = frames_for(&peer, &h, 1);
    fail_unless_equals_int(is_pinned(frames[0]), c.ours);
    if (!c.ours) fail_unless(frames[0]->pool == peer.pool);
    if (c.alignment) fail_unless(gst_buffer_get_size(frames[0]) > 64 * 48 * 3 / 2, "no padding");
    GstMapInfo map;
    fail_unless(gst_buffer_map(frames[0], &map, GST_MAP_READ));
    if (c.align) fail_unless_equals_int(reinterpret_cast<guintptr>(map.data) & c.align, 0);
    fail_unless_equals_int(is_page_locked(map.data), c.ours);
    gst_buffer_unmap(frames[0], &map);
    gst_buffer_unref(frames[0]);
    gst_harness_teardown(h);
    gst_clear_object(&peer.pool);
  }
}

}  // namespace
