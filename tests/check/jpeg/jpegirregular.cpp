// jpegcoefdec on irregular JPEG files: nothing is missing, so the element shows them with libjpeg's
// coefficients and reports the irregularity.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <random>
#include <string>
#include <vector>

#include "tests/check/jpeg/jpegdecoder.h"

namespace {

using namespace testing;

bool on_cuda() { return g_strcmp0(g_getenv("CUDATRANSFORM_TEST_BACKEND"), "cuda") == 0; }
// Decodes every picture on the device where the run tests that, and downloads it.
std::string decoder_line() {
  return on_cuda() ? "jpegcoefdec backend=cuda entropy-backend=cuda n-threads=3 ! capsfilter "
                     "caps=video/x-dct"
                   : "jpegcoefdec backend=cpu n-threads=3";
}

// Inserts stray bytes before every RSTn.
Bytes with_left_over_bytes(Bytes jpeg, guint seed) {
  std::mt19937 random(seed);
  for (gsize at = jpeg.size() - 1; at-- > segment_of(jpeg, 0xda).begin + 2;) {
    if (jpeg[at] != 0xff || jpeg[at + 1] < 0xd0 || jpeg[at + 1] > 0xd7) continue;
    Bytes bytes(1 + random() % 3);
    for (guint8& byte : bytes) byte = static_cast<guint8>(random() % 255);
    jpeg = inserted(jpeg, at, bytes);
  }
  return jpeg;
}

struct Oddity {
  const char* name;
  guint flags;
  Bytes jpeg;
};

std::vector<Oddity> oddities() {
  const Bytes& jpeg = good();
  const Segment sof = segment_of(jpeg, 0xc0), sos = segment_of(jpeg, 0xda);
  const Segment jfif = segment_of(jpeg, 0xe0);
  const gsize parameters = sos.begin + 5 + 2 * 3, end = jpeg.size() - 2;
  const Bytes restarts = with_restarts(jpeg, 2);
  return {
      {"zeros before EOI", GST_DCT_JPEG_TRAILING_BYTES, inserted(jpeg, end, {0, 0, 0, 0})},
      {"a byte before EOI", GST_DCT_JPEG_TRAILING_BYTES, inserted(jpeg, end, {0x5a})},
      {"a text before EOI", GST_DCT_JPEG_TRAILING_BYTES,
       inserted(jpeg, end, Bytes(500, guint8('a')))},
      {"bytes before RSTn", GST_DCT_JPEG_TRAILING_BYTES, with_left_over_bytes(restarts, 1)},
      {"bytes before a comment behind the scan", GST_DCT_JPEG_TRAILING_BYTES,
       inserted(jpeg, end, {0x12, 0x34, 0xff, 0xfe, 0, 3, 'c'})},
      {"bytes between segments", GST_DCT_JPEG_EXTRANEOUS_BYTES,
       inserted(jpeg, sof.begin, {1, 2, 0xff, 0, 5})},
      {"Ss", GST_DCT_JPEG_SCAN_PARAMETERS, with_byte(jpeg, parameters, 1)},
      {"Se", GST_DCT_JPEG_SCAN_PARAMETERS, with_byte(jpeg, parameters + 1, 0)},
      {"Ah and Al", GST_DCT_JPEG_SCAN_PARAMETERS, with_byte(jpeg, parameters + 2, 0x21)},
      {"no EOI", GST_DCT_JPEG_MISSING_EOI, cut(jpeg, end)},
      {"half of EOI", GST_DCT_JPEG_MISSING_EOI, cut(jpeg, end + 1)},
      {"a restart behind the last interval", GST_DCT_JPEG_UNEXPECTED_MARKER,
       inserted(jpeg, end, {0xff, 0xd3})},
      {"TEM", GST_DCT_JPEG_UNEXPECTED_MARKER, inserted(jpeg, sof.begin, {0xff, 0x01})},
      {"DNL", GST_DCT_JPEG_UNEXPECTED_MARKER, inserted(jpeg, end, {0xff, 0xdc, 0, 4, 0, 48})},
      {"a JFIF version that nobody knows", GST_DCT_JPEG_UNKNOWN_HEADER,
       with_byte(jpeg, jfif.begin + 9, 7)},
      {"three of them",
       GST_DCT_JPEG_TRAILING_BYTES | GST_DCT_JPEG_SCAN_PARAMETERS | GST_DCT_JPEG_MISSING_EOI,
       cut(with_byte(inserted(jpeg, end, {0x77, 0x11}), parameters, 9), end + 2)},
  };
}

guint irregular_of(GstBuffer* buffer) {
  const GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(buffer);
  return meta ? guint(meta->irregular) : 0;
}

// The coefficients of the next buffer, as libjpeg reads them from the file as it is.
void expect_as_libjpeg(GstHarness* h, const Bytes& jpeg, const char* name, guint flags) {
  g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
  fail_unless(buffer != nullptr, "%s: no picture", name);
  fail_if(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED), "%s: corrupted", name);
  fail_unless(irregular_of(buffer) == flags, "%s: %u", name, irregular_of(buffer));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  GstDctInfo info;
  fail_unless(gst_dct_info_from_caps(&info, caps, nullptr));
  const std::string wrong = difference(read_jpeg(jpeg, true), qcoefs_of(info, buffer));
  fail_unless(wrong.empty(), "%s: %s", name, wrong.c_str());
}

