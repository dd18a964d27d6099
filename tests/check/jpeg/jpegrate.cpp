// Rate control: files of a target size, files of a maximum size, and streams of a bit rate.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr double kFramesPerSecond = 25;  // of video_info()

// cudadct8x8 and jpegcoefenc, with something between them that queries have to pass.
struct Coder {
  GstHarness* h;
  GstElement* dct;
  Messages messages;

  explicit Coder(const std::string& properties, const std::string& file = "")
      : h(new_harness(forward("name=dct " + properties) +
                      " ! capsfilter caps=video/x-dct(ANY) ! jpegcoefenc n-threads=1 "
                      "backend=" +
                      backend() + " " + file)),
        dct(gst_bin_get_by_name(GST_BIN(h->element), "dct")),
        messages(h->element) {}
  ~Coder() {
    gst_object_unref(dct);
    end_harness(h);
  }
  void set_format(const GstVideoInfo& info) {
    GstCaps* caps = video_caps(info);
    // JPEG's, or the encoder warns.
    if (!GST_VIDEO_INFO_IS_RGB(&info))
      gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, "1:4:0:0", nullptr);
    gst_harness_set_src_caps(h, caps);
  }
  void set(const char* property, const std::string& value) {
    gst_util_set_object_arg(G_OBJECT(dct), property, value.c_str());
  }
  double quality() const {
    double value = 0;
    g_object_get(dct, "active-quality", &value, nullptr);
    return value;
  }
  bool controls_rate() const {
    guint target = 0, most = 0, bitrate = 0;
    g_object_get(dct, "target-size", &target, "max-size", &most, "bitrate", &bitrate, nullptr);
    return target || most || bitrate;
  }
  // The bytes of a frame's file, which `stats` reports before it is written.
  std::vector<guint8> file(GstBuffer* frame) {
    g_autoptr(GstBuffer) out = passed(h, frame);
    fail_unless(out != nullptr);
    const std::vector<guint8> bytes = bytes_of(out);
    fail_unless_equals_uint64(stat_of(dct, "file-size"), controls_rate() ? bytes.size() : 0);
    return bytes;
  }
};

// A frame whose samples have noise of up to so many quantized coefficients added, and are as far
// from gray as `contrast` says.
GstBuffer* noisy_frame(const GstVideoInfo& info, guint seed, int noise, double contrast = 1) {
  GstBuffer* frame = make_frame(info, seed);
  GstMapInfo map;
  fail_unless(gst_buffer_map(frame, &map, GST_MAP_READWRITE));
  uint32_t state = 12345 + 7 * seed + 31 * uint32_t(noise);
  for (gsize i = 0; i < map.size; i++) {
    state = state * 1664525 + 1013904223;
    const int added = noise > 0 ? int(state >> 16) % (2 * noise + 1) - noise : 0;
    map.data[i] = guint8(std::clamp(int(128 + contrast * (map.data[i] - 128)) + added, 0, 255));
  }
  gst_buffer_unmap(frame, &map);
  return frame;
}

GstVideoInfo small(int frames_per_second = int(kFramesPerSecond)) {
  GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 160, 120);
  info.fps_n = frames_per_second;
  return info;
}

// ---- One picture ----

struct Kind {
  GstVideoFormat format;
  int width, height;
  const char *properties, *file;
};
constexpr Kind kKinds[] = {
    {GST_VIDEO_FORMAT_I420, 160, 120, "", ""},
    {GST_VIDEO_FORMAT_I420, 167, 93, "quantizer=rd quant-preset=perceptual", "optimize=true"},
    {GST_VIDEO_FORMAT_Y42B, 120, 100, "quantizer=dead-zone method=ifast", "restart-interval=3"},
    {GST_VIDEO_FORMAT_Y444, 99, 97, "quant-preset=perceptual", "optimize=true restart-interval=1"},
    {GST_VIDEO_FORMAT_GRAY8, 130, 140, "quantizer=rd", "restart-interval=11"},
    {GST_VIDEO_FORMAT_RGB, 150, 90, "quant-preset=perceptual quantizer=dead-zone", ""},
    {GST_VIDEO_FORMAT_GBR, 80, 90, "method=float", "optimize=true"},
    {GST_VIDEO_FORMAT_NV12, 144, 96, "method=float quantizer=rd", ""},
};

