// Caps that downstream refuses: found before they are set, and explained.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/refusal.h"

#include <algorithm>
#include <vector>

#include "gst/engine/buffer_ptr.h"

namespace cudatransform {
namespace {

constexpr size_t kMaxListed = 12;
constexpr size_t kMaxCapsText = 300;

// In the order in which a user would mend them. Elements of GStreamer convert raw video alone.
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
  if (accepted.empty()) return "downstream accepts nothing of it";
  std::string text = "downstream accepts ";
  const std::string name = field ? field : "";
  if (!name.empty() && name != "format" && name != "sampling") text += name + " ";
  text += accepted;
  return cure ? text + ": put " + cure + " in between" : text;
}

}  // namespace cudatransform