guint64 stat_of(GstHarness* h, const char* field) {
  g_autoptr(GstElement) decoder = gst_harness_find_element(h, "jpegcoefdec");
  return testing::stat_of(decoder, field);
}

// Between good ones; caps say that each buffer is a picture, with and without an end.
CHECK_TEST(test_every_kind) {
  const std::vector<Oddity> all = oddities();
  g_autoptr(GstHarness) h = new_harness(decoder_line());
  gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=25/1");
  GstClockTime time = 0;
  for (const Oddity& oddity : all)
    for (const Bytes& jpeg : {oddity.jpeg, good()})
      gst_harness_push(h, buffer_of(jpeg, time += 40 * GST_MSECOND));
  gst_harness_push_event(h, gst_event_new_eos());
  for (const Oddity& oddity : all) {
    expect_as_libjpeg(h, oddity.jpeg, oddity.name, oddity.flags);
    expect_as_libjpeg(h, good(), oddity.name, GST_DCT_JPEG_REGULAR);
  }
  fail_unless_equals_uint64(stat_of(h, "irregular"), all.size());
  fail_unless_equals_uint64(stat_of(h, "frames"), 2 * all.size());
  fail_unless_equals_uint64(stat_of(h, "damaged"), 0);
  // The device does not find its way through a text of one letter.
  fail_unless_equals_uint64(stat_of(h, on_cuda() ? "cpu-frames" : "cuda-frames"),
                            on_cuda() ? 1 : 0);
}

