// Streams through cudadwt and cudaidwt: several readers of the same coefficients, and flushes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/dct8x8/branching.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr const char* kInverse = "cudaidwt ENGINE ! video/x-raw";

CHECK_TEST(test_branches) {
  for (const char* size : {"width=320,height=192", "width=70,height=46"})
    check_branches(source_of(size), "cudadwt ENGINE wavelet=dd97 quant-index=14",
                   {"video/x-dwt(ANY)", kInverse, "identity drop-allocation=true", kInverse});
}

// Both transforms in one pipeline, interleaved.
CHECK_TEST(test_beside_the_dct) {
  for (const char* size : {"width=320,height=192", "width=71,height=47"}) {
    check_branches(source_of(size), "cudadct8x8 ENGINE ! cudaidct8x8 ENGINE ! video/x-raw(ANY)",
                   {"cudadwt ENGINE levels=2 ! cudaidwt ENGINE ! video/x-raw",
                    "cudadct8x8 ENGINE ! cudaidct8x8 ENGINE ! video/x-raw",
                    "cudadwt ENGINE quant-index=20 ! video/x-dwt"});
  }
}

// Every sample comes back, except on the fake driver, which makes no pictures.
void check_equal(const GstVideoInfo& info, GstBuffer* in, GstBuffer* out) {
  const int difference = largest_difference(info, in, out);
  if (!is_deferred()) fail_unless_equals_int(difference, 0);
}

CHECK_TEST(test_flushes) {
  g_autoptr(GstHarness) h =
      new_harness(forward_dwt("async-depth=4") + " ! " + inverse_dwt("async-depth=4"));
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, video_caps(info));
  for (guint round = 0; round < 5; round++) {
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int(gst_harness_push(h, make_frame(info, i)), GST_FLOW_OK);
    push_flush(h);
    while (GstBuffer* old = gst_harness_try_pull(h)) gst_buffer_unref(old);
    g_autoptr(GstBuffer) in = make_frame(info, 100 + round);
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
    drain(h);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    check_equal(info, in, out);
  }
}

}  // namespace
