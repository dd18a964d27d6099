// The properties and statistics of cudajpegdec and cudajpegenc are those of their elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/jpeg/jpegbins.h"

#include <gst/base/gstbasetransform.h>
#include <gst/controller/controller.h>
#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr int kCount = G_N_ELEMENTS(kBins);

// A bin and elements of its kinds that are in no bin.
struct Compared {
  GstElement* const bin;
  GstElement* const alone[2];
  GstElement* inside[2];  // owned by the bin

  explicit Compared(const Bin& kind)
      : bin(make(kind.name)), alone{make(kind.parts[0]), make(kind.parts[1])} {
    for (int i = 0; i < 2; i++) {
      inside[i] = gst_bin_get_by_name(GST_BIN(bin), kind.parts[i]);
      fail_unless(inside[i] != nullptr, "no %s in %s", kind.parts[i], kind.name);
      gst_object_unref(inside[i]);
    }
  }
  ~Compared() {
    for (GstElement* element : {bin, alone[0], alone[1]}) gst_object_unref(element);
  }
  Compared(const Compared&) = delete;
  Compared& operator=(const Compared&) = delete;
};

GParamSpec* property_of(GstElement* element, const char* name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
}

// Those that an element's own class or its base class in the plugin has.
bool is_own(GParamSpec* spec) {
  for (const GType base :
       {GST_TYPE_BASE_TRANSFORM, GST_TYPE_VIDEO_DECODER, GST_TYPE_VIDEO_ENCODER, GST_TYPE_BIN})
    if (g_type_is_a(base, spec->owner_type)) return false;
  return true;
}

std::vector<GParamSpec*> properties_of(GstElement* element) {
  guint n = 0;
  g_autofree GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  return {specs, specs + n};
}

std::string text_of(const GValue* value) {
  g_autofree gchar* text = gst_value_serialize(value);
  return text ? text : "";
}

void check_value(const char* name, const std::string& found, const std::string& expected) {
  fail_unless(found == expected, "%s is %s, expected %s", name, found.c_str(), expected.c_str());
}

std::string value_of(GstElement* element, const char* name) {
  g_auto(GValue) value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name, &value);
  return text_of(&value);
}

template <class Spec>
bool same_range(const Spec* a, const Spec* b) {
  return a->minimum == b->minimum && a->maximum == b->maximum;
}

bool have_same_range(GParamSpec* a, GParamSpec* b) {
  if (G_IS_PARAM_SPEC_INT(a)) return same_range(G_PARAM_SPEC_INT(a), G_PARAM_SPEC_INT(b));
  if (G_IS_PARAM_SPEC_UINT(a)) return same_range(G_PARAM_SPEC_UINT(a), G_PARAM_SPEC_UINT(b));
  if (G_IS_PARAM_SPEC_INT64(a)) return same_range(G_PARAM_SPEC_INT64(a), G_PARAM_SPEC_INT64(b));
  if (G_IS_PARAM_SPEC_UINT64(a)) return same_range(G_PARAM_SPEC_UINT64(a), G_PARAM_SPEC_UINT64(b));
  if (G_IS_PARAM_SPEC_DOUBLE(a)) return same_range(G_PARAM_SPEC_DOUBLE(a), G_PARAM_SPEC_DOUBLE(b));
  return true;
}

void check_same(GParamSpec* bin, GParamSpec* alone) {
  const char* name = bin->name;
  fail_unless(G_PARAM_SPEC_TYPE(bin) == G_PARAM_SPEC_TYPE(alone), "%s: kind", name);
  fail_unless(bin->value_type == alone->value_type, "%s: type", name);
  fail_unless(bin->flags == alone->flags, "%s: flags", name);
  fail_unless(have_same_range(bin, alone), "%s: range", name);
  // GStreamer's base classes each name and describe qos differently.
  if (is_own(alone))
    fail_unless_equals_string(g_param_spec_get_nick(bin), g_param_spec_get_nick(alone));
  // Properties of both elements that they describe differently have a text for both.
  const std::string blurb = g_param_spec_get_blurb(bin);
  static const std::set<std::string> kCommon = {"backend", "n-threads", "qos"};
  fail_unless(kCommon.count(name) != 0 || blurb == g_param_spec_get_blurb(alone), "%s: '%s'", name,
              blurb.c_str());
}

