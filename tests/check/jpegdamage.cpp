// jpegcoefdec on damaged, hostile and unsupported JPEG data: what is dropped, shown, said.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdio>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpegpictures.h"
#include "tests/check/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// An element between a source pad and a sink pad of ours, with the messages that it posts.
class Decoder {
 public:
  explicit Decoder(const std::string& properties = "",
                   const char* caps = "image/jpeg,framerate=25/1") {
    const std::string line = "jpegcoefdec n-threads=1 " + properties;
    harness_ = gst_harness_new_parse(line.c_str());
    element_ = gst_harness_find_element(harness_, "jpegcoefdec");
    bus_ = gst_bus_new();
    gst_element_set_bus(element_, bus_);
    gst_harness_set_src_caps_str(harness_, caps);
  }
  ~Decoder() {
    gst_element_set_bus(element_, nullptr);
    gst_object_unref(bus_);
    gst_object_unref(element_);
    gst_harness_teardown(harness_);
  }

  GstFlowReturn push(const Bytes& jpeg) {
    return gst_harness_push(harness_, buffer_of(jpeg, time_ += 40 * GST_MSECOND));
  }
  void finish() { gst_harness_push_event(harness_, gst_event_new_eos()); }
  int count() { return static_cast<int>(gst_harness_buffers_in_queue(harness_)); }
  GstBuffer* pull() { return gst_harness_pull(harness_); }

  // The next buffer has these coefficients.
  void expect(const Bytes& jpeg) {
    fail_unless(count() > 0, "a picture is missing");
    GstBuffer* buffer = pull();
    GstCaps* caps = gst_pad_get_current_caps(harness_->sinkpad);
    const std::string wrong = compare(jpeg, buffer, caps);
    fail_unless(wrong.empty(), "%s", wrong.c_str());
    gst_caps_unref(caps);
    gst_buffer_unref(buffer);
  }

  // The text of the first message of that kind since the last call, "" for none; other messages go.
  std::string message(GstMessageType type) {
    std::string text;
    while (GstMessage* message = gst_bus_pop(bus_)) {
      if (GST_MESSAGE_TYPE(message) == type && text.empty()) text = text_of(message);
      gst_message_unref(message);
    }
    return text;
  }
  int messages(GstMessageType type) {
    int count = 0;
    while (GstMessage* message = gst_bus_pop_filtered(bus_, type)) {
      count++;
      gst_message_unref(message);
    }
    return count;
  }
  guint64 stat(const char* field) {
    GstStructure* stats = nullptr;
    g_object_get(element_, "stats", &stats, nullptr);
    guint64 value = G_MAXUINT64;
    gst_structure_get_uint64(stats, field, &value);
    gst_structure_free(stats);
    return value;
  }
  GstHarness* harness() { return harness_; }

 private:
  static std::string text_of(GstMessage* message) {
    GError* error = nullptr;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      gst_message_parse_error(message, &error, nullptr);
    else
      gst_message_parse_warning(message, &error, nullptr);
    const std::string text = error->message;
    g_error_free(error);
    return text;
  }

  GstHarness* harness_;
  GstElement* element_;
  GstBus* bus_;
  GstClockTime time_ = 0;
};

const Bytes& good() {
  static const Bytes picture = make_jpeg(64, 48);
  return picture;
}

// ---- Damage ----

struct Damage {
  const char* name;
  Bytes jpeg;
};

Bytes with_byte(Bytes jpeg, gsize at, guint8 value) {
  jpeg[at] = value;
  return jpeg;
}

