// Files of several pictures through jpegcoefdec and jpegcoefenc, judged by a parser of the test's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gst/coef/coef.h>
#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

CHECK_TEST(test_both_byte_orders_and_pieces) {
  for (const bool big : {false, true})
    for (const gsize piece : {0, 1, 7, 1000}) {
      const Bytes file = several(big);
      fail_unless(through(file, "", "", piece) == std::vector<Bytes>{file});
    }
}

CHECK_TEST(test_other_sizes) {
  for (const char* options : {"progressive=true", "optimize=true", "arithmetic=true"}) {
    const std::vector<Bytes> files = through(several(), "", options);
    fail_unless_equals_int(static_cast<int>(files.size()), 1);
    fail_unless(files[0].size() != several().size(), "%s", options);
    fail_unless(has_others(files[0]), "%s", options);
    const Bytes first = pictures_of(files[0])[0];
    fail_unless(first.back() == 0xd9 && first[first.size() - 2] == 0xff);
  }
}

// What is between the pictures and after them stays; after them where a buffer is a file.
CHECK_TEST(test_gaps_and_trailers) {
  const Bytes gap(13, 0), tail(50, 0x5a);
  const Bytes file = joined({first_of(good(), others(), true, gap.size()), gap, joined(others())});
  fail_unless(through(file, "", "", 100) == std::vector<Bytes>{file});
  const char* whole = "image/jpeg,parsed=true";
  for (const Bytes& all : {joined({file, tail}), joined({good(), tail}), several(false, tail)})
    fail_unless(through(all, "", "", 0, whole) == std::vector<Bytes>{all});
}

CHECK_TEST(test_streams) {
  const Bytes stream = joined({several(true), several(false), good(), several(true)});
  for (const gsize piece : {0, 100})
    fail_unless(through(stream, "", "", piece) ==
                std::vector<Bytes>({several(true), several(false), good(), several(true)}));
}

// As out of an AVI file: each buffer has a time.
CHECK_TEST(test_buffers_with_times) {
  Decoder decoder;
  for (int i = 0; i < 3; i++) decoder.push(several(i % 2 == 0));
  decoder.push(first_of(good(), others(), true));  // the others are not there
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 5);
  fail_unless_equals_uint64(decoder.stat("attachments"), 6);
}

// What comes out does not depend on how a stream of damaged files is cut.
CHECK_TEST(test_mutations) {
  constexpr int kStreams = 20, kFiles = 100;
  g_autoptr(GRand) random = g_rand_new_with_seed(1);
  const auto below = [&](gsize end) {
    return static_cast<gsize>(g_rand_int_range(random, 0, static_cast<gint32>(end)));
  };
  gsize attached = 0;
  for (int i = 0; i < kStreams; i++) {
    std::vector<Bytes> files;
    for (int k = 0; k < kFiles; k++) {
      Bytes file = several(k % 2 == 0);
      // Most of them in the index.
      const gsize end = k % 4 == 0 ? file.size() : 120;
      for (gsize n = 1 + below(3); n > 0; n--) file[2 + below(end - 2)] = guint8(below(256));
      if (below(16) == 0) file.resize(2 + below(file.size() - 2));
      files.push_back(file);
    }
    const Bytes stream = joined(files);
    const std::vector<Bytes> whole = through(stream, "n-threads=1");
    fail_unless(through(stream, "n-threads=1", "", 1 + below(3000)) == whole, "stream %d", i);
    for (const Bytes& file : whole) attached += pictures_of(file).size() > 1;
  }
  fail_unless(attached > 200, "%d with others", static_cast<int>(attached));
}

CHECK_TEST(test_switches) {
  fail_unless(through(several(), "pictures=all") ==
              std::vector<Bytes>({good(), others()[0], others()[1]}));
  fail_unless(through(several(), "keep-metadata=false") == std::vector<Bytes>{good()});
  fail_unless(through(several(), "", "keep-metadata=false") == std::vector<Bytes>{good()});
}

