// jpegcoefdec on streams that claim more than there is: time and memory that grow with the bytes
// alone, in small buffers and in one.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <malloc.h>

#include <algorithm>
#include <string>

#include "tests/check/costs.h"
#include "tests/check/jpeg/jpegstreams.h"
#include "tests/jpeg/hostile_streams.h"

namespace {

using namespace testing;
namespace hostile = cudatransform::test;

constexpr char kJpeg[] = "image/jpeg";

CHECK_TEST(test_time_grows_with_the_bytes) {
  for (const hostile::HostileStream& stream : hostile::kHostileJpegs)
    for (const char* properties : {"", "pictures=all", "keep-metadata=false"}) {
      const std::string line = std::string("jpegcoefdec backend=cpu n-threads=1 ") + properties;
      expect_linear_cost(line, kJpeg, stream.name, stream.make);
    }
}

// Each new size is negotiated by the bin's second element, too.
CHECK_TEST(test_time_of_the_bin) {
  for (const hostile::HostileStream& stream : hostile::kHostileJpegs)
    expect_linear_cost("cudajpegdec backend=cpu n-threads=1", kJpeg, stream.name, stream.make, 4);
}

// An index that claims 200 MB makes the element hold no more than a picture.
CHECK_TEST_IF(test_claims_hold_nothing, !quick()) {
  const hostile::Bytes first =
      hostile::with_claims({{hostile::with_claims({{}}).size(), gsize{200} << 20}});
  const hostile::Bytes tiny = hostile::repeated(hostile::tiny_picture(), gsize{1} << 22);
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  g_autoptr(GstHarness) harness = open_bytes("n-threads=1");
  gst_harness_set_drop_buffers(harness, TRUE);
  gst_harness_push(harness, buffer_of(first));
  const gsize before = in_use();
  gsize most = before;
  for (const Bytes& part : in_pieces(tiny, 4096)) {
    gst_harness_push(harness, buffer_of(part));
    most = std::max(most, in_use());
  }
  // The pieces themselves are not the element's.
  fail_unless(most - before < tiny.size() + (gsize{1} << 21), "%" G_GSIZE_FORMAT " bytes",
              most - before);
}

// The received part of a picture without an end is cut, and what follows is a stream again.
CHECK_TEST(test_memory_of_one_picture) {
  const Bytes picture = make_jpeg(64, 48);
  hostile::Bytes open = hostile::tiny_picture();
  open.resize(open.size() - 2);
  const Bytes stream = joined({open, Bytes(3000000, 0), picture});
  g_autoptr(GstHarness) harness = open_bytes("n-threads=1 max-memory=1000000");
  g_autoptr(GstElement) decoder = gst_harness_find_element(harness, "jpegcoefdec");
  for (const Bytes& part : in_pieces(stream, 10000))
    fail_unless_equals_int(gst_harness_push(harness, buffer_of(part)), GST_FLOW_OK);
  expect(harness, picture);
  expect_no_more(harness);
  fail_unless_equals_uint64(stat_of(decoder, "damaged"), 1);
}

// Runs of SOI are no pictures, in any pieces; a stream of nothing else has one that is damaged.
CHECK_TEST(test_runs_of_soi) {
  const Bytes picture = make_jpeg(64, 48);
  for (const Bytes& part : {Bytes{0xff, 0xd8}, Bytes{0xff, 0xd8, 0xff, 0xd9}})
    for (const gsize piece : {gsize{1}, gsize{188}, gsize{100000}}) {
      const Bytes run = hostile::repeated(part, 1000);
      g_autoptr(GstHarness) harness = open_bytes("n-threads=1");
      g_autoptr(GstElement) decoder = gst_harness_find_element(harness, "jpegcoefdec");
      for (const Bytes& bytes : in_pieces(joined({run, picture, run}), piece))
        gst_harness_push(harness, buffer_of(bytes));
      expect(harness, picture);
      expect_no_more(harness);
      fail_unless_equals_uint64(stat_of(decoder, "damaged"), 0);
      finish(harness);
      fail_unless_equals_uint64(stat_of(decoder, "damaged"), 1);
    }
}

// Times of buffers without a picture are forgotten, too.
CHECK_TEST(test_buffers_with_times_between_pictures) {
  const Bytes picture = make_jpeg(64, 48);
  g_autoptr(GstHarness) harness = open("n-threads=1");
  const Bytes between(1000, 1);
  for (int i = 0; i < 1000; i++)
    fail_unless_equals_int(gst_harness_push(harness, buffer_of(between, i * GST_MSECOND)),
                           GST_FLOW_OK);
  push(harness, picture, GST_SECOND);
  expect(harness, picture, GST_SECOND);
  expect_no_more(harness);
}

}  // namespace
