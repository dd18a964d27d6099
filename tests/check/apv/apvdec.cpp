// cudaapvdec in a harness: raw streams in pieces of any size, access units, MP4, threads, states,
// flushes, damage, caps, limits and statistics.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Streams are written by tests/apv/encoder.h; those of the test data are compared by their MD5s.
#include <gst/app/gstappsink.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/apv/encoder.h"
#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

namespace fs = std::filesystem;
using namespace testing;
using namespace cudatransform;
using namespace cudatransform::test;

constexpr const char* kRaw = "video/x-apv";
constexpr const char* kUnits = "video/x-apv, alignment=(string)au";
constexpr const char* kOfDemuxer = "video/x-gst-fourcc-apv1";

ApvPictureToWrite picture(guint32 seed, guint32 width = 70, guint32 height = 50,
                          ApvChroma chroma = ApvChroma::k422, int depth = 10) {
  std::mt19937 random(seed);
  ApvPictureToWrite made = random_apv_picture(random, chroma, depth, width, height, 6);
  made.tile_mbs_across = made.tile_mbs_down = 2;
  return made;
}
Bytes unit_of(const ApvPictureToWrite& from) {
  return apv_access_unit({apv_unit(1, encode_apv_frame(from))});
}
std::vector<Bytes> units(guint32 count) {
  std::vector<Bytes> all;
  for (guint32 i = 0; i < count; i++) all.push_back(unit_of(picture(i)));
  return all;
}

// A driver that runs no kernels has stand-ins for what the CPU would read: there the choice between
// the two must not depend on time.
std::string decoder(const std::string& properties = "") {
  const bool chooses = properties.find("entropy-backend=") == std::string::npos;
  return std::string("cudaapvdec backend=") + backend() + " " +
         (is_deferred() && chooses ? "entropy-backend=cpu " : "") + properties;
}

void begin(GstHarness* h, const char* caps_text = kRaw) {
  gst_harness_push_event(h, gst_event_new_stream_start("apv"));
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  gst_harness_push_event(h, gst_event_new_caps(caps));
  push_segment(h, strcmp(caps_text, kRaw) == 0 ? GST_FORMAT_BYTES : GST_FORMAT_TIME);
}

GstHarness* open(const std::string& properties = "", const char* caps = kRaw) {
  GstHarness* h = new_harness(decoder(properties));
  gst_harness_set_sink_caps_str(h, "video/x-raw");
  gst_harness_add_propose_allocation_meta(h, GST_VIDEO_META_API_TYPE, nullptr);
  begin(h, caps);
  return h;
}

void push(GstHarness* h, const Bytes& stream, gsize piece = 4096) {
  for (const Bytes& part : in_pieces(stream, piece))
    fail_unless_equals_int(gst_harness_push(h, buffer_of(part)), GST_FLOW_OK);
}

// All bytes of a frame's 16-bit samples, plane by plane.
Bytes words_of(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  GstVideoFrame frame;
  fail_unless(gst_video_info_from_caps(&info, caps));
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  Bytes bytes;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    // Each plane has the size of the first component in it.
    gint component[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info.finfo, p, component);
    const auto c = static_cast<guint>(component[0]);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); y++) {
      bytes.insert(bytes.end(), row, row + 2 * GST_VIDEO_FRAME_COMP_WIDTH(&frame, c));
      row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
    }
  }
  gst_video_frame_unmap(&frame);
  return bytes;
}

Frames pull(GstHarness* h) {
  Frames frames;
  while (GstBuffer* buffer = gst_harness_try_pull(h)) {
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    fail_unless(meta != nullptr);
    const GstVideoInfo info = video_info(meta->format, int(meta->width), int(meta->height));
    g_autoptr(GstCaps) caps = video_caps(info);
    frames.push_back(words_of(buffer, caps));
    gst_buffer_unref(buffer);
  }
  return frames;
}

Frames finish(GstHarness* h) {
  gst_harness_push_event(h, gst_event_new_eos());
  return pull(h);
}

Frames expected_of(const Bytes& stream) {
  static std::map<Bytes, Frames> known;
  if (const auto found = known.find(stream); found != known.end()) return found->second;
  const DoneAtOnce at_once;
  g_autoptr(GstHarness) h = open("n-threads=1");
  push(h, stream, stream.size());
  return known[stream] = finish(h);
}

guint64 stat(GstHarness* h, const char* name) {
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudaapvdec");
  return stat_of(element, name);
}

