// Limited and full range in caps: what becomes of it, and what neighbours have and want.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/range_caps.h"

#include <algorithm>

#include "gst/dct8x8/caps.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"

namespace cudatransform {
namespace {

constexpr int kMaxPads = 64;  // that are looked at upstream; a loop of links may be built

bool has_range(const char* colorimetry, GstVideoColorRange range) {
  GstVideoColorimetry color;
  return colorimetry && gst_video_colorimetry_from_string(&color, colorimetry) &&
         color.range == range;
}

const char* colorimetry_of(const GstStructure* s) {
  return gst_structure_get_string(s, "colorimetry");
}

// Empty if it has no limited range.
std::string full_range_of(const std::string& colorimetry) {
  GstVideoColorimetry color;
  if (!gst_video_colorimetry_from_string(&color, colorimetry.c_str()) ||
      color.range != GST_VIDEO_COLOR_RANGE_16_235)
    return {};
  if (color.matrix == GST_VIDEO_COLOR_MATRIX_BT601) return kJpegColorimetry;
  color.range = GST_VIDEO_COLOR_RANGE_0_255;
  const GlibPtr<gchar> text(gst_video_colorimetry_to_string(&color));
  return text ? text.get() : "";
}

bool prefers_full_range(GstPad* src) {
  const CapsPtr caps(gst_pad_peer_query_caps(src, nullptr));
  return !gst_caps_is_any(caps.get()) && !gst_caps_is_empty(caps.get()) &&
         has_full_range(caps.get());
}

bool has_only_another_range(const GstStructure* s) {
  GstVideoColorimetry color;
  const char* text = colorimetry_of(s);
  return text && gst_video_colorimetry_from_string(&color, text) &&
         color.range == GST_VIDEO_COLOR_RANGE_16_235 &&
         color.matrix == GST_VIDEO_COLOR_MATRIX_BT601;
}

// Looks at the pad that feeds `sink`, and behind it, while `pads` are left.
bool find_limited_range(GstPad* sink, int* pads) {
  if (--*pads < 0) return false;
  GstPad* feeder = gst_pad_get_peer(sink);
  if (!feeder) return false;
  const CapsPtr caps(gst_pad_get_current_caps(feeder));
  const GstStructure* s = caps ? gst_caps_get_structure(caps.get(), 0) : nullptr;
  const bool is_raw = !s || gst_structure_has_name(s, "video/x-raw");
  bool found = s && is_raw && has_only_another_range(s);
  GstIterator* links = is_raw && !found ? gst_pad_iterate_internal_links(feeder) : nullptr;
  GValue item = G_VALUE_INIT;
  while (links && !found && gst_iterator_next(links, &item) == GST_ITERATOR_OK) {
    found = find_limited_range(GST_PAD(g_value_get_object(&item)), pads);
    g_value_reset(&item);
  }
  if (G_IS_VALUE(&item)) g_value_unset(&item);
  if (links) gst_iterator_free(links);
  gst_object_unref(feeder);
  return found;
}

}  // namespace

std::vector<std::string> full_range_colorimetries(const GstStructure* s) {
  std::vector<std::string> all;
  for (const std::string& name : strings_of(s, "colorimetry")) {
    const std::string full = full_range_of(name);
    if (!full.empty() && std::find(all.begin(), all.end(), full) == all.end()) all.push_back(full);
  }
  return all;
}

bool has_full_range(const GstCaps* coefs) {
  return has_range(colorimetry_of(gst_caps_get_structure(coefs, 0)), GST_VIDEO_COLOR_RANGE_0_255);
}

GstCaps* choose_range(GstPad* src, const GstCaps* raw, GstCaps* candidates) {
  if (gst_caps_is_any(candidates) || gst_caps_is_empty(raw)) return candidates;
  if (full_range_colorimetries(gst_caps_get_structure(raw, 0)).empty()) return candidates;
  const auto wanted =
      prefers_full_range(src) ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
  CapsPtr chosen(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(candidates); i++) {
    const GstStructure* s = gst_caps_get_structure(candidates, i);
    if (has_range(colorimetry_of(s), wanted))
      gst_caps_append_structure_full(chosen.get(), gst_structure_copy(s),
                                     gst_caps_features_copy(gst_caps_get_features(candidates, i)));
  }
  if (gst_caps_is_empty(chosen.get())) return candidates;
  gst_caps_unref(candidates);
  return chosen.release();
}

bool limited_range_upstream(GstPad* sink) {
  int pads = kMaxPads;
  return find_limited_range(sink, &pads);
}

GstCaps* without_preferred_colorimetry(GstCaps* caps) {
  if (gst_caps_is_any(caps)) return caps;
  const CapsPtr owner(caps);
  const CapsPtr open(gst_caps_new_empty());
  GstCaps* result = gst_caps_new_empty();
  const auto copy_to = [&](GstCaps* to, guint i) {
    gst_caps_append_structure_full(to, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                   gst_caps_features_copy(gst_caps_get_features(caps, i)));
  };
  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    if (!gst_structure_has_field(gst_caps_get_structure(caps, i), "colorimetry"))
      copy_to(open.get(), i);
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure* s = gst_caps_get_structure(caps, i);
    if (!gst_structure_has_field(s, "colorimetry") ||
        !gst_caps_is_subset_structure_full(open.get(), s, gst_caps_get_features(caps, i)))
      copy_to(result, i);
  }
  return result;
}

}  // namespace cudatransform