// As a webcam makes them: intervals with extraneous bytes, no Huffman tables.
CHECK_TEST(test_webcam) {
  constexpr guint kFrames = 300;
  g_autoptr(GstHarness) h = new_harness(decoder_line());
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=30/1,width=64,height=48");
  std::vector<Bytes> frames;
  for (guint i = 0; i < kFrames; i++) {
    const Bytes clean = with_restarts(make_jpeg(64, 48, Subsampling::k422, 80, 1 + i % 10), 4);
    frames.push_back(with_left_over_bytes(without_segments(clean, 0xc4), i));
  }
  for (guint i = 0; i < kFrames; i++)
    fail_unless_equals_int(gst_harness_push(h, buffer_of(frames[i], i * GST_SECOND / 30)),
                           GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  for (const Bytes& frame : frames)
    expect_as_libjpeg(h, frame, "webcam", GST_DCT_JPEG_TRAILING_BYTES);
  fail_unless_equals_uint64(stat_of(h, "irregular"), kFrames);
  fail_unless_equals_uint64(stat_of(h, on_cuda() ? "cuda-frames" : "cpu-frames"), kFrames);
}

// A progressive picture without its end: complete, or with a scan missing.
CHECK_TEST(test_progressive) {
  GstHarness* made = gst_harness_new_parse(
      "jpegcoefdec backend=cpu n-threads=1 ! jpegcoefenc backend=cpu n-threads=1 progressive=true");
  gst_harness_set_src_caps_str(made, "image/jpeg,parsed=true,framerate=25/1");
  gst_harness_push(made, buffer_of(good()));
  GstBuffer* buffer = gst_harness_pull(made);
  const Bytes whole = bytes_of(buffer);
  gst_buffer_unref(buffer);
  gst_harness_teardown(made);
  std::vector<Segment> scans;
  for (const Segment& segment : segments_of(whole))
    if (segment.code == 0xda) scans.push_back(segment);
  fail_unless(scans.size() > 3);
  const gsize end = whole.size() - 2;
  const Bytes left_over = {0x12, 0x34, 0x56, 0x12, 0x34, 0x56, 0x12, 0x34, 0x56, 0x12};
  const auto verdict = [](const Bytes& jpeg) {
    Decoder decoder;
    decoder.push(jpeg);
    decoder.push(good());
    decoder.finish();
    return std::to_string(decoder.stat("irregular")) + " " +
           std::to_string(decoder.stat("damaged"));
  };
  const std::string irregular = "1 0", is_damaged = "0 1";
  fail_unless(verdict(whole) == "0 0");
  fail_unless(verdict(cut(whole, end)) == irregular);
  fail_unless(verdict(cut(whole, scans.back().begin)) == is_damaged);
  fail_unless(verdict(inserted(whole, end, left_over)) == irregular);
  // After several scans: there are more MCUs than the header states.
  fail_unless(verdict(inserted(inserted(whole, end, left_over), scans[0].end, left_over)) ==
              is_damaged);
}

// Misread intervals: the count of MCUs is off, or the next interval is one too many.
CHECK_TEST(test_what_looks_alike_is_damage) {
  const Bytes restarts = with_restarts(good(), 2);
  const Segment sos = segment_of(restarts, 0xda), sof = segment_of(good(), 0xc0);
  gsize first = sos.begin + 14;
  while (restarts[first] != 0xff || restarts[first + 1] != 0xd0) first++;
  gsize second = first + 2;
  while (restarts[second] != 0xff || restarts[second + 1] != 0xd1) second++;
  const Bytes interval(restarts.begin() + std::ptrdiff_t(first) + 2,
                       restarts.begin() + std::ptrdiff_t(second));
  Bytes without_marker = restarts;
  without_marker.erase(without_marker.begin() + std::ptrdiff_t(first),
                       without_marker.begin() + std::ptrdiff_t(first) + 2);
  const gsize end = restarts.size() - 2;
  const std::vector<Oddity> all = {
      {"fewer rows than MCUs", 0, with_byte(good(), sof.begin + 6, 16)},
      {"a restart is missing", 0, without_marker},
      {"a restart and an interval too many", 0,
       inserted(inserted(restarts, end, interval), end, {0xff, 0xd5})},
      {"the same without an end", 0, joined({cut(restarts, end), {0xff, 0xd5}, interval})},
      {"the end of the last block is missing", 0, cut(good(), good().size() - 20)},
  };
  for (const Oddity& damage : all) {
    Decoder decoder(on_cuda() ? "backend=cuda entropy-backend=cuda" : "");
    decoder.push(good());
    decoder.push(damage.jpeg);
    decoder.push(good());
    decoder.finish();
    fail_unless(decoder.stat("damaged") == 1, "%s", damage.name);
    fail_unless(decoder.stat("irregular") == 0, "%s", damage.name);
  }
}

// A stream of bytes, in which pictures without an end are cut at the next one.
CHECK_TEST(test_without_ends_in_a_stream) {
  Bytes stream;
  for (int i = 0; i < 12; i++) stream = joined({stream, cut(good(), good().size() - 2)});
  g_autoptr(GstHarness) h = new_harness(decoder_line());
  gst_harness_set_src_caps_str(h, "image/jpeg");
  gst_harness_push(h, buffer_of(stream));
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_uint64(stat_of(h, "frames"), 12);
  fail_unless_equals_uint64(stat_of(h, "irregular"), 12);
}

int reported = 0;
void count_reports(GstDebugCategory*, GstDebugLevel level, const gchar*, const gchar*, gint,
                   GObject*, GstDebugMessage* message, gpointer) {
  if (level == GST_LEVEL_INFO &&
      contains(gst_debug_message_get(message), "irregular picture: extraneous bytes"))
    reported++;
}

// Once in a stream, and again in the next; never on the bus.
CHECK_TEST(test_reported_once) {
  const Bytes odd = inserted(good(), good().size() - 2, {0x5a});
  gst_debug_add_log_function(count_reports, nullptr, nullptr);
  gst_debug_set_threshold_for_name("jpegcoefdec", GST_LEVEL_INFO);
  reported = 0;
  for (int stream = 1; stream <= 2; stream++) {
    Decoder decoder;
    for (int i = 0; i < 5; i++) decoder.push(odd);
    decoder.finish();
    fail_unless_equals_int(reported, stream);
    fail_unless_equals_int(decoder.messages(GST_MESSAGE_WARNING), 0);
  }
  gst_debug_unset_threshold_for_name("jpegcoefdec");
  gst_debug_remove_log_function(count_reports);
}

// A meta without segments: copies of the whole buffer keep it, and writers ignore it.
CHECK_TEST(test_meta_without_segments) {
  const Bytes odd = inserted(good(), good().size() - 2, {0x5a});
  Decoder decoder("keep-metadata=false");
  decoder.push(odd);
  decoder.push(good());
  decoder.finish();
  GstBuffer* buffer = decoder.pull();
  GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(buffer);
  fail_unless(meta != nullptr && meta->segments == nullptr);
  GstBuffer* copy = gst_buffer_copy(buffer);
  fail_unless_equals_int(irregular_of(copy), GST_DCT_JPEG_TRAILING_BYTES);
  gst_buffer_unref(copy);
  gst_buffer_unref(buffer);
  buffer = decoder.pull();
  fail_unless(gst_buffer_get_dct_jpeg_meta(buffer) == nullptr);
  gst_buffer_unref(buffer);

  g_autoptr(GstHarness) h =
      gst_harness_new_parse("jpegcoefdec keep-metadata=false ! jpegcoefenc n-threads=1");
  gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=25/1");
  gst_harness_push(h, buffer_of(odd));
  gst_harness_push(h, buffer_of(good()));
  gst_harness_push_event(h, gst_event_new_eos());
  GstBuffer *first = gst_harness_pull(h), *second = gst_harness_pull(h);
  fail_unless(bytes_of(first) == bytes_of(second));
  gst_buffer_unref(first);
  gst_buffer_unref(second);
}

}  // namespace
