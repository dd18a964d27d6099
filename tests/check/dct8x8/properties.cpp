// Properties: the quantization tables and quantizers that they set, changes while playing, and
// malformed strings.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

struct Forward {
  GstHarness* h;
  GstElement* element;
  GstVideoInfo info;
  guint frames = 0;

  explicit Forward(const std::string& properties = "",
                   GstVideoFormat format = GST_VIDEO_FORMAT_I420) {
    h = gst_harness_new_parse(forward("name=dct " + properties).c_str());
    element = GST_IS_BIN(h->element) ? gst_bin_get_by_name(GST_BIN(h->element), "dct")
                                     : GST_ELEMENT(gst_object_ref(h->element));
    info = video_info(format, 24, 16);
    gst_harness_set_src_caps(h, video_caps(info));
  }
  ~Forward() {
    gst_object_unref(element);
    gst_harness_teardown(h);
  }

  // Pushes a frame and returns its meta's table.
  std::vector<int> table(guint component) {
    GstBuffer* in = make_frame(info, frames);
    GST_BUFFER_PTS(in) = frames * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(in) = 40 * GST_MSECOND;
    frames++;
    g_autoptr(GstBuffer) out = passed(h, in);
    const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
    const GstDctTable& t = meta->tables[meta->components[component].table];
    std::vector<int> values(t.values, t.values + 64);
    return values;
  }
};

void set_table(GstElement* element, const char* property, const std::vector<int>& values) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (int value : values) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, value);
    gst_value_array_append_and_take_value(&array, &item);
  }
  g_object_set_property(G_OBJECT(element), property, &array);
  g_value_unset(&array);
}

std::vector<int> ramp(int first) {
  std::vector<int> values;
  for (int i = 0; i < 64; i++) values.push_back(first + i);
  return values;
}

// The first row of ITU-T T.81 tables K.1 and K.2.
constexpr int kLumaRow[8] = {16, 11, 10, 16, 24, 40, 51, 61};
constexpr int kChromaRow[8] = {17, 18, 24, 47, 99, 99, 99, 99};

int scaled(int base, int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return CLAMP((base * scale + 50) / 100, 1, 255);
}

CHECK_TEST(test_quality_while_playing) {
  Forward f;
  int quality = 0;
  g_object_get(f.element, "quality", &quality, nullptr);
  fail_unless_equals_int(quality, 85);
  for (int q : {85, 50, 1, 100, 10, 95, 75}) {
    g_object_set(f.element, "quality", q, nullptr);
    const std::vector<int> luma = f.table(0), chroma = f.table(2);
    for (size_t i = 0; i < 8; i++) {
      fail_unless_equals_int(luma[i], scaled(kLumaRow[i], q));
      fail_unless_equals_int(chroma[i], scaled(kChromaRow[i], q));
    }
  }
}

CHECK_TEST(test_presets) {
  Forward f("quality=10");
  const struct {
    const char* preset;
    int first, second, last;
  } presets[] = {{"flat", 16, 16, 16}, {"whitepaper", 32, 33, 12}, {"mpeg", 8, 16, 83}};
  for (const auto& p : presets) {
    gst_util_set_object_arg(G_OBJECT(f.element), "quant-preset", p.preset);
    for (guint component : {0u, 1u}) {
      const std::vector<int> table = f.table(component);
      fail_unless_equals_int(table[0], p.first);
      fail_unless_equals_int(table[1], p.second);
      fail_unless_equals_int(table[63], p.last);
    }
  }
  gst_util_set_object_arg(G_OBJECT(f.element), "quant-preset", "annex-k");
  fail_unless_equals_int(f.table(0)[0], scaled(16, 10));
}

// RGB: the luma table serves all three.
CHECK_TEST(test_rgb_tables) {
  Forward f("quality=50", GST_VIDEO_FORMAT_GBR);
  for (guint c : {0u, 1u, 2u}) fail_unless_equals_int(f.table(c)[1], kLumaRow[1]);
}