// ---- Streams of the test data ----

std::string data_folder() {
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  return std::string(data ? data : "") + "/apv/";
}
std::vector<std::string> hashes_of(const std::string& name) {
  std::ifstream list(data_folder() + name + ".md5");
  return {std::istream_iterator<std::string>(list), {}};
}

void expect_hashes(const std::string& name, const std::string& demuxer, const std::string& file) {
  const std::vector<std::string> hashes = hashes_of(name);
  g_autoptr(GstElement) pipeline =
      launch("filesrc blocksize=5000 location=" + data_folder() + file + " ! " + demuxer +
             decoder() + " ! appsink name=sink sync=false");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (const std::string& expected : hashes) {
    g_autoptr(GstSample) sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 30 * GST_SECOND);
    fail_unless(sample != nullptr, "no frame of %s", file.c_str());
    const Bytes bytes = words_of(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
    g_autofree gchar* hash =
        g_compute_checksum_for_data(G_CHECKSUM_MD5, bytes.data(), bytes.size());
    fail_unless(expected == hash, "%s: %s", file.c_str(), hash);
  }
  fail_unless(gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 30 * GST_SECOND) == nullptr);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

bool has_data() { return fs::is_regular_file(data_folder() + "README.md"); }

// The streams and MP4 files with MD5s.
std::vector<fs::path> sound_files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(data_folder())) {
    fs::path hashes = entry.path();
    const bool is_stream = hashes.extension() == ".apv" || hashes.extension() == ".mp4";
    if (is_stream && fs::exists(hashes.replace_extension(".md5"))) found.push_back(entry.path());
  }
  return found;
}

CHECK_TEST_IF(test_hashes, has_data() && !is_deferred()) {
  // Not every version of GStreamer has a format for these, or one with samples in the lower bits.
  const std::set<std::string> left_out = {"d12_4444_q20", "d14_400", "d16_444", "odd_301x199_400",
                                          "p4444_12"};
  int count = 0;
  for (const fs::path& path : sound_files()) {
    if (left_out.count(path.stem()) > 0) continue;
    count++;
    expect_hashes(path.stem(), path.extension() == ".mp4" ? "qtdemux ! " : "", path.filename());
  }
  fail_unless(count > 25, "%d streams", count);
}

CHECK_TEST_IF(test_autoplugged, has_data() && !is_deferred()) {
  for (const fs::path& mp4 : sound_files()) {
    if (mp4.extension() != ".mp4") continue;
    fs::path raw = mp4;
    for (const fs::path& path : {mp4, raw.replace_extension(".apv")}) {
      for (const char* bin : {"decodebin", "decodebin3"}) {
        const Frames frames = play("filesrc location=" + path.string() + " ! " + bin +
                                   " ! video/x-raw ! appsink name=sink sync=false");
        fail_unless_equals_int(frames.size(), hashes_of(mp4.stem()).size());
      }
    }
  }
}

// ---- Pieces, threads, order ----

CHECK_TEST(test_pieces_and_threads) {
  const Bytes stream = joined(units(quick() ? 6 : 20));
  const Frames expected = expected_of(stream);
  fail_unless_equals_int(expected.size(), quick() ? 6 : 20);
  for (const int threads : {1, 2, 7, 0}) {
    for (const gsize piece : {gsize{13}, gsize{997}, stream.size()}) {
      const std::string property = "n-threads=" + std::to_string(threads);
      g_autoptr(GstHarness) h = open(property);
      push(h, stream, piece);
      compare(expected, finish(h), property + ", pieces of " + std::to_string(piece));
    }
  }
}

// After the query no frame is in flight: all that one thread has pushed are there.
CHECK_TEST(test_drain_query) {
  const DoneAtOnce at_once;
  const Bytes stream = joined(units(quick() ? 6 : 20));
  g_autoptr(GstHarness) one = open("n-threads=1");
  push(one, stream);
  g_autoptr(GstHarness) h = open("n-threads=4");
  push(h, stream);
  drain(h);
  fail_unless_equals_int(gst_harness_buffers_received(h), gst_harness_buffers_received(one));
  compare(expected_of(stream), finish(h), "after a query");
}

