// The element pages in docs/elements, with their shared pages, against the elements: every property
// with its type, range, default and when it may change; every field of stats and of messages.
// docs_caps.cpp has the caps.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// gst-inspect-1.0 prints the same facts: GObject's property list and the pad templates. The first
// argument is the folder of the pages, the second "jpeg" where the build has those elements.
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/check/docs/docpages.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

bool& has_jpeg() {
  static bool has = false;
  return has;
}

// ---- Properties ----

std::string text_of(double value) {
  g_autofree gchar* text = g_strdup_printf("%g", value);
  return text;
}

std::string text_of(GParamSpec* spec, const GValue* value) {
  if (G_VALUE_HOLDS_ENUM(value))
    return g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, g_value_get_enum(value))
        ->value_nick;
  if (G_VALUE_HOLDS_FLAGS(value)) return g_value_get_flags(value) == 0 ? "none" : "some";
  if (G_VALUE_HOLDS_BOOLEAN(value)) return g_value_get_boolean(value) ? "true" : "false";
  if (G_VALUE_HOLDS_INT(value)) return std::to_string(g_value_get_int(value));
  if (G_VALUE_HOLDS_UINT(value)) return std::to_string(g_value_get_uint(value));
  if (G_VALUE_HOLDS_UINT64(value)) return std::to_string(g_value_get_uint64(value));
  if (G_VALUE_HOLDS_INT64(value)) return std::to_string(g_value_get_int64(value));
  if (G_VALUE_HOLDS_DOUBLE(value)) return text_of(g_value_get_double(value));
  if (G_VALUE_HOLDS_STRING(value)) return g_value_get_string(value) ? "set" : "null";
  if (G_VALUE_HOLDS(value, GST_TYPE_ARRAY)) return "empty";
  return "";
}

bool is_inherited(GParamSpec* spec) {
  return g_type_is_a(GST_TYPE_BASE_TRANSFORM, spec->owner_type) ||
         g_type_is_a(GST_TYPE_VIDEO_DECODER, spec->owner_type) ||
         g_type_is_a(GST_TYPE_VIDEO_ENCODER, spec->owner_type) ||
         g_type_is_a(GST_TYPE_BIN, spec->owner_type);
}

// The element may have changed the default of an inherited property when it was made.
std::string default_of(GParamSpec* spec, GstElement* element) {
  if (!is_inherited(spec)) return text_of(spec, g_param_spec_get_default_value(spec));
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_PARAM_SPEC_VALUE_TYPE(spec));
  g_object_get_property(G_OBJECT(element), spec->name, &value);
  const std::string text = text_of(spec, &value);
  g_value_unset(&value);
  return text;
}

std::string type_of(GParamSpec* spec) {
  if (G_IS_PARAM_SPEC_ENUM(spec)) return "enum";
  if (G_IS_PARAM_SPEC_FLAGS(spec)) return "flags";
  if (G_IS_PARAM_SPEC_BOOLEAN(spec)) return "boolean";
  if (G_IS_PARAM_SPEC_UINT(spec)) return "uint";
  if (G_IS_PARAM_SPEC_UINT64(spec)) return "uint64";
  if (G_IS_PARAM_SPEC_INT64(spec)) return "int64";
  if (G_IS_PARAM_SPEC_INT(spec)) return "int";
  if (G_IS_PARAM_SPEC_DOUBLE(spec)) return "double";
  if (G_IS_PARAM_SPEC_STRING(spec)) return "string";
  return g_type_name(G_PARAM_SPEC_VALUE_TYPE(spec));
}

// For numbers; empty for all other types and where there is no limit.
std::string range_of(GParamSpec* spec) {
  const auto range = [](const auto* number) {
    return std::to_string(number->minimum) + " to " + std::to_string(number->maximum);
  };
  if (G_IS_PARAM_SPEC_INT(spec)) return range(G_PARAM_SPEC_INT(spec));
  if (G_IS_PARAM_SPEC_UINT(spec)) return range(G_PARAM_SPEC_UINT(spec));
  if (G_IS_PARAM_SPEC_UINT64(spec)) return range(G_PARAM_SPEC_UINT64(spec));
  if (G_IS_PARAM_SPEC_INT64(spec)) return range(G_PARAM_SPEC_INT64(spec));
  if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    const GParamSpecDouble* number = G_PARAM_SPEC_DOUBLE(spec);
    if (number->maximum != G_MAXDOUBLE)
      return text_of(number->minimum) + " to " + text_of(number->maximum);
  }
  return "";
}