// Pictures that have lost something.
std::vector<Damage> damages() {
  const Bytes& jpeg = good();
  const Segment sof = segment_of(jpeg, 0xc0), dqt = segment_of(jpeg, 0xdb);
  const Segment dht = segment_of(jpeg, 0xc4), sos = segment_of(jpeg, 0xda);
  return {
      {"half of the scan is missing", damaged(jpeg)},
      {"the second half is missing", joined({cut(jpeg, jpeg.size() / 2), {0xff, 0xd9}})},
      {"a table is missing", without_segments(jpeg, 0xdb)},
      {"a table has a zero", with_byte(jpeg, dqt.begin + 5 + 7, 0)},
      {"no frame header", without_segments(jpeg, 0xc0)},
      {"no scan", joined({cut(jpeg, sos.begin), {0xff, 0xd9}})},
      {"no scan header but data", without_segments(jpeg, 0xda)},
      {"the frame header's length is wrong", with_byte(jpeg, sof.begin + 3, 12)},
      {"the table's length is wrong", with_byte(jpeg, dqt.begin + 3, 40)},
      {"the Huffman table's length is wrong", with_byte(jpeg, dht.begin + 3, 10)},
      {"an impossible Huffman table", with_byte(jpeg, dht.begin + 5, 200)},
      {"a component that is not there", with_byte(jpeg, sos.begin + 5, 99)},
      {"a sampling factor of 0", with_byte(jpeg, sof.begin + 11, 0x02)},
      {"no width", with_byte(with_byte(jpeg, sof.begin + 7, 0), sof.begin + 8, 0)},
      {"a marker in the middle of the scan",
       inserted(jpeg, (sos.begin + sos.end) / 2, {0xff, 0xd9})},
      {"another process", with_byte(jpeg, sof.begin + 1, 0xc2)},
      {"an AC level that no 8-bit picture has", with_level(jpeg, 5, -1024)},
      {"a DC level that no 8-bit picture has", with_level(jpeg, 0, 2048)},
      {"data is left over", with_byte(jpeg, sof.begin + 6, 16)},
      {"lossless", with_byte(jpeg, sof.begin + 1, 0xc3)},
      {"empty", {0xff, 0xd8, 0xff, 0xd9}},
  };
}

// Whoever writes what comes out of it into files gets nothing that they cannot hold.
GST_START_TEST(test_concealed_pictures_can_be_written) {
  for (const Damage& damage : damages()) {
    GstHarness* harness =
        gst_harness_new_parse("jpegcoefdec on-error=conceal ! jpegcoefenc n-threads=1");
    gst_harness_set_src_caps_str(harness, "image/jpeg,framerate=25/1");
    for (const Bytes& jpeg : {good(), damage.jpeg, good()})
      fail_unless(gst_harness_push(harness, buffer_of(jpeg)) == GST_FLOW_OK, "%s", damage.name);
    gst_harness_push_event(harness, gst_event_new_eos());
    fail_unless(gst_harness_buffers_in_queue(harness) >= 2, "%s", damage.name);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST;

// By default a damaged picture is dropped, with a warning, and the next is as good as ever.
GST_START_TEST(test_drop) {
  for (const Damage& damage : damages()) {
    Decoder decoder;
    for (int round = 0; round < 2; round++) {
      fail_unless_equals_int(decoder.push(good()), GST_FLOW_OK);
      fail_unless(decoder.push(damage.jpeg) == GST_FLOW_OK, "%s: an error", damage.name);
      fail_unless_equals_int(decoder.push(good()), GST_FLOW_OK);
    }
    decoder.finish();
    fail_unless(decoder.count() == 4, "%s: %d pictures", damage.name, decoder.count());
    for (int i = 0; i < 4; i++) decoder.expect(good());
    fail_unless(decoder.stat("damaged") >= 2, "%s: nothing noticed", damage.name);
    fail_unless_equals_uint64(decoder.stat("frames"), 4);
    const std::string warning = decoder.message(GST_MESSAGE_WARNING);
    fail_unless(contains(warning, "Dropped"), "%s: '%s'", damage.name, warning.c_str());
  }
}
GST_END_TEST;

// What is odd but takes nothing away is shown, and nobody is warned.
GST_START_TEST(test_oddities) {
  const Bytes& jpeg = good();
  const Segment sof = segment_of(jpeg, 0xc0);
  const std::vector<Damage> oddities = {
      {"bytes between two segments", inserted(jpeg, sof.begin, {1, 2, 3, 4, 5})},
      {"fill bytes", inserted(jpeg, sof.begin, {0xff, 0xff, 0xff})},
      {"bytes before the end", inserted(jpeg, jpeg.size() - 2, {0, 0, 0, 0})},
      {"an unknown segment", inserted(jpeg, sof.begin, {0xff, 0xed, 0, 4, 9, 9})},
      {"a comment", inserted(jpeg, sof.begin, {0xff, 0xfe, 0, 5, 'a', 'b', 'c'})},
      {"no JFIF header", without_segments(jpeg, 0xe0)},
      {"no Huffman tables", without_segments(jpeg, 0xc4)},
  };
  for (const Damage& oddity : oddities) {
    Decoder decoder("on-error=fail");
    decoder.push(oddity.jpeg);
    decoder.push(good());
    decoder.finish();
    fail_unless(decoder.count() == 2, "%s: %d pictures", oddity.name, decoder.count());
    decoder.expect(good());
    decoder.expect(good());
    fail_unless_equals_uint64(decoder.stat("damaged"), 0);
    fail_unless_equals_int(decoder.messages(GST_MESSAGE_WARNING), 0);
  }
}
GST_END_TEST;

GST_START_TEST(test_conceal) {
  Decoder decoder("on-error=conceal");
  decoder.push(good());
  decoder.push(damaged(good()));
  decoder.push(good());
  decoder.push(cut(good(), 10));  // nothing to show
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 4);
  decoder.expect(good());
  GstBuffer* buffer = decoder.pull();
  fail_unless(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED));
  // It begins like the picture that it was: the first block is there.
  GstBuffer* whole = nullptr;
  {
    Decoder other;
    other.push(good());
    other.finish();
    whole = other.pull();
  }
  const std::vector<guint8> a = bytes_of(buffer), b = bytes_of(whole);
  fail_unless_equals_int(static_cast<int>(a.size()), static_cast<int>(b.size()));
  fail_unless(std::equal(a.begin(), a.begin() + 128, b.begin()));
  fail_if(a == b);
  gst_buffer_unref(buffer);
  gst_buffer_unref(whole);
  decoder.expect(good());
  decoder.expect(good());
  fail_unless_equals_uint64(decoder.stat("dropped"), 1);
}
GST_END_TEST;

