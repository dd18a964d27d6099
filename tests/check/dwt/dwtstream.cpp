// Streams through cudadwt and cudaidwt: states, several readers of the same coefficients, flushes
// and changes of everything between two frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>

#include "tests/check/dct8x8/branching.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

CHECK_TEST(test_states) {
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! " +
             forward_dwt("quant-index=9") + " ! " + inverse_dwt() + " ! fakesink");
  for (int round = 0; round < 2; round++) {
    for (GstState state : {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL,
                           GST_STATE_PAUSED, GST_STATE_PLAYING}) {
      fail_if(gst_element_set_state(pipeline, state) == GST_STATE_CHANGE_FAILURE);
      fail_unless(gst_element_get_state(pipeline, nullptr, nullptr, 10 * GST_SECOND) ==
                  GST_STATE_CHANGE_SUCCESS);
    }
    run_well(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
}

constexpr const char* kInverse = "cudaidwt ENGINE ! video/x-raw";

CHECK_TEST(test_branches) {
  for (const char* size : {"width=320,height=192", "width=70,height=46"})
    check_branches(source_of(size), "cudadwt ENGINE wavelet=dd97 quant-index=14",
                   {"video/x-dwt(ANY)", kInverse, "identity drop-allocation=true", kInverse});
}

// Both transforms in one pipeline, in turns.
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

// ---- Anything between any two frames ----

struct Geometry {
  GstVideoFormat format;
  int width, height;
};

constexpr Geometry kGeometries[] = {
    {GST_VIDEO_FORMAT_I420, 64, 48},     {GST_VIDEO_FORMAT_NV12, 70, 45},
    {GST_VIDEO_FORMAT_Y444, 33, 17},     {GST_VIDEO_FORMAT_GRAY8, 40, 24},
    {GST_VIDEO_FORMAT_GBR, 48, 32},      {GST_VIDEO_FORMAT_Y41B, 72, 16},
    {GST_VIDEO_FORMAT_I420, 1, 1},       {GST_VIDEO_FORMAT_I420_10LE, 64, 48},
    {GST_VIDEO_FORMAT_GRAY16_LE, 50, 20}};

constexpr const char* kWavelets[] = {"dd97",       "legall53", "dd137",  "haar",
                                     "haar-shift", "fidelity", "daub97", "j2k53"};

int frame_count() {
  const gchar* wanted = g_getenv("CUDATRANSFORM_SOAK_FRAMES");
  return wanted ? std::atoi(wanted) : quick() ? 200 : 2000;
}

class Soak {
 public:
  Soak() : h_(new_harness(forward_dwt("name=f") + " ! queue ! " + inverse_dwt("name=i"))) {
    dwt_ = gst_bin_get_by_name(GST_BIN(h_->element), "f");
    inverse_ = gst_bin_get_by_name(GST_BIN(h_->element), "i");
    change_geometry();
  }
  ~Soak() {
    gst_object_unref(dwt_);
    gst_object_unref(inverse_);
    end_harness(h_);
  }

  void step() {
    switch (random(16)) {
      case 0:
        change_geometry();
        break;
      case 1:
        // To the other filter by way of a pair that exists.
        gst_util_set_object_arg(G_OBJECT(dwt_), "wavelet-ho", "same");
        gst_util_set_object_arg(G_OBJECT(dwt_), "wavelet", kWavelets[random(8)]);
        break;
      case 2:
        g_object_set(dwt_, "levels", 1 + random(6), "levels-ho", random(5), nullptr);
        break;
      case 3:
        index_ = random(2) ? 0 : random(60);
        g_object_set(dwt_, "quant-index", index_, nullptr);
        break;
      case 4:
        g_object_set(dwt_, "keep-reference", random(2), "measure", random(8), nullptr);
        g_object_set(inverse_, "measure", random(8), nullptr);
        break;
      case 5:
        push_flush(h_);
        break;
      case 6:
        g_object_set(dwt_, "method", random(2), nullptr);
        g_object_set(inverse_, "method", random(2), nullptr);
        break;
      case 7:
        gst_harness_push_event(h_, gst_event_new_gap(0, GST_SECOND));
        break;
      default:
        break;
    }
    push();
  }

 private:
  guint random(guint n) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % n;
  }

  void change_geometry() {
    const Geometry& g = kGeometries[random(G_N_ELEMENTS(kGeometries))];
    info_ = video_info(g.format, g.width, g.height);
    gst_harness_set_sink_caps(h_, video_caps(info_));
    gst_harness_set_src_caps(h_, video_caps(info_));
  }

  // Every frame comes out, and unquantised frames come out unchanged.
  void push() {
    g_autoptr(GstBuffer) in = make_frame(info_, random(5));
    fail_unless_equals_int(gst_harness_push(h_, gst_buffer_ref(in)), GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_pull(h_);
    fail_unless(out != nullptr);
    if (index_ == 0) check_equal(info_, in, out);
  }

  GstHarness* h_;
  GstElement *dwt_, *inverse_;
  GstVideoInfo info_;
  guint index_ = 0;
  guint32 state_ = 20;
};

CHECK_TEST(test_soak) {
  Soak soak;
  for (int n = frame_count(); n > 0; n--) soak.step();
}

}  // namespace
