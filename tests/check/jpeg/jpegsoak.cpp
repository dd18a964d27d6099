// A long Motion JPEG stream, a third of which is damaged, through jpegcoefdec and cudaidct8x8: all
// sound frames arrive, right and in time, and memory stays as it is.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"
#include "tests/jpeg/libjpeg.h"

namespace testing {

// Small pictures of different sizes, samplings and processes, the same every time.
std::vector<Bytes> soak_pictures();
std::vector<Bytes> soak_pictures_of_four();  // components

// Flips bits, cuts, inserts or overwrites bytes, inserts beginnings of pictures, or swaps segments:
// one of these, at random.
void damage(Bytes* picture, std::mt19937* random);

namespace {

enum Process { kBaseline = 0, kOptimized = 1, kProgressive = 2, kRestarts = 4, kArithmetic = 8 };

struct Kind {
  int width, height;
  J_COLOR_SPACE space;
  int h, v;  // sampling factors of the first component
  int process;
};

constexpr Kind kKinds[] = {
    {160, 120, JCS_YCbCr, 2, 2, kBaseline},
    {160, 120, JCS_YCbCr, 2, 1, kRestarts},
    {160, 120, JCS_YCbCr, 1, 1, kProgressive},
    {128, 96, JCS_GRAYSCALE, 1, 1, kOptimized},
    {97, 65, JCS_RGB, 1, 1, kBaseline},
    {136, 104, JCS_YCbCr, 4, 1, kArithmetic},
    {120, 160, JCS_YCbCr, 1, 2, kOptimized | kRestarts},
    {161, 121, JCS_YCbCr, 2, 2, kProgressive | kRestarts},
};

Bytes make(const Kind& kind) {
  cudatransform::test::Compressor info;
  info.open_for_rgb(kind.width, kind.height, kind.space);
  info.comp_info[0].h_samp_factor = kind.h;
  info.comp_info[0].v_samp_factor = kind.v;
  info.optimize_coding = kind.process & kOptimized ? TRUE : FALSE;
  info.arith_code = kind.process & kArithmetic ? TRUE : FALSE;
  if (kind.process & kRestarts) info.restart_in_rows = 1;
  if (kind.process & kProgressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<JSAMPLE> row(size_t(3) * kind.width);
  for (int y = 0; y < kind.height; y++) {
    for (int x = 0; x < 3 * kind.width; x++)
      row[x] = static_cast<JSAMPLE>(x * y / 37 + (x / 20 + y / 9) % 3 * 40 + x % 3 * 50);
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&info, rows, 1);
  }
  return info.finish();
}

size_t below(size_t limit, std::mt19937* random) { return limit ? (*random)() % limit : 0; }

guint8 random_byte(std::mt19937* random) {
  // Markers are the worst case.
  return (*random)() % 4 == 0 ? 0xff : static_cast<guint8>((*random)());
}

void swap_segments(Bytes* bytes, std::mt19937* random) {
  const std::vector<Segment> segments = segments_of(*bytes);
  const Segment& first = segments[below(segments.size() - 1, random)];
  const Segment& second = *(&first + 1);
  std::rotate(bytes->begin() + first.begin, bytes->begin() + second.begin,
              bytes->begin() + second.end);
}

}  // namespace

std::vector<Bytes> soak_pictures() {
  std::vector<Bytes> pictures;
  for (const Kind& kind : kKinds) pictures.push_back(make(kind));
  return pictures;
}

std::vector<Bytes> soak_pictures_of_four() {
  std::vector<Bytes> pictures;
  for (const FourComponents& kind : kFourComponents) {
    pictures.push_back(make_four_components(kind, 97, 65));
    pictures.push_back(written_again(pictures.back(), false, true, false, 5));
  }
  pictures.push_back(written_again(pictures.front(), true, false, false, 0));
  pictures.push_back(written_again(pictures.back(), false, false, true, 7));
  return pictures;
}

void damage(Bytes* picture, std::mt19937* random) {
  const size_t at = below(picture->size(), random);
  switch ((*random)() % 6) {
    case 0:
      for (size_t left = 1 + below(8, random); left > 0; left--)
        (*picture)[below(picture->size(), random)] ^= 1 << below(8, random);
      break;
    case 1:
      picture->resize((*random)() % 50 == 0 ? 0 : at);
      break;
    case 2:
      for (size_t left = 1 + below(20, random); left > 0; left--)
        picture->insert(picture->begin() + at, random_byte(random));
      break;
    case 3:
      for (size_t i = at; i < std::min(picture->size(), at + 64); i++)
        (*picture)[i] = random_byte(random);
      break;
    case 4: {
      // Beginnings of pictures inside one picture: three pictures that share one time.
      constexpr guint8 kBeginnings[] = {0xff, 0xd8, 0x00, 0xff, 0xd8, 0xff};
      picture->insert(picture->begin() + at, std::begin(kBeginnings), std::end(kBeginnings));
      break;
    }
    default:
      swap_segments(picture, random);
      break;
  }
}

}  // namespace testing