// The device reads the codes, of frames in flight that are many and few.
CHECK_TEST(test_entropy_on_the_device) {
  const Bytes stream = joined(units(quick() ? 6 : 40));
  Frames expected;
  {
    const DoneAtOnce at_once;
    g_autoptr(GstHarness) h = open("n-threads=1 entropy-backend=cuda");
    push(h, stream);
    expected = finish(h);
  }
  if (!is_deferred()) compare(expected_of(stream), expected, "one thread");
  for (const char* properties :
       {"n-threads=2 entropy-backend=cuda", "n-threads=5 entropy-backend=cuda",
        "n-threads=3 entropy-backend=cpu"}) {
    const bool on_device = strstr(properties, "entropy-backend=cuda") != nullptr;
    if (is_deferred() && !on_device) continue;
    g_autoptr(GstHarness) h = open(properties);
    push(h, stream);
    compare(expected, finish(h), properties);
    fail_unless_equals_uint64(stat(h, "cuda-entropy-frames"),
                              is_cuda() && on_device ? expected.size() : 0);
  }
}

// Frames that arrive alone: the device reads some chains of each, and threads the others, damaged
// ones among both.
CHECK_TEST_IF(test_entropy_on_both, is_cuda() && !is_deferred()) {
  std::mt19937 random(1);
  std::vector<Bytes> all;
  for (guint i = 0; i < 4; i++) {
    Bytes frame =
        encode_apv_frame(random_apv_picture(random, ApvChroma::k422, 10, 1024, 512, 24 + 8 * i));
    for (guint k = 0; k < 4 * i; k++) frame[100 + random() % (frame.size() - 100)] = 0xff;
    all.push_back(apv_access_unit({apv_unit(1, frame)}));
  }
  g_autoptr(GstHarness) one = open("n-threads=1 entropy-backend=cpu");
  push(one, joined(all));
  const Frames expected = finish(one);
  g_autoptr(GstHarness) h = open("n-threads=2");
  for (const Bytes& unit : all) {
    push(h, unit);
    drain(h);
  }
  compare(expected, finish(h), "codes on both");
  fail_unless_equals_uint64(stat(h, "cuda-entropy-frames"), expected.size());
  fail_unless(stat(h, "entropy-time-sum") > 0);
  fail_unless(stat(h, "damaged-chains") > 0);
  fail_unless_equals_uint64(stat(h, "damaged-chains"), stat(one, "damaged-chains"));
}

// The harness accepts anything, as a bin's pad does that is not linked yet.
CHECK_TEST_IF(test_memory_for_any_peer, is_cuda()) {
  g_autoptr(GstHarness) h = open("");
  push(h, joined(units(2)));
  fail_unless_equals_int(static_cast<int>(finish(h).size()), 2);
  g_autoptr(GstCaps) caps = current_caps(h);
  fail_if(gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory"));
}

// With and without au_size, each in a separate buffer.
CHECK_TEST(test_access_units) {
  const std::vector<Bytes> all = units(5);
  const Frames expected = expected_of(joined(all));
  for (const char* caps : {kUnits, kOfDemuxer}) {
    for (const gsize skipped : {gsize{0}, gsize{4}}) {
      g_autoptr(GstHarness) h = open("", caps);
      GstClockTime time = 0;
      for (const Bytes& unit : all) {
        const Bytes bytes(unit.begin() + static_cast<gssize>(skipped), unit.end());
        fail_unless_equals_int(gst_harness_push(h, buffer_of(bytes, time)), GST_FLOW_OK);
        time += GST_SECOND;
      }
      gst_harness_push_event(h, gst_event_new_eos());
      GstBuffer* last = nullptr;
      g_autoptr(GstCaps) out = current_caps(h);
      for (const auto& frame : expected) {
        if (last) gst_buffer_unref(last);
        last = gst_harness_pull(h);
        fail_unless(words_of(last, out) == frame);
      }
      fail_unless_equals_uint64(GST_BUFFER_PTS(last), 4 * GST_SECOND);
      gst_buffer_unref(last);
    }
  }
}

CHECK_TEST(test_times_of_raw_streams) {
  g_autoptr(GstHarness) h = open();
  push(h, joined(units(3)));
  gst_harness_push_event(h, gst_event_new_eos());
  for (GstClockTime i = 0; i < 3; i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), i * 40 * GST_MSECOND);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(buffer), 40 * GST_MSECOND);
  }
}