GST_START_TEST(test_fail) {
  Decoder decoder("on-error=fail");
  fail_unless_equals_int(decoder.push(good()), GST_FLOW_OK);
  fail_unless_equals_int(decoder.push(damaged(good())), GST_FLOW_ERROR);
  fail_unless(contains(decoder.message(GST_MESSAGE_ERROR), "damaged"));
}
GST_END_TEST;

GST_START_TEST(test_max_errors) {
  Decoder decoder("max-errors=2");
  for (int round = 0; round < 3; round++) {
    decoder.push(good());
    decoder.push(damaged(good()));
    decoder.push(damaged(good()));
  }
  decoder.push(good());
  fail_unless(decoder.message(GST_MESSAGE_ERROR).empty());
  for (int i = 0; i < 2; i++) fail_unless_equals_int(decoder.push(damaged(good())), GST_FLOW_OK);
  fail_unless_equals_int(decoder.push(damaged(good())), GST_FLOW_ERROR);
  fail_unless(contains(decoder.message(GST_MESSAGE_ERROR), "damaged"));
}
GST_END_TEST;

// A file of which nothing could be shown is no success.
GST_START_TEST(test_nothing_but_damage) {
  Decoder decoder;
  for (int i = 0; i < 3; i++) decoder.push(damaged(good()));
  decoder.finish();
  const std::string error = decoder.message(GST_MESSAGE_ERROR);
  fail_unless(contains(error, "None of 3 JPEG pictures"), "%s", error.c_str());
}
GST_END_TEST;

// One warning for a run of bad pictures: a bus may have no reader.
GST_START_TEST(test_one_warning_a_run) {
  Decoder decoder;
  for (int round = 0; round < 3; round++) {
    decoder.push(good());
    for (int i = 0; i < 50; i++) decoder.push(damaged(good()));
  }
  decoder.push(good());
  fail_unless_equals_int(decoder.messages(GST_MESSAGE_WARNING), 3);
}
GST_END_TEST;

