// An element of a transform that the middle does not know: its frames, its bytes, its properties.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/middle/tiny_element.h"

#include <string>
#include <vector>

#include "tests/check/drivers/outcomes.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

// What the fake driver's kernels write is not what ours would.
bool computes() { return !testing::is_cuda(); }

std::string tiny(const std::string& properties) {
  return std::string("tinyxor backend=") + testing::backend() + " " + properties;
}

void check_frame(GstHarness* h, const GstVideoInfo& info, guint mask, guint seed) {
  GstBuffer* in = testing::make_frame(info, seed);
  GST_BUFFER_PTS(in) = seed * GST_SECOND;
  GstBuffer* out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
  fail_unless(out != nullptr);
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), seed * GST_SECOND);
  const auto visit = [](int, int before, int after, gpointer mask) {
    fail_unless_equals_int(after, before ^ GPOINTER_TO_INT(mask));
  };
  if (computes()) testing::visit_samples(info, in, out, visit, GINT_TO_POINTER(mask));
  gst_buffer_unref(in);
  gst_buffer_unref(out);
}

GST_START_TEST(test_bytes) {
  for (GstVideoFormat format :
       {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_GRAY8}) {
    for (const int depth : {1, 3}) {
      GstHarness* h = testing::new_harness(tiny("mask=85 async-depth=" + std::to_string(depth)));
      const GstVideoInfo info = testing::video_info(format, 75, 45);
      gst_harness_set_src_caps(h, testing::video_caps(info));
      if (depth == 1 || computes()) {
        check_frame(h, info, 85, 1);
        gst_harness_set(h, "tinyxor", "mask", 0x33, nullptr);
        check_frame(h, info, 0x33, 2);
      }
      testing::end_harness(h);
    }
  }
}
GST_END_TEST;

// Twice is once nothing: with several frames in flight, and measured.
GST_START_TEST(test_pipeline) {
  const std::string failed = testing::run_pipeline(
      "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=320,height=240 ! " +
      tiny("async-depth=4 measure=time ! ") + tiny("async-depth=4 measure=time ! ") + "fakesink");
  fail_unless(failed.empty(), "%s", failed.c_str());
}
GST_END_TEST;

GST_START_TEST(test_stats) {
  GstHarness* h = testing::new_harness(tiny("measure=time"));
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, testing::video_caps(info));
  check_frame(h, info, 0xff, 1);
  gst_harness_push_event(h, gst_event_new_eos());
  GstStructure* stats = nullptr;
  gst_harness_get(h, "tinyxor", "stats", &stats, nullptr);
  fail_unless(gst_structure_has_name(stats, "application/x-tinyxor-stats"));
  guint64 frames = 0;
  fail_unless(gst_structure_get_uint64(stats, "frames", &frames));
  fail_unless_equals_uint64(frames, 1);
  fail_if(gst_structure_has_field(stats, "method"));
  gst_structure_free(stats);
  testing::end_harness(h);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("tiny");
  TCase* tc = tcase_create("tiny");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_bytes);
  tcase_add_test(tc, test_pipeline);
  tcase_add_test(tc, test_stats);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::register_tiny_element();
  return testing::run(argc, argv, make_suite);
}