CHECK_TEST(test_flush_and_states) {
  const Bytes stream = joined(units(8));
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
    for (const gsize part : {stream.size() / 2, stream.size()}) {
      gst_element_set_state(h->element, GST_STATE_NULL);
      pull(h);
      gst_element_set_state(h->element, GST_STATE_PLAYING);
      fail_unless_equals_uint64(stat(h, "frames"), 0);
      begin(h);
      push(h, cut(stream, part));
    }
    compare(expected, finish(h), "started again");
  }
}

// Each has separate caps.
CHECK_TEST(test_changes_of_the_format) {
  std::vector<Bytes> all;
  Frames expected;
  for (guint32 i = 0; i < 12; i++) {
    const ApvChroma chroma = i % 3 == 0 ? ApvChroma::k422 : ApvChroma::k444;
    const auto width = static_cast<guint32>(40 + 2 * (i % 4));
    all.push_back(unit_of(picture(i, width, 30 + i, chroma, i % 2 == 0 ? 10 : 12)));
    for (const auto& frame : expected_of(all.back())) expected.push_back(frame);
  }
  fail_unless_equals_int(expected.size(), 12);
  g_autoptr(GstHarness) h = open();
  push(h, joined(all));
  compare(expected, finish(h), "twelve formats");
}

// ---- Caps ----

std::string caps_of(const Bytes& stream) {
  g_autoptr(GstHarness) h = open();
  push(h, stream);
  (void)finish(h);
  g_autoptr(GstCaps) caps = current_caps(h);
  g_autofree gchar* text = gst_caps_to_string(caps);
  return text;
}

void expect_in(const std::string& text, const char* part) {
  fail_unless(text.find(part) != std::string::npos, "no %s in %s", part, text.c_str());
}

CHECK_TEST(test_formats) {
  struct Row {
    ApvChroma chroma;
    int depth;
    const char *newer, *format;
  };
  for (const Row& row :
       {Row{ApvChroma::k400, 10, "GRAY10_LE16", "GRAY16_LE"},
        Row{ApvChroma::k400, 12, "", "GRAY16_LE"}, Row{ApvChroma::k422, 10, "", "I422_10LE"},
        Row{ApvChroma::k422, 11, "", "I422_12LE"}, Row{ApvChroma::k444, 12, "", "Y444_12LE"},
        Row{ApvChroma::k4444, 10, "", "A444_10LE"}}) {
    const std::string caps = caps_of(unit_of(picture(1, 32, 20, row.chroma, row.depth)));
    const bool has_newer = gst_video_format_from_string(row.newer) != GST_VIDEO_FORMAT_UNKNOWN;
    expect_in(caps, (std::string("(string)") + (has_newer ? row.newer : row.format)).c_str());
    expect_in(caps, "width=(int)32");
    expect_in(caps, "height=(int)20");
    expect_in(caps, "framerate=(fraction)25/1");
  }
}

// Gray that GStreamer has no format of 10 bits for lies in the upper bits.
CHECK_TEST_IF(test_shifted_gray, !is_deferred()) {
  const Frames frames = expected_of(unit_of(picture(3, 32, 20, ApvChroma::k400, 10)));
  fail_unless_equals_int(frames.size(), 1);
  const bool has_gray10 = gst_video_format_from_string("GRAY10_LE16") != GST_VIDEO_FORMAT_UNKNOWN;
  guint16 all = 0;
  for (gsize i = 0; i < frames[0].size(); i += 2)
    all = static_cast<guint16>(all | frames[0][i] | frames[0][i + 1] << 8);
  fail_unless((all & (has_gray10 ? 0xfc00 : 0x003f)) == 0);
  fail_unless(all != 0);
}

CHECK_TEST(test_light_and_color) {
  ApvPictureToWrite wide = picture(1);
  wide.color = {9, 16, 9, false};
  const Bytes payload = encode_apv_frame(wide);
  Bytes metadata = {0, 0, 0, 32, 6, 4, 0x03, 0xe8, 0x01, 0x90, 5, 24};
  for (const guint16 coordinate : {44564, 20972, 17367, 45220, 8585, 3932, 20493, 21561}) {
    metadata.push_back(static_cast<guint8>(coordinate >> 8));
    metadata.push_back(static_cast<guint8>(coordinate));
  }
  for (const guint32 luminance : {1000u << 8, 82u}) {
    for (int shift = 24; shift >= 0; shift -= 8)
      metadata.push_back(static_cast<guint8>(luminance >> shift));
  }
  const Bytes unit = apv_access_unit({apv_unit(66, metadata), apv_unit(1, payload)});
  const std::string caps = caps_of(unit);
  expect_in(caps, "colorimetry=(string)bt2100-pq");
  expect_in(caps, "content-light-level=(string)1000:400");
  // 34000:16000:13250:34500:6550:3000:15635:16450:10000000:50, as far as 1/65536 has it.
  expect_in(caps,
            "mastering-display-info=(string)34000:16000:13250:34500:6550:3000:15635:16450:"
            "10000000:50");
}

