// The caps on the pages against the pad templates: every field with its values, every raw format.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/video/video.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/check/docs/docpages.h"
#include "tests/check/testing.h"

namespace testing {
namespace {

void add_values(const GValue* value, Names* names) {
  const auto range = [names](const std::string& least, const std::string& most) {
    names->insert(least + " to " + most);
  };
  const auto text = [](const GValue* fraction) {
    return std::to_string(gst_value_get_fraction_numerator(fraction)) + "/" +
           std::to_string(gst_value_get_fraction_denominator(fraction));
  };
  if (G_VALUE_HOLDS_STRING(value)) names->insert(g_value_get_string(value));
  if (G_VALUE_HOLDS_BOOLEAN(value)) names->insert(g_value_get_boolean(value) ? "true" : "false");
  if (G_VALUE_HOLDS_INT(value)) names->insert(std::to_string(g_value_get_int(value)));
  if (GST_VALUE_HOLDS_INT_RANGE(value))
    range(std::to_string(gst_value_get_int_range_min(value)),
          std::to_string(gst_value_get_int_range_max(value)));
  if (GST_VALUE_HOLDS_FRACTION_RANGE(value))
    range(text(gst_value_get_fraction_range_min(value)),
          text(gst_value_get_fraction_range_max(value)));
  if (GST_VALUE_HOLDS_LIST(value))
    for (guint i = 0; i < gst_value_list_get_size(value); i++)
      add_values(gst_value_list_get_value(value, i), names);
}

using Fields = std::map<std::string, Names>;

bool is_in_cuda(const GstCaps* caps, guint index) {
  return gst_caps_features_contains(gst_caps_get_features(caps, index), "memory:CUDAMemory");
}

// Of `sampling` where a structure has no such field: those spelled by factors are too many to list.
constexpr char kAny[] = "any";

// Field by field, all values in the template's structures of that name, or in those of one memory.
Fields template_fields(const char* factory, const char* media, bool cuda_only = false) {
  Fields fields;
  GstElementFactory* found = gst_element_factory_find(factory);
  fail_unless(found != nullptr);
  for (const GList* l = gst_element_factory_get_static_pad_templates(found); l; l = l->next) {
    GstCaps* caps = gst_static_pad_template_get_caps(static_cast<GstStaticPadTemplate*>(l->data));
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
      const GstStructure* s = gst_caps_get_structure(caps, i);
      if (!gst_structure_has_name(s, media) || (cuda_only && !is_in_cuda(caps, i))) continue;
      for (int f = 0; f < gst_structure_n_fields(s); f++) {
        const char* name = gst_structure_nth_field_name(s, static_cast<guint>(f));
        add_values(gst_structure_get_value(s, name), &fields[name]);
      }
      if (!gst_structure_has_field(s, "sampling") && gst_structure_has_field(s, "colorspace"))
        fields["sampling"].insert(kAny);
    }
    gst_caps_unref(caps);
  }
  gst_object_unref(found);
  return fields;
}

// Adds a table's entries to `fields`, or replaces theirs.
void read_fields(const std::vector<Row>& table, Fields* fields) {
  for (const Row& row : table) {
    const std::vector<std::string> values = quoted(row[2]);
    for (const std::string& field : quoted(row[0]))
      (*fields)[field] = values.empty() ? Names{row[2]} : Names(values.begin(), values.end());
  }
}

void check_fields(const char* what, const Fields& documented, const Fields& real) {
  const auto names_of = [](const Fields& fields) {
    Names names;
    for (const auto& field : fields) names.insert(field.first);
    return names;
  };
  check_same(what, names_of(documented), names_of(real));
  for (const auto& [field, values] : real)
    if (!values.contains(kAny)) check_same(field.c_str(), documented.at(field), values);
}

constexpr const char* kLibraryPage = "../libgstcoef";

// The library's page lists values that only one of both takes (4:4:0).
void check_coefficients(const char* forward, const char* inverse, const char* media) {
  Fields real, documented;
  for (const char* element : {forward, inverse})
    for (const auto& field : template_fields(element, media))
      real[field.first].insert(field.second.begin(), field.second.end());
  read_fields(rows_under(kLibraryPage, media), &documented);
  check_fields(media, documented, real);
}

GST_START_TEST(test_caps_fields) {
  check_coefficients("cudadct8x8", "cudaidct8x8", "video/x-dct");
  check_coefficients("cudadwt", "cudaidwt", "video/x-dwt");
}
GST_END_TEST;

// Coefficients of JPEG files are a part of video/x-dct: their page states which.
GST_START_TEST(test_jpeg_caps_fields) {
  const char* element = kElements[__i__];
  Fields coefficients, files;
  read_fields(rows_under(kLibraryPage, "video/x-dct"), &coefficients);
  read_fields(rows_under("jpegcoefdec", "Coefficients of JPEG files"), &coefficients);
  check_fields(element, coefficients, template_fields(element, "video/x-dct"));
  // A decoder takes files as they come.
  const Fields real = template_fields(element, "image/jpeg");
  if (real.empty()) return;
  read_fields(rows_under(element, "Fields of image/jpeg"), &files);
  check_fields(element, files, real);
}
GST_END_TEST;

// A coefficient filter's page has the values that the library's page leaves out.
GST_START_TEST(test_coef_filter_caps_fields) {
  const char* element = kElements[__i__];
  Fields coefficients;
  read_fields(rows_under(kLibraryPage, "video/x-dct"), &coefficients);
  read_fields(rows_under(element, "Caps"), &coefficients);
  check_fields(element, coefficients, template_fields(element, "video/x-dct"));
}
GST_END_TEST;

Names formats_in(const std::vector<Row>& table, size_t first, size_t end) {
  Names formats;
  for (const Row& row : table)
    for (size_t column = first; column < std::min(end, row.size()); column++)
      for (const std::string& cell : split(row[column], ','))
        if (GstVideoFormat format = gst_video_format_from_string(trim(cell).c_str()))
          formats.insert(gst_video_format_to_string(format));
  return formats;
}

// The tables of raw formats, against the templates.
GST_START_TEST(test_raw_formats) {
  const char* element = kElements[__i__];
  Names documented = formats_in(
      __i__ < kTransforms ? rows_under("common", "Raw formats") : rows_under(element, "Caps"), 1,
      9);
  Names in_system_memory_only;
  if (g_str_has_suffix(element, "dct8x8")) {
    const std::vector<Row> rgb = rows_under("common", "RGB formats");
    documented.merge(formats_in(rgb, 0, 2));
    in_system_memory_only = formats_in(rgb, 1, 2);
  }
  check_same(element, documented, template_fields(element, "video/x-raw").at("format"));
  const Fields in_cuda = template_fields(element, "video/x-raw", true);
  if (in_cuda.empty()) return;  // a build without CUDA
  for (const std::string& format : in_system_memory_only) documented.erase(format);
  const size_t column = GST_CHECK_VERSION(1, 23, 1) ? 1 : 0;
  for (const std::string& format :
       formats_in(rows_under("common", "Formats in system memory only"), column, column + 1))
    documented.erase(format);
  check_same(element, documented, in_cuda.at("format"));
}
GST_END_TEST;

}  // namespace

void add_caps_tests(TCase* tc, int jpeg, int end) {
  tcase_add_test(tc, test_caps_fields);
  tcase_add_loop_test(tc, test_jpeg_caps_fields, jpeg, end);
  tcase_add_loop_test(tc, test_coef_filter_caps_fields, kTransforms, kTransforms + kCoefFilters);
  tcase_add_loop_test(tc, test_raw_formats, 0, kTransforms);
  tcase_add_loop_test(tc, test_raw_formats, kTransforms + kCoefFilters, jpeg);
}

}  // namespace testing
