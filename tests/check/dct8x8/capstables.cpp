// Quantization tables in caps: the library's two functions, and coefficients that went through a
// file without their metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib/gstdio.h>

#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gst/coef/dct.h>
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

std::vector<guint16> numbers(gsize n) {
  std::vector<guint16> values(n);
  for (gsize i = 0; i < n; i++) values[i] = static_cast<guint16>(65535 - i);
  return values;
}

// Whether `caps` have these tables and nothing else.
void check_tables(const GstCaps* caps, const std::vector<guint16>& wanted,
                  const std::vector<guint>& wanted_of) {
  guint16* values = nullptr;
  guint* of = nullptr;
  gsize n = 0;
  guint components = 0;
  gchar* reason = nullptr;
  fail_unless(gst_dct_caps_get_tables(caps, &values, &n, &of, &components, &reason), "%s", reason);
  fail_unless(std::vector<guint16>(values, values + n) == wanted);
  fail_unless(std::vector<guint>(of, of + components) == wanted_of);
  g_free(values);
  g_free(of);
}

void check_refused(const GstCaps* caps, const char* part) {
  guint16* values = nullptr;
  guint* of = nullptr;
  gsize n = 0;
  guint components = 0;
  g_autofree gchar* reason = nullptr;
  fail_if(gst_dct_caps_get_tables(caps, &values, &n, &of, &components, &reason));
  fail_unless(values == nullptr && of == nullptr && n == 0 && components == 0);
  fail_unless(strstr(reason, part) != nullptr, "%s", reason);
}

CHECK_TEST(test_there_and_back) {
  for (gsize tables = 1; tables <= 4; tables++) {
    const std::vector<guint16> values = numbers(64 * tables);
    const std::vector<guint> of = {0, static_cast<guint>(tables - 1), 0};
    g_autoptr(GstCaps) caps = gst_caps_new_empty_simple(GST_DCT_MEDIA_TYPE);
    fail_unless(gst_dct_caps_set_tables(caps, values.data(), values.size(), of.data(), 3, nullptr));
    fail_unless(gst_caps_is_fixed(caps));
    check_tables(caps, values, of);
    g_autofree gchar* text = gst_caps_to_string(caps);
    g_autoptr(GstCaps) read = gst_caps_from_string(text);
    check_tables(read, values, of);
    fail_unless(gst_caps_is_equal(read, caps));
    fail_unless(gst_dct_caps_set_tables(caps, nullptr, 0, nullptr, 0, nullptr));
    check_refused(caps, "no field quantization-tables");
  }
}

CHECK_TEST(test_refusals) {
  GstCaps* caps = gst_caps_new_empty_simple(GST_DCT_MEDIA_TYPE);
  std::vector<guint16> values = numbers(5 * 64);
  const guint of[] = {0, 1, 0, 0, 0};
  const auto refused = [&](gsize n, guint components, const char* part) {
    g_autofree gchar* reason = nullptr;
    fail_if(gst_dct_caps_set_tables(caps, values.data(), n, of, components, &reason));
    fail_unless(strstr(reason, part) != nullptr, "%s", reason);
    check_refused(caps, "no field");
  };
  refused(5 * 64, 3, "5 quantization tables, expected 1 to 4");
  refused(65, 3, "65 values");
  refused(64, 3, "component 1 uses table 1 of 1");
  refused(128, 0, "tables of 0 components");
  refused(128, 5, "tables of 5 components, expected 1 to 4");
  std::fill_n(values.begin() + 64, 64, guint16(0));
  refused(128, 3, "all entries of quantization table 1 are 0");
  gst_caps_unref(caps);
  const std::string seven =
      "video/x-dct,component-tables=<0>,quantization-tables=< <1,2,3,4,5,6,7> >";
  for (const auto& [text, part] : std::vector<std::pair<std::string, const char*>>{
           {seven, "not an array of 64"},
           {"video/x-dct,quantization-tables=3,component-tables=<0>", "is not an array"},
           {"video/x-dct,quantization-tables=<1,2>,component-tables=<0>", "not an array of 64"},
           {"ANY", "not fixed"}}) {
    caps = gst_caps_from_string(text.c_str());
    fail_unless(caps != nullptr, "%s", text.c_str());
    check_refused(caps, part);
    gst_caps_unref(caps);
  }
}

// A chain cut in two, with a file in between: `use` reads the output of `make`.
std::string temporary() {
  return std::string(g_get_tmp_dir()) + "/capstables-" + std::to_string(getpid()) + ".gdp";
}

