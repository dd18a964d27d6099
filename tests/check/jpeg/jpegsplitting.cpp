// jpegcoefdec on pictures in many buffers: work that grows with the bytes alone, times, memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

void push_pieces(GstHarness* harness, const Bytes& stream, gsize piece) {
  for (const Bytes& part : in_pieces(stream, piece))
    fail_unless_equals_int(gst_harness_push(harness, buffer_of(part)), GST_FLOW_OK);
}

// A picture that begins with that many bytes of comments.
Bytes large_picture(gsize comments) {
  Bytes segment(2 + 0xffff, 7);
  segment[0] = segment[2] = segment[3] = 0xff;
  segment[1] = 0xfe;
  Bytes jpeg = make_jpeg(64, 48);
  Bytes all(jpeg.begin(), jpeg.begin() + 2);
  while (all.size() < comments) all.insert(all.end(), segment.begin(), segment.end());
  all.insert(all.end(), jpeg.begin() + 2, jpeg.end());
  return all;
}

// Seconds of this thread, in which everything happens with n-threads=1.
double seconds_in_pieces(const Bytes& picture, gsize piece) {
  const auto now = [] {
    timespec t = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  g_autoptr(GstHarness) harness = open_bytes("n-threads=1");
  const double begin = now();
  push_pieces(harness, picture, piece);
  const double spent = now() - begin;
  expect(harness, picture);
  return spent;
}

// Sixteen times as many buffers may not cost much more than the bytes do. Rescanning all earlier
// bytes for each buffer would cost sixteen times as much.
CHECK_TEST_IF(test_small_buffers_cost_little, test_numbers()) {
  const Bytes picture = large_picture(gsize(48) << 20);
  double few = 1e9, many = 1e9;
  for (int round = 0; round < 3; round++) {
    few = std::min(few, seconds_in_pieces(picture, 65536));
    many = std::min(many, seconds_in_pieces(picture, 4096));
  }
  fail_unless(many < 3 * few, "%f s in 4 KiB, %f s in 64 KiB", many, few);
  const double packets = seconds_in_pieces(picture, 1400);
  fail_unless(packets < 10 * few, "%f s in packets, %f s in 64 KiB", packets, few);
}

// Each picture has the time of the buffer with its first byte.
CHECK_TEST(test_times_of_pieces) {
  const std::vector<Bytes> pictures = {make_jpeg(24, 16), make_jpeg(24, 16, Subsampling::k420, 50),
                                       make_jpeg(24, 16, Subsampling::k420, 90)};
  const std::vector<Bytes> between = {{1, 0xff, 3}, {}, {0xff, 0xff, 0}};
  Bytes stream;
  std::vector<gsize> begins;
  for (gsize i = 0; i < pictures.size(); i++) {
    stream = joined({stream, between[i]});
    begins.push_back(stream.size());
    stream = joined({stream, pictures[i]});
  }
  for (gsize piece = 1; piece < 700; piece += piece < 40 ? 1 : 53) {
    g_autoptr(GstHarness) harness = open("n-threads=1");
    GstClockTime time = 0;
    for (const Bytes& part : in_pieces(stream, piece))
      gst_harness_push(harness, buffer_of(part, GST_MSECOND * time++));
    for (gsize i = 0; i < pictures.size(); i++) {
      GstClockTime pts = begins[i] / piece * GST_MSECOND;
      // If several pictures begin in one buffer, all have its time.
      expect(harness, pictures[i], pts);
    }
    expect_no_more(harness);
  }
}

// Each picture has the metas of the buffer with its first byte, in any number of buffers, and also
// if the buffer follows a picture without an end.
CHECK_TEST(test_metas_of_pieces) {
  const Bytes whole = make_jpeg(64, 48), open_end = cut(whole, whole.size() - 2);
  for (const bool is_open : {false, true})
    for (const gsize piece : {gsize{100}, whole.size()}) {
      g_autoptr(GstHarness) harness = open("n-threads=1 on-error=conceal");
      g_autoptr(GstCaps) clock = gst_caps_new_empty_simple("timestamp/x-unix");
      for (GstClockTime i = 0; i < 3; i++) {
        bool is_first = true;
        for (const Bytes& part : in_pieces(is_open ? open_end : whole, piece)) {
          GstBuffer* buffer = buffer_of(part, i * GST_MSECOND);
          if (std::exchange(is_first, false))
            gst_buffer_add_reference_timestamp_meta(buffer, clock, i, GST_CLOCK_TIME_NONE);
          gst_harness_push(harness, buffer);
        }
      }
      finish(harness);
      for (GstClockTime i = 0; i < 3; i++) {
        g_autoptr(GstBuffer) buffer = gst_harness_pull(harness);
        const auto* meta = gst_buffer_get_reference_timestamp_meta(buffer, clock);
        fail_unless(meta != nullptr && meta->timestamp == i, "picture %d of pieces of %d",
                    static_cast<int>(i), static_cast<int>(piece));
      }
    }
}

// A truncated picture at the end of the stream is a picture, in any number of buffers.
CHECK_TEST(test_end_without_an_end) {
  const Bytes whole = make_jpeg(64, 48), lost = cut(whole, whole.size() / 2);
  for (const gsize piece : {gsize{1}, gsize{2}, gsize{100}, lost.size() - 1, lost.size()}) {
    g_autoptr(GstHarness) harness = open_bytes("n-threads=1 on-error=conceal");
    push_pieces(harness, lost, piece);
    expect_no_more(harness);
    finish(harness);
    g_autoptr(GstBuffer) buffer = gst_harness_pull(harness);
    fail_unless(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED));
  }
}

