// Metadata of JPEG files on its way from jpegcoefdec to jpegcoefenc.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

Bytes segment(guint8 code, const std::string& text, gsize size = 0) {
  Bytes bytes(text.begin(), text.end());
  if (size > bytes.size()) bytes.resize(size, 0x5a);
  const gsize length = bytes.size() + 2;
  return joined(
      {{0xff, code, static_cast<guint8>(length >> 8), static_cast<guint8>(length & 0xff)}, bytes});
}

const std::string kExif("Exif\0\0", 6), kMpf("MPF\0", 4);

// A file with these segments after its JFIF header, or in its place.
Bytes with(const std::vector<Bytes>& segments, bool jfif = true) {
  const Bytes jpeg = jfif ? good() : without_segments(good(), 0xe0);
  return inserted(jpeg, jfif ? segment_of(jpeg, 0xe0).end : 2, joined(segments));
}

// All APPn and COM segments, as they are.
Bytes metadata_of(const Bytes& jpeg) {
  Bytes all;
  for (const Segment& s : segments_of(jpeg))
    if (s.code == 0xfe || (s.code & 0xf0) == 0xe0)
      all = joined({all, Bytes(jpeg.begin() + gssize(s.begin), jpeg.begin() + gssize(s.end))});
  return all;
}

// Earlier metadata is there, too, also after a queue's thread.
void await_eos(GstHarness* harness) {
  for (bool ended = false; !ended;) {
    g_autoptr(GstEvent) event = gst_harness_pull_event(harness);
    fail_unless(event != nullptr, "no EOS");
    ended = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
  }
}

// The output file; empty if there is none.
Bytes through(const Bytes& jpeg, const std::string& decoder = "", const std::string& encoder = "",
              const std::string& between = "") {
  g_autoptr(GstHarness) harness = testing::new_harness(
      "jpegcoefdec n-threads=1 " + decoder + between + " ! jpegcoefenc n-threads=1 " + encoder);
  gst_harness_set_src_caps_str(harness, "image/jpeg,framerate=25/1");
  gst_harness_push(harness, buffer_of(jpeg, 0));
  gst_harness_push(harness, buffer_of(good(), 40 * GST_MSECOND));
  gst_harness_push_event(harness, gst_event_new_eos());
  if (!between.empty()) await_eos(harness);
  Bytes out;
  if (GstBuffer* buffer = gst_harness_try_pull(harness)) {
    out = bytes_of(buffer);
    gst_buffer_unref(buffer);
  }
  return out;
}

Bytes rich() {
  Bytes jpeg = with({segment(0xe1, kExif, 60000), segment(0xe1, "http://ns.adobe.com/xap/1.0/"),
                     segment(0xe2, std::string("ICC_PROFILE\0\1\2", 14), 65533),
                     segment(0xe2, std::string("ICC_PROFILE\0\2\2", 14), 100), segment(0xfe, "one"),
                     segment(0xe5, ""), segment(0xfe, "two")});
  const Segment jfif = segment_of(jpeg, 0xe0);
  jpeg[jfif.begin + 11] = 1;  // 300 dpi
  jpeg[jfif.begin + 12] = jpeg[jfif.begin + 14] = 300 >> 8;
  jpeg[jfif.begin + 13] = jpeg[jfif.begin + 15] = 300 & 0xff;
  return jpeg;
}

CHECK_TEST(test_everything_stays) {
  const Bytes jpeg = rich();
  for (const char* between : {"", " ! queue", " ! tee name=t ! queue", " ! identity"})
    fail_unless(metadata_of(through(jpeg, "", "", between)) == metadata_of(jpeg), "%s", between);
  for (const char* options : {"progressive=true", "optimize=true", "restart-interval=1"})
    fail_unless(metadata_of(through(jpeg, "", options)) == metadata_of(jpeg), "%s", options);
  // Rewritten, it is the original file.
  fail_unless(through(good()) == good());
}

CHECK_TEST(test_what_is_left_behind) {
  const Bytes comment = segment(0xfe, "stays");
  const Bytes out = through(with(
      {segment(0xe0, "AVI1", 14), segment(0xe2, kMpf, 90), comment, segment(0xee, "Adobe", 12)}));
  fail_unless(metadata_of(out) == metadata_of(with({comment})));
  // A camera's file: Exif instead of JFIF. A file with neither gets a JFIF header.
  const Bytes exif = with({segment(0xe1, kExif, 100)}, false);
  fail_unless(metadata_of(through(exif)) == metadata_of(exif));
  fail_unless(metadata_of(through(with({comment}, false))) == metadata_of(with({comment})));
}

CHECK_TEST(test_switched_off) {
  const Bytes plain = metadata_of(good());
  fail_unless(metadata_of(through(rich(), "keep-metadata=false")) == plain);
  fail_unless(metadata_of(through(rich(), "", "keep-metadata=false")) == plain);
}

