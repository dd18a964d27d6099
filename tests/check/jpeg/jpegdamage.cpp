// Tests of jpegcoefdec on damaged JPEG data: which pictures it drops and shows, and its messages.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/jpeg/jpegdecoder.h"

namespace {

using namespace testing;

struct Damage {
  const char* name;
  Bytes jpeg;
};

Bytes with_blank_table(Bytes jpeg) {
  std::fill_n(jpeg.begin() + gssize(segment_of(jpeg, 0xdb).begin) + 5, 64, guint8(0));
  return jpeg;
}

// Pictures with missing data.
std::vector<Damage> damages() {
  const Bytes& jpeg = good();
  const Segment sof = segment_of(jpeg, 0xc0), dqt = segment_of(jpeg, 0xdb);
  const Segment dht = segment_of(jpeg, 0xc4), sos = segment_of(jpeg, 0xda);
  return {
      {"half of the scan is missing", damaged(jpeg)},
      {"the second half is missing", joined({cut(jpeg, jpeg.size() / 2), {0xff, 0xd9}})},
      {"a table is missing", without_segments(jpeg, 0xdb)},
      {"a table of zeros", with_blank_table(jpeg)},
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
      {"an AC coefficient that no 8-bit picture has", with_qcoef(jpeg, 5, -1024)},
      {"a DC coefficient that no 8-bit picture has", with_qcoef(jpeg, 0, 2048)},
      {"data is left over", with_byte(jpeg, sof.begin + 6, 16)},
      {"lossless", with_byte(jpeg, sof.begin + 1, 0xc3)},
      {"empty", {0xff, 0xd8, 0xff, 0xd9}},
  };
}

// Concealed pictures can be written to files.
CHECK_TEST(test_concealed_pictures_can_be_written) {
  for (const Damage& damage : damages()) {
    g_autoptr(GstHarness) harness =
        gst_harness_new_parse("jpegcoefdec on-error=conceal ! jpegcoefenc n-threads=1");
    gst_harness_set_src_caps_str(harness, "image/jpeg,framerate=25/1");
    for (const Bytes& jpeg : {good(), damage.jpeg, good()})
      fail_unless(gst_harness_push(harness, buffer_of(jpeg)) == GST_FLOW_OK, "%s", damage.name);
    gst_harness_push_event(harness, gst_event_new_eos());
    fail_unless(gst_harness_buffers_in_queue(harness) >= 2, "%s", damage.name);
  }
}

// By default the element drops a damaged picture, with a warning, and the next one is sound.
CHECK_TEST(test_drop) {
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

// Rare features that JPEG allows are not even irregular.
CHECK_TEST(test_rarities) {
  const Bytes& jpeg = good();
  const Segment sof = segment_of(jpeg, 0xc0);
  const std::vector<Damage> rarities = {
      {"fill bytes", inserted(jpeg, sof.begin, {0xff, 0xff, 0xff})},
      {"an unknown segment", inserted(jpeg, sof.begin, {0xff, 0xed, 0, 4, 9, 9})},
      {"a comment", inserted(jpeg, sof.begin, {0xff, 0xfe, 0, 5, 'a', 'b', 'c'})},
      {"no JFIF header", without_segments(jpeg, 0xe0)},
      {"no Huffman tables", without_segments(jpeg, 0xc4)},
  };
  for (const Damage& rarity : rarities) {
    Decoder decoder("on-error=fail");
    decoder.push(rarity.jpeg);
    decoder.push(good());
    decoder.finish();
    fail_unless(decoder.count() == 2, "%s: %d pictures", rarity.name, decoder.count());
    decoder.expect(good());
    decoder.expect(good());
    fail_unless_equals_uint64(decoder.stat("damaged"), 0);
    fail_unless_equals_uint64(decoder.stat("irregular"), 0);
    fail_unless_equals_int(decoder.messages(GST_MESSAGE_WARNING), 0);
  }
}

CHECK_TEST(test_conceal) {
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
  // It begins like the original picture: the first block is there.
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

CHECK_TEST(test_fail) {
  Decoder decoder("on-error=fail");
  fail_unless_equals_int(decoder.push(good()), GST_FLOW_OK);
  fail_unless_equals_int(decoder.push(damaged(good())), GST_FLOW_ERROR);
  fail_unless(contains(decoder.message(GST_MESSAGE_ERROR), "Failed to decode JPEG"));
}

CHECK_TEST(test_max_errors) {
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
  fail_unless(contains(decoder.message(GST_MESSAGE_ERROR), "Failed to decode JPEG"));
}

// A file without a picture that can be shown is no success.
CHECK_TEST(test_nothing_but_damage) {
  Decoder decoder;
  for (int i = 0; i < 3; i++) decoder.push(damaged(good()));
  decoder.finish();
  const std::string error = decoder.message(GST_MESSAGE_ERROR);
  fail_unless(contains(error, "(3 damaged)"), "%s", error.c_str());
}

// One warning for a run of bad pictures: a bus may have no reader.
CHECK_TEST(test_one_warning_a_run) {
  Decoder decoder;
  for (int round = 0; round < 3; round++) {
    decoder.push(good());
    for (int i = 0; i < 50; i++) decoder.push(damaged(good()));
  }
  decoder.push(good());
  fail_unless_equals_int(decoder.messages(GST_MESSAGE_WARNING), 3);
}

// Neither a damaged size nor a damaged picture's other headers may cause a renegotiation.
CHECK_TEST(test_damaged_header_changes_no_caps) {
  Decoder decoder;
  const Segment sof = segment_of(good(), 0xc0);
  decoder.push(good());
  gst_buffer_unref(decoder.pull());
  while (GstEvent* event = gst_harness_try_pull_event(decoder.harness())) gst_event_unref(event);
  decoder.push(with_byte(good(), sof.begin + 8, 200));  // wider
  const Bytes restarts = with_restarts(good(), 1);
  decoder.push(with_byte(restarts, segment_of(restarts, 0xc0).begin + 11, 0x11));  // subsampling
  decoder.push(with_byte(good(), sof.begin + 6, 16));                              // lower
  decoder.push(good());
  decoder.finish();
  decoder.expect(good());
  while (GstEvent* event = gst_harness_try_pull_event(decoder.harness())) {
    fail_if(GST_EVENT_TYPE(event) == GST_EVENT_CAPS);
    gst_event_unref(event);
  }
}

}  // namespace
