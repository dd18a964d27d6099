// Each codec in storms of flushes, segments, drains and ends: what follows the last flush arrives
// whole and in order, nothing fails, and nothing hangs.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr int kPictures = 5;  // of a stream

int cycles() {
  const char* set = g_getenv("CUDATRANSFORM_STORM_CYCLES");
  if (set) return std::atoi(set);
  return quick() ? 50 : 1000;
}

// An element in a harness, a stream for it in pieces, and the number of buffers that it becomes.
struct Codec {
  std::string line;
  GstCaps* caps = nullptr;
  GstFormat format = GST_FORMAT_TIME;
  std::vector<GstBuffer*> pieces;
  int outputs = kPictures;

  ~Codec() {
    gst_clear_caps(&caps);
    for (GstBuffer* piece : pieces) gst_buffer_unref(piece);
  }
};

int pull_all(GstHarness* h) {
  int count = 0;
  while (GstBuffer* buffer = gst_harness_try_pull(h)) {
    gst_buffer_unref(buffer);
    count++;
  }
  return count;
}

void begin(GstHarness* h, const Codec& codec) {
  gst_harness_push_event(h, gst_event_new_stream_start("storm"));
  gst_harness_push_event(h, gst_event_new_caps(codec.caps));
  push_segment(h, codec.format);
}

void push(GstHarness* h, const Codec& codec, size_t pieces) {
  for (size_t i = 0; i < pieces && i < codec.pieces.size(); i++)
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(codec.pieces[i])), GST_FLOW_OK);
}

void storm(const Codec& codec) {
  std::mt19937 random(11);
  g_autoptr(GstHarness) h = new_harness(codec.line);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  begin(h, codec);
  for (int i = 0; i < cycles(); i++) {
    push(h, codec, random() % (codec.pieces.size() + 1));
    switch (random() % 4) {
      case 0:
        drain(h);
        break;
      case 1:
        gst_harness_push_event(h, gst_event_new_eos());
        break;
      case 2:
        g_usleep(random() % 200);
        break;
      default:
        break;
    }
    push_flush(h, codec.format);
    pull_all(h);
    g_autoptr(GstMessage) error = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    fail_if(error != nullptr, "cycle %d", i);
    gst_bus_set_flushing(bus, TRUE);
    gst_bus_set_flushing(bus, FALSE);
  }
  push(h, codec, codec.pieces.size());
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(pull_all(h), codec.outputs);
  gst_element_set_bus(h->element, nullptr);
}

// Frames of raw video with times.
std::vector<GstBuffer*> raw_frames(const GstVideoInfo& info) {
  std::vector<GstBuffer*> frames;
  for (guint i = 0; i < kPictures; i++) {
    frames.push_back(make_frame(info, i));
    GST_BUFFER_PTS(frames.back()) = i * GST_SECOND;
    GST_BUFFER_DURATION(frames.back()) = GST_SECOND;
  }
  return frames;
}

// What `line` makes of the stream of `codec`, as the stream of the next.
void transcode(const Codec& codec, Codec* next) {
  g_autoptr(GstHarness) h = new_harness(codec.line);
  begin(h, codec);
  push(h, codec, codec.pieces.size());
  gst_harness_push_event(h, gst_event_new_eos());
  while (GstBuffer* buffer = gst_harness_try_pull(h)) next->pieces.push_back(buffer);
  next->caps = current_caps(h);
  fail_unless_equals_int(static_cast<int>(next->pieces.size()), kPictures);
}

void make_coefficients(Codec* coefficients) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 80, 56);
  Codec raw;
  raw.line = forward();
  raw.caps = video_caps(info);
  raw.pieces = raw_frames(info);
  transcode(raw, coefficients);
}

CHECK_LOOP_TEST(test_jpegcoefenc, 1, 4) {
  Codec encoder;
  make_coefficients(&encoder);
  encoder.line = "jpegcoefenc n-threads=" + std::to_string(__i__);
  storm(encoder);
}

CHECK_LOOP_TEST(test_jpegcoefdec, 1, 4) {
  Codec encoder, decoder;
  make_coefficients(&encoder);
  encoder.line = "jpegcoefenc";
  transcode(encoder, &decoder);
  decoder.line = "jpegcoefdec n-threads=" + std::to_string(__i__);
  storm(decoder);
}

// A raw stream of the test data, repeated, in pieces that end anywhere.
void storm_in_bytes(const std::string& line, const char* media, const char* file, gsize piece,
                    int times = 1) {
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  g_autofree gchar* text = nullptr;
  gsize size = 0;
  const std::string path = std::string(data ? data : "") + file;
  if (!g_file_get_contents(path.c_str(), &text, &size, nullptr)) return;
  Codec decoder;
  decoder.line = line;
  decoder.caps = gst_caps_new_empty_simple(media);
  decoder.format = GST_FORMAT_BYTES;
  for (int i = 0; i < times; i++)
    for (gsize at = 0; at < size; at += piece)
      decoder.pieces.push_back(gst_buffer_new_memdup(text + at, std::min<gsize>(piece, size - at)));
  {
    g_autoptr(GstHarness) h = new_harness(decoder.line);
    begin(h, decoder);
    push(h, decoder, decoder.pieces.size());
    gst_harness_push_event(h, gst_event_new_eos());
    decoder.outputs = pull_all(h);
    fail_unless(decoder.outputs > 1);
  }
  storm(decoder);
}

std::string with_threads(const char* element, int threads) {
  return std::string(element) + " backend=" + backend() + " n-threads=" + std::to_string(threads);
}

CHECK_LOOP_TEST(test_cudadiracdec, 1, 4) {
  storm_in_bytes(with_threads("cudadiracdec", __i__), "video/x-dirac",
                 "/dirac/p07_res_preset1_8x8_4x4.drc", 3000);
}

CHECK_LOOP_TEST(test_cudaapvdec, 1, 4) {
  for (const char* entropy : {" entropy-backend=cpu", " entropy-backend=cuda"}) {
    if (!is_cuda() && strstr(entropy, "cuda") != nullptr) continue;
    storm_in_bytes(with_threads("cudaapvdec", __i__) + entropy, "video/x-apv", "/apv/odd_18x18.apv",
                   700);
  }
  // Frames whose chains both engines decode.
  if (is_cuda())
    storm_in_bytes(with_threads("cudaapvdec", __i__), "video/x-apv", "/apv/rtile_444_12.apv",
                   300000, 3);
}

CHECK_LOOP_TEST(test_cudaapvenc, 1, 4) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I422_10LE, 80, 56);
  for (const char* more : {"", " bitrate=1000"}) {
    Codec encoder;
    encoder.line = with_threads("cudaapvenc", __i__) + more;
    encoder.caps = video_caps(info);
    encoder.pieces = raw_frames(info);
    storm(encoder);
  }
}

}  // namespace