// Never more bytes than requested, and little less; stats know the size before it is there.
CHECK_TEST(test_target_size) {
  int all = 0, close = 0;
  for (const Kind& kind : kKinds) {
    const GstVideoInfo info = video_info(kind.format, kind.width, kind.height);
    Coder coder(kind.properties, kind.file);
    coder.set_format(info);
    for (const int noise : {6, 0, 40}) {
      if (quick() && noise != 6) continue;
      coder.set("target-size", "0");
      const double usual = double(coder.file(noisy_frame(info, 5, noise)).size());
      for (double part = 0.4; part < 3; part *= quick() ? 2.1 : 1.23) {
        const auto target = guint(part * usual);
        coder.set("target-size", std::to_string(target));
        const gsize size = coder.file(noisy_frame(info, 5, noise)).size();
        const bool is_possible = coder.quality() > 1 && coder.quality() < 100;
        fail_unless(size <= target || coder.quality() == 1, "%zu of %u bytes", size, target);
        all += is_possible;
        close += is_possible && double(size) >= 0.99 * target;
      }
    }
  }
  // So few as quick() has may be the exceptions.
  fail_unless(close * 100 >= all * (quick() ? 80 : 95), "%d of %d files are within a hundredth",
              close, all);
}

// Files are as they would be without a limit, or as large as it.
CHECK_TEST(test_max_size) {
  for (const Kind& kind : kKinds) {
    const GstVideoInfo info = video_info(kind.format, kind.width, kind.height);
    Coder coder(kind.properties + std::string(" quality=70"), kind.file);
    coder.set_format(info);
    const std::vector<guint8> usual = coder.file(make_frame(info));
    fail_unless(coder.quality() == 70);
    coder.set("max-size", std::to_string(usual.size()));
    fail_unless(coder.file(make_frame(info)) == usual && coder.quality() == 70);
    for (int i = 1; i < (quick() ? 2 : 6); i++) {
      const gsize most = usual.size() - i * usual.size() / 16;
      coder.set("max-size", std::to_string(most));
      const gsize size = coder.file(make_frame(info)).size();
      fail_unless(size <= most, "%zu of %zu bytes", size, most);
      fail_unless(coder.quality() < 70 && coder.quality() > 1);
    }
    fail_unless(take_text(coder.messages, GST_MESSAGE_WARNING).empty());
  }
}

// The smallest file there is, and one warning that names both sizes.
CHECK_TEST(test_max_size_out_of_reach) {
  Coder coder("max-size=700 min-quality=20"), least("quality=20");
  for (Coder* each : {&coder, &least}) each->set_format(small());
  for (guint n = 0; n < 3; n++)
    fail_unless(coder.file(make_frame(small(), n)) == least.file(make_frame(small(), n)));
  const auto warnings = take_messages(coder.messages, GST_MESSAGE_WARNING);
  fail_unless_equals_int(int(warnings.size()), 1);
  expect(warnings[0].text, {"max-size=700", "min-quality=20", "bytes"});
  fail_unless_equals_uint64(stat_of(coder.dct, "oversized-files"), 3);
}

CHECK_TEST(test_quality_bounds) {
  Coder coder("target-size=1000000 max-quality=60"), most("quality=60"), least("quality=30");
  for (Coder* each : {&coder, &most, &least}) each->set_format(small());
  fail_unless(coder.file(make_frame(small())) == most.file(make_frame(small())));
  fail_unless(coder.quality() == 60);
  coder.set("min-quality", "30");
  coder.set("target-size", "10");
  fail_unless(coder.file(make_frame(small())) == least.file(make_frame(small())));
  coder.set("target-size", "0");
  coder.set("quality", "30");
  fail_unless(coder.file(make_frame(small())) == least.file(make_frame(small())));
}

