// The number of the host's waits for the GPU: on the fake driver, which counts.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/memory/pinnedpools.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// One wait for a frame that the host has to wait for, none for one that it need not: raw frames in
// CUDA memory from GStreamer 1.24 on.
CHECK_TEST(test_waits) {
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
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  for (const auto& c : cases) {
    // Events happen soon, so that the element releases inputs without a wait, but not before a
    // frame's own wait has polled.
    g_setenv("FAKECUDA_LAG", "3", TRUE);
    GstHarness* h = harness_of(c.line, info);
    g_autoptr(GstCaps) caps = video_caps(info);
    GstBufferPool* pool = proposed_pool(h, caps, nullptr);
    int before = 0;
    for (guint i = 0; i < 30; i++) {
      if (i == 10) before = counts().waits;
      fail_unless_equals_int(gst_harness_push(h, frame_from(pool, info, i)), GST_FLOW_OK);
      while (GstBuffer* out = gst_harness_try_pull(h)) gst_buffer_unref(out);
    }
    const int waits = counts().waits - before;
    // Frames in flight may already be done.
    const bool exact = std::string(c.line).find("async-depth") == std::string::npos;
    fail_unless(exact ? waits == 20 * c.waits : waits <= 20 * c.waits, "%s: %d waits for 20 frames",
                c.line, waits);
    free_pool(pool);
    gst_harness_teardown(h);
    check_clean();
  }
  g_setenv("FAKECUDA_LAG", "1000000000", TRUE);
}

}  // namespace
