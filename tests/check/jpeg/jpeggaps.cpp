// Tests of gaps in the input of jpegcoefdec and cudaidct8x8: both pass on the same events as
// jpegdec, in the same order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

constexpr char kSized[] = "image/jpeg,width=64,height=48,framerate=25/1";

// Names of the element's output so far.
GstPadProbeReturn note(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* seen = static_cast<std::vector<std::string>*>(data);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER)
    seen->push_back("buffer");
  else
    seen->push_back(GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info)));
  return GST_PAD_PROBE_OK;
}

std::vector<std::string> log_of(const char* line, const char* caps,
                                void (*play)(GstHarness* harness)) {
  GstHarness* harness = gst_harness_new_parse(line);
  std::vector<std::string> seen;
  gst_pad_add_probe(
      harness->sinkpad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH | GST_PAD_PROBE_TYPE_BUFFER),
      note, &seen, nullptr);
  gst_harness_set_src_caps_str(harness, caps);
  play(harness);
  gst_harness_teardown(harness);
  return seen;
}

std::string text_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

void gap(GstHarness* harness, GstClockTime at) {
  gst_harness_push_event(harness, gst_event_new_gap(at, 40 * GST_MSECOND));
}

void push_sound(GstHarness* harness, GstClockTime at) { push(harness, make_jpeg(64, 48), at); }

// The same events and pictures come out as of jpegdec.
CHECK_TEST(test_as_jpegdec) {
  void (*const plays[])(GstHarness*) = {
      [](GstHarness* h) { gap(h, 0); },
      [](GstHarness* h) {
        gap(h, 0);
        gap(h, GST_SECOND);
        push_sound(h, 2 * GST_SECOND);
        finish(h);
      },
      [](GstHarness* h) {
        push_sound(h, 0);
        gap(h, GST_SECOND);
        push_sound(h, 2 * GST_SECOND);
        gap(h, 3 * GST_SECOND);
        finish(h);
      },
      [](GstHarness* h) {
        push_sound(h, 0);
        push_flush(h);
        gap(h, 0);
        push_sound(h, GST_SECOND);
        finish(h);
      },
      [](GstHarness* h) {
        gap(h, 0);
        push_flush(h);
        gap(h, 0);
        push_sound(h, GST_SECOND);
        finish(h);
      },
      [](GstHarness* h) {
        gap(h, 0);
        finish(h);
      },
  };
  if (require_element_or_skip("jpegdec") != 0) return;
  for (const char* caps : {kSized, "image/jpeg", "image/jpeg,parsed=true,width=64,height=48"}) {
    int number = 0;
    for (const auto play : plays) {
      const std::string theirs = text_of(log_of("jpegdec", caps, play));
      const std::string decoder = text_of(log_of("jpegcoefdec n-threads=1", caps, play));
      fail_unless_equals_string(decoder.c_str(), theirs.c_str());
      const std::string both =
          text_of(log_of("jpegcoefdec n-threads=1 ! cudaidct8x8 async-depth=1", caps, play));
      fail_unless(both == theirs, "%s, play %d: %s, not %s", caps, number, both.c_str(),
                  theirs.c_str());
      number++;
    }
  }
}

// The caps that a gap at the start makes.
std::string caps_of_gap(const std::string& line, const char* caps) {
  g_autoptr(GstHarness) harness = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps_str(harness, caps);
  gap(harness, 0);
  g_autoptr(GstCaps) found = current_caps(harness);
  fail_unless(found != nullptr, "%s, %s: no caps", line.c_str(), caps);
  const GstStructure* s = gst_caps_get_structure(found, 0);
  int width = 0, height = 0, n = 0, d = 0;
  gst_structure_get_int(s, "width", &width);
  gst_structure_get_int(s, "height", &height);
  gst_structure_get_fraction(s, "framerate", &n, &d);
  const char* sampling = gst_structure_get_string(s, "sampling");
  const char* colorimetry = gst_structure_get_string(s, "colorimetry");
  return std::to_string(width) + "x" + std::to_string(height) + " " + std::to_string(n) + "/" +
         std::to_string(d) + " " + (sampling ? sampling : "-") + " " +
         (colorimetry ? colorimetry : "-");
}

CHECK_TEST(test_caps_of_a_gap) {
  const std::string line = "jpegcoefdec";
  const struct {
    std::string line;
    const char* caps;
    const char* expected;
  } cases[] = {
      {line, kSized, "64x48 25/1 YCbCr-4:2:0 1:4:0:0"},
      {line, "image/jpeg", "1280x720 0/1 YCbCr-4:2:0 1:4:0:0"},
      {line, "image/jpeg,width=64,framerate=5/1", "64x720 5/1 YCbCr-4:2:0 1:4:0:0"},
      {line, "image/jpeg,width=9,height=7,sampling=GRAYSCALE", "9x7 0/1 GRAYSCALE -"},
      {line, "image/jpeg,width=9,height=7,sampling=RGB", "9x7 0/1 RGB -"},
      {line, "image/jpeg,width=9,height=7,sampling=none", "9x7 0/1 YCbCr-4:2:0 1:4:0:0"},
      // The element after it accepts these caps alone.
      {line + " ! capsfilter caps=\"video/x-dct,sampling=YCbCr-4:4:4\"", kSized,
       "64x48 25/1 YCbCr-4:4:4 1:4:0:0"},
      {line + " ! capsfilter caps=\"video/x-dct,width=32,height=24\"", "image/jpeg",
       "32x24 0/1 YCbCr-4:2:0 1:4:0:0"},
  };
  for (const auto& c : cases) {
    const std::string found = caps_of_gap(c.line, c.caps);
    fail_unless_equals_string(found.c_str(), c.expected);
  }
}