// A damaged size must not renegotiate, nor what belongs to a damaged picture.
GST_START_TEST(test_damaged_header_changes_no_caps) {
  Decoder decoder;
  const Segment sof = segment_of(good(), 0xc0);
  decoder.push(good());
  gst_buffer_unref(decoder.pull());
  while (GstEvent* event = gst_harness_try_pull_event(decoder.harness())) gst_event_unref(event);
  decoder.push(with_byte(good(), sof.begin + 8, 200));          // wider
  decoder.push(with_byte(good(), sof.begin + 11, 0x11));        // another sampling
  decoder.push(with_byte(damaged(good()), sof.begin + 6, 16));  // lower, and cut
  decoder.push(good());
  decoder.finish();
  decoder.expect(good());
  while (GstEvent* event = gst_harness_try_pull_event(decoder.harness())) {
    fail_if(GST_EVENT_TYPE(event) == GST_EVENT_CAPS);
    gst_event_unref(event);
  }
}
GST_END_TEST;

// ---- Bombs ----

glong peak_kilobytes() {
  gchar* status = nullptr;
  glong peak = 0;
  if (g_file_get_contents("/proc/self/status", &status, nullptr, nullptr))
    if (const char* line = strstr(status, "VmHWM:")) sscanf(line, "VmHWM: %ld", &peak);
  g_free(status);
  return peak;
}

Bytes bomb(guint8 process) {
  const Segment sof = segment_of(good(), 0xc0);
  Bytes jpeg = good();
  jpeg[sof.begin + 1] = process;
  for (int i = 0; i < 4; i += 2) {
    jpeg[sof.begin + 5 + gsize(i)] = 65500 >> 8;
    jpeg[sof.begin + 6 + gsize(i)] = 65500 & 0xff;
  }
  return jpeg;
}

GST_START_TEST(test_bombs) {
  for (const char* mode : {"", "on-error=conceal", "max-pixels=0"}) {
    for (const guint8 process : {guint8{0xc0}, guint8{0xc2}, guint8{0xc9}}) {
      // Without a limit only what the data's length gives away is refused, and only Huffman codes
      // give it away.
      if (process == 0xc9 && g_str_equal(mode, "max-pixels=0")) continue;
      Decoder decoder(mode);
      decoder.push(good());
      const glong before = peak_kilobytes();
      for (int i = 0; i < 3; i++) decoder.push(bomb(process));
      decoder.push(good());
      decoder.finish();
      fail_unless_equals_int(decoder.count(), 2);
      fail_unless(peak_kilobytes() - before < 20000, "%s: %ld KB", mode, peak_kilobytes() - before);
    }
  }
}
GST_END_TEST;

GST_START_TEST(test_max_pixels) {
  Decoder decoder("max-pixels=3071");  // 64x48 - 1
  decoder.push(make_jpeg(40, 30));
  decoder.push(good());
  decoder.push(make_jpeg(40, 30));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  fail_unless(contains(decoder.message(GST_MESSAGE_WARNING), "max-pixels"));
}
GST_END_TEST;

// A picture that never ends is given up.
GST_START_TEST(test_many_scans) {
  const Segment sos = segment_of(good(), 0xda);
  const Bytes& jpeg = good();
  // A progressive picture of a thousand scans, each of the first DC bits of nothing.
  Bytes progressive = cut(with_byte(jpeg, segment_of(jpeg, 0xc0).begin + 1, 0xc2), sos.begin);
  for (int i = 0; i < 1000; i++)
    progressive = joined({progressive, {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0}, {0x12, 0x34}});
  progressive = joined({progressive, {0xff, 0xd9}});
  Decoder decoder("on-error=conceal");
  decoder.push(good());
  decoder.push(progressive);
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 3);
  fail_unless_equals_uint64(decoder.stat("damaged"), 1);
}
GST_END_TEST;

