// The page-locked pools: what is proposed upstream, what is taken downstream, how long memory
// lives. SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on a GPU and on the fake driver, whose counters say more.
#include <string>
#include <vector>

#include "tests/check/fakedriver.h"

namespace {

using testing::forward;
using testing::inverse;

constexpr char kPinned[] = "CudaTransformPinnedMemory";

bool is_fake() { return testing::get_counts() != nullptr; }
bool is_pinned(GstBuffer* buffer) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), kPinned);
}
// What the driver says of it: only page-locked memory is of type 1.
bool is_page_locked(const void* address) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto ask = reinterpret_cast<int (*)(unsigned, int*, void**, guintptr)>(
      dlsym(driver, "cuPointerGetAttributes"));
  unsigned type = 0;
  int attribute = 2;
  void* values[] = {&type};
  return ask(1, &attribute, values, reinterpret_cast<guintptr>(address)) == 0 && type == 1;
}
void check_clean() {
  if (is_fake()) testing::check_clean();
}

// The pool that the element proposes for `caps` (transfer full), configured with the padding of
// `alignment`, if any, and started.
GstBufferPool* proposed_pool(GstHarness* h, GstCaps* caps, const GstVideoAlignment* alignment) {
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
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
  gst_query_unref(query);
  return pool;
}

GstBuffer* acquire(GstBufferPool* pool) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return buffer;
}

// A frame like make_frame()'s in a buffer of the pool, with the buffer's own strides.
GstBuffer* frame_from(GstBufferPool* pool, const GstVideoInfo& info, guint seed) {
  GstBuffer *buffer = acquire(pool), *plain = testing::make_frame(info, seed);
  GstVideoFrame from, to;
  fail_unless(gst_video_frame_map(&from, &info, plain, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&to, &info, buffer, GST_MAP_WRITE));
  fail_unless(gst_video_frame_copy(&to, &from));
  gst_video_frame_unmap(&from);
  gst_video_frame_unmap(&to);
  gst_buffer_unref(plain);
  return buffer;
}

void drain(GstHarness* h) {
  GstQuery* query = gst_query_new_drain();
  (void)gst_pad_peer_query(h->srcpad, query);
  gst_query_unref(query);
}

// Frames in the proposed memory, with a decoder's padding, give what frames in plain memory give.
GST_START_TEST(test_padded_frames) {
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420_10LE}) {
    const GstVideoInfo info = testing::video_info(format, 67, 46);
    GstHarness* h = gst_harness_new_parse(
        (forward("async-depth=3") + " ! capsfilter caps=video/x-dct").c_str());
    gst_harness_set_src_caps(h, testing::video_caps(info));
    GstVideoAlignment alignment;
    gst_video_alignment_reset(&alignment);
    alignment.padding_top = 16;
    alignment.padding_left = 32;
    alignment.padding_right = 13;
    alignment.padding_bottom = 5;
    for (guint& stride : alignment.stride_align) stride = 63;
    GstCaps* caps = testing::video_caps(info);
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
    GstHarness* plain =
        gst_harness_new_parse((forward() + " ! capsfilter caps=video/x-dct").c_str());
    gst_harness_set_src_caps(plain, testing::video_caps(info));
    for (guint i = 0; i < 5; i++) {
      gst_harness_push(plain, testing::make_frame(info, i));
      GstBuffer *a = gst_harness_pull(h), *b = gst_harness_pull(plain);
      fail_unless(is_pinned(a), "coefficients in plain memory");
      if (!is_fake()) fail_unless(testing::bytes_of(a) == testing::bytes_of(b));
      gst_buffer_unref(a);
      gst_buffer_unref(b);
    }
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
    gst_caps_unref(caps);
    gst_harness_teardown(h);
    gst_harness_teardown(plain);
    check_clean();
  }
}
GST_END_TEST;

// A buffer that is being uploaded is not its owner's yet.
GST_START_TEST(test_inputs_are_held) {
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h =
      gst_harness_new_parse((forward("async-depth=3") + " ! capsfilter caps=video/x-dct").c_str());
  gst_harness_set_src_caps(h, testing::video_caps(info));
  GstCaps* caps = testing::video_caps(info);
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  GstBuffer* in = frame_from(pool, info, 1);
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
  if (is_fake()) fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(in), 2);
  drain(h);
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(in), 1);
  gst_buffer_unref(in);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
  check_clean();
}
GST_END_TEST;