CHECK_TEST(test_gbr) {
  ApvPictureToWrite gbr = picture(1, 32, 20, ApvChroma::k444);
  gbr.color.matrix = 0;
  expect_in(caps_of(unit_of(gbr)), "format=(string)GBR_10LE");
}

// ---- Seeks, rates, lateness ----

// Plays `file`, then from `start` on, forward or backward. Returns how many frames that shows.
guint frames_after_seek(const fs::path& file, const char* demuxer, gdouble rate,
                        GstClockTime start) {
  g_autoptr(GstElement) pipeline = launch("filesrc location=" + file.string() + " ! " + demuxer +
                                          decoder() + " ! appsink name=sink sync=false");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  guint frames = 0;
  for (const bool again : {false, true}) {
    frames = 0;
    while (GstSample* sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 30 * GST_SECOND)) {
      frames++;
      gst_sample_unref(sample);
    }
    const bool forward = rate > 0;
    // Backward, qtdemux of GStreamer 1.26 moves the stop to the beginning of the last key frame.
    const auto flags = static_cast<GstSeekFlags>(
        GST_SEEK_FLAG_FLUSH | (forward ? GST_SEEK_FLAG_KEY_UNIT : GST_SEEK_FLAG_NONE));
    if (!again) {
      fail_unless(gst_element_seek(pipeline, rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET,
                                   forward ? static_cast<gint64>(start) : 0,
                                   forward ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET,
                                   forward ? -1 : static_cast<gint64>(start)),
                  "%s, rate %g", file.c_str(), rate);
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return frames;
}

CHECK_TEST_IF(test_seeks, has_data() && !is_deferred()) {
  for (const fs::path& path : sound_files()) {
    const auto frames = static_cast<guint>(hashes_of(path.stem()).size());
    if (path.extension() == ".mp4") {
      fail_unless_equals_int(frames_after_seek(path, "qtdemux ! ", 1, 0), frames);
      fail_unless_equals_int(frames_after_seek(path, "qtdemux ! ", 1, 40 * GST_MSECOND),
                             frames - 1);
      fail_unless_equals_int(frames_after_seek(path, "qtdemux ! ", -1, GST_SECOND), frames);
    } else if (frames == 3) {
      fail_unless_equals_int(frames_after_seek(path, "", 1, 0), frames);
    }
  }
}

CHECK_TEST(test_late_frames) {
  const std::vector<Bytes> all = units(10);
  g_autoptr(GstHarness) h = open("n-threads=1", kUnits);
  gst_harness_push(h, buffer_of(all[0], 0));
  gst_harness_push_upstream_event(
      h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 5 * GST_SECOND, 40 * GST_MSECOND));
  for (GstClockTime i = 1; i < 10; i++)
    gst_harness_push(h, buffer_of(all[i], i * 40 * GST_MSECOND));
  const gsize shown = finish(h).size();
  fail_unless(shown < 10);
  fail_unless_equals_uint64(stat(h, "late"), 10 - shown);
}

// ---- Damage ----

// The second of three frames is damaged in one chain, or has a header that cannot be read.
Bytes damaged_stream(bool in_chain) {
  std::vector<Bytes> all = units(3);
  if (in_chain) {
    const gsize size = all[1].size();
    std::fill(all[1].end() - 20, all[1].end(), 0xff);
    fail_unless(size > 400);
  } else {
    all[1][16 + 9] = 0x12;
  }
  return joined(all);
}

