// An element of a transform that the middle does not know: its frames, its bytes, its properties.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/middle/tiny_element.h"

#include <string>

#include "tests/check/drivers/outcomes.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// The fake driver's kernels write other bytes than ours would.
bool computes() { return !is_cuda(); }

std::string tiny(const std::string& properties) {
  return std::string("tinyxor backend=") + backend() + " " + properties;
}

void check_frame(GstHarness* h, const GstVideoInfo& info, guint mask, guint seed) {
  g_autoptr(GstBuffer) in = make_frame(info, seed);
  GST_BUFFER_PTS(in) = seed * GST_SECOND;
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
  fail_unless(out != nullptr);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), seed * GST_SECOND);
  const auto visit = [](int, int before, int after, gpointer mask) {
    fail_unless_equals_int(after, before ^ GPOINTER_TO_INT(mask));
  };
  if (computes()) visit_samples(info, in, out, visit, GINT_TO_POINTER(mask));
}

CHECK_TEST(test_bytes) {
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_GRAY8}) {
    for (const int depth : {1, 3}) {
      g_autoptr(GstHarness) h = new_harness(tiny("mask=85 async-depth=" + std::to_string(depth)));
      const GstVideoInfo info = video_info(format, 75, 45);
      gst_harness_set_src_caps(h, video_caps(info));
      if (depth == 1 || computes()) {
        check_frame(h, info, 85, 1);
        gst_harness_set(h, "tinyxor", "mask", 0x33, nullptr);
        check_frame(h, info, 0x33, 2);
      }
    }
  }
}

// Applied twice, it changes nothing: with several frames in flight, and measured.
CHECK_TEST(test_pipeline) {
  run_well("videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=320,height=240 ! " +
           tiny("async-depth=4 measure=time ! ") + tiny("async-depth=4 measure=time ! ") +
           "fakesink");
}

CHECK_TEST(test_stats) {
  g_autoptr(GstHarness) h = new_harness(tiny("measure=time"));
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, video_caps(info));
  check_frame(h, info, 0xff, 1);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstStructure) stats = nullptr;
  gst_harness_get(h, "tinyxor", "stats", &stats, nullptr);
  fail_unless(gst_structure_has_name(stats, "application/x-tinyxor-stats"));
  guint64 frames = 0;
  fail_unless(gst_structure_get_uint64(stats, "frames", &frames));
  fail_unless_equals_uint64(frames, 1);
  fail_if(gst_structure_has_field(stats, "method"));
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::register_tiny_element();
  return testing::run(argc, argv);
}