// In either direction: each property of an element is there, and no other.
CHECK_LOOP_TEST(test_properties, 0, kCount) {
  const Bin& kind = kBins[__i__];
  const std::set<std::string> inner = {"keep-metadata", "keep-reference", "tables-in-caps"};
  const std::set<std::string> of_base_classes = {"qos", "max-errors", "discard-corrupted-frames"};
  const Compared c(kind);
  std::set<std::string> expected = {"stats"};
  for (int i = 0; i < 2; i++) {
    for (GParamSpec* alone : properties_of(c.alone[i])) {
      const std::string name = alone->name;
      if (is_own(alone) ? inner.count(name) || name == "stats" : !of_base_classes.count(name))
        continue;
      expected.insert(name);
      GParamSpec* bin = property_of(c.bin, name.c_str());
      fail_unless(bin != nullptr, "%s has no %s", kind.name, name.c_str());
      check_same(bin, alone);
      const std::string begins = value_of(c.bin, name.c_str());
      check_value(name.c_str(), begins, text_of(g_param_spec_get_default_value(bin)));
      // An encoder's qos does nothing by itself, so it may be another than the transform's.
      if (is_own(alone)) check_value(name.c_str(), begins, value_of(c.alone[i], name.c_str()));
    }
  }
  std::set<std::string> real;
  for (GParamSpec* spec : properties_of(c.bin))
    if (is_own(spec)) real.insert(spec->name);
  fail_unless(real == expected, "%s has %zu properties, expected %zu", kind.name, real.size(),
              expected.size());
  for (const std::string& name : inner)
    for (GstElement* element : c.inside)
      if (property_of(element, name.c_str()))
        check_value(name.c_str(), value_of(element, name.c_str()), "false");
}

// A value other than the present one.
template <class Spec, class Value>
Value other_number(const Spec* spec, Value value) {
  return value == spec->maximum ? spec->minimum : spec->maximum;
}

void change(GParamSpec* spec, GValue* value) {
  if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_value_set_boolean(value, !g_value_get_boolean(value));
  } else if (G_IS_PARAM_SPEC_INT(spec)) {
    g_value_set_int(value, other_number(G_PARAM_SPEC_INT(spec), g_value_get_int(value)));
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    g_value_set_uint(value, other_number(G_PARAM_SPEC_UINT(spec), g_value_get_uint(value)));
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    g_value_set_uint64(value, other_number(G_PARAM_SPEC_UINT64(spec), g_value_get_uint64(value)));
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    g_value_set_double(value, other_number(G_PARAM_SPEC_DOUBLE(spec), g_value_get_double(value)));
  } else if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    const int now = g_value_get_enum(value);
    g_value_set_enum(value, values->values[values->values[0].value == now ? 1 : 0].value);
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    g_value_set_flags(value, G_PARAM_SPEC_FLAGS(spec)->flags_class->mask);
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    g_value_set_string(value, "a-file");
  } else if (GST_IS_PARAM_SPEC_ARRAY_LIST(spec)) {
    g_auto(GValue) entry = G_VALUE_INIT;
    g_value_init(&entry, G_TYPE_INT);
    g_value_set_int(&entry, 7);
    for (int i = 0; i < 64; i++) gst_value_array_append_value(value, &entry);
  } else {
    fail("%s: a type without other values", spec->name);
  }
}

