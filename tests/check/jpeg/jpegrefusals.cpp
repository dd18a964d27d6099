// jpegcoefdec on hostile and unsupported JPEG data: which pictures it refuses, and at what cost.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/check/jpeg/jpegdecoder.h"

namespace {

using namespace testing;

// ---- Bombs ----

glong peak_kilobytes() {
  g_autofree gchar* status = nullptr;
  glong peak = 0;
  if (g_file_get_contents("/proc/self/status", &status, nullptr, nullptr))
    if (const char* line = strstr(status, "VmHWM:")) sscanf(line, "VmHWM: %ld", &peak);
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

CHECK_TEST(test_bombs) {
  for (const char* mode : {"", "on-error=conceal", "max-pixels=0"}) {
    for (const guint8 process : {guint8{0xc0}, guint8{0xc2}, guint8{0xc9}}) {
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

CHECK_TEST(test_max_pixels) {
  Decoder decoder("max-pixels=3071");  // 64x48 - 1
  decoder.push(make_jpeg(40, 30));
  decoder.push(good());
  decoder.push(make_jpeg(40, 30));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  fail_unless(contains(decoder.message(GST_MESSAGE_WARNING), "max-pixels"));
}

// The element gives up a picture that never ends.
CHECK_TEST(test_many_scans) {
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

// A header takes time in proportion to its length, whatever it is made of: not minutes.
CHECK_TEST(test_many_segments) {
  Bytes segments;
  for (int i = 0; i < 100000; i++) segments.insert(segments.end(), {0xff, 0xe0, 0, 2});
  Decoder decoder;
  const gint64 start = g_get_monotonic_time();
  decoder.push(inserted(good(), 2, segments));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 1);
  fail_unless(g_get_monotonic_time() - start < 20 * G_USEC_PER_SEC);
}

// ---- What cannot be held ----

void expect_refusal(const char* name, const Bytes& jpeg, const char* part,
                    const char* caps = "image/jpeg,framerate=25/1") {
  Decoder decoder("", caps);
  fail_unless(decoder.push(jpeg) != GST_FLOW_OK || decoder.push(jpeg) != GST_FLOW_OK, "%s", name);
  const std::string error = decoder.message(GST_MESSAGE_ERROR);
  fail_unless(contains(error, part), "%s: '%s'", name, error.c_str());
  fail_unless_equals_int(decoder.count(), 0);
}

// No height in the frame header, and that many lines in a DNL segment after the scan.
Bytes with_lines_later(guint8 lines) {
  const Segment sof = segment_of(good(), 0xc0), sos = segment_of(good(), 0xda);
  const Bytes jpeg = with_byte(with_byte(good(), sof.begin + 5, 0), sof.begin + 6, 0);
  return inserted(jpeg, sos.end, {0xff, 0xdc, 0, 4, 0, lines});
}

// Without the lines, or without a width, it is damage.
CHECK_TEST(test_no_size) {
  const Segment sof = segment_of(good(), 0xc0);
  const Bytes no_height = with_byte(with_byte(good(), sof.begin + 5, 0), sof.begin + 6, 0);
  const Bytes lines = with_lines_later(48);
  const Bytes no_width = with_byte(with_byte(lines, sof.begin + 7, 0), sof.begin + 8, 0);
  for (const Bytes& jpeg : {no_height, with_lines_later(0), no_width, cut(lines, lines.size() - 5),
                            cut(lines, sof.begin + 10)}) {
    Decoder decoder;
    decoder.push(jpeg);
    decoder.push(good());
    decoder.finish();
    decoder.expect(good());
    fail_unless_equals_uint64(decoder.stat("damaged"), 1);
  }
}

CHECK_TEST(test_refusals) {
  const Segment sof = segment_of(good(), 0xc0);
  expect_refusal(
      "subsampled CMYK", make_four_components({false, 2, 2, ""}, 32, 32),
      "CMYK with sampling factors 2x2, 1x1, 1x1, 2x2; CMYK is supported without subsampling");
  // An Adobe marker whose transform is 0 says that 4:2:0 is one of R, G and B.
  const Bytes adobe = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};
  expect_refusal("subsampled RGB", inserted(without_segments(good(), 0xe0), 2, adobe),
                 "RGB with sampling factors 2x2, 1x1, 1x1; RGB is supported without subsampling");
  const Bytes ycck = make_four_components({true, 2, 2, ""}, 32, 32);
  expect_refusal("K unlike Y", with_byte(ycck, segment_of(ycck, 0xc0).begin + 20, 0x11),
                 "YCCK with sampling factors 2x2, 1x1, 1x1, 1x1");
  expect_refusal("3x1 YCCK", make_four_components({true, 3, 1, ""}, 32, 32),
                 "sampling factors 3x1, 1x1, 1x1, 3x1");
  expect_refusal("DNL", with_lines_later(48), "DNL");
  expect_refusal("10 bits", with_byte(good(), sof.begin + 4, 10), "precision of 10 bits");
  expect_refusal("lossless", with_byte(good(), sof.begin + 1, 0xc3), "SOF type 0xc3");
  expect_refusal("3x1", with_byte(good(), sof.begin + 11, 0x31),
                 "YCbCr with sampling factors 3x1, 1x1, 1x1; YCbCr is supported as 4:4:4, 4:2:2");
  expect_refusal("Cb unlike Cr", with_byte(good(), sof.begin + 14, 0x21), "sampling factors");
}

// As with damage in a stream that began well.
CHECK_TEST(test_no_refusal_in_the_middle) {
  const Segment sof = segment_of(good(), 0xc0);
  Decoder decoder;
  decoder.push(good());
  decoder.push(with_byte(good(), sof.begin + 11, 0x31));
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  fail_unless(decoder.message(GST_MESSAGE_ERROR).empty());
}

// Two fields a frame: never half a picture. They have the full width of the picture around them.
CHECK_TEST(test_fields) {
  const auto field = [](guint8 polarity) {
    return inserted(without_segments(good(), 0xe0), 2,
                    {0xff, 0xe0, 0, 16, 'A', 'V', 'I', '1', polarity, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  };
  for (const char* caps : {"image/jpeg,framerate=25/1,width=64,height=96",
                           "image/jpeg,framerate=25/1,width=64,height=95"}) {
    expect_refusal("fields, by the caps", joined({good(), good()}), "two fields", caps);
    expect_refusal("fields", joined({field(1), field(2)}), "two fields", caps);
  }
  expect_refusal("fields that are filled up", joined({field(1), field(2)}), "two fields",
                 "image/jpeg,framerate=25/1,width=64,height=90");
  // Marks alone make no fields: caps must also have the same width and a much greater height.
  for (const char* caps : {"image/jpeg,framerate=25/1,width=128,height=96",
                           "image/jpeg,framerate=25/1,width=63,height=96",
                           "image/jpeg,framerate=25/1,width=64,height=48",
                           "image/jpeg,framerate=25/1,width=64,height=56",
                           "image/jpeg,framerate=25/1,height=96", "image/jpeg,framerate=25/1"}) {
    Decoder decoder("", caps);
    for (const guint8 polarity : {1, 2, 0}) decoder.push(field(polarity));
    decoder.finish();
    fail_unless(decoder.count() == 3, "%s: %d pictures", caps, decoder.count());
    for (int i = 0; i < 3; i++) decoder.expect(good());
  }
}

// In the middle of a stream whose container still states the first pictures' size.
CHECK_TEST(test_smaller_pictures_in_the_middle) {
  const Bytes large = make_jpeg(128, 96);
  Decoder decoder("", "image/jpeg,framerate=25/1,width=128,height=96");
  for (const Bytes& jpeg : {large, good(), good(), large, good()}) decoder.push(jpeg);
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 5);
  fail_unless_equals_uint64(decoder.stat("damaged"), 0);
}

}  // namespace