GST_START_TEST(test_coefficients_are_proposed_memory) {
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* f = gst_harness_new_parse((forward() + " ! capsfilter caps=video/x-dct").c_str());
  gst_harness_set_src_caps(f, testing::video_caps(info));
  gst_harness_push(f, testing::make_frame(info));
  GstBuffer* coefficients = gst_harness_pull(f);
  GstCaps* caps = gst_pad_get_current_caps(f->sinkpad);
  GstHarness* h = gst_harness_new_parse((inverse() + " ! capsfilter caps=video/x-raw").c_str());
  gst_harness_set_src_caps(h, gst_caps_ref(caps));
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  GstBuffer* in = acquire(pool);
  fail_unless(is_pinned(in));
  fail_unless_equals_uint64(gst_buffer_get_size(in), gst_buffer_get_size(coefficients));
  const std::vector<guint8> bytes = testing::bytes_of(coefficients);
  gst_buffer_fill(in, 0, bytes.data(), bytes.size());
  GstDctInfo dct;
  fail_unless(gst_dct_info_from_caps(&dct, caps));
  const GstDctMeta* meta = gst_buffer_get_dct_meta(coefficients);
  GstDctMeta* own = gst_buffer_add_dct_meta(in, &dct);
  for (guint c = 0; c < meta->n_components; c++)
    own->components[c].table = meta->components[c].table;
  for (guint t = 0; t < meta->n_tables; t++) gst_dct_meta_set_table(own, t, meta->tables[t].values);
  for (GstBuffer* buffer : {coefficients, in}) {
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
    GstBuffer* out = gst_harness_pull(h);
    fail_unless(is_pinned(out), "frames in plain memory");
    gst_buffer_unref(out);
  }
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_caps_unref(caps);
  gst_harness_teardown(f);
  gst_harness_teardown(h);
  check_clean();
}
GST_END_TEST;

// A pool of a type of its own stands for a peer that needs its memory.
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
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, testing::video_caps(info));
  std::vector<GstBuffer*> out;
  for (guint i = 0; i < 6; i++) {
    fail_unless_equals_int(gst_harness_push(h, testing::make_frame(info, i)), GST_FLOW_OK);
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

GST_START_TEST(test_peers_pool) {
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
      // One buffer is kept here, one is ours: frames in flight would stop the stream.
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
    check_clean();
  }
}
GST_END_TEST;

// Buffers, parts of them and pools live on after the element, and give everything back.
GST_START_TEST(test_memory_outlives_the_element) {
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h = gst_harness_new_parse((forward() + " ! capsfilter caps=video/x-dct").c_str());
  gst_harness_set_src_caps(h, testing::video_caps(info));
  GstCaps* caps = testing::video_caps(info);
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  GstBuffer* in = frame_from(pool, info, 1);
  const std::vector<guint8> before = testing::bytes_of(in);
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
  GstBuffer* out = gst_harness_pull(h);
  gst_harness_teardown(h);

  GstBuffer* part = gst_buffer_copy_region(in, GST_BUFFER_COPY_MEMORY, 64, 1000);
  fail_unless(is_pinned(part));
  GstBuffer* copy = gst_buffer_copy_deep(in);
  fail_unless(testing::bytes_of(in) == before);
  fail_unless(testing::bytes_of(copy) == before);
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
  fail_unless(testing::bytes_of(part) ==
              std::vector<guint8>(before.begin() + 64, before.begin() + 1064));
  GstBuffer* rest = gst_buffer_copy_region(part, GST_BUFFER_COPY_MEMORY, 100, 50);
  gst_buffer_unref(part);
  fail_unless(testing::bytes_of(rest) ==
              std::vector<guint8>(before.begin() + 164, before.begin() + 214));
  gst_buffer_unref(rest);
  gst_buffer_unref(copy);
  gst_buffer_unref(out);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_caps_unref(caps);
  check_clean();
}
GST_END_TEST;

// Who allocates for every frame, without a pool, does not lock pages for every frame.
GST_START_TEST(test_blocks_are_used_again) {
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h = gst_harness_new_parse((forward() + " ! capsfilter caps=video/x-dct").c_str());
  gst_harness_set_src_caps(h, testing::video_caps(info));
  GstCaps* caps = testing::video_caps(info);
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
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
    if (i == 0) after_first = testing::counts().allocations;
    fail_unless_equals_int(testing::counts().allocations, after_first);
  }
  gst_object_unref(allocator);
  gst_query_unref(query);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
  check_clean();
}
GST_END_TEST;

