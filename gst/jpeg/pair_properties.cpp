// The properties of a bin of two elements in a row, copied from those of its elements.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/pair_properties.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

namespace cudatransform {
namespace {

// The base classes' properties that have an effect where each picture is a key frame.
constexpr std::string_view kOfBaseClasses[] = {"discard-corrupted-frames", "max-errors", "qos"};
// Booleans that change nothing but the coefficients and what is attached to them.
constexpr const char* kInner[] = {"keep-metadata", "keep-reference", "tables-in-caps"};

bool is_of_base_class(const GParamSpec* spec) {
  return g_type_is_a(GST_TYPE_BASE_TRANSFORM, spec->owner_type) ||
         g_type_is_a(GST_TYPE_VIDEO_DECODER, spec->owner_type) ||
         g_type_is_a(GST_TYPE_VIDEO_ENCODER, spec->owner_type);
}

bool is_wanted(const GParamSpec* spec) {
  const std::string_view name = spec->name;
  if (is_of_base_class(spec))
    return std::find(std::begin(kOfBaseClasses), std::end(kOfBaseClasses), name) !=
           std::end(kOfBaseClasses);
  return name != "stats" &&
         std::find(std::begin(kInner), std::end(kInner), name) == std::end(kInner);
}

// Of both elements' texts, in the order of the stream.
const char* common_blurb(const Pair& pair, GParamSpec* const specs[2]) {
  std::string texts[2];
  for (int i = 0; i < 2; i++)
    if (specs[i]) texts[i] = g_param_spec_get_blurb(specs[i]);
  const auto has = [&](int whole, int part) {
    return texts[whole].find(texts[part]) != std::string::npos;
  };
  if (has(0, 1)) return g_intern_string(texts[0].c_str());
  if (has(1, 0)) return g_intern_string(texts[1].c_str());
  return g_intern_string(
      (std::string(pair.names[0]) + ": " + texts[0] + ". " + pair.names[1] + ": " + texts[1])
          .c_str());
}

// With the default that `initial` has: a class may start with another value than its base class's
// specification says. Null for a type that no property has had so far.
GParamSpec* copy_spec(GParamSpec* spec, const GValue* initial, const char* blurb) {
  const char* name = spec->name;
  const char* nick = g_param_spec_get_nick(spec);  // of a class that stays
  const auto flags = static_cast<GParamFlags>(spec->flags | G_PARAM_STATIC_STRINGS);
  const auto number = [&](auto make, const auto* of, auto value) {
    return make(name, nick, blurb, of->minimum, of->maximum, value, flags);
  };
  if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    return g_param_spec_boolean(name, nick, blurb, g_value_get_boolean(initial), flags);
  if (G_IS_PARAM_SPEC_INT(spec))
    return number(g_param_spec_int, G_PARAM_SPEC_INT(spec), g_value_get_int(initial));
  if (G_IS_PARAM_SPEC_UINT(spec))
    return number(g_param_spec_uint, G_PARAM_SPEC_UINT(spec), g_value_get_uint(initial));
  if (G_IS_PARAM_SPEC_INT64(spec))
    return number(g_param_spec_int64, G_PARAM_SPEC_INT64(spec), g_value_get_int64(initial));
  if (G_IS_PARAM_SPEC_UINT64(spec))
    return number(g_param_spec_uint64, G_PARAM_SPEC_UINT64(spec), g_value_get_uint64(initial));
  if (G_IS_PARAM_SPEC_DOUBLE(spec))
    return number(g_param_spec_double, G_PARAM_SPEC_DOUBLE(spec), g_value_get_double(initial));
  if (G_IS_PARAM_SPEC_ENUM(spec))
    return g_param_spec_enum(name, nick, blurb, spec->value_type, g_value_get_enum(initial), flags);
  if (G_IS_PARAM_SPEC_FLAGS(spec))
    return g_param_spec_flags(name, nick, blurb, spec->value_type, g_value_get_flags(initial),
                              flags);
  if (G_IS_PARAM_SPEC_STRING(spec))
    return g_param_spec_string(name, nick, blurb, g_value_get_string(initial), flags);
  if (GST_IS_PARAM_SPEC_ARRAY_LIST(spec))
    return gst_param_spec_array(name, nick, blurb, GST_PARAM_SPEC_ARRAY_LIST(spec)->element_spec,
                                flags);
  return nullptr;
}

struct GFree {
  void operator()(gpointer p) const { g_free(p); }
};

void add_properties(GObject* element, int index, std::vector<PairProperty>* properties) {
  guint n = 0;
  const std::unique_ptr<GParamSpec*, GFree> specs(
      g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n));
  for (guint i = 0; i < n; i++) {
    GParamSpec* spec = specs.get()[i];
    if (!is_wanted(spec)) continue;
    const auto known = std::find_if(properties->begin(), properties->end(), [spec](auto& property) {
      return std::string_view(property.spec->name) == spec->name;
    });
    if (known == properties->end())
      properties->push_back({spec, {index == 0, index == 1}, index});
    else
      known->is_in[index] = true;
  }
}

}  // namespace

std::vector<PairProperty> pair_properties(const Pair& pair) {
  std::vector<PairProperty> properties;
  GObject* elements[2];
  for (int i = 0; i < 2; i++) {
    elements[i] = G_OBJECT(gst_object_ref_sink(g_object_new(pair.types[i], nullptr)));
    add_properties(elements[i], i, &properties);
  }
  for (PairProperty& property : properties) {
    const char* name = property.spec->name;
    GParamSpec* specs[2];
    for (int i = 0; i < 2; i++)
      specs[i] = g_object_class_find_property(G_OBJECT_GET_CLASS(elements[i]), name);
    // A base class may have one that is not wanted by this name.
    for (int i = 0; i < 2; i++)
      if (!property.is_in[i]) specs[i] = nullptr;
    if (property.is_in[0] && property.is_in[1]) property.reads = pair.transform;
    GParamSpec* read = specs[property.reads];
    GValue initial = G_VALUE_INIT;
    g_value_init(&initial, read->value_type);
    g_object_get_property(elements[property.reads], name, &initial);
    property.spec = copy_spec(read, &initial, common_blurb(pair, specs));
    if (!property.spec) g_error("no copy of property %s", name);
    g_value_unset(&initial);
  }
  for (GObject* element : elements) gst_object_unref(element);
  return properties;
}

void turn_inner_properties_off(GstElement* element) {
  for (const char* name : kInner)
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), name))
      g_object_set(element, name, FALSE, nullptr);
}

}  // namespace cudatransform