// A file that was split: its pictures are reunited.
CHECK_TEST(test_pictures_that_come_alone) {
  g_autoptr(GstHarness) harness =
      gst_harness_new_parse("jpegcoefdec name=decoder ! jpegcoefenc n-threads=1");
  g_autoptr(GstElement) decoder = gst_harness_find_element(harness, "jpegcoefdec");
  gst_harness_set_src_caps_str(harness, "image/jpeg,parsed=true,framerate=25/1");
  const std::vector<Bytes> pictures = {first_of(good(), others(), true),
                                       others()[0],
                                       others()[1],
                                       good(),
                                       others()[0],  // belongs to nothing
                                       first_of(good(), others(), false),
                                       others()[0],
                                       others()[1],
                                       first_of(good(), others(), true),
                                       others()[0],
                                       good(),  // one is missing
                                       first_of(good(), others(), true),
                                       others()[0],
                                       others()[1]};
  GstClockTime time = 0;
  for (const Bytes& picture : pictures) {
    // Parsers change caps for each.
    const std::string caps =
        "image/jpeg,parsed=true,framerate=25/1,width=" + std::to_string(picture.size());
    gst_harness_set_src_caps_str(harness, caps.c_str());
    gst_harness_push(harness, buffer_of(picture, time += 40 * GST_MSECOND));
  }
  gst_harness_push_event(harness, gst_event_new_eos());
  std::vector<Bytes> files;
  while (GstBuffer* buffer = gst_harness_try_pull(harness)) {
    files.push_back(bytes_of(buffer));
    gst_buffer_unref(buffer);
  }
  // After missing pictures none are waited for. Their received part is a trailer.
  fail_unless(files == std::vector<Bytes>({several(true), good(), others()[0], several(false),
                                           joined({good(), others()[0]}), good(), good()}));
  fail_unless_equals_uint64(stat_of(decoder, "orphaned"), 2);
  fail_unless_equals_uint64(stat_of(decoder, "attachments"), 4);
}

// A picture that others should follow is not lost at the end, nor by a flush.
CHECK_TEST(test_held_pictures) {
  const char* caps = "image/jpeg,parsed=true,framerate=25/1";
  Decoder decoder("", caps), flushed("", caps);
  decoder.push(first_of(good(), others(), true));
  decoder.push(others()[0]);
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 1);
  flushed.push(first_of(good(), others(), true));
  push_flush(flushed.harness());
  flushed.push(others()[0]);
  flushed.finish();
  fail_unless_equals_int(flushed.count(), 1);
}

// A picture that is held has its own caps: by those of the next it would be a field.
CHECK_TEST(test_caps_of_held_pictures) {
  const auto caps_of = [](int height, int rate) {
    return "image/jpeg,parsed=true,width=64,height=" + std::to_string(height) +
           ",framerate=" + std::to_string(rate) + "/1";
  };
  Decoder decoder("", caps_of(48, 25).c_str());
  decoder.push(first_of(good(), others(), true));
  for (const Bytes& other : others()) {
    gst_harness_set_src_caps_str(decoder.harness(), caps_of(96, 50).c_str());
    decoder.push(other);
  }
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 1);
  fail_unless_equals_uint64(decoder.stat("damaged"), 0);
  g_autoptr(GstCaps) caps = current_caps(decoder.harness());
  int rate = 0, per = 0;
  gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &rate, &per);
  fail_unless_equals_int(rate, 25);
}

// The real thing, which the distribution may not have.
CHECK_TEST(test_jpegparse) {
  GstElementFactory* factory = gst_element_factory_find("jpegparse");
  if (!factory) return;
  gst_object_unref(factory);
  g_autoptr(GstHarness) harness =
      gst_harness_new_parse("jpegparse ! jpegcoefdec ! jpegcoefenc n-threads=1");
  gst_harness_push_event(harness, gst_event_new_stream_start("bytes"));
  g_autoptr(GstCaps) caps = gst_caps_new_empty_simple("image/jpeg");
  gst_harness_push_event(harness, gst_event_new_caps(caps));
  push_segment(harness, GST_FORMAT_BYTES);
  gst_harness_push(harness, buffer_of(joined({several(true), several(false)})));
  gst_harness_push_event(harness, gst_event_new_eos());
  for (const bool big : {true, false}) {
    g_autoptr(GstBuffer) file = gst_harness_try_pull(harness);
    fail_unless(file != nullptr && bytes_of(file) == several(big));
  }
}

