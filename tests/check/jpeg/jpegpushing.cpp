// When pictures leave jpegcoefdec: in order, as soon as they are finished, and none after an error
// or a refusal that upstream does not know of.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

// Pictures of one kind, so that none changes caps: one that is decoded immediately, ...
const Bytes& fast() {
  static const Bytes picture = make_jpeg(320, 320, Subsampling::k420);
  return picture;
}

// ... one that takes some milliseconds, ...
const Bytes& slow() {
  static const Bytes picture = [] {
    const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 320, 320);
    GstHarness* h = encoder_harness(info, "progressive=true arithmetic=true");
    const Bytes file = encode(h, make_qcoefs(info, 1));
    gst_harness_teardown(h);
    return file;
  }();
  return picture;
}

// ... one that ends too early, ...
Bytes damaged() { return cut(fast(), fast().size() / 2); }

// ... and one with extraneous bytes before EOI.
Bytes irregular() {
  Bytes jpeg = fast();
  jpeg.insert(jpeg.end() - 2, 0);
  return jpeg;
}

// The next picture, which must come without another input.
void expect_soon(Decoder& decoder, const Bytes& jpeg) { expect(decoder.harness(), jpeg); }

// Whether an error comes without another input.
bool fails(Decoder& decoder) {
  for (int i = 0; i < 10000; i++) {
    if (!decoder.message(GST_MESSAGE_ERROR).empty()) return true;
    g_usleep(1000);
  }
  return false;
}

CHECK_TEST(test_order) {
  Decoder decoder("n-threads=4");
  for (int i = 0; i < 4; i++) {
    decoder.push(slow());
    decoder.push(fast());
    decoder.push(irregular());
  }
  decoder.finish();
  for (int i = 0; i < 4; i++) {
    decoder.expect(slow());
    decoder.expect(fast());
    decoder.expect(fast());
  }
  expect_no_more(decoder.harness());
  fail_unless_equals_uint64(decoder.stat("frames"), 12);
  fail_unless_equals_uint64(decoder.stat("irregular"), 4);
}

CHECK_TEST(test_leaves_alone) {
  Decoder decoder("n-threads=4");
  decoder.push(slow());
  decoder.push(fast());
  expect_soon(decoder, slow());
  expect_soon(decoder, fast());
  decoder.push(slow());
  expect_soon(decoder, slow());
}

// An irregular picture ends a run of damaged ones.
CHECK_TEST(test_irregular_ends_a_run) {
  Decoder decoder("n-threads=3 max-errors=2");
  for (const Bytes& jpeg : {damaged(), damaged(), irregular(), damaged(), damaged()})
    fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
  decoder.finish();
  fail_unless_equals_int(decoder.messages(GST_MESSAGE_ERROR), 0);
  fail_unless_equals_int(decoder.count(), 1);
  fail_unless_equals_uint64(decoder.stat("dropped"), 4);
}

// The message about a damaged picture does not wait for the next picture, which the element refuses
// then. Pushes return the error until a flush.
CHECK_TEST(test_fails_alone) {
  Decoder decoder("n-threads=3 on-error=fail", "image/jpeg,framerate=25/1,parsed=true");
  decoder.push(damaged());
  fail_unless(fails(decoder));
  fail_unless_equals_int(decoder.push(fast()), GST_FLOW_ERROR);
  fail_unless_equals_int(decoder.push(fast()), GST_FLOW_ERROR);
  fail_unless_equals_int(decoder.count(), 0);
  push_flush(decoder.harness());
  fail_unless_equals_int(decoder.push(fast()), GST_FLOW_OK);
  expect_soon(decoder, fast());
  fail_unless_equals_int(decoder.messages(GST_MESSAGE_ERROR), 0);
}

std::atomic<int> refused;

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  refused++;
  return GST_FLOW_EOS;
}

// Upstream learns with its next picture, once, of downstream's answer to the other thread. False:
// the streaming thread got the answer itself, after being held up for too long.
bool is_refusal_told() {
  Decoder decoder("n-threads=3");
  refused = 0;
  GstPad* sink = decoder.harness()->sinkpad;
  GstPadChainFunction chain = GST_PAD_CHAINFUNC(sink);
  gst_pad_set_chain_function(sink, refuse);
  const GstFlowReturn flow = decoder.push(slow());
  if (flow == GST_FLOW_EOS) return false;
  fail_unless_equals_int(flow, GST_FLOW_OK);
  while (refused == 0) g_usleep(1000);
  gst_pad_set_chain_function(sink, chain);
  g_usleep(1000);
  fail_unless_equals_int(decoder.push(slow()), GST_FLOW_EOS);
  fail_unless_equals_int(decoder.push(fast()), GST_FLOW_OK);
  expect_soon(decoder, slow());
  expect_soon(decoder, fast());
  return true;
}

CHECK_TEST(test_refusal_is_told) {
  while (!is_refusal_told()) g_usleep(1000);
}

// The element stops while pictures are in flight, are being pushed, or have just left.
CHECK_TEST(test_stops_at_any_time) {
  for (gulong wait = 0; wait < 25000; wait += 500) {
    Decoder decoder("n-threads=3");
    decoder.push(slow());
    decoder.push(fast());
    g_usleep(wait);
  }
}

// Holds up the first caps until a flush has begun, and counts ALLOCATION queries. Caps from the
// streaming thread pass, because that thread is to flush.
struct Negotiation {
  const GThread* const streaming = g_thread_self();
  std::atomic<bool> has_caps = false, is_flushing = false;
  std::atomic<int> queries = 0;
};

GstPadProbeReturn watch(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* seen = static_cast<Negotiation*>(data);
  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
    const bool first = info->type & GST_PAD_PROBE_TYPE_PUSH;
    if (first && GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION)
      seen->queries++;
  } else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS &&
             g_thread_self() != seen->streaming) {
    seen->has_caps = true;
    while (!seen->is_flushing) g_usleep(1000);
  }
  return GST_PAD_PROBE_OK;
}

// If a flush kept downstream from answering, the element queries again after it. False: the
// streaming thread has negotiated, after being held up for too long.
bool is_asked_again() {
  Decoder decoder("n-threads=3");
  GstHarness* h = decoder.harness();
  Negotiation seen;
  gst_pad_add_probe(h->sinkpad,
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                 GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM),
                    watch, &seen, nullptr);
  decoder.push(slow());
  while (!seen.has_caps && decoder.count() == 0) g_usleep(1000);
  if (!seen.has_caps) return false;
  gst_harness_push_event(h, gst_event_new_flush_start());
  seen.is_flushing = true;
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  push_segment(h);
  fail_unless_equals_int(seen.queries, 0);
  decoder.push(fast());
  expect_soon(decoder, fast());
  fail_unless_equals_int(seen.queries, 1);
  return true;
}

CHECK_TEST(test_flush_while_negotiating) {
  while (!is_asked_again()) g_usleep(1000);
}

}  // namespace