// What is set in the bin is set in each element that has it; what is set in an element is the
// bin's, which notifies it.
CHECK_LOOP_TEST(test_settings, 0, kCount) {
  const Compared c(kBins[__i__]);
  std::map<std::string, int> notified;
  g_signal_connect(c.bin, "notify",
                   G_CALLBACK(+[](GObject*, GParamSpec* spec, std::map<std::string, int>* seen) {
                     ++(*seen)[spec->name];
                   }),
                   &notified);
  for (GParamSpec* spec : properties_of(c.bin)) {
    if (!is_own(spec) || !(spec->flags & G_PARAM_WRITABLE)) continue;
    const char* name = spec->name;
    g_auto(GValue) value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(c.bin), name, &value);
    const std::string before = text_of(&value);
    change(spec, &value);
    const std::string set = text_of(&value);
    fail_if(set == before, "%s stays %s", name, set.c_str());
    notified.clear();
    g_object_set_property(G_OBJECT(c.bin), name, &value);
    fail_unless_equals_int(notified[name], 1);
    check_value(name, value_of(c.bin, name), set);
    int found = 0;
    for (GstElement* element : c.inside) {
      if (!property_of(element, name)) continue;
      found++;
      check_value(name, value_of(element, name), set);
    }
    fail_unless(found > 0, "%s is in no element", name);
    notified.clear();
    for (GstElement* element : c.inside)
      if (property_of(element, name))
        g_object_set_property(G_OBJECT(element), name, g_param_spec_get_default_value(spec));
    fail_unless_equals_int(notified[name], 1);
    check_value(name, value_of(c.bin, name), before);
  }
}

// A control binding of the bin's quality has its values frame by frame, by stream time.
CHECK_TEST(test_controlled_quality) {
  const std::string frames =
      "videotestsrc num-buffers=4 pattern=snow ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! ";
  const std::string sink = " ! appsink name=sink sync=false";
  const auto files_of = [&](const std::string& properties) {
    return play(frames + as_bin(kEncoder, properties) + sink);
  };
  const Frames coarse = files_of("quality=20"), fine = files_of("quality=90");
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 20);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 80 * GST_MSECOND, 90);
  g_autoptr(GstElement) pipeline =
      launch(frames + as_bin(kEncoder, "name=e") + " ! filesink name=file");
  g_autoptr(GstElement) encoder = gst_bin_get_by_name(GST_BIN(pipeline), "e");
  gst_object_add_control_binding(GST_OBJECT(encoder), gst_direct_control_binding_new_absolute(
                                                          GST_OBJECT(encoder), "quality", source));
  gst_object_unref(source);
  const Folder folder;
  const std::string path = folder.file("pictures.mjpeg");
  g_autoptr(GstElement) file = gst_bin_get_by_name(GST_BIN(pipeline), "file");
  g_object_set(file, "location", path.c_str(), nullptr);
  run_well(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  std::string expected;
  for (size_t i = 0; i < 4; i++) {
    const auto& picture = i < 2 ? coarse.at(i) : fine.at(i);
    expected.append(picture.begin(), picture.end());
  }
  g_autofree gchar* bytes = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(path.c_str(), &bytes, &size, nullptr));
  fail_unless(expected == std::string(bytes, size), "%zu bytes, expected %zu", size,
              expected.size());
}

// Both elements' structures are in the bin's, after frames as before.
CHECK_TEST(test_stats) {
  g_autoptr(GstElement) pipeline =
      launch("videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48 ! " +
             as_bin(kEncoder, "name=cudajpegenc") + " ! " + as_bin(kDecoder, "name=cudajpegdec") +
             " ! fakesink");
  for (const guint64 frames : {guint64{0}, guint64{3}}) {
    if (frames > 0) run_well(pipeline);
    for (const Bin& kind : kBins) {
      g_autoptr(GstElement) bin = gst_bin_get_by_name(GST_BIN(pipeline), kind.name);
      g_autoptr(GstStructure) stats = stats_of(bin);
      fail_unless_equals_int(gst_structure_n_fields(stats), 2);
      for (const char* part : kind.parts) {
        g_autoptr(GstStructure) expected = nullptr, found = nullptr;
        g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(bin), part);
        g_object_get(element, "stats", &expected, nullptr);
        fail_unless(gst_structure_get(stats, part, GST_TYPE_STRUCTURE, &found, nullptr));
        fail_unless(gst_structure_is_equal(expected, found), "%s", part);
        guint64 counted = 99;
        fail_unless(gst_structure_get_uint64(found, "frames", &counted));
        fail_unless_equals_uint64(counted, frames);
      }
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

}  // namespace