// A wrong index is ignored: the pictures are those of a stream.
CHECK_TEST(test_lies) {
  const Bytes file = several();
  const Segment index = segment_of(file, 0xe2);
  const gsize second = index.end - 32;
  for (const Bytes& lie : {number(0xfffffff0, 4, true), number(0, 4, true), number(3, 4, true)})
    for (const gsize piece : {0, 100}) {
      Bytes bad = file;
      std::copy(lie.begin(), lie.end(), bad.begin() + gssize(second) + 8);
      const std::vector<Bytes> files = through(bad, "", "", piece);
      fail_unless(files.size() >= 1 && files[0] == good());
      fail_unless_equals_int(static_cast<int>(through(bad, "pictures=all").size()), 3);
    }
}

CHECK_TEST(test_memory) {
  const Bytes file = joined({several(), Bytes(1 << 20, 0)});
  Decoder decoder("max-memory=1500000", "image/jpeg,parsed=true");
  decoder.push(file);
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 1);
  fail_unless_equals_uint64(decoder.stat("damaged"), 1);
}

// An application's own pictures after one that had none.
CHECK_TEST(test_new_index) {
  g_autoptr(GstHarness) decoder = open("n-threads=1");
  push(decoder, good());
  GstBuffer* buffer = gst_harness_pull(decoder);
  const Bytes behind = joined(others());
  g_autoptr(GBytes) bytes = g_bytes_new(behind.data(), behind.size());
  const GstDctJpegPlace places[] = {{0, others()[0].size()},
                                    {others()[0].size(), others()[1].size()}};
  GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(buffer);
  const GstDctJpegPlace outside = {1, behind.size()};
  fail_if(gst_dct_jpeg_meta_set_trailing(meta, bytes, &outside, 1));
  fail_unless(meta->trailing == nullptr);
  fail_unless(gst_dct_jpeg_meta_set_trailing(meta, bytes, places, 2));
  g_autoptr(GBytes) one = gst_dct_jpeg_meta_get_attachment(meta, 1);
  fail_unless_equals_uint64(g_bytes_get_size(one), others()[1].size());
  fail_unless(gst_dct_jpeg_meta_get_trailer(meta) == nullptr);
  g_autoptr(GstHarness) encoder = gst_harness_new_parse("jpegcoefenc n-threads=1");
  gst_harness_set_src_caps(encoder, current_caps(decoder));
  g_autoptr(GstBuffer) file = passed(encoder, buffer);
  fail_unless(has_others(bytes_of(file)));
}

// What an application has attached must be there, once, and in a number that files have.
CHECK_TEST(test_attachments_that_cannot_be) {
  using Lie = void (*)(GstDctJpegMeta * meta);
  const std::pair<Lie, const char*> lies[] = {
      {[](GstDctJpegMeta* m) { m->attachments[1].offset += 1; }, "attachment 1 (bytes"},
      {[](GstDctJpegMeta* m) { m->attachments[1].offset = G_MAXSIZE; }, "attachment 1 (bytes"},
      {[](GstDctJpegMeta* m) { m->attachments[0].size = 0; }, "attachment 0 (bytes"},
      {[](GstDctJpegMeta* m) { m->attachments[1].offset -= 1; }, "overlaps another (bytes 0-"},
      {[](GstDctJpegMeta* m) { g_clear_pointer(&m->trailing, g_bytes_unref); },
       "trailing data of 0 bytes"},
      {[](GstDctJpegMeta* m) { m->n_attachments = 256; }, "256 attachments, expected at most 255"}};
  for (const auto& [lie, words] : lies) {
    g_autoptr(GstHarness) decoder = open("n-threads=1", "image/jpeg,parsed=true");
    push(decoder, several());
    GstBuffer* buffer = gst_harness_pull(decoder);
    lie(gst_buffer_get_dct_jpeg_meta(buffer));
    g_autoptr(GstHarness) encoder = gst_harness_new_parse("jpegcoefenc n-threads=1");
    const Messages bus(encoder->element);
    gst_harness_set_src_caps(encoder, current_caps(decoder));
    fail_unless_equals_int(gst_harness_push(encoder, buffer), GST_FLOW_ERROR);
    expect(take_text(bus, GST_MESSAGE_ERROR), {words});
  }
}

}  // namespace
