// jpegcoefdec gives up pictures that are no longer needed: after damage, on flushes and at the end.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

// A picture that takes long to decode: many scans of random quantized coefficients.
Bytes slow_picture(const char* properties) {
  const int side = quick() ? 256 : 720;
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_444, side, side);
  g_autoptr(GstHarness) h = encoder_harness(info, properties);
  return encode(h, make_qcoefs(info, 1));
}

const Bytes& slow() {
  static const Bytes picture = slow_picture("progressive=true arithmetic=true");
  return picture;
}

class Stopwatch {
 public:
  gint64 microseconds() const { return g_get_monotonic_time() - start_; }

 private:
  gint64 start_ = g_get_monotonic_time();
};

GstHarness* open_threads() { return open(std::string("n-threads=2 backend=") + backend()); }

// How long the picture takes undisturbed; with two threads push() only begins it.
gint64 whole_time(GstHarness* h) {
  const Bytes& picture = slow();  // making it takes long, too
  const Stopwatch watch;
  push(h, picture);
  finish(h);
  const gint64 time = watch.microseconds();
  expect(h, slow());
  push_flush(h);
  return time;
}

// Giving up takes less than half the time of decoding.
void check_given_up(gint64 time, gint64 whole) {
  if (!test_numbers()) return;
  fail_unless(time < whole / 2, "%d us, the whole %d us", int(time), int(whole));
}

CHECK_TEST(test_flush) {
  g_autoptr(GstHarness) h = open_threads();
  const gint64 whole = whole_time(h);
  push(h, slow());
  const Stopwatch watch;
  push_flush(h);
  const gint64 time = watch.microseconds();
  check_given_up(time, whole);
  expect_no_more(h);
  // The next picture is decoded.
  push(h, slow());
  finish(h);
  expect(h, slow());
  expect_no_more(h);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "jpegcoefdec");
  fail_unless_equals_uint64(stat_of(element, "damaged"), 0);
}

CHECK_TEST(test_stop) {
  g_autoptr(GstHarness) h = open_threads();
  const gint64 whole = whole_time(h);
  push(h, slow());
  const Stopwatch watch;
  gst_element_set_state(h->element, GST_STATE_READY);
  const gint64 time = watch.microseconds();
  check_given_up(time, whole);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  gst_harness_push_event(h, gst_event_new_stream_start("again"));
  g_autoptr(GstCaps) caps = gst_caps_from_string(kCaps);
  gst_harness_push_event(h, gst_event_new_caps(caps));
  push_segment(h);
  push(h, good());
  finish(h);
  expect(h, good());
}

GstPadProbeReturn flush_at_query(GstPad* pad, GstPadProbeInfo* probe, gpointer) {
  if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(probe)) == GST_QUERY_LATENCY)
    gst_pad_push_event(pad, gst_event_new_flush_start());
  return GST_PAD_PROBE_OK;
}

// The pushing thread decodes, and queries the latency just before its first picture: the flush
// begins in the middle of that query.
CHECK_TEST(test_flush_of_the_streaming_thread) {
  GstHarness* other = open(std::string("n-threads=1 backend=") + backend());
  const gint64 whole = whole_time(other);
  gst_harness_teardown(other);
  GstHarness* h = open(std::string("n-threads=0 backend=") + backend());  // live: one
  const auto queries = GST_PAD_PROBE_TYPE_QUERY_UPSTREAM | GST_PAD_PROBE_TYPE_PUSH;
  const gulong id = gst_pad_add_probe(h->srcpad, static_cast<GstPadProbeType>(queries),
                                      flush_at_query, nullptr, nullptr);
  const Stopwatch watch;
  fail_unless_equals_int(gst_harness_push(h, buffer_of(slow())), GST_FLOW_FLUSHING);
  const gint64 time = watch.microseconds();
  check_given_up(time, whole);
  gst_pad_remove_probe(h->srcpad, id);
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  push_segment(h);
  push(h, good());
  finish(h);
  expect(h, good());
  expect_no_more(h);
  gst_harness_teardown(h);
}

// The first of many scans is damaged. A decoder that drops the picture need not read the others.
CHECK_TEST(test_first_damage) {
  const Bytes whole = slow_picture("progressive=true");
  const Segment scan = segment_of(whole, 0xda);
  const gsize data = scan.begin + 4 + 2 * 3 + 4;  // behind the scan's header
  const Bytes jpeg = inserted(whole, data + 20, {0xff, 0xd0});
  gint64 time[2] = {G_MAXINT64, G_MAXINT64};  // the least of three: others may have the processor
  for (const bool conceal : {false, true, false, true, false, true}) {
    Decoder decoder(conceal ? "on-error=conceal" : "on-error=drop");
    decoder.push(good());
    const Stopwatch watch;
    fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
    time[conceal] = MIN(time[conceal], watch.microseconds());
    fail_unless_equals_uint64(decoder.stat("damaged"), 1);
    fail_unless_equals_int(decoder.count(), conceal ? 2 : 1);
    const std::string warning = decoder.message(GST_MESSAGE_WARNING);
    fail_unless(conceal || contains(warning, "Corrupt JPEG data"), "%s", warning.c_str());
  }
  check_given_up(time[0], time[1]);
}

}  // namespace