// The first picture has the last word.
CHECK_TEST(test_a_picture_that_differs) {
  const Bytes picture = make_jpeg(40, 30, Subsampling::k422);
  for (const char* threads : {"n-threads=1", "n-threads=4"}) {
    g_autoptr(GstHarness) harness = open(threads, kSized);
    gap(harness, 0);
    push(harness, picture, GST_SECOND);
    finish(harness);
    expect(harness, picture, GST_SECOND);
    expect_no_more(harness);
  }
}

// Pictures that are still in flight are pushed before a later gap.
CHECK_TEST(test_order_with_threads) {
  const std::string seen = text_of(log_of("jpegcoefdec n-threads=8", kSized, [](GstHarness* h) {
    const Bytes picture = make_jpeg(1600, 1200);
    for (int i = 0; i < 3; i++) push(h, picture, GstClockTime(i) * 40 * GST_MSECOND);
    gap(h, 120 * GST_MSECOND);
    push(h, picture, GST_SECOND);
    finish(h);
  }));
  fail_unless_equals_string(seen.c_str(),
                            "stream-start caps segment buffer buffer buffer gap buffer eos");
}

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return GST_FLOW_NOT_NEGOTIATED;
}

int errors_on(GstBus* bus) {
  return static_cast<int>(take_messages(bus, GST_MESSAGE_ERROR).size());
}

// The sender of an event does not learn of refused pictures before it. The next picture reports the
// refusal or, if none comes, an error at the end does, once.
CHECK_TEST(test_refused_before_a_gap) {
  for (const bool pushes_again : {false, true}) {
    GstHarness* harness = open("n-threads=4", kSized);
    const Messages bus(harness->element);
    gst_pad_set_chain_function(harness->sinkpad, refuse);
    const GstFlowReturn pushed = gst_harness_push(harness, buffer_of(make_jpeg(4000, 3000), 0));
    const bool is_reported = pushed != GST_FLOW_OK;  // the picture was finished immediately
    gap(harness, 40 * GST_MSECOND);
    fail_unless_equals_int(errors_on(bus), 0);
    if (pushes_again)
      fail_unless_equals_int(gst_harness_push(harness, buffer_of(make_jpeg(64, 48), GST_SECOND)),
                             GST_FLOW_NOT_NEGOTIATED);
    gst_harness_push_event(harness, gst_event_new_eos());
    fail_unless_equals_int(errors_on(bus), is_reported || pushes_again ? 0 : 1);
    gst_harness_teardown(harness);
  }
}

// Before the first picture the latency is unknown.
CHECK_TEST(test_latency) {
  g_autoptr(GstHarness) harness = open("n-threads=4", nullptr);
  gst_harness_set_live(harness, TRUE);
  gst_harness_set_src_caps_str(harness, kSized);
  gap(harness, 0);
  fail_unless_equals_uint64(gst_harness_query_latency(harness), 0);
  push_sound(harness, GST_SECOND);
  gst_buffer_unref(gst_harness_pull(harness));
  const GstClockTime latency = gst_harness_query_latency(harness);
  fail_unless(latency > 0 && latency <= 3 * 40 * GST_MSECOND, "%" GST_TIME_FORMAT,
              GST_TIME_ARGS(latency));
}

// A pipeline with a track that begins late prerolls, and pauses after a seek into the gap.
CHECK_TEST(test_preroll) {
  for (const char* tail : {"! cudaidct8x8", ""}) {
    g_autoptr(GstElement) pipeline =
        launch(std::string("appsrc name=a format=time caps=") + kSized + " ! jpegcoefdec " + tail +
               " ! fakesink name=s sync=true");
    g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "a");
    g_autoptr(GstPad) src = gst_element_get_static_pad(source, "src");
    // Held back, so that the gap comes instead of data.
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    g_autoptr(GstPad) sink = gst_pad_get_peer(src);
    g_autoptr(GstCaps) caps = gst_caps_from_string(kSized);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    std::vector<GstEvent*> events = {gst_event_new_stream_start("late"), gst_event_new_caps(caps),
                                     gst_event_new_segment(&segment),
                                     gst_event_new_gap(0, GST_SECOND)};
    // In a separate thread: the sink keeps the gap until it plays.
    struct Events {
      GstPad* sink;
      std::vector<GstEvent*>* events;
    } sent = {sink, &events};
    GThread* thread = g_thread_new(
        "gap",
        [](gpointer data) -> gpointer {
          auto* sent = static_cast<Events*>(data);
          for (GstEvent* event : *sent->events) gst_pad_send_event(sent->sink, event);
          return nullptr;
        },
        &sent);
    fail_unless_equals_int(gst_element_get_state(pipeline, nullptr, nullptr, 20 * GST_SECOND),
                           GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    g_thread_join(thread);
  }
}

// No later element takes coefficients: an error, as from other decoders, and no crash.
CHECK_TEST(test_no_caps_for_a_gap) {
  g_autoptr(GstHarness) harness = gst_harness_new("jpegcoefdec");
  const Messages bus(harness->element);
  gst_harness_set_sink_caps_str(harness, "video/x-raw");
  gst_harness_set_src_caps_str(harness, kSized);
  gap(harness, 0);
  const std::vector<Report> errors = take_messages(bus, GST_MESSAGE_ERROR);
  fail_unless(errors.size() == 1 && errors[0].domain == GST_STREAM_ERROR &&
              errors[0].code == GST_STREAM_ERROR_FORMAT);
}

}  // namespace
