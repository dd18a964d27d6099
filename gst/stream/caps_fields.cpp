// Fields of caps that hold one value or a list of them, and caps that downstream refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/caps_fields.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "gst/engine/buffer_ptr.h"

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

// Negotiation calls this for every format, so it does not copy the strings.
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

namespace {

constexpr size_t kMaxListed = 12;
constexpr size_t kMaxCapsText = 300;

// In the order in which a user would fix them. Elements of GStreamer convert raw video alone.
constexpr struct {
  const char* field;
  const char* cure;
} kFields[] = {
    {"format", "videoconvert"},      {"sampling", nullptr},       {"depth", nullptr},
    {"width", "videoscale"},         {"height", "videoscale"},    {"framerate", "videorate"},
    {"colorimetry", "videoconvert"}, {"interlace-mode", nullptr}, {"pixel-aspect-ratio", nullptr},
};

void add_value(const GValue* value, std::vector<std::string>* texts) {
  if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint i = 0; i < gst_value_list_get_size(value); i++)
      add_value(gst_value_list_get_value(value, i), texts);
    return;
  }
  const GlibPtr<gchar> serialized(G_VALUE_HOLDS_STRING(value) ? g_value_dup_string(value)
                                                              : gst_value_serialize(value));
  const std::string text = serialized ? serialized.get() : "?";
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

// Whether the field keeps all structures of the two apart.
bool is_apart(const GstCaps* offered, const GstCaps* accepted, const char* field) {
  for (guint i = 0; i < gst_caps_get_size(offered); i++) {
    const GValue* ours = gst_structure_get_value(gst_caps_get_structure(offered, i), field);
    for (guint j = 0; j < gst_caps_get_size(accepted); j++) {
      const GValue* theirs = gst_structure_get_value(gst_caps_get_structure(accepted, j), field);
      if (!ours || !theirs || gst_value_intersect(nullptr, ours, theirs)) return false;
    }
  }
  return true;
}

}  // namespace

bool peer_accepts(GstPad* src, GstCaps* caps) {
  const CapsPtr fitting(gst_pad_peer_query_caps(src, caps));
  return !gst_caps_is_empty(fitting.get()) && gst_pad_peer_query_accept_caps(src, caps);
}

std::string field_values(const GstCaps* caps, const char* field) {
  if (gst_caps_is_any(caps)) return {};
  std::vector<std::string> texts;
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GValue* value = gst_structure_get_value(gst_caps_get_structure(caps, i), field);
    if (!value) return {};
    add_value(value, &texts);
  }
  std::string all;
  for (size_t i = 0; i < std::min(texts.size(), kMaxListed); i++)
    all += (i > 0 ? ", " : "") + texts[i];
  return texts.size() > kMaxListed ? all + ", ..." : all;
}

Misfit find_misfit(const GstCaps* offered, const GstCaps* accepted) {
  Misfit misfit;
  if (gst_caps_is_empty(offered) || gst_caps_is_any(accepted) || gst_caps_is_empty(accepted))
    return misfit;
  for (const auto& [field, cure] : kFields) {
    if (!is_apart(offered, accepted, field)) continue;
    const bool is_raw = gst_structure_has_name(gst_caps_get_structure(offered, 0), "video/x-raw");
    misfit = {field, field_values(accepted, field), is_raw ? cure : nullptr};
    return misfit;
  }
  const GlibPtr<gchar> text(gst_caps_to_string(accepted));
  misfit.accepted = std::string(text.get()).substr(0, kMaxCapsText);
  return misfit;
}

std::string Misfit::text() const {
  if (accepted.empty()) return "downstream accepts no caps";
  std::string text = "downstream accepts ";
  const std::string name = field ? field : "";
  if (!name.empty() && name != "format" && name != "sampling") text += name + " ";
  text += accepted;
  return cure ? text + "; insert " + cure : text;
}

}  // namespace cudatransform