CHECK_TEST(test_damage) {
  for (const bool in_chain : {true, false}) {
    const Bytes stream = damaged_stream(in_chain);
    for (const char* on_error : {"conceal", "drop", "fail"}) {
      GstHarness* h = open(std::string("n-threads=3 ") +
                           (is_deferred() ? "" : "entropy-backend=cuda ") + "on-error=" + on_error);
      const Messages bus(h->element);
      for (const Bytes& part : in_pieces(stream, 100)) gst_harness_push(h, buffer_of(part));
      gst_harness_push_event(h, gst_event_new_eos());
      const bool conceals = strcmp(on_error, "conceal") == 0, fails = strcmp(on_error, "fail") == 0;
      const bool shows = conceals && in_chain;
      guint corrupted = 0, frames = 0;
      while (GstBuffer* buffer = gst_harness_try_pull(h)) {
        frames++;
        corrupted += GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
        gst_buffer_unref(buffer);
      }
      fail_unless_equals_int(frames, fails ? 1 : shows ? 3 : 2);
      fail_unless_equals_int(corrupted, shows);
      fail_unless_equals_uint64(stat(h, "damaged"), 1);
      fail_unless_equals_uint64(stat(h, "damaged-chains"), in_chain);
      fail_unless_equals_uint64(stat(h, "dropped"), !fails && !shows);
      fail_unless(take_messages(bus, fails ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING).size() ==
                  (shows ? 0u : 1u));
      end_harness(h);
    }
  }
}

CHECK_TEST(test_bytes_between_units) {
  const std::vector<Bytes> all = units(3);
  const Bytes noise = {'a', 'P', 'v', '1', 0, 1, 'a', 'P', 'v', '1', 3};
  g_autoptr(GstHarness) h = open();
  push(h, joined({noise, all[0], noise, all[1], noise, all[2]}), 50);
  compare(expected_of(joined(all)), finish(h), "noise between access units");
  fail_unless_equals_uint64(stat(h, "skipped-bytes"), 3 * noise.size());
}

CHECK_TEST(test_other_units) {
  const Bytes payload = encode_apv_frame(picture(1));
  const Bytes unit =
      apv_access_unit({apv_unit(27, payload), apv_unit(66, {0, 0, 0, 4, 4, 2, 0, 0}),
                       apv_unit(90, {1, 2}), apv_unit(1, payload), apv_unit(25, payload)});
  const Bytes without = apv_access_unit({apv_unit(67, {0xff})});
  g_autoptr(GstHarness) h = open();
  push(h, joined({unit, without, unit}));
  fail_unless_equals_int(finish(h).size(), 2);
  fail_unless_equals_uint64(stat(h, "frames"), 2);
  fail_unless_equals_uint64(stat(h, "skipped-frames"), 4);
  fail_unless_equals_uint64(stat(h, "unknown-units"), 2);
  fail_unless_equals_uint64(stat(h, "t35-metadata"), 2);
  fail_unless_equals_uint64(stat(h, "cuda-frames"), is_cuda() ? 2 : 0);
}

// ---- Limits ----

std::string play_one(const std::string& properties, const Bytes& stream) {
  return push_one(decoder(properties + " n-threads=1"), gst_caps_from_string(kUnits),
                  buffer_of(stream, 0));
}

CHECK_TEST(test_refusals) {
  const Bytes sound = unit_of(picture(1));
  fail_unless(play_one("", sound).empty());
  expect(play_one("max-samples=1000", sound), {"7000", "1000"});
  expect(play_one("max-memory=10000", sound), {"max-memory=10000"});
  expect(play_one("", unit_of(picture(1, 32, 20, ApvChroma::k444, 14))), {"4:4:4 of 14 bits"});
  expect(play_one("on-error=fail", cut(sound, sound.size() - 1)), {"access unit of"});
}

// After a first frame an unsupported one is damage.
CHECK_TEST(test_unsupported_in_the_middle) {
  g_autoptr(GstHarness) h = open();
  const Messages bus(h->element);
  const Bytes sound = unit_of(picture(1)), deep = unit_of(picture(1, 32, 20, ApvChroma::k444, 16));
  push(h, joined({sound, deep, sound}));
  fail_unless_equals_int(finish(h).size(), 2);
  fail_unless_equals_int(take_messages(bus, GST_MESSAGE_WARNING).size(), 1);
  fail_unless_equals_uint64(stat(h, "damaged"), 1);
  fail_unless_equals_uint64(stat(h, "dropped"), 1);
}

// An access unit that claims to be larger than memory allows ends the stream before that is there.
CHECK_TEST(test_large_claims) {
  Bytes claims = unit_of(picture(1));
  claims[0] = 0x0f;
  g_autoptr(GstHarness) h = open("max-memory=10000000");
  const Messages bus(h->element);
  fail_unless_equals_int(gst_harness_push(h, buffer_of(claims)), GST_FLOW_ERROR);
  expect(take_text(bus, GST_MESSAGE_ERROR), {"max-memory"});
}

}  // namespace