CHECK_TEST(test_extreme_pictures) {
  const struct {
    int width, height, noise;
    double contrast;
  } pictures[] = {{1, 1, 0, 1},     {8, 65500, 0, 1},  {65500, 8, 20, 1}, {320, 200, 0, 0},
                  {64, 64, 127, 1}, {320, 200, 0, -9}, {320, 200, 127, 0}};
  for (const auto& picture : pictures) {
    if (quick() && picture.width + picture.height > 60000) continue;
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, picture.width, picture.height);
    for (const char* file : {"", "optimize=true"}) {
      Coder coder("quality=100", file);
      coder.set_format(info);
      const auto frame = [&] { return noisy_frame(info, 1, picture.noise, picture.contrast); };
      const gsize usual = coder.file(frame()).size();
      for (const char* property : {"max-size", "target-size"}) {
        if (quick() && *property == 't') continue;
        const gsize most = usual - (usual - 500) / 8;
        coder.set(property, std::to_string(most));
        const gsize size = coder.file(frame()).size();
        fail_unless(size <= most || coder.quality() == 1, "%zu of %zu", size, most);
        coder.set(property, "0");
      }
    }
  }
}

// A still has the file that it would have alone.
CHECK_TEST(test_stills) {
  Coder coder("target-size=4000");
  coder.set_format(small(0));
  const std::vector<guint8> alone = coder.file(noisy_frame(small(0), 1, 6));
  coder.file(noisy_frame(small(0), 2, 40));
  fail_unless(coder.file(noisy_frame(small(0), 1, 6)) == alone);
}

// ---- Films ----

// Shots of different detail, in which noise changes from frame to frame.
GstBuffer* film_frame(const GstVideoInfo& info, guint n) {
  constexpr int kNoise[] = {4, 40, 12, 90, 25};
  const guint shot = n / (quick() ? 15 : 60);
  GstBuffer* frame = noisy_frame(info, 1 + shot, kNoise[shot % 5] + int(n % 5));
  GST_BUFFER_PTS(frame) = gst_util_uint64_scale(n, GST_SECOND, guint64(kFramesPerSecond));
  GST_BUFFER_DURATION(frame) = GST_CLOCK_TIME_NONE;
  return frame;
}

GstVideoInfo film_info() { return video_info(GST_VIDEO_FORMAT_I420, 192, 128); }

// A decoder's buffer, as full as it may be in the beginning: half.
struct Bucket {
  double capacity, fill;

  void add(double bytes, double share) {
    fill += bytes;
    fail_unless(fill <= capacity, "the buffer is over");
    fill = std::max(0.0, fill - share);
  }
};

CHECK_TEST(test_bitrate) {
  const GstVideoInfo info = film_info();
  for (const char* capacity : {"0", "300"}) {
    const double share = 1600 * 125 / kFramesPerSecond;
    Coder coder(std::string("bitrate=1600 vbv-buf-capacity=") + capacity);
    coder.set_format(info);
    Bucket bucket;
    bucket.capacity = share * kFramesPerSecond * (*capacity == '3' ? 0.3 : 0.6);
    bucket.fill = bucket.capacity / 2;
    double all = 0, largest = 0;
    const guint frames = quick() ? 45 : 250;
    for (guint n = 0; n < frames; n++) {
      const auto size = double(coder.file(film_frame(info, n)).size());
      all += size;
      largest = std::max(largest, size);
      bucket.add(size, share);
      fail_unless(coder.quality() < 100 && coder.quality() > 1);
    }
    const double rate = all / frames / share;
    fail_unless(std::abs(rate - 1) < (quick() ? 0.02 : 0.002), "%.4f of the rate", rate);
    fail_unless(largest < 1.2 * share, "%.3f shares", largest / share);
    fail_unless_equals_uint64(stat_of(coder.dct, "oversized-files"), 0);
  }
}

// What dropped frames do not take is that of the others.
CHECK_TEST(test_bitrate_of_dropped_frames) {
  const GstVideoInfo info = film_info();
  Coder coder("bitrate=1600");
  coder.set_format(info);
  const guint frames = quick() ? 90 : 270;
  double all = 0;
  for (guint n = 0; n < frames; n++)
    if (n % 3 != 2) all += double(coder.file(film_frame(info, n)).size());
  const double rate = all / (1600 * 125) / frames * kFramesPerSecond;
  fail_unless(std::abs(rate - 1) < (quick() ? 0.03 : 0.01), "%.4f of the rate", rate);
}

