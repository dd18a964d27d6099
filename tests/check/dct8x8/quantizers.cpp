// The quantizer of cudadct8x8: what it does to levels, its settings, and what it refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

using Levels = std::vector<gint16>;

struct Quantizing {
  GstHarness* h;
  GstElement* element;
  GstVideoInfo info;

  explicit Quantizing(const std::string& properties, GstVideoFormat format = GST_VIDEO_FORMAT_I420)
      : h(gst_harness_new_parse((forward("name=dct " + properties) + " ! identity").c_str())),
        element(gst_bin_get_by_name(GST_BIN(h->element), "dct")),
        info(video_info(format, 96, 64)) {
    gst_harness_set_src_caps(h, video_caps(info));
  }
  ~Quantizing() {
    gst_object_unref(element);
    gst_harness_teardown(h);
  }

  void set(const char* property, const char* value) {
    gst_util_set_object_arg(G_OBJECT(element), property, value);
  }
  // The levels of component `c` of a frame.
  Levels levels(guint c = 0) {
    g_autoptr(GstBuffer) out = passed(h, make_frame(info, 3));
    const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
    const GstDctComponent& component = meta->components[c];
    const auto row = 64 * static_cast<size_t>(component.blocks_w);
    Levels read(row * static_cast<size_t>(component.blocks_h));
    GstMapInfo map;
    fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
    for (size_t y = 0; y * row < read.size(); y++)
      std::memcpy(&read[y * row], map.data + component.offset + y * component.stride, 2 * row);
    gst_buffer_unmap(out, &map);
    return read;
  }
};

int zeros(const Levels& levels) {
  return static_cast<int>(std::count(levels.begin(), levels.end(), 0));
}

bool is_ac(size_t i) { return i % 64 != 0; }

CHECK_TEST(test_default_rounds) {
  Quantizing plain(""), round("quantizer=round dead-zone=1 rd-lambda=1");
  fail_unless(plain.levels() == round.levels());
}

// Every level stays or comes nearer to 0, DC stays.
void check_smaller(const Levels& rounded, const Levels& decided) {
  for (size_t i = 0; i < rounded.size(); i++) {
    fail_unless(is_ac(i) || rounded[i] == decided[i], "DC changed");
    const int before = std::abs(rounded[i]), after = std::abs(decided[i]);
    fail_unless(
        after == before || (after == before - 1 && before > 0) || (before == 2 && after == 0),
        "%d became %d", rounded[i], decided[i]);
    fail_unless(rounded[i] * decided[i] >= 0, "%d became %d", rounded[i], decided[i]);
  }
}

// Each value of a property makes more zeros than the one before it, and the first more than
// `before`.
void check_more_zeros(Quantizing* q, const char* property,
                      std::initializer_list<const char*> values, const Levels& rounded,
                      int before) {
  for (const char* value : values) {
    q->set(property, value);
    const Levels levels = q->levels();
    check_smaller(rounded, levels);
    fail_unless(zeros(levels) > before, "%s", value);
    before = zeros(levels);
  }
}

// The settings count at the next buffer.
CHECK_TEST(test_settings_while_playing) {
  Quantizing q("quality=90");
  const Levels rounded = q.levels();
  q.set("quantizer", "dead-zone");
  q.set("dead-zone", "0.5");
  fail_unless(q.levels() == rounded, "no level of 1 is below a half");
  check_more_zeros(&q, "dead-zone", {"0.6", "0.75", "1"}, rounded, zeros(rounded));
  q.set("quantizer", "rd");
  check_more_zeros(&q, "rd-lambda", {"0.001", "0.02", "0.0625", "0.3"}, rounded,
                   zeros(rounded) - 1);
  q.set("quantizer", "round");
  fail_unless(q.levels() == rounded);
}

// rd weighs the errors of Cb and Cr twice, and has other codes for them. R, G and B are as Y.
CHECK_TEST(test_chroma) {
  const std::string tables = "quant-preset=flat quantizer=rd";
  Quantizing ycc(tables, GST_VIDEO_FORMAT_Y444), rgb(tables, GST_VIDEO_FORMAT_GBR);
  fail_unless(ycc.levels(0) == rgb.levels(0));
  const Levels as_chroma = ycc.levels(1), as_luma = rgb.levels(1);
  fail_unless(as_chroma != as_luma);
  ycc.set("quantizer", "round");
  rgb.set("quantizer", "round");
  fail_unless(ycc.levels(1) == rgb.levels(1), "the test's planes differ");
}

std::string refusal(const std::string& properties, GstVideoFormat format) {
  const GstVideoInfo info = video_info(format, 32, 24);
  return push_one(forward(properties), video_caps(info), make_frame(info));
}

CHECK_TEST(test_refusals) {
  for (const std::string name : {"dead-zone", "rd"}) {
    const std::string quantizer = "quantizer=" + name;
    expect(refusal(quantizer, GST_VIDEO_FORMAT_I420_10LE), {(quantizer + " needs").c_str(), "10"});
    for (const char* method : {"reference", "naive", "shuffle"})
      expect(refusal(quantizer + " method=" + method, GST_VIDEO_FORMAT_I420),
             {(quantizer + " needs").c_str(), method});
  }
  std::string table = "luma-qtable=<300";
  for (int i = 1; i < 64; i++) table += ",16";
  table += ">";
  expect(refusal("quantizer=rd " + table, GST_VIDEO_FORMAT_GRAY8), {"quantizer=rd needs", "300"});
  const std::string none = refusal("quantizer=dead-zone " + table, GST_VIDEO_FORMAT_GRAY8);
  fail_unless(none.empty(), "%s", none.c_str());
}

// There is nothing to quantise.
CHECK_TEST(test_unquantised) {
  const std::string caps = " ! capsfilter caps=video/x-dct(ANY),quantized=false,format=F32LE";
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420_10LE, 32, 24);
  const std::string none =
      push_one(forward("quantizer=rd") + caps, video_caps(info), make_frame(info));
  fail_unless(none.empty(), "%s", none.c_str());
}

}  // namespace
