// Which pool frames come from: the peer's if it needs its own memory, otherwise a page-locked pool
// of ours.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on a GPU and on the fake driver.
#include "tests/check/memory/pinnedpools.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// A pool of a special type stands for a peer that needs its own memory.
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