// CUDATRANSFORM_SOAK_FRAMES: frames of each of the five streams; a hundred thousand take minutes.
// CUDATRANSFORM_TEST_ENTROPY: jpegcoefdec's entropy; with "cuda" coefficients stay on the device,
// which has to decode frames.

namespace {

using namespace testing;

constexpr GstClockTime kDuration = 40 * GST_MSECOND;
constexpr double kGrowthMb = 8;  // of the resident set, from a tenth of the stream to its end
// Damage may make a frame large; its memory while in flight is no leak.
constexpr const char* kMaxPixels = "100000";

bool is_instrumented() {
  return g_getenv("CUDATRANSFORM_SANITIZED") || g_getenv("CUDATRANSFORM_VALGRIND");
}

int frame_count() {
  const gchar* wanted = g_getenv("CUDATRANSFORM_SOAK_FRAMES");
  return wanted ? std::atoi(wanted) : is_instrumented() ? 200 : 2000;
}

double resident_mb() {
  g_autofree gchar* text = nullptr;
  if (!g_file_get_contents("/proc/self/statm", &text, nullptr, nullptr)) return 0;
  unsigned long size = 0, resident = 0;
  std::sscanf(text, "%lu %lu", &size, &resident);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576;
}

guint64 hash_of(const Bytes& file) {
  guint64 hash = file.size();
  for (const guint8 byte : file) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// A hash of a frame's visible contents, or of a file.
guint64 hash_of(GstSample* sample) {
  const GstStructure* caps = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  if (gst_structure_has_name(caps, "image/jpeg"))
    return hash_of(bytes_of(gst_sample_get_buffer(sample)));
  return hash_of_frame(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
}

enum class Arrival : char { kNone, kRight, kWrong };

// One stream: each frame's picture, which frames are damaged, and their results.
struct Stream {
  const char* on_error;
  bool parsed;
  bool four;                 // components, of which files are made again: no raw frame has so many
  std::vector<int> picture;  // of each frame
  std::vector<bool> damaged;
  std::vector<guint64> hashes;    // of the pictures
  std::vector<Arrival> arrivals;  // of each frame, written by the sink's thread
  int out = 0, corrupted = 0;
  double mb[3] = {};  // after a tenth, a half and all of it
  double heap_mb[3] = {};
};

void note_memory(Stream* stream, int which) {
  stream->mb[which] = resident_mb();
  stream->heap_mb[which] = static_cast<double>(mallinfo2().uordblks) / 1048576;
}

GstFlowReturn note_frame(GstAppSink* sink, gpointer data) {
  auto* stream = static_cast<Stream*>(data);
  g_autoptr(GstSample) sample = gst_app_sink_pull_sample(sink);
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  const bool corrupted = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
  stream->out++;
  if (corrupted) stream->corrupted++;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const guint64 frame = pts / kDuration;
  if (GST_CLOCK_TIME_IS_VALID(pts) && pts % kDuration == 0 && frame < stream->arrivals.size()) {
    const bool right = !corrupted && hash_of(sample) == stream->hashes[stream->picture[frame]];
    Arrival& arrival = stream->arrivals[frame];
    if (arrival != Arrival::kRight) arrival = right ? Arrival::kRight : Arrival::kWrong;
  }
  return GST_FLOW_OK;
}

bool by_device() { return g_strcmp0(g_getenv("CUDATRANSFORM_TEST_ENTROPY"), "cuda") == 0; }
std::string entropy() { return by_device() ? "backend=cuda entropy-backend=cuda" : ""; }

std::string pipeline_text(const char* on_error, bool parsed, bool four) {
  return std::string(
             "appsrc name=source format=time block=true max-buffers=16 "
             "caps=image/jpeg,framerate=25/1,parsed=") +
         (parsed ? "true" : "false") + " ! jpegcoefdec name=dec " + entropy() +
         " n-threads=3 max-pixels=" + kMaxPixels + " on-error=" + on_error + " ! " +
         (four ? "jpegcoefenc entropy-backend=cpu" : inverse() + " ! video/x-raw") +
         " ! appsink name=sink sync=false";
}

// Pictures without damage, judged by libjpeg; their hashes.
std::vector<guint64> hashes_of(const std::vector<Bytes>& pictures, bool four) {
  std::vector<guint64> hashes;
  for (const Bytes& picture : pictures) {
    if (four) {
      hashes.push_back(hash_of(written_again(picture, false, false, false, 0)));
      continue;
    }
    g_autoptr(GstElement) pipeline =
        gst_parse_launch(pipeline_text("fail", true, false).c_str(), nullptr);
    g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_app_src_push_buffer(GST_APP_SRC(source),
                            gst_buffer_new_memdup(picture.data(), picture.size()));
    gst_app_src_end_of_stream(GST_APP_SRC(source));
    g_autoptr(GstSample) sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 20 * GST_SECOND);
    fail_unless(sample != nullptr);
    const std::string wrong = JpegJudge(picture).compare_frame(sample);
    fail_unless(wrong.empty(), "%s", wrong.c_str());
    hashes.push_back(hash_of(sample));
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
  return hashes;
}

// Runs of one picture, as in a recording, with an occasional other one. The first frame is sound.
void plan(Stream* stream, int frames, int pictures, std::mt19937* random) {
  int picture = 0;
  for (int i = 0; i < frames; i++) {
    if ((*random)() % 40 == 0) picture = static_cast<int>((*random)() % pictures);
    stream->picture.push_back(picture);
    stream->damaged.push_back(i > 0 && (*random)() % 3 == 0);
  }
  stream->arrivals.assign(frames, Arrival::kNone);
}

void feed(Stream* stream, GstElement* source, const std::vector<Bytes>& pictures,
          std::mt19937* random) {
  const auto frames = static_cast<int>(stream->picture.size());
  for (int i = 0; i < frames; i++) {
    Bytes bytes = pictures[stream->picture[i]];
    if (stream->damaged[i]) {
      damage(&bytes, random);
      // Not damaged after all: a piece swapped with an equal one, say.
      stream->damaged[i] = bytes != pictures[stream->picture[i]];
    }
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, bytes.size(), nullptr);
    gst_buffer_fill(buffer, 0, bytes.data(), bytes.size());  // nothing of a picture may be left
    GST_BUFFER_PTS(buffer) = i * kDuration;
    GST_BUFFER_DURATION(buffer) = kDuration;
    // An element that stopped has posted an error.
    if (gst_app_src_push_buffer(GST_APP_SRC(source), buffer) != GST_FLOW_OK) return;
    if (i == frames / 10) note_memory(stream, 0);
    if (i == frames / 2) note_memory(stream, 1);
  }
  note_memory(stream, 2);
  gst_app_src_end_of_stream(GST_APP_SRC(source));
}

// Nobody reads the bus while the stream is fed, and each run of damaged frames has a warning.
void drop_warnings(GstElement* pipeline) {
  const GstBusSyncHandler keep = [](GstBus*, GstMessage* message, gpointer) {
    if (GST_MESSAGE_TYPE(message) & (GST_MESSAGE_EOS | GST_MESSAGE_ERROR)) return GST_BUS_PASS;
    gst_message_unref(message);
    return GST_BUS_DROP;
  };
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, keep, nullptr, nullptr);
}

void judge(const Stream& stream, GstElement* decoder) {
  int sound = 0, missing = 0, wrong = 0, unnoticed = 0;
  const guint64 dropped = stat_of(decoder, "dropped"), damaged = stat_of(decoder, "damaged");
  for (size_t i = 0; i < stream.picture.size(); i++) {
    const Arrival arrival = stream.arrivals[i];
    if (stream.damaged[i]) {
      if (arrival == Arrival::kWrong) unnoticed++;
      continue;
    }
    sound++;
    if (arrival == Arrival::kNone) missing++;
    if (arrival == Arrival::kWrong) wrong++;
    if (arrival != Arrival::kRight && missing + wrong <= 10)
      std::printf("  frame %zu is %s\n", i, arrival == Arrival::kNone ? "missing" : "wrong");
  }
  std::printf("  %zu frames, %d sound, %d came out, %d corrupted, %" G_GUINT64_FORMAT
              " damaged, %" G_GUINT64_FORMAT
              " dropped, %d changed and not dropped\n"
              "  resident after 10, 50, 100 %%: %.1f %.1f %.1f MB; heap %.1f %.1f %.1f MB\n",
              stream.picture.size(), sound, stream.out, stream.corrupted, damaged, dropped,
              unnoticed, stream.mb[0], stream.mb[1], stream.mb[2], stream.heap_mb[0],
              stream.heap_mb[1], stream.heap_mb[2]);
  fail_unless_equals_int(missing, 0);
  fail_unless_equals_int(wrong, 0);
  fail_unless(damaged > 0, "nothing was damaged");
  fail_unless_equals_uint64(stat_of(decoder, "frames"), stream.out);
  // An element upstream that assembles frames gets as many results as frames.
  if (stream.parsed) fail_unless_equals_uint64(stream.out + dropped, stream.picture.size());
  if (strcmp(stream.on_error, "drop") == 0) {
    fail_unless_equals_int(stream.corrupted, 0);
    fail_unless_equals_uint64(dropped, damaged);
  } else {
    fail_unless(stream.corrupted > 0, "no frame says that it is corrupted");
  }
  if (by_device()) {
    const guint64 by_cuda = stat_of(decoder, "cuda-frames");
    std::printf("  %" G_GUINT64_FORMAT " by the device\n", by_cuda);
    fail_unless(by_cuda > stream.picture.size() / 3, "the device has decoded too few");
  }
  if (test_numbers()) fail_unless(stream.mb[2] - stream.mb[0] < kGrowthMb, "memory grew");
}

void run_stream(const char* on_error, bool parsed, bool four = false) {
  const int frames = frame_count();
  // If the stream hangs, or the code after it, the program ends.
  alarm(static_cast<unsigned>((is_instrumented() ? 1200 : 60) + frames / 100));
  std::mt19937 random(parsed ? 1 : 2);
  const std::vector<Bytes> pictures = four ? soak_pictures_of_four() : soak_pictures();
  Stream stream;
  stream.on_error = on_error;
  stream.parsed = parsed;
  stream.four = four;
  stream.hashes = hashes_of(pictures, four);
  plan(&stream, frames, static_cast<int>(pictures.size()), &random);

  GstElement* pipeline = gst_parse_launch(pipeline_text(on_error, parsed, four).c_str(), nullptr);
  fail_unless(pipeline != nullptr);
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  GstElement* decoder = gst_bin_get_by_name(GST_BIN(pipeline), "dec");
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = note_frame;
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &stream, nullptr);
  std::printf("%s, %s%s\n", on_error, parsed ? "frame by frame" : "as a stream",
              four ? ", four components" : "");
  const gint64 started = g_get_monotonic_time();
  drop_warnings(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  feed(&stream, source, pictures, &random);
  run_well(pipeline);
  std::printf("  %.1f s\n", static_cast<double>(g_get_monotonic_time() - started) / 1e6);
  judge(stream, decoder);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  for (GstElement* element : {source, decoder, sink, pipeline}) gst_object_unref(element);
}

CHECK_TEST(test_drop) { run_stream("drop", true); }
CHECK_TEST(test_drop_of_a_stream) { run_stream("drop", false); }
CHECK_TEST(test_drop_of_four_components) { run_stream("drop", true, true); }
CHECK_TEST(test_conceal) { run_stream("conceal", true); }
CHECK_TEST(test_conceal_of_a_stream) { run_stream("conceal", false); }

}  // namespace