double fill_of(const Coder& coder) {
  g_autoptr(GstStructure) stats = stats_of(coder.dct);
  return g_value_get_double(gst_structure_get_value(stats, "vbv-fill"));
}

// Frames that were dropped leave gaps, times go back after a seek, and sizes and frame rates
// change: the buffer is as full as it was, less what has run out.
CHECK_TEST(test_bitrate_of_broken_streams) {
  constexpr double kRate = 1600 * 125, kCapacity = 0.6 * kRate;
  Coder coder("bitrate=1600");
  GstVideoInfo info = film_info();
  double fill = 0.5;
  GstClockTime last = 0;
  const auto code = [&](guint n) {
    GstBuffer* frame = film_frame(info, n);
    fill -= std::max(0.0, GST_CLOCK_DIFF(last, GST_BUFFER_PTS(frame)) * 1e-9) * kRate / kCapacity;
    last = GST_BUFFER_PTS(frame);
    fill = std::max(0.0, fill) + double(coder.file(frame).size()) / kCapacity;
    fail_unless(fill <= 1 && std::abs(fill_of(coder) - fill) < 1e-6, "%u: %f, %f", n, fill,
                fill_of(coder));
  };
  coder.set_format(info);
  push_segment(coder.h);
  for (guint n = 0; n < 40; n++)
    if (n % 7 < 5) code(n);
  push_flush(coder.h);
  for (guint n = 0; n < 10; n++) code(n);
  info = video_info(GST_VIDEO_FORMAT_Y444, 300, 200);
  info.fps_n = 50 * info.fps_d;
  coder.set_format(info);
  for (guint n = 20; n < 30; n++) code(n);
}

// Frames that no allowed quality makes small enough fill the buffer, and no more.
CHECK_TEST(test_frames_that_run_over) {
  GstVideoInfo info = film_info();
  info.fps_n = 6;
  Coder coder("bitrate=300 min-quality=95");
  coder.set_format(info);
  for (guint n = 0; n < 6; n++) {
    GstBuffer* frame = film_frame(info, n);
    GST_BUFFER_DURATION(frame) = 166666666 + n % 2;  // which begins no new buffer
    coder.file(frame);
  }
  fail_unless(fill_of(coder) == 1, "%f", fill_of(coder));
}

void count_notification(GObject*, GParamSpec*, gpointer count) { ++*static_cast<int*>(count); }

// A change takes effect on the next frame. The quality is notified with the frame after it.
CHECK_TEST(test_settings_while_playing) {
  const GstVideoInfo info = film_info();
  Coder coder("bitrate=1600", "name=file");
  coder.set_format(info);
  int notified = 0;
  g_signal_connect(coder.dct, "notify::active-quality", G_CALLBACK(count_notification), &notified);
  const gsize first = coder.file(film_frame(info, 0)).size();
  coder.set("bitrate", "800");
  const gsize second = coder.file(film_frame(info, 1)).size();
  fail_unless(double(second) < 0.51 * double(first), "%zu, %zu", first, second);
  coder.set("bitrate", "0");
  coder.set("target-size", "3000");
  fail_unless(coder.file(film_frame(info, 2)).size() <= 3000 && fill_of(coder) == -1);
  fail_unless(notified == 2, "%d", notified);
  g_autoptr(GstElement) encoder = gst_bin_get_by_name(GST_BIN(coder.h->element), "file");
  g_object_set(encoder, "optimize", TRUE, "restart-interval", 2u, nullptr);
  fail_unless(coder.file(film_frame(info, 3)).size() <= 3000);
}

// A picture's quality is in its message.
CHECK_TEST(test_messages) {
  Coder coder("target-size=4000 measure=zeros post-messages=true");
  coder.set_format(small());
  const gsize size = coder.file(make_frame(small())).size();
  gst_harness_push_event(coder.h, gst_event_new_eos());
  bool found = false;
  while (GstMessage* message = gst_bus_pop_filtered(coder.messages, GST_MESSAGE_ELEMENT)) {
    const GstStructure* s = gst_message_get_structure(message);
    double quality = 0;
    guint64 bytes = 0;
    if (g_strcmp0(gst_structure_get_string(s, "type"), "frame") == 0) {
      found = gst_structure_get(s, "quality", G_TYPE_DOUBLE, &quality, "file-size", G_TYPE_UINT64,
                                &bytes, nullptr);
      fail_unless(quality == coder.quality() && bytes == size);
    }
    gst_message_unref(message);
  }
  fail_unless(found);
}