// The perceptual tables know the sampling, and quality scales them.
CHECK_TEST(test_perceptual_tables) {
  const struct {
    GstVideoFormat format;
    int chroma, last;  // the second and the last entry of Cb's table at quality 50
  } cases[] = {{GST_VIDEO_FORMAT_I420, 16, 46},  {GST_VIDEO_FORMAT_NV12, 16, 46},
               {GST_VIDEO_FORMAT_Y41B, 16, 46},  {GST_VIDEO_FORMAT_Y42B, 26, 91},
               {GST_VIDEO_FORMAT_Y444, 43, 180}, {GST_VIDEO_FORMAT_GBR, 14, 68}};
  for (const auto& c : cases) {
    Forward f("quant-preset=perceptual quality=50", c.format);
    fail_unless_equals_int(f.table(0)[1], 14);
    fail_unless_equals_int(f.table(0)[63], 68);
    for (const guint component : {1u, 2u}) {
      fail_unless_equals_int(f.table(component)[1], c.chroma);
      fail_unless_equals_int(f.table(component)[63], c.last);
    }
    g_object_set(f.element, "quality", 75, nullptr);
    fail_unless_equals_int(f.table(0)[63], 34);
  }
}

std::string write_file(const Folder& folder, const char* name, const std::string& text) {
  const std::string path = folder.file(name);
  fail_unless(
      g_file_set_contents(path.c_str(), text.c_str(), static_cast<gssize>(text.size()), nullptr));
  return path;
}

std::string text_of(const std::vector<int>& values) {
  std::string text = "# a table\n";
  for (int value : values) text += std::to_string(value) + (value % 8 ? " " : "\n");
  return text + "\n";
}

CHECK_TEST(test_tables_and_precedence) {
  Forward f("quality=50");
  set_table(f.element, "luma-qtable", ramp(100));
  fail_unless(f.table(0) == ramp(100));
  fail_unless_equals_int(f.table(1)[0], kChromaRow[0]);
  set_table(f.element, "chroma-qtable", ramp(60000 - 1000));
  fail_unless(f.table(0) == ramp(100));
  fail_unless(f.table(2) == ramp(59000));
  // Quality scales presets, not tables.
  g_object_set(f.element, "quality", 5, nullptr);
  fail_unless(f.table(0) == ramp(100));

  const Folder folder;
  const std::string two = write_file(folder, "two.txt", text_of(ramp(1)) + text_of(ramp(7)));
  g_object_set(f.element, "qtable-file", two.c_str(), nullptr);
  fail_unless(f.table(0) == ramp(1));
  fail_unless(f.table(1) == ramp(7));
  const std::string one = write_file(folder, "one.txt", text_of(ramp(3)));
  g_object_set(f.element, "qtable-file", one.c_str(), nullptr);
  fail_unless(f.table(0) == ramp(3));
  g_object_set(f.element, "qtable-file", nullptr, nullptr);
  fail_unless(f.table(0) == ramp(100));
  set_table(f.element, "luma-qtable", {});
  set_table(f.element, "chroma-qtable", {});
  fail_unless_equals_int(f.table(0)[0], scaled(kLumaRow[0], 5));
  fail_unless_equals_int(f.table(1)[0], scaled(kChromaRow[0], 5));
}

CHECK_TEST(test_method_while_playing) {
  Forward f;
  GEnumClass* methods = G_ENUM_CLASS(g_type_class_ref(
      g_object_class_find_property(G_OBJECT_GET_CLASS(f.element), "method")->value_type));
  for (const char* method : {"float", "ifast", "reference", "naive", "matrix", "separable",
                             "decomposed", "shuffle", "islow"}) {
    gst_util_set_object_arg(G_OBJECT(f.element), "method", method);
    f.table(0);
    int active = -1;
    g_object_get(f.element, "active-method", &active, nullptr);
    fail_unless_equals_string(g_enum_get_value(methods, active)->value_nick, method);
  }
  g_type_class_unref(methods);
}

// Above 8 bits islow and ifast fall back to float, which is reported.
CHECK_TEST(test_active_method_at_ten_bits) {
  for (const char* method : {"islow", "ifast"}) {
    Forward f(std::string("method=") + method, GST_VIDEO_FORMAT_I420_10LE);
    f.table(0);
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_STRING);
    g_object_get_property(G_OBJECT(f.element), "active-method", &value);
    fail_unless(std::strstr(g_value_get_string(&value), "FLOAT") != nullptr ||
                    std::strstr(g_value_get_string(&value), "float") != nullptr ||
                    std::strstr(g_value_get_string(&value), "Single") != nullptr,
                "%s", g_value_get_string(&value));
    g_value_unset(&value);
    g_autoptr(GstStructure) stats = stats_of(f.element);
    fail_unless_equals_string(gst_structure_get_string(stats, "method"), "float");
  }
}

