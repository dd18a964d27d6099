// Limited and full range in caps: what becomes of it, and what neighbours have and want.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/range_caps.h"

#include <algorithm>

#include "gst/dct8x8/caps.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/formats.h"

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

// BT.601's of limited range, which only the range tells from JPEG's.
bool has_only_another_range(const char* colorimetry) {
  return colorimetry && full_range_of(colorimetry) == kJpegColorimetry;
}

// Looks at the pad that feeds `sink`, and behind it, while `pads` are left.
std::string find_limited_range(GstPad* sink, int* pads) {
  GstPad* feeder = --*pads < 0 ? nullptr : gst_pad_get_peer(sink);
  if (!feeder) return {};
  const CapsPtr caps(gst_pad_get_current_caps(feeder));
  const GstStructure* s = caps ? gst_caps_get_structure(caps.get(), 0) : nullptr;
  const bool is_raw = !s || gst_structure_has_name(s, "video/x-raw");
  std::string found;
  if (s && is_raw && has_only_another_range(colorimetry_of(s))) found = colorimetry_of(s);
  GstIterator* links = is_raw && found.empty() ? gst_pad_iterate_internal_links(feeder) : nullptr;
  GValue item = G_VALUE_INIT;
  while (links && found.empty() && gst_iterator_next(links, &item) == GST_ITERATOR_OK) {
    found = find_limited_range(GST_PAD(g_value_get_object(&item)), pads);
    g_value_reset(&item);
  }
  if (G_IS_VALUE(&item)) g_value_unset(&item);
  if (links) gst_iterator_free(links);
  gst_object_unref(feeder);
  return found;
}

bool is_grey(const GstStructure* raw) {
  const std::vector<std::string> formats = strings_of(raw, "format");
  return !formats.empty() && std::all_of(formats.begin(), formats.end(), [](const auto& name) {
    const RawFormat* format = find_raw_format(gst_video_format_from_string(name.c_str()));
    return format && format->sampling.color == Color::kGray;
  });
}

void append_structure(GstCaps* to, GstStructure* s, const GstCapsFeatures* features) {
  gst_caps_append_structure_full(to, s, gst_caps_features_copy(features));
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
      append_structure(chosen.get(), gst_structure_copy(s), gst_caps_get_features(candidates, i));
  }
  if (gst_caps_is_empty(chosen.get())) return candidates;
  gst_caps_unref(candidates);
  return chosen.release();
}

std::string limited_range_upstream(GstPad* sink) {
  int pads = kMaxPads;
  return find_limited_range(sink, &pads);
}

GstCaps* prefer_range_of_input(GstCaps* caps, const std::string& colorimetry) {
  if (gst_caps_is_any(caps)) return caps;
  const CapsPtr owner(caps);
  const CapsPtr open(gst_caps_new_empty());
  GstCaps* result = gst_caps_new_empty();
  const auto has_colorimetry = [](const GstStructure* s) {
    return gst_structure_has_field(s, "colorimetry");
  };
  bool prefers = false;
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure* s = gst_caps_get_structure(caps, i);
    if (has_colorimetry(s))
      prefers = true;
    else
      append_structure(open.get(), gst_structure_copy(s), gst_caps_get_features(caps, i));
  }
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure* s = gst_caps_get_structure(caps, i);
    const GstCapsFeatures* features = gst_caps_get_features(caps, i);
    if (has_colorimetry(s) && gst_caps_is_subset_structure_full(open.get(), s, features)) continue;
    if (prefers && !has_colorimetry(s) && is_grey(s)) {
      GstStructure* preferred = gst_structure_copy(s);
      gst_structure_set(preferred, "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
      append_structure(result, preferred, features);
    }
    append_structure(result, gst_structure_copy(s), features);
  }
  return result;
}

}  // namespace cudatransform