// ---- Both engines, both orders ----

// The engines choose alike, and the query passes a queue.
CHECK_TEST(test_same_files) {
  const std::string settings = "target-size=6000 quantizer=rd quant-preset=perceptual";
  const auto line = [&](const std::string& format, const std::string& coder) {
    return "videotestsrc num-buffers=3 pattern=smpte kt=2 ! video/x-raw,format=" + format +
           ",width=322,height=242 ! " + coder + " ! appsink name=sink";
  };
  const std::string file = " optimize=true restart-interval=5";
  for (const char* format : {"I420", "RGB"}) {
    const Frames cpu = play(line(format, "cudajpegenc backend=cpu " + settings + file));
    compare(
        play(line(format, "cudajpegenc backend=" + std::string(backend()) + " " + settings + file)),
        cpu, format);
    compare(play(line(format,
                      forward(settings) + " ! queue ! jpegcoefenc backend=" + backend() + file)),
            cpu, "behind a queue");
  }
}

// As fast as the source makes frames.
CHECK_TEST(test_live) {
  run_well(
      "videotestsrc is-live=true num-buffers=12 ! video/x-raw,width=160,height=120,framerate=100/1 "
      "! cudajpegenc bitrate=2000 backend=" +
      std::string(backend()) + " ! fakesink sync=true");
}

// ---- Refusals ----

// The error of a frame of these caps.
std::string refusal(const std::string& properties, const std::string& caps = "format=I420",
                    const std::string& encoder = "jpegcoefenc") {
  return run_pipeline(
      "videotestsrc num-buffers=1 ! video/x-raw,width=32,height=24,framerate=25/1," + caps + " ! " +
      forward(properties) + " ! " + encoder + " backend=" + backend() + " ! fakesink");
}

CHECK_TEST(test_refusals) {
  expect(refusal("bitrate=8000 target-size=3000"), {"bitrate", "target-size"});
  expect(refusal("target-size=3000 max-size=2999"), {"target-size=3000", "max-size=2999"});
  expect(refusal("min-quality=60 max-quality=59"), {"min-quality=60", "max-quality=59"});
  expect(refusal("max-size=3000 tables-in-caps=true"), {"max-size", "tables-in-caps"});
  expect(refusal("max-size=3000 quant-preset=flat"), {"max-size", "quant-preset"});
  expect(refusal("bitrate=800 vbv-buf-capacity=60"), {"vbv-buf-capacity=60", "80 ms"});
  expect(refusal("target-size=3000", "format=I420_12LE"), {"target-size", "8-bit", "12"});
  for (const char* way : {"progressive", "arithmetic"})
    expect(refusal("target-size=900", "format=I420", std::string("jpegcoefenc ") + way + "=true"),
           {"target-size", way});
  // A picture that lasts for ever.
  GstBuffer* frame = make_frame(small(0));
  GST_BUFFER_DURATION(frame) = GST_CLOCK_TIME_NONE;
  expect(push_one(forward("bitrate=800"), video_caps(small(0)), frame), {"bitrate", "frame rate"});
}

// An unanswered query: as jpegcoefenc writes by default.
CHECK_TEST(test_without_encoder) {
  g_autoptr(GstHarness) h =
      harness_of(forward("name=dct target-size=4000") + " ! identity", small());
  g_autoptr(GstElement) dct = gst_bin_get_by_name(GST_BIN(h->element), "dct");
  gst_buffer_unref(gst_harness_push_and_pull(h, make_frame(small())));
  Coder coder("target-size=4000");
  coder.set_format(small());
  fail_unless_equals_uint64(coder.file(make_frame(small())).size(), stat_of(dct, "file-size"));
}

}  // namespace