// A header takes time in proportion to its length, whatever it is made of.
GST_START_TEST(test_many_segments) {
  Bytes segments;
  for (int i = 0; i < 100000; i++) segments.insert(segments.end(), {0xff, 0xe0, 0, 2});
  Decoder decoder;
  const gint64 start = g_get_monotonic_time();
  decoder.push(inserted(good(), 2, segments));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 1);
  fail_unless(g_get_monotonic_time() - start < (quick() ? 20 : 2) * G_USEC_PER_SEC);
}
GST_END_TEST;

// ---- What cannot be held ----

void expect_refusal(const char* name, const Bytes& jpeg, const char* part,
                    const char* caps = "image/jpeg,framerate=25/1") {
  Decoder decoder("", caps);
  fail_unless(decoder.push(jpeg) != GST_FLOW_OK || decoder.push(jpeg) != GST_FLOW_OK, "%s", name);
  const std::string error = decoder.message(GST_MESSAGE_ERROR);
  fail_unless(contains(error, part), "%s: '%s'", name, error.c_str());
  fail_unless_equals_int(decoder.count(), 0);
}

GST_START_TEST(test_refusals) {
  const Segment sof = segment_of(good(), 0xc0);
  expect_refusal("CMYK", make_cmyk_jpeg(false), "CMYK");
  expect_refusal("YCCK", make_cmyk_jpeg(true), "YCCK");
  expect_refusal("12 bits", with_byte(good(), sof.begin + 4, 12), "precision 12");
  expect_refusal("lossless", with_byte(good(), sof.begin + 1, 0xc3), "SOF type 0xc3");
  expect_refusal("3x1", with_byte(good(), sof.begin + 11, 0x31), "sampling factors 3x1");
  expect_refusal("Cb unlike Cr", with_byte(good(), sof.begin + 14, 0x21), "sampling factors");
}
GST_END_TEST;

// The same as damage of a stream that has begun well.
GST_START_TEST(test_no_refusal_in_the_middle) {
  const Segment sof = segment_of(good(), 0xc0);
  Decoder decoder;
  decoder.push(good());
  decoder.push(with_byte(good(), sof.begin + 11, 0x31));
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  fail_unless(decoder.message(GST_MESSAGE_ERROR).empty());
}
GST_END_TEST;

// Two fields a frame: never half a picture.
GST_START_TEST(test_fields) {
  const auto field = [](guint8 polarity) {
    return inserted(without_segments(good(), 0xe0), 2,
                    {0xff, 0xe0, 0, 16, 'A', 'V', 'I', '1', polarity, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  };
  expect_refusal("fields", joined({field(1), field(2)}), "two fields");
  expect_refusal("fields, by the caps", joined({good(), good()}), "two fields",
                 "image/jpeg,framerate=25/1,width=64,height=96");
  // The mark alone is no field where the caps say that the picture is whole.
  Decoder decoder("", "image/jpeg,framerate=25/1,width=64,height=48");
  decoder.push(field(1));
  decoder.push(field(0));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  Decoder progressive;
  progressive.push(field(0));
  progressive.finish();
  fail_unless_equals_int(progressive.count(), 1);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("jpegdamage");
  TCase* tc = tcase_create("damage");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_drop);
  tcase_add_test(tc, test_concealed_pictures_can_be_written);
  tcase_add_test(tc, test_oddities);
  tcase_add_test(tc, test_conceal);
  tcase_add_test(tc, test_fail);
  tcase_add_test(tc, test_max_errors);
  tcase_add_test(tc, test_nothing_but_damage);
  tcase_add_test(tc, test_one_warning_a_run);
  tcase_add_test(tc, test_damaged_header_changes_no_caps);
  tcase_add_test(tc, test_bombs);
  tcase_add_test(tc, test_max_pixels);
  tcase_add_test(tc, test_many_scans);
  tcase_add_test(tc, test_many_segments);
  tcase_add_test(tc, test_refusals);
  tcase_add_test(tc, test_no_refusal_in_the_middle);
  tcase_add_test(tc, test_fields);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