void check_values(GstElement* element, GParamSpec* spec, const std::string& cell) {
  const std::vector<std::string> listed = quoted(cell);
  Names real;
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    if (contains(cell, "as `")) {
      GParamSpec* other =
          g_object_class_find_property(G_OBJECT_GET_CLASS(element), listed[0].c_str());
      fail_unless(other && other->value_type == spec->value_type, "%s: values", spec->name);
      return;
    }
    const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    for (guint i = 0; i < values->n_values; i++) real.insert(values->values[i].value_nick);
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    const GFlagsClass* values = G_PARAM_SPEC_FLAGS(spec)->flags_class;
    for (guint i = 0; i < values->n_values; i++) {
      real.insert(values->values[i].value_nick);
      const std::string text = std::string("`") + values->values[i].value_nick + "` (" +
                               std::to_string(values->values[i].value) + ")";
      fail_unless(contains(cell, text), "%s: expected %s", spec->name, text.c_str());
    }
  } else if (const std::string range = range_of(spec); !range.empty()) {
    fail_unless_equals_string(cell.c_str(), range.c_str());
    return;
  } else {
    return;
  }
  check_same(spec->name, Names(listed.begin(), listed.end()), real);
}

void check_property(GstElement* element, GParamSpec* spec, const Row& row) {
  const std::string& type = row[1];
  const std::string& changeable = row[4];
  const bool writable = spec->flags & G_PARAM_WRITABLE;
  fail_unless(contains(type, type_of(spec)), "%s: type '%s', documented as '%s'", spec->name,
              type_of(spec).c_str(), type.c_str());
  fail_unless(contains(type, "read-only") != writable, "%s: read-only or not?", spec->name);
  check_values(element, spec, row[2]);
  const std::vector<std::string> in_ticks = quoted(row[3]);
  const std::string documented = in_ticks.empty() ? row[3] : in_ticks[0];
  const std::string real = default_of(spec, element);
  fail_unless(documented == real, "%s: the default is '%s', documented as '%s'", spec->name,
              real.c_str(), documented.c_str());
  fail_if(row[5].empty(), "%s: no meaning", spec->name);
  // Inherited properties do not state when they may change.
  if (is_inherited(spec)) return;
  fail_unless(
      contains(changeable, "PLAYING") == static_cast<bool>(spec->flags & GST_PARAM_MUTABLE_PLAYING),
      "%s: changeable in PLAYING?", spec->name);
  fail_unless(
      contains(changeable, "READY") == static_cast<bool>(spec->flags & GST_PARAM_MUTABLE_READY),
      "%s: changeable in READY?", spec->name);
  fail_unless(contains(changeable, "controllable") ==
                  static_cast<bool>(spec->flags & GST_PARAM_CONTROLLABLE),
              "%s: controllable?", spec->name);
}

// gst-inspect-1.0 prints a blurb as one line next to the name.
void check_blurb(GParamSpec* spec) {
  constexpr glong kMaxBlurb = 100;
  const char* blurb = g_param_spec_get_blurb(spec);
  fail_unless(blurb && *blurb, "%s: no blurb", spec->name);
  fail_if(std::strchr(blurb, '\n'), "%s: the blurb has several lines", spec->name);
  const glong length = g_utf8_strlen(blurb, -1);
  fail_unless(length <= kMaxBlurb, "%s: the blurb has %ld characters, limit %ld: '%s'", spec->name,
              length, kMaxBlurb, blurb);
}

GST_START_TEST(test_properties) {
  const char* name = kElements[__i__];
  GstElement* element = gst_element_factory_make(name, nullptr);
  const std::vector<Row> table = rows_under(name, "Properties");
  Names documented, real;
  std::map<std::string, Row> rows;
  for (const Row& row : table) {
    fail_unless_equals_uint64(row.size(), 6);
    for (const std::string& property : quoted(row[0])) {
      documented.insert(property);
      rows.emplace(property, row);  // the element's own page comes first
    }
  }
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  for (guint i = 0; i < n; i++) {
    const bool inherited = is_inherited(specs[i]);
    if (!inherited) real.insert(specs[i]->name);
    // The page may mention inherited properties; then it must be right.
    if (inherited && documented.count(specs[i]->name)) real.insert(specs[i]->name);
  }
  check_same(name, documented, real);
  for (guint i = 0; i < n; i++) {
    if (rows.count(specs[i]->name)) check_property(element, specs[i], rows[specs[i]->name]);
    if (!is_inherited(specs[i])) check_blurb(specs[i]);
  }
  g_free(specs);
  gst_object_unref(element);
}
GST_END_TEST;

