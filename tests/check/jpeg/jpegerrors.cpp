// Nothing leaves jpegcoefdec and jpegcoefenc after an error, with any pictures in flight.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

constexpr guint kBad = 5;  // the sixth of
constexpr guint kPictures = 20;

// A stream with a bad picture, and the number of pictures that may be pushed after its error.
struct Stream {
  GstHarness* h;
  std::string name;
  GstBuffer* (*picture)(guint number, bool bad);
  GstEvent* (*caps)();
};

guint pushed(GstHarness* h) { return gst_harness_buffers_in_queue(h); }

// Drops the rest of the queue, which came before the error.
void expect_pictures(const Stream& stream, guint first, guint count) {
  fail_unless(pushed(stream.h) == count, "%s: %u pictures", stream.name.c_str(), pushed(stream.h));
  for (guint i = first; i < first + count; i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(stream.h);
    fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), i * kFrame);
  }
}

// The error comes at the bad picture or later, and stays.
void expect_nothing_behind(const Stream& stream) {
  GstFlowReturn flow = GST_FLOW_OK;
  guint i = 0;
  for (; i < kPictures && flow == GST_FLOW_OK; i++)
    flow = gst_harness_push(stream.h, stream.picture(i, i == kBad));
  // With more threads than pictures, no thread has decoded it yet.
  if (flow == GST_FLOW_OK) gst_harness_push_event(stream.h, stream.caps());
  for (; i < kPictures; i++) {
    flow = gst_harness_push(stream.h, stream.picture(i, false));
    fail_unless(flow < GST_FLOW_EOS, "%s: %s", stream.name.c_str(), gst_flow_get_name(flow));
  }
  gst_harness_push_event(stream.h, stream.caps());
  fail_unless(gst_harness_push(stream.h, stream.picture(i, false)) < GST_FLOW_EOS);
  gst_harness_push_event(stream.h, gst_event_new_eos());
  expect_pictures(stream, 0, kBad);
}

// A flush or a restart clears it.
void expect_all_well(const Stream& stream) {
  push_flush(stream.h);
  gst_harness_push_event(stream.h, stream.caps());
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int(gst_harness_push(stream.h, stream.picture(i, false)), GST_FLOW_OK);
  gst_harness_push_event(stream.h, gst_event_new_eos());
  expect_pictures(stream, 0, 3);
}

void run_stream(const Stream& stream) {
  expect_nothing_behind(stream);
  expect_all_well(stream);
  push_flush(stream.h);
  expect_nothing_behind(stream);
  gst_element_set_state(stream.h->element, GST_STATE_READY);
  gst_element_set_state(stream.h->element, GST_STATE_PLAYING);
  gst_harness_push_event(stream.h, gst_event_new_stream_start("again"));
  expect_all_well(stream);
  gst_harness_teardown(stream.h);
}

int rounds() { return quick() ? 2 : 10; }

// ---- jpegcoefdec ----

GstBuffer* jpeg_picture(guint number, bool bad) {
  static const Bytes broken = damaged(good());
  return buffer_of(bad ? broken : good(), number * kFrame);
}

// Others than before.
GstEvent* jpeg_caps() {
  static int rate = 25;
  const std::string text = "image/jpeg,framerate=" + std::to_string(++rate) + "/1";
  g_autoptr(GstCaps) caps = gst_caps_from_string(text.c_str());
  return gst_event_new_caps(caps);
}

CHECK_TEST(test_decoder) {
  for (const char* properties : {"on-error=fail", "max-errors=0", "max-errors=0 qos=false"})
    for (const char* threads : {"1", "4", "8", "64"})
      for (int round = 0; round < rounds(); round++) {
        const std::string line = std::string(properties) + " n-threads=" + threads;
        run_stream({open(line + " backend=" + backend()), line, jpeg_picture, jpeg_caps});
      }
}

// The bad picture is one that downstream refuses.
CHECK_TEST(test_refused_downstream) {
  const auto picture = [](guint number, bool bad) {
    static const Bytes other = make_jpeg(72, 48);
    return buffer_of(bad ? other : good(), number * kFrame);
  };
  for (const char* threads : {"1", "4", "8"})
    for (int round = 0; round < rounds(); round++) {
      const std::string line = std::string("on-error=fail n-threads=") + threads;
      GstHarness* h =
          open(line + " backend=" + backend() + " ! capsfilter caps=video/x-dct(ANY),width=64");
      run_stream({h, line, picture, jpeg_caps});
    }
}

// ---- jpegcoefenc ----

GstDctInfo info_of_frames() { return qcoefs_info(GST_COEF_SAMPLING_420, 64, 48); }

// A bad one has a quantized coefficient that no file can hold, which the threads find out.
GstBuffer* frame_of_qcoefs(guint number, bool bad) {
  const GstDctInfo info = info_of_frames();
  GstBuffer* buffer = numbered(info, number);
  if (bad) set_qcoef(info, buffer, 0, 0, 1, 1024);
  return buffer;
}

// A picture that contradicts its caps, which the element notices immediately.
GstBuffer* frame_without_meta(guint number, bool bad) {
  GstBuffer* buffer = numbered(info_of_frames(), number);
  if (bad) gst_buffer_remove_meta(buffer, &gst_buffer_get_dct_meta(buffer)->meta);
  return buffer;
}

GstEvent* qcoefs_caps() {
  static int rate = 25;
  GstDctInfo info = info_of_frames();
  info.fps_n = ++rate;
  info.fps_d = 1;
  g_autoptr(GstCaps) caps = gst_dct_info_to_caps(&info);
  return gst_event_new_caps(caps);
}

CHECK_TEST(test_encoder) {
  for (const char* threads : {"1", "4", "8", "64"})
    for (int round = 0; round < rounds(); round++) {
      const std::string line = std::string("n-threads=") + threads;
      for (auto* picture : {frame_of_qcoefs, frame_without_meta})
        run_stream({harness_with(line, info_of_frames()), line, picture, qcoefs_caps});
    }
}

}  // namespace
