// cudadiracdec in a harness: bytes in pieces of any size, threads, states, flushes, consecutive
// streams, refusals, and statistics.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The streams are in the test data; vectors_test.py compares their frames' digests.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// Predicted pictures of odd size; fields; slices of high quality in fragments; low delay ones.
constexpr const char* kPredicted = "p10_oddsize_420_qpel";
constexpr const char* kFields = "p11_field_sch";
constexpr const char* kFragments = "v10_hqcbr_fragments";
constexpr const char* kLowDelay = "v09_ld_legall_d3";
constexpr const char* kAll[] = {kPredicted, kFields, kFragments, kLowDelay};

std::string path_of(const std::string& name) {
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  return std::string(data ? data : "") + "/dirac/" + name + ".drc";
}

Bytes read(const std::string& name) {
  g_autofree gchar* text = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(path_of(name).c_str(), &text, &size, nullptr));
  Bytes bytes(text, text + size);
  return bytes;
}

std::string decoder(const std::string& properties = "") {
  return std::string("cudadiracdec backend=") + backend() + " " + properties;
}

// A stream of bytes without times, as filesrc makes it.
void begin(GstHarness* h) {
  gst_harness_push_event(h, gst_event_new_stream_start("dirac"));
  g_autoptr(GstCaps) caps = gst_caps_new_empty_simple("video/x-dirac");
  gst_harness_push_event(h, gst_event_new_caps(caps));
  push_segment(h, GST_FORMAT_BYTES);
}

GstHarness* open(const std::string& properties = "") {
  GstHarness* h = new_harness(decoder(properties));
  gst_harness_set_sink_caps_str(h, "video/x-raw");
  gst_harness_add_propose_allocation_meta(h, GST_VIDEO_META_API_TYPE, nullptr);
  begin(h);
  return h;
}

void push(GstHarness* h, const Bytes& stream, gsize piece = 4096) {
  for (const Bytes& part : in_pieces(stream, piece))
    fail_unless_equals_int(gst_harness_push(h, buffer_of(part)), GST_FLOW_OK);
}

// The samples of all output. Caps change before their first frame.
Frames pull(GstHarness* h) {
  Frames frames;
  while (GstBuffer* buffer = gst_harness_try_pull(h)) {
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    fail_unless(meta != nullptr);
    const GstVideoInfo info = video_info(meta->format, int(meta->width), int(meta->height));
    g_autoptr(GstCaps) caps = video_caps(info);
    frames.push_back(samples_of(buffer, caps));
    gst_buffer_unref(buffer);
  }
  return frames;
}

Frames finish(GstHarness* h) {
  gst_harness_push_event(h, gst_event_new_eos());
  return pull(h);
}

// The output of one thread for a stream in one buffer, which is decoded once.
Frames expected_of(const Bytes& stream) {
  static std::map<Bytes, Frames> known;
  if (const auto found = known.find(stream); found != known.end()) return found->second;
  const DoneAtOnce at_once;
  g_autoptr(GstHarness) h = open("n-threads=1");
  push(h, stream, stream.size());
  return known[stream] = finish(h);
}

guint64 stat(GstHarness* h, const char* name) {
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudadiracdec");
  return stat_of(element, name);
}

// -1: not measured.
// -1 for GST_CLOCK_TIME_NONE.
gint64 time_stat(GstHarness* h, const std::string& name) {
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudadiracdec");
  g_autoptr(GstStructure) stats = stats_of(element);
  guint64 value = 12345;
  fail_unless(gst_structure_get_uint64(stats, name.c_str(), &value), "%s", name.c_str());
  return static_cast<gint64>(value);
}

CHECK_TEST(test_pieces_and_threads) {
  for (const char* name : kAll) {
    const Bytes stream = read(name);
    const Frames expected = expected_of(stream);
    for (const int threads : {1, 2, 7, 0}) {
      for (const gsize piece : {gsize{13}, gsize{997}, gsize{60000}}) {
        // Slow tools detect deadlocks here.
        if (quick() && piece != (threads == 2 ? 60000 : threads == 7 ? 997 : 0)) continue;
        const std::string property = "n-threads=" + std::to_string(threads);
        g_autoptr(GstHarness) h = open(property);
        push(h, stream, piece);
        compare(expected, finish(h), std::string(name) + ", " + property);
      }
    }
  }
}