// ---- Statistics and messages ----

const char* documented_type(GType type) {
  if (type == G_TYPE_STRING) return "string";
  if (type == G_TYPE_UINT64) return "uint64";
  if (type == G_TYPE_INT64) return "int64";
  if (type == G_TYPE_DOUBLE) return "double";
  return g_type_name(type);
}

void check_structure(const char* what, const std::vector<Row>& table, const GstStructure* s) {
  Names documented, real;
  for (const Row& row : table) {
    for (const std::string& field : quoted(row[0])) {
      documented.insert(field);
      if (!gst_structure_has_field(s, field.c_str())) continue;
      const char* type = documented_type(gst_structure_get_field_type(s, field.c_str()));
      fail_unless_equals_string(row[1].c_str(), type);
      fail_if(row[3].empty(), "%s: no meaning", field.c_str());
      if (!g_str_equal(type, "string")) fail_if(row[2].empty(), "%s: no unit", field.c_str());
    }
  }
  for (int f = 0; f < gst_structure_n_fields(s); f++)
    real.insert(gst_structure_nth_field_name(s, static_cast<guint>(f)));
  check_same(what, documented, real);
}

constexpr const char* kMeasuring = "measuring";

// The fields of all elements that measure, and those that only this one has.
std::vector<Row> rows_of(const std::string& element, const std::string& title) {
  std::vector<Row> rows = rows_under(kMeasuring, title);
  if (element != "cudadct8x8" || title == "Summary") return rows;
  const std::vector<Row> own = rows_under(element, title);
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

// The measuring page has ELEMENT for each element's name.
bool names_structure(std::string name, const char* element) {
  const size_t at = name.find(element);
  fail_unless(at != std::string::npos, "%s", name.c_str());
  name.replace(at, std::strlen(element), "ELEMENT");
  return contains(read_page(kMeasuring), "`" + name + "`");
}

GST_START_TEST(test_stats_and_messages) {
  const std::string measuring = " measure=psnr+time+zeros post-messages=true ";
  GstHarness* h =
      gst_harness_new_parse((testing::forward("name=cudadct8x8 keep-reference=true" + measuring) +
                             " ! " + testing::inverse("name=cudaidct8x8" + measuring) + " ! " +
                             testing::forward_dwt("name=cudadwt keep-reference=true" + measuring) +
                             " ! " + testing::inverse_dwt("name=cudaidwt" + measuring))
                                .c_str());
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  const GstVideoInfo info = testing::video_info(GST_VIDEO_FORMAT_I420, 32, 32);
  gst_harness_set_src_caps(h, testing::video_caps(info));
  gst_harness_push(h, testing::make_frame(info));
  gst_harness_push_event(h, gst_event_new_eos());
  for (int i = 0; i < kTransforms; i++) {
    GstElement* element = gst_bin_get_by_name(GST_BIN(h->element), kElements[i]);
    GstStructure* stats = nullptr;
    g_object_get(element, "stats", &stats, nullptr);
    fail_unless(names_structure(gst_structure_get_name(stats), kElements[i]));
    check_structure(kElements[i], rows_of(kElements[i], "Statistics"), stats);
    gst_structure_free(stats);
    gst_object_unref(element);
  }
  Names seen;
  while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) {
    const GstStructure* s = gst_message_get_structure(message);
    const char* name = gst_structure_get_name(s);
    const std::string type = gst_structure_get_string(s, "type");
    fail_unless(names_structure(name, GST_MESSAGE_SRC_NAME(message)), "%s", name);
    check_structure(name, rows_of(name, type == "frame" ? "Messages" : "Summary"), s);
    seen.insert(name + (" " + type));
    gst_message_unref(message);
  }
  Names expected;
  for (int i = 0; i < kTransforms; i++) {
    expected.insert(std::string(kElements[i]) + " frame");
    expected.insert(std::string(kElements[i]) + " summary");
  }
  check_same("messages", expected, seen);
  gst_element_set_bus(h->element, nullptr);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}