Frames through_a_file(const std::string& make, const std::string& use) {
  run_well(make + " ! video/x-dct ! gdppay ! filesink location=" + temporary());
  const Frames frames = play("filesrc location=" + temporary() + " ! gdpdepay ! " + use +
                             " ! appsink name=sink sync=false");
  g_remove(temporary().c_str());
  return frames;
}

void check_chain(const std::string& make, const std::string& reported, const std::string& use) {
  const Frames direct = play(make + " ! video/x-dct ! " + use + " ! appsink name=sink sync=false");
  compare(through_a_file(reported, use), direct, reported);
}

constexpr const char* kSource =
    "videotestsrc num-buffers=4 pattern=ball ! video/x-raw,format=I420,width=70,height=50 ! ";

// gst-plugins-bad has the elements that write caps into files.
bool has_gdp() { return testing::require_element_or_skip("gdppay") == 0; }

CHECK_TEST_IF(test_transform, has_gdp()) {
  check_chain(kSource + forward("quality=40"), kSource + forward("quality=40 tables-in-caps=true"),
              inverse());
  const std::string values =
      kSource + forward() + " ! capsfilter caps=video/x-dct,quantized=false,format=S32LE";
  check_chain(values, values, inverse());
}

CHECK_TEST_IF(test_files, has_gdp()) {
  if (require_element_or_skip("jpegcoefdec") != 0) return;
  const std::string files = kSource + forward("quality=40") + " ! jpegcoefenc ! jpegcoefdec";
  check_chain(files, files + " tables-in-caps=true", "jpegcoefenc");
}

// A quality that changes while frames flow: caps change with it, and frames get their own tables.
CHECK_TEST(test_changing_quality) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (forward("name=f tables-in-caps=true") + " ! capsfilter caps=video/x-dct").c_str());
  g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(h->element), "f");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 16);
  gst_harness_set_src_caps(h, video_caps(info));
  GstCaps* before = nullptr;
  for (int quality : {30, 30, 80}) {
    g_object_set(f, "quality", quality, nullptr);
    g_autoptr(GstBuffer) out = passed(h, make_frame(info));
    GstCaps* caps = current_caps(h);
    const GstDctMeta* meta = gst_buffer_get_dct_meta(out);
    std::vector<guint16> wanted;
    for (guint t = 0; t < meta->n_tables; t++)
      wanted.insert(wanted.end(), meta->tables[t].values, meta->tables[t].values + 64);
    check_tables(caps, wanted, {0, 1, 1});
    if (before) fail_unless_equals_int(gst_caps_is_equal(before, caps), quality == 30);
    gst_caps_take(&before, caps);
  }
  gst_clear_caps(&before);
}

// Three frames, of which the last has another quality.
void push_qualities(GstHarness* h, const GstVideoInfo& info) {
  g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(h->element), "f");
  gst_harness_set_src_caps(h, video_caps(info));
  guint seed = 0;
  for (int quality : {30, 30, 80}) {
    g_object_set(f, "quality", quality, nullptr);
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, seed++)), GST_FLOW_OK);
  }
}

Frames all_of(GstHarness* h) {
  Frames frames;
  g_autoptr(GstCaps) caps = current_caps(h);
  while (GstBuffer* out = gst_harness_try_pull(h)) {
    frames.push_back(samples_of(out, caps));
    gst_buffer_unref(out);
  }
  return frames;
}

CHECK_TEST_IF(test_changing_quality_in_a_file, has_gdp()) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 16);
  GstHarness* direct = gst_harness_new_parse((forward("name=f") + " ! " + inverse()).c_str());
  push_qualities(direct, info);
  GstHarness* writer = gst_harness_new_parse(
      (forward("name=f tables-in-caps=true") + " ! capsfilter caps=video/x-dct ! gdppay").c_str());
  push_qualities(writer, info);
  GstHarness* reader = gst_harness_new_parse(("gdpdepay ! " + inverse()).c_str());
  gst_harness_set_src_caps_str(reader, "application/x-gdp");
  while (GstBuffer* piece = gst_harness_try_pull(writer))
    fail_unless_equals_int(gst_harness_push(reader, piece), GST_FLOW_OK);
  compare(all_of(reader), all_of(direct), "a quality that changes");
  for (GstHarness* h : {direct, writer, reader}) gst_harness_teardown(h);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  return testing::run(argc, argv);
}