// quality follows a control source, by stream time.
CHECK_TEST(test_controlled_quality) {
  Forward f;
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  auto* timed = GST_TIMED_VALUE_CONTROL_SOURCE(source);
  gst_timed_value_control_source_set(timed, 0, 50);
  gst_timed_value_control_source_set(timed, 80 * GST_MSECOND, 25);
  fail_unless(gst_object_add_control_binding(
      GST_OBJECT(f.element),
      gst_direct_control_binding_new_absolute(GST_OBJECT(f.element), "quality", source)));
  fail_unless_equals_int(f.table(0)[0], 16);  // 0 ms
  fail_unless_equals_int(f.table(0)[0], 16);  // 40 ms
  fail_unless_equals_int(f.table(0)[0], 32);  // 80 ms
  gst_object_unref(source);
}

// A fraction that may be 63, zeros, 65536: the pipeline ends with an error that names the fault.
void expect_error(const std::string& properties, const char* named) {
  const std::string error =
      run_pipeline("videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=32,height=16 ! " +
                   forward(properties) + " ! fakesink");
  fail_if(error.empty() || error == "timeout", "%s went through: '%s'", properties.c_str(),
          error.c_str());
  fail_unless(error.find(named) != std::string::npos, "%s: expected '%s' in '%s'",
              properties.c_str(), named, error.c_str());
}

std::string array_of(const std::vector<int>& values) {
  std::string text;
  for (int value : values) {
    text.append(text.empty() ? "\"<" : ",");
    text.append(std::to_string(value));
  }
  text.append(">\"");
  return text;
}

CHECK_TEST(test_bad_tables) {
  std::vector<int> values = ramp(1);
  values.pop_back();
  expect_error("luma-qtable=" + array_of(values), "63");
  values = ramp(1);
  values.push_back(5);
  expect_error("chroma-qtable=" + array_of(values), "65");
}

// quant_table_test has the other texts that are no tables.
CHECK_TEST(test_bad_files) {
  expect_error("qtable-file=/nonexistent/tables.txt", "/nonexistent/tables.txt");
  expect_error("qtable-file=/tmp", "/tmp");
  const std::pair<std::string, const char*> files[] = {{"1 2 banana", "banana"},
                                                       {std::string("\x00\x01\xff", 3), ""}};
  for (const auto& [text, named] : files) {
    const Folder folder;
    expect_error("qtable-file=" + write_file(folder, "bad.txt", text), named);
  }
}

// Values out of range never reach the tables.
CHECK_TEST(test_ranges) {
  for (int bad : {0, -1, 65536}) {
    Forward f("quality=50");
    std::vector<int> values = ramp(1);
    values[9] = bad;
    set_table(f.element, "luma-qtable", values);
    GstBuffer* in = make_frame(f.info);
    if (gst_harness_push(f.h, in) != GST_FLOW_OK) continue;  // refused with an error
    g_autoptr(GstBuffer) out = gst_harness_pull(f.h);
    const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
    for (guint16 value : meta->tables[meta->components[0].table].values)
      fail_unless(value >= 1, "a zero got into the tables");
  }
  // GLib itself complains about these; they are not our errors.
  take_criticals();
}

using Qcoefs = std::vector<gint16>;

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
  // The quantized coefficients of component `c` of a frame.
  Qcoefs qcoefs(guint c = 0) {
    g_autoptr(GstBuffer) out = passed(h, make_frame(info, 3));
    const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
    const GstDctComponent& component = meta->components[c];
    const auto row = 64 * static_cast<size_t>(component.blocks_w);
    Qcoefs read(row * static_cast<size_t>(component.blocks_h));
    GstMapInfo map;
    fail_unless(gst_buffer_map(out, &map, GST_MAP_READ));
    for (size_t y = 0; y * row < read.size(); y++)
      std::memcpy(&read[y * row], map.data + component.offset + y * component.stride, 2 * row);
    gst_buffer_unmap(out, &map);
    return read;
  }
};