// The element skips bytes outside units: before the stream, between streams and after them.
CHECK_TEST(test_bytes_between_units) {
  if (only_threads()) return;
  const Bytes stream = read(kPredicted), noise = {'B', 'B', 'C', 0, 'B', 'B', 'C', 'D', 7, 1, 2};
  const Frames expected = expected_of(joined({stream, stream}));
  g_autoptr(GstHarness) h = open();
  for (const Bytes* part : {&noise, &stream, &noise, &stream, &noise}) push(h, *part);
  compare(expected, finish(h), "noise between sequences");
}

// A unit without data, but with distances.
Bytes padding(guint32 next, guint32 previous) {
  Bytes unit = {'B', 'B', 'C', 'D', 0x30};
  for (const guint32 distance : {next, previous})
    for (int shift = 24; shift >= 0; shift -= 8)
      unit.push_back(static_cast<guint8>(distance >> shift));
  return unit;
}

// A unit that claims to be longer than all further bytes, and small ones after it: millions of
// bytes. The element takes no longer than it must, and finds the units after them.
CHECK_TEST(test_claims) {
  if (only_threads()) return;
  const Bytes stream = read(kLowDelay), small = padding(13, 13);
  Bytes many = padding(0x0fffffff, 0);
  while (many.size() < (quick() ? 1000000 : 8000000))
    many.insert(many.end(), small.begin(), small.end());
  const Bytes claims = joined({stream, many, stream});
  const Frames expected = expected_of(joined({stream, stream}));
  for (const gsize piece : {gsize{4096}, claims.size()}) {
    g_autoptr(GstHarness) h = open();
    push(h, claims, piece);
    compare(expected, finish(h), "behind units that claim to be large");
  }
}

// Each size has separate caps.
CHECK_TEST(test_streams_behind_each_other) {
  Frames expected;
  Bytes stream;
  for (int turn = 0; turn < 2; turn++) {
    for (const char* name : kAll) {
      const Bytes next = read(name);
      stream = joined({stream, next});
      for (const auto& frame : expected_of(next)) expected.push_back(frame);
    }
  }
  g_autoptr(GstHarness) h = open();
  push(h, stream);
  compare(expected, finish(h), "streams of four sizes");
}

CHECK_TEST(test_states) {
  const Bytes stream = read(kPredicted);
  const Frames expected = expected_of(stream);
  g_autoptr(GstHarness) h = open("n-threads=3");
  for (const GstState down : {GST_STATE_READY, GST_STATE_NULL, GST_STATE_READY}) {
    // In the middle of a picture, while others are in flight.
    push(h, cut(stream, stream.size() / 2));
    gst_element_set_state(h->element, down);
    pull(h);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    fail_unless_equals_uint64(stat(h, "pictures"), 0);
    begin(h);
  }
  push(h, stream);
  compare(expected, finish(h), "started again");
}

CHECK_TEST(test_flush) {
  const Bytes stream = read(kFields);
  const Frames expected = expected_of(stream);
  for (const char* threads : {"n-threads=1", "n-threads=4"}) {
    g_autoptr(GstHarness) h = open(threads);
    for (const gsize parts : {gsize{2}, gsize{3}, gsize{5}}) {
      push(h, cut(stream, stream.size() / parts));
      push_flush(h, GST_FORMAT_BYTES);
      pull(h);
    }
    push(h, stream);
    compare(expected, finish(h), threads);
  }
}

// After the query no picture is in flight. One thread leaves none: frames that wait for their turn
// still do.
CHECK_TEST(test_drain_query) {
  const DoneAtOnce at_once;
  for (const char* name : kAll) {
    const Bytes stream = read(name);
    g_autoptr(GstHarness) one = open("n-threads=1");
    push(one, stream);
    g_autoptr(GstHarness) h = open("n-threads=4");
    push(h, stream);
    drain(h);
    fail_unless_equals_int(gst_harness_buffers_received(h), gst_harness_buffers_received(one));
    compare(expected_of(stream), finish(h), name);
  }
}

// An application may keep frames for as long as it likes.
CHECK_TEST(test_frames_outlive_the_element) {
  const Bytes stream = read(kFields);
  const Frames expected = expected_of(stream);
  GstHarness* h = open();
  push(h, stream);
  gst_harness_push_event(h, gst_event_new_eos());
  std::vector<GstBuffer*> kept;
  while (GstBuffer* buffer = gst_harness_try_pull(h)) kept.push_back(buffer);
  g_autoptr(GstCaps) caps = current_caps(h);
  end_harness(h);
  Frames frames;
  for (GstBuffer* buffer : kept) {
    frames.push_back(samples_of(buffer, caps));
    gst_buffer_unref(buffer);
  }
  compare(expected, frames, "kept");
}

