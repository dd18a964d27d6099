// Fields of caps that hold one value or a list of them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/caps_fields.h"

#include <cstring>

namespace cudatransform {
namespace {

GValue string_value(const std::string& string) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_STRING);
  g_value_set_string(&value, string.c_str());
  return value;
}

GValue int_value(int n) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_INT);
  g_value_set_int(&value, n);
  return value;
}

GValue bool_value(bool b) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_BOOLEAN);
  g_value_set_boolean(&value, b);
  return value;
}

// Whether the field includes `wanted`, which this function frees.
bool field_includes(const GValue* field, GValue wanted) {
  const bool includes = gst_value_intersect(nullptr, field, &wanted);
  g_value_unset(&wanted);
  return includes;
}

template <typename Item, typename ToValue>
void set_values(GstStructure* s, const char* field, const std::vector<Item>& items,
                ToValue to_value) {
  GValue value = G_VALUE_INIT;
  if (items.size() == 1) {
    value = to_value(items[0]);
  } else {
    g_value_init(&value, GST_TYPE_LIST);
    for (const Item& item : items) {
      GValue one = to_value(item);
      gst_value_list_append_and_take_value(&value, &one);
    }
  }
  gst_structure_take_value(s, field, &value);
}

}  // namespace

std::vector<std::string> strings_of(const GstStructure* s, const char* field) {
  std::vector<std::string> strings;
  const GValue* value = gst_structure_get_value(s, field);
  if (!value) return strings;
  if (G_VALUE_HOLDS_STRING(value)) {
    strings.emplace_back(g_value_get_string(value));
  } else if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint i = 0; i < gst_value_list_get_size(value); i++) {
      const GValue* item = gst_value_list_get_value(value, i);
      if (G_VALUE_HOLDS_STRING(item)) strings.emplace_back(g_value_get_string(item));
    }
  }
  return strings;
}

// Negotiation asks this for every format: without copies of the strings.
bool string_field_allows(const GstStructure* s, const char* field, const char* string) {
  const GValue* value = gst_structure_get_value(s, field);
  const auto is_it = [=](const GValue* one) {
    return one && G_VALUE_HOLDS_STRING(one) && strcmp(g_value_get_string(one), string) == 0;
  };
  if (!value || !GST_VALUE_HOLDS_LIST(value)) return is_it(value);
  for (guint i = 0; i < gst_value_list_get_size(value); i++)
    if (is_it(gst_value_list_get_value(value, i))) return true;
  return false;
}

bool int_field_allows(const GstStructure* s, const char* field, int n) {
  const GValue* value = gst_structure_get_value(s, field);
  if (value && G_VALUE_HOLDS_INT(value)) return g_value_get_int(value) == n;
  return !value || field_includes(value, int_value(n));
}

bool bool_field_allows_true(const GstStructure* s, const char* field) {
  const GValue* value = gst_structure_get_value(s, field);
  return value && field_includes(value, bool_value(true));
}

void set_strings(GstStructure* s, const char* field, const std::vector<std::string>& strings) {
  set_values(s, field, strings, string_value);
}

void set_ints(GstStructure* s, const char* field, const std::vector<int>& ints) {
  set_values(s, field, ints, int_value);
}

void set_bools(GstStructure* s, const char* field) {
  set_values(s, field, std::vector<bool>{true, false}, bool_value);
}

void fixate_to_first_allowed(GstStructure* s, const char* field,
                             const std::vector<std::string>& preferred) {
  for (const std::string& string : preferred) {
    if (!string_field_allows(s, field, string.c_str())) continue;
    gst_structure_fixate_field_string(s, field, string.c_str());
    return;
  }
}

}  // namespace cudatransform