int zeros(const Qcoefs& qcoefs) {
  return static_cast<int>(std::count(qcoefs.begin(), qcoefs.end(), 0));
}

bool is_ac(size_t i) { return i % 64 != 0; }

CHECK_TEST(test_default_rounds) {
  Quantizing plain(""), round("quantizer=round dead-zone=1 rd-lambda=1");
  fail_unless(plain.qcoefs() == round.qcoefs());
}

// Every quantized coefficient stays or comes nearer to 0, DC stays.
void check_smaller(const Qcoefs& rounded, const Qcoefs& decided) {
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
                      std::initializer_list<const char*> values, const Qcoefs& rounded,
                      int before) {
  for (const char* value : values) {
    q->set(property, value);
    const Qcoefs qcoefs = q->qcoefs();
    check_smaller(rounded, qcoefs);
    fail_unless(zeros(qcoefs) > before, "%s", value);
    before = zeros(qcoefs);
  }
}

// The settings count at the next buffer.
CHECK_TEST(test_settings_while_playing) {
  Quantizing q("quality=90");
  const Qcoefs rounded = q.qcoefs();
  q.set("quantizer", "dead-zone");
  q.set("dead-zone", "0.5");
  fail_unless(q.qcoefs() == rounded, "no coefficient of 1 is below a half");
  check_more_zeros(&q, "dead-zone", {"0.6", "0.75", "1"}, rounded, zeros(rounded));
  q.set("quantizer", "rd");
  check_more_zeros(&q, "rd-lambda", {"0.001", "0.02", "0.0625", "0.3"}, rounded,
                   zeros(rounded) - 1);
  q.set("quantizer", "round");
  fail_unless(q.qcoefs() == rounded);
}

// rd weighs the errors of Cb and Cr twice, and has other codes for them. R, G and B are as Y.
CHECK_TEST(test_chroma) {
  const std::string tables = "quant-preset=flat quantizer=rd";
  Quantizing ycc(tables, GST_VIDEO_FORMAT_Y444), rgb(tables, GST_VIDEO_FORMAT_GBR);
  fail_unless(ycc.qcoefs(0) == rgb.qcoefs(0));
  const Qcoefs as_chroma = ycc.qcoefs(1), as_luma = rgb.qcoefs(1);
  fail_unless(as_chroma != as_luma);
  ycc.set("quantizer", "round");
  rgb.set("quantizer", "round");
  fail_unless(ycc.qcoefs(1) == rgb.qcoefs(1), "the test's planes differ");
}

std::string refusal(const std::string& properties, GstVideoFormat format) {
  const GstVideoInfo info = video_info(format, 32, 24);
  return push_one(forward(properties), video_caps(info), make_frame(info));
}

CHECK_TEST(test_refusals) {
  for (const std::string name : {"dead-zone", "rd"}) {
    const std::string quantizer = "quantizer=" + name;
    expect(refusal(quantizer, GST_VIDEO_FORMAT_I420_10LE),
           {(quantizer + " requires").c_str(), "10"});
    for (const char* method : {"reference", "naive", "shuffle"})
      expect(refusal(quantizer + " method=" + method, GST_VIDEO_FORMAT_I420),
             {(quantizer + " requires").c_str(), method});
  }
  std::string table = "luma-qtable=<300";
  for (int i = 1; i < 64; i++) table += ",16";
  table += ">";
  expect(refusal("quantizer=rd " + table, GST_VIDEO_FORMAT_GRAY8),
         {"quantizer=rd requires", "300"});
  const std::string none = refusal("quantizer=dead-zone " + table, GST_VIDEO_FORMAT_GRAY8);
  fail_unless(none.empty(), "%s", none.c_str());
}

// There is nothing to quantize.
CHECK_TEST(test_unquantized) {
  const std::string caps = " ! capsfilter caps=video/x-dct(ANY),quantized=false,format=F32LE";
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420_10LE, 32, 24);
  const std::string none =
      push_one(forward("quantizer=rd") + caps, video_caps(info), make_frame(info));
  fail_unless(none.empty(), "%s", none.c_str());
}

}  // namespace