// Where no page can be locked, everything works with ordinary memory.
GST_START_TEST(test_no_page_locked_memory) {
  if (!is_fake()) return;
  g_setenv("FAKECUDA_MODE", "no-pinned", TRUE);
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h =
      gst_harness_new_parse((forward("async-depth=3") + " ! video/x-dct ! " +
                             inverse("async-depth=3") + " ! capsfilter caps=video/x-raw")
                                .c_str());
  gst_harness_set_src_caps(h, testing::video_caps(info));
  GstCaps* caps = testing::video_caps(info);
  GstBufferPool* pool = proposed_pool(h, caps, nullptr);
  for (guint i = 0; i < 6; i++) {
    GstBuffer* in = frame_from(pool, info, i);
    fail_unless(!is_pinned(in));
    fail_unless_equals_int(gst_harness_push(h, in), GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(gst_harness_buffers_received(h), 6);
  g_unsetenv("FAKECUDA_MODE");
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_caps_unref(caps);
  gst_harness_teardown(h);
  check_clean();
}
GST_END_TEST;

// One wait for a frame that the host has to wait for, none for one that it need not: from GStreamer
// 1.24 on, raw frames in CUDA memory are such.
GST_START_TEST(test_waits) {
  if (!is_fake()) return;
  constexpr int kRawFrame = GST_CHECK_VERSION(1, 23, 1) ? 0 : 1;
  const struct {
    const char* line;
    int waits;
  } cases[] = {
      {"cudadct8x8 ! cudaidct8x8 ! capsfilter caps=video/x-raw(memory:CUDAMemory)", kRawFrame},
      {"cudadct8x8 async-depth=3 ! cudaidct8x8 async-depth=3 ! capsfilter "
       "caps=video/x-raw(memory:CUDAMemory)",
       kRawFrame},
      {"cudadct8x8 measure=psnr+time+zeros post-messages=true ! cudaidct8x8 measure=psnr+time ! "
       "capsfilter caps=video/x-raw(memory:CUDAMemory)",
       kRawFrame},
      {"cudadct8x8 ! cudaidct8x8 ! capsfilter caps=video/x-raw", 1},
      {"cudadct8x8 ! capsfilter caps=video/x-dct", 1},
      {"cudadct8x8 ! video/x-dct ! cudaidct8x8 ! capsfilter caps=video/x-raw(memory:CUDAMemory)",
       1 + kRawFrame},
  };
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  for (const auto& c : cases) {
    // Events happen soon, so that inputs are let go of without a wait.
    g_setenv("FAKECUDA_LAG", "1", TRUE);
    GstHarness* h = gst_harness_new_parse(c.line);
    gst_harness_set_src_caps(h, testing::video_caps(info));
    GstCaps* caps = testing::video_caps(info);
    GstBufferPool* pool = proposed_pool(h, caps, nullptr);
    int before = 0;
    for (guint i = 0; i < 30; i++) {
      if (i == 10) before = testing::counts().waits;
      fail_unless_equals_int(gst_harness_push(h, frame_from(pool, info, i)), GST_FLOW_OK);
      while (GstBuffer* out = gst_harness_try_pull(h)) gst_buffer_unref(out);
    }
    const int waits = testing::counts().waits - before;
    // Frames in flight may turn out to be done.
    const bool exact = std::string(c.line).find("async-depth") == std::string::npos;
    fail_unless(exact ? waits == 20 * c.waits : waits <= 20 * c.waits, "%s: %d waits for 20 frames",
                c.line, waits);
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
    gst_caps_unref(caps);
    gst_harness_teardown(h);
    check_clean();
  }
  g_setenv("FAKECUDA_LAG", "1000000000", TRUE);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("pinnedpools");
  TCase* tc = tcase_create("pinnedpools");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_padded_frames);
  tcase_add_test(tc, test_inputs_are_held);
  tcase_add_test(tc, test_coefficients_are_proposed_memory);
  tcase_add_test(tc, test_peers_pool);
  tcase_add_test(tc, test_memory_outlives_the_element);
  tcase_add_test(tc, test_blocks_are_used_again);
  tcase_add_test(tc, test_no_page_locked_memory);
  tcase_add_test(tc, test_waits);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