// A buffer that begins like a picture ends the one before it, whose last byte was an FF.
CHECK_TEST(test_cut_behind_an_ff) {
  const Bytes whole = make_jpeg(64, 48);
  for (const Bytes& tail : {Bytes{0xff}, Bytes{0xff, 0xff}, Bytes{}}) {
    const Bytes lost = joined({cut(whole, whole.size() / 2), tail});
    for (const bool bytes : {true, false}) {
      g_autoptr(GstHarness) harness = bytes ? open_bytes("n-threads=1") : open("n-threads=1");
      push_pieces(harness, joined({whole, lost}), 50);
      push_pieces(harness, whole, whole.size());
      for (int i = 0; i < 2; i++) expect(harness, whole);
      expect_no_more(harness);
    }
  }
}

// In reverse, the base class gathers pictures and decodes them later, the last one first.
CHECK_TEST(test_backwards) {
  const std::vector<Bytes> pictures = {make_jpeg(24, 16), make_jpeg(24, 16, Subsampling::k420, 50),
                                       make_jpeg(24, 16, Subsampling::k420, 90)};
  for (const gsize piece : {gsize{64}, gsize{100000}}) {
    g_autoptr(GstHarness) harness = open("n-threads=1");
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.rate = -1;
    segment.stop = GST_SECOND;
    gst_harness_push_event(harness, gst_event_new_segment(&segment));
    bool first = true;
    for (gsize i = 0; i < pictures.size(); i++) {
      for (gsize at = 0; at < pictures[i].size(); at += piece) {
        const auto begin = pictures[i].begin() + static_cast<gssize>(at);
        const auto size = static_cast<gssize>(std::min(piece, pictures[i].size() - at));
        GstBuffer* buffer = buffer_of(Bytes(begin, begin + size),
                                      at == 0 ? (i + 1) * GST_MSECOND : GST_CLOCK_TIME_NONE);
        if (first) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
        first = false;
        fail_unless_equals_int(gst_harness_push(harness, buffer), GST_FLOW_OK);
      }
    }
    // The next group, which precedes this one. At the end of the stream the base class says so with
    // each buffer, so the element cuts pictures in pieces there.
    GstBuffer* next = buffer_of({0}, 0);
    GST_BUFFER_FLAG_SET(next, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int(gst_harness_push(harness, next), GST_FLOW_OK);
    for (gsize i = pictures.size(); i-- > 0;) expect(harness, pictures[i], (i + 1) * GST_MSECOND);
    expect_no_more(harness);
  }
}

// Bytes of a picture before a flush are no part of the next one.
CHECK_TEST(test_flush_in_a_picture) {
  const Bytes before = make_jpeg(64, 48), after = make_jpeg(64, 48, Subsampling::k420, 75, 9);
  g_autoptr(GstHarness) harness = open("n-threads=1");
  for (int i = 0; i < 2; i++) {
    push_pieces(harness, cut(before, 400), 100);
    push_flush(harness);
    push_pieces(harness, after, 100);
    expect(harness, after);
    expect_no_more(harness);
  }
}

// Address space of this process, as the kernel has it.
rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// Without memory for a picture's bytes there is a specific error, and the program continues.
CHECK_TEST_IF(test_no_memory_for_a_picture, !quick()) {
  const Bytes whole = make_jpeg(64, 48), begin = cut(whole, 2);
  const Bytes comment = large_picture(3);
  const Bytes segment(comment.begin() + 2, comment.begin() + 4 + 0xffff);
  Decoder decoder;
  decoder.push(whole);
  decoder.push(begin);
  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  const rlimit tight = {address_space() + (rlim_t{48} << 20), before.rlim_max};
  fail_unless(setrlimit(RLIMIT_AS, &tight) == 0);
  GstFlowReturn flow = GST_FLOW_OK;
  for (int i = 0; i < 4000 && flow == GST_FLOW_OK; i++) flow = decoder.push(segment);
  setrlimit(RLIMIT_AS, &before);
  fail_unless_equals_int(flow, GST_FLOW_ERROR);
  const std::string error = decoder.message(GST_MESSAGE_ERROR);
  fail_unless(error.find("no memory") != std::string::npos, "%s", error.c_str());
  decoder.expect(whole);
  // Nothing comes after the error, even once there is memory again.
  fail_unless_equals_int(decoder.push(whole), GST_FLOW_ERROR);
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 0);
}

}  // namespace