CHECK_TEST(test_statistics) {
  for (const char* name : kAll) {
    const Bytes stream = read(name);
    g_autoptr(GstHarness) h = open();
    for (const char* stage :
         {"motion-decode", "residual-decode", "wavelet", "upsample", "motion-render"})
      for (const char* figure : {"-time", "-time-mean"})
        fail_unless_equals_int64(time_stat(h, std::string(stage) + figure), -1);
    push(h, stream);
    const Frames frames = finish(h);
    const guint64 pictures = stat(h, "pictures");
    fail_unless_equals_uint64(stat(h, "frames"), frames.size());
    fail_unless_equals_uint64(pictures, frames.size() * (name == std::string(kFields) ? 2 : 1));
    fail_unless_equals_uint64(stat(h, "cuda-pictures"), is_cuda() ? pictures : 0);
    fail_unless(stat(h, "bytes") > stream.size() / 2 && stat(h, "bytes") <= stream.size());
    for (const char* none : {"damaged", "dropped", "late", "lost-units"})
      fail_unless_equals_uint64(stat(h, none), 0);
    for (const char* stage : {"residual-decode-time", "wavelet-time"}) {
      fail_unless(stat(h, (std::string(stage) + "-sum").c_str()) > 0, "%s of %s", stage, name);
      fail_unless(time_stat(h, std::string(stage) + "-mean") >= 0, "%s of %s", stage, name);
    }
  }
}

// A picture that ends too early is shown as far as it goes, dropped, or an error.
CHECK_TEST(test_cut_off) {
  const Bytes stream = read(kLowDelay);
  const Bytes damaged = joined({cut(stream, stream.size() / 2), stream});
  const gsize whole = expected_of(stream).size();
  for (const char* on_error : {"on-error=conceal", "on-error=drop"}) {
    g_autoptr(GstHarness) h = open(on_error);
    push(h, damaged);
    const Frames frames = finish(h);
    fail_unless(frames.size() >= whole, "%s: %d frames", on_error, int(frames.size()));
    fail_unless(stat(h, "damaged") + stat(h, "lost-units") > 0);
    fail_unless_equals_uint64(stat(h, "frames"), frames.size());
  }
}

std::string play_one(const std::string& properties, const Bytes& stream) {
  GstCaps* caps = gst_caps_new_empty_simple("video/x-dirac");
  return push_one(decoder(properties + " n-threads=1"), caps, buffer_of(stream));
}

CHECK_TEST(test_refusals) {
  if (only_threads()) return;
  const Bytes stream = read(kPredicted);
  fail_unless(play_one("", stream).empty());
  expect(play_one("max-samples=1000", stream), {"1000"});
  Bytes future = stream;  // a sequence header of an unknown version
  future[13] = 0x01;
  future[14] = 0x01;
  const std::string text = play_one("on-error=fail", future);
  fail_unless(!text.empty(), "a version that does not exist was taken");
}

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return GST_FLOW_NOT_NEGOTIATED;
}

// The sequence header and the first picture without its last byte: it ends where the stream does.
Bytes first_picture(const Bytes& stream) {
  constexpr guint8 kPrefix[] = {'B', 'B', 'C', 'D'};
  auto at = stream.begin();
  for (int unit = 0; unit < 2; ++unit)
    at = std::search(at + 1, stream.end(), std::begin(kPrefix), std::end(kPrefix));
  return {stream.begin(), at - 1};
}

// A refusal that results from an event is an error at the end of the stream, once.
CHECK_TEST(test_refused_at_events) {
  const Bytes stream = first_picture(read(kLowDelay));
  for (const char* threads : {"n-threads=1", "n-threads=4"}) {
    for (const bool has_segment : {false, true}) {
      GstHarness* h = open(threads);
      const Messages bus(h->element);
      gst_pad_set_chain_function(h->sinkpad, refuse);
      push(h, stream);
      if (has_segment) push_segment(h, GST_FORMAT_BYTES);
      fail_unless(take_messages(bus, GST_MESSAGE_ERROR).empty());
      gst_harness_push_event(h, gst_event_new_eos());
      fail_unless(take_messages(bus, GST_MESSAGE_ERROR).size() == 1,
                  "%s, %s: not once said that frames were refused", threads,
                  has_segment ? "a segment before the end" : "the end");
      end_harness(h);
    }
  }
}