GST_END_TEST;

// Compares with the element's own page. All fields exist before the first frame.
GST_START_TEST(test_codec_stats) {
  const char* name = kElements[__i__];
  GstElement* element = gst_element_factory_make(name, nullptr);
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  fail_unless(contains(read_page(name), std::string("`") + gst_structure_get_name(stats) + "`"));
  check_structure(name, rows_under(name, "Statistics"), stats);
  gst_structure_free(stats);
  gst_object_unref(element);
}
GST_END_TEST;

// A filter has the statistics of transforms, except the method, and those of its own page.
GST_START_TEST(test_filter_stats) {
  const char* name = kElements[__i__];
  std::vector<Row> rows = rows_under(name, "Statistics");
  for (const Row& row : rows_under(kMeasuring, "Statistics"))
    if (row[0] != "`method`") rows.push_back(row);
  GstElement* element = gst_element_factory_make(name, nullptr);
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  fail_unless(contains(read_page(name), std::string("`") + gst_structure_get_name(stats) + "`"));
  check_structure(name, rows, stats);
  gst_structure_free(stats);
  gst_object_unref(element);
}
GST_END_TEST;

// Whether decodebin, encodebin and their like find the element under `type`.
void check_type(GstElementFactory* factory, GstElementFactoryListType type, bool expected) {
  fail_unless_equals_int(gst_element_factory_list_is_type(factory, type), expected);
}

void check_klass(GstElementFactory* factory, const std::string& name) {
  const bool has_codec =
      contains(name, "jpeg") || name == "cudadiracdec" || contains(name, "cudaapv");
  const bool decodes = has_codec && contains(name, "dec"), encodes = has_codec && !decodes;
  check_type(factory, GST_ELEMENT_FACTORY_TYPE_DECODER, decodes);
  check_type(factory, GST_ELEMENT_FACTORY_TYPE_ENCODER, encodes);
  check_type(factory, GST_ELEMENT_FACTORY_TYPE_PARSER, false);
  check_type(factory, GST_ELEMENT_FACTORY_TYPE_HARDWARE, true);
}

// The lines at the top of gst-inspect's output.
GST_START_TEST(test_metadata) {
  GstElementFactory* factory = gst_element_factory_find(kElements[__i__]);
  fail_unless(factory != nullptr);
  for (const char* key : {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
                          GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR}) {
    const gchar* value = gst_element_factory_get_metadata(factory, key);
    fail_unless(value != nullptr && *value != '\0', "no %s", key);
  }
  check_klass(factory, kElements[__i__]);
  // Players autoplug the elements of a whole codec: those of JPEG after GStreamer's own.
  const bool has_whole_codec = __i__ >= kAllElements - kBins ||
                               std::strcmp(kElements[__i__], "cudadiracdec") == 0 ||
                               contains(kElements[__i__], "cudaapv");
  fail_unless_equals_int(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)),
                         has_whole_codec ? GST_RANK_SECONDARY : GST_RANK_NONE);
  gst_object_unref(factory);
}
GST_END_TEST;

void add_tests(TCase* tc) {
  const int jpeg = kAllElements - kJpegElements;  // the first of them
  const int end = has_jpeg() ? kAllElements : jpeg;
  tcase_add_loop_test(tc, test_properties, 0, end);
  // The bins' templates are their elements': check/jpeg compares them.
  add_caps_tests(tc, jpeg, has_jpeg() ? end - kBins : end);
  tcase_add_test(tc, test_stats_and_messages);
  const int filters = kTransforms + kCoefFilters + kResizers;  // up to the last of them
  tcase_add_loop_test(tc, test_filter_stats, kTransforms, filters);
  tcase_add_loop_test(tc, test_codec_stats, filters, end);
  tcase_add_loop_test(tc, test_metadata, 0, end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  set_pages_folder(argv[1]);
  has_jpeg() = argc > 2 && g_str_equal(argv[2], "jpeg");
  const testing::Registered tests(add_tests);
  return testing::run(argc, argv);
}