// It describes that picture, and no other made from it.
CHECK_TEST(test_not_with_another_picture) {
  for (const char* remade :
       {" ! cudaidct8x8 ! cudadct8x8", " ! cudaidct8x8 scale=half ! cudadct8x8"})
    fail_unless(metadata_of(through(rich(), "", "", remade)) == metadata_of(good()), "%s", remade);
}

CHECK_TEST(test_many_and_large) {
  std::vector<Bytes> comments(10000, segment(0xfe, "x"));
  const Bytes many = with({joined(comments)});
  fail_unless(metadata_of(through(many)) == metadata_of(many));
  // 17 MiB exceed the limit.
  std::vector<Bytes> large(272, segment(0xef, "", 65533));
  fail_unless(metadata_of(through(with({joined(large)}))) == metadata_of(good()));
}

// The element reads nothing beyond the header's end, and the next picture is sound.
CHECK_TEST(test_damaged_segments) {
  const Bytes before = segment(0xfe, "sound");
  for (const Bytes& wrong :
       {Bytes{0xff, 0xfe, 0, 0}, Bytes{0xff, 0xfe, 0, 1}, Bytes{0xff, 0xe1, 0xff, 0xff},
        Bytes{0xff, 0xff, 0xff}, Bytes{0xff, 0, 0xff, 1, 7}, Bytes{0xff, 0xe0, 0, 2}}) {
    const Bytes jpeg = with({before, wrong});
    for (gsize size = jpeg.size(); size > 20; size -= size > 700 ? 37 : 1)
      through(cut(jpeg, size), "on-error=conceal");
  }
}

// An application's meta may hold anything.
CHECK_TEST(test_foreign_meta) {
  const Bytes sound = segment(0xfe, "sound");
  const std::vector<Bytes> metas = {{},
                                    {0xff},
                                    {0xff, 0xfe, 0},
                                    {0xff, 0xfe, 0xff, 0xff, 1},
                                    {0xff, 0xc0, 0, 2},
                                    {0xff, 0xda, 0, 2},
                                    {0xff, 0xd9, 0, 0},
                                    Bytes(1000, 0xff),
                                    Bytes(1000, 0)};
  for (const Bytes& wrong : metas) {
    g_autoptr(GstHarness) decoder = open("keep-metadata=false n-threads=1");
    push(decoder, good());
    GstBuffer* buffer = gst_harness_pull(decoder);
    g_autoptr(GstHarness) encoder = gst_harness_new_parse("jpegcoefenc n-threads=1");
    gst_harness_set_src_caps(encoder, current_caps(decoder));
    const Bytes all = joined({sound, wrong});
    GBytes* bytes = g_bytes_new(all.data(), all.size());
    gst_buffer_add_dct_jpeg_meta(buffer, bytes);
    g_bytes_unref(bytes);
    g_autoptr(GstBuffer) file = passed(encoder, buffer);
    fail_unless(metadata_of(bytes_of(file)) == metadata_of(with({sound})));
  }
}

// After the Adobe marker, which the writer makes. Even a JFIF header stays: it has the density.
CHECK_TEST(test_four_components) {
  for (const FourComponents& kind : kFourComponents) {
    const Bytes plain = make_four_components(kind, 64, 48);
    const Segment adobe = segment_of(plain, 0xee);
    const Bytes kept = joined({segment(0xe0, std::string("JFIF\0\1\2\1\1\x2c\1\x2c\0\0", 14)),
                               segment(0xe2, "ICC_PROFILE", 300), segment(0xfe, "ink")});
    const Bytes expected = joined(
        {Bytes(plain.begin() + gssize(adobe.begin), plain.begin() + gssize(adobe.end)), kept});
    const Bytes whole = inserted(plain, 2, kept);
    fail_unless(metadata_of(through(whole)) == expected, "%s", kind.sampling);
    fail_unless(metadata_of(through(whole, "keep-metadata=false")) == metadata_of(plain));
    fail_unless(metadata_of(through(whole, "", "keep-metadata=false")) == metadata_of(plain));
    if (kind.ycck) continue;
    // No program may take such a file for an inverted one.
    const Bytes other = without_segments(whole, 0xee), bare = without_segments(plain, 0xee);
    fail_unless(metadata_of(through(other)) == kept);
    fail_unless(metadata_of(through(bare)).empty());
    fail_unless(metadata_of(through(other, "keep-metadata=false")).empty());
    fail_unless(metadata_of(through(other, "", "keep-metadata=false")).empty());
    fail_unless(metadata_of(through(inserted(bare, 2, segment(0xee, "Adobe")))).empty());
  }
}

}  // namespace