// A sequence that downstream refuses after one that it accepts: damage, and no new caps.
CHECK_TEST(test_refused_sequence_in_the_middle) {
  if (only_threads()) return;
  const Bytes first = read(kPredicted), other = read(kFragments);
  const Frames expected = expected_of(joined({first, first}));
  const guint64 refused = expected_of(other).size();
  g_autoptr(GstHarness) probe = open();
  push(probe, first);
  (void)finish(probe);
  g_autoptr(GstCaps) caps = current_caps(probe);
  for (const bool fails : {false, true}) {
    GstHarness* h = open(fails ? "on-error=fail" : "on-error=conceal");
    gst_harness_set_sink_caps(h, gst_caps_ref(caps));
    const Messages bus(h->element);
    GstFlowReturn flow = GST_FLOW_OK;
    for (const Bytes& stream : {first, other, first})
      if (flow == GST_FLOW_OK) flow = gst_harness_push(h, buffer_of(stream));
    const Frames frames = finish(h);
    if (fails) {
      expect(take_text(bus, GST_MESSAGE_ERROR), {"the video is", "downstream accepts"});
    } else {
      compare(expected, frames, "a refused sequence in between");
      fail_unless_equals_int(int(take_messages(bus, GST_MESSAGE_WARNING).size()), 1);
      fail_unless_equals_uint64(stat(h, "dropped"), refused);
    }
    end_harness(h);
  }
  GstHarness* h = open();
  gst_harness_set_sink_caps(h, gst_caps_ref(caps));
  const Messages bus(h->element);
  (void)gst_harness_push(h, buffer_of(other));
  (void)finish(h);
  expect(take_text(bus, GST_MESSAGE_ERROR), {"the video is", "downstream accepts"});
  end_harness(h);
}

// The error of a stream under this memory limit; "" where the limit suffices, and then the frames.
std::string error_within(guint64 bytes, const Bytes& stream, Frames* frames) {
  g_autoptr(GstHarness) h = open("n-threads=2 max-memory=" + std::to_string(bytes));
  const Messages bus(h->element);
  GstFlowReturn flow = GST_FLOW_OK;
  for (const Bytes& part : in_pieces(stream, 4096))
    if (flow == GST_FLOW_OK) flow = gst_harness_push(h, buffer_of(part));
  if (flow == GST_FLOW_OK) *frames = finish(h);
  std::string error;
  for (const Report& reported : take_messages(bus, GST_MESSAGE_ERROR)) {
    error = reported.text;
    fail_unless(flow == GST_FLOW_ERROR);
    fail_unless(reported.domain == GST_RESOURCE_ERROR &&
                reported.code == GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  }
  return error;
}

// Every limit ends in an error that names it and says what is missing, or in all frames.
CHECK_TEST(test_memory) {
  if (only_threads()) return;
  const DoneAtOnce at_once;
  for (const char* name : kAll) {
    const Bytes stream = read(name);
    Frames frames;
    guint64 most = 1000;
    std::string error;
    for (int tries = 0; tries < 200; ++tries) {
      error = error_within(most, stream, &frames);
      if (error.empty()) break;
      unsigned long takes = 0, said = 0;
      fail_unless(std::sscanf(error.c_str(),
                              "Out of memory: decoding needs %lu bytes, exceeds max-memory=%lu",
                              &takes, &said) == 2,
                  "%s", error.c_str());
      fail_unless(said == most && takes > most, "%s", error.c_str());
      most = quick() ? std::max<guint64>(takes, 2 * most) : takes;
    }
    fail_unless(error.empty(), "%s: %s", name, error.c_str());
    compare(expected_of(stream), frames, std::string(name) + " within " + std::to_string(most));
  }
}

CHECK_TEST(test_several_at_once) {
  std::vector<Frames> expected;
  for (const char* name : kAll) expected.push_back(expected_of(read(name)));
  std::vector<std::thread> threads;
  std::vector<Frames> found(2 * std::size(kAll));
  for (size_t i = 0; i < found.size(); i++)
    threads.emplace_back([&found, i] {
      found[i] = play("filesrc location=\"" + path_of(kAll[i % std::size(kAll)]) + "\" ! " +
                      decoder("n-threads=2") + " ! video/x-raw ! appsink name=sink sync=false");
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < found.size(); i++)
    compare(expected[i % expected.size()], found[i], "several at once");
}

}  // namespace

int main(int argc, char** argv) {
  if (!g_file_test(path_of(kPredicted).c_str(), G_FILE_TEST_IS_REGULAR))
    return testing::skip("no streams in CUDATRANSFORM_TEST_DATA");
  return testing::run(argc, argv);
}
