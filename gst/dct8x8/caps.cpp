// Negotiation of video/x-raw and video/x-dct: formats, sizes, ranges, and the preferred choice.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/caps.h"

#include <algorithm>

#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/formats.h"
#include "transform/range/range.h"

namespace cudatransform {
namespace {

// Frames of 4:4:0 are output only: nothing guarantees that pairs of Y444's rows have the same
// chroma.
CoefKind dct_kind(Direction direction) {
  const bool forward = direction == Direction::kForward;
  return {GST_DCT_MEDIA_TYPE,
          {"layout", "order", "quantization-tables", "component-tables"},
          !forward,
          true,
          forward ? RgbFrames::kSources : RgbFrames::kPictures,
          kJpegColorimetry};
}

// Appends the allowed video/x-dct of one group: quantized coefficients before orthonormal values,
// blocks before planes.
void append_dct_structures(GstCaps* caps, const GstStructure* base, const CoefKind& kind,
                           const SampleGroup& group, bool cuda) {
  for (const bool quantized : {true, false}) {
    for (const bool plane : {false, true}) {
      GstStructure* s = append_coef_structure(caps, base, kind, group, &quantized, cuda);
      std::vector<std::string> types = {"S32LE", "F32LE"};
      if (quantized) types = {group.depth == 16 ? "S32LE" : "S16LE"};
      set_strings(s, "format", types);
      set_strings(s, "layout", {plane ? "plane" : "block"});
      if (plane)
        set_strings(s, "order", {"raster"});
      else
        set_strings(s, "order", {"raster", "zigzag"});
    }
  }
}

}  // namespace

GstCaps* dct_template_caps() {
  const StructurePtr own(gst_structure_new_empty(GST_DCT_MEDIA_TYPE));
  set_strings(own.get(), "format", {"S16LE", "S32LE", "F32LE"});
  set_strings(own.get(), "layout", {"block", "plane"});
  set_strings(own.get(), "order", {"raster", "zigzag"});
  return coef_template_caps(dct_kind(Direction::kInverse), own.get());
}

GstCaps* raw_to_dct_caps(const GstCaps* caps, MemoryKinds kinds, Direction direction, int scale) {
  const CoefKind kind = dct_kind(direction);
  const auto append = [&](GstCaps* one, const GstStructure* base, const SampleGroup& group,
                          bool cuda) {
    append_dct_structures(one, base, kind, group, cuda);
    if (direction != Direction::kForward || group.depth > kMaxRangeDepth) return;
    const std::vector<std::string> full = full_range_colorimetries(base);
    if (full.empty()) return;
    const StructurePtr converted(gst_structure_copy(base));
    set_strings(converted.get(), "colorimetry", full);
    append_dct_structures(one, converted.get(), kind, group, cuda);
  };
  return raw_to_coef_caps(caps, kinds, kind, append,
                          [=](GstStructure* s) { return scale_sizes_up(s, scale); });
}

GstCaps* dct_to_raw_caps(const GstCaps* caps, MemoryKinds kinds, Direction direction, int scale) {
  return coef_to_raw_caps(caps, kinds, dct_kind(direction),
                          [=](GstStructure* s) { return scale_sizes_down(s, scale); });
}

GstCaps* resized_raw_caps(const GstCaps* coefs, const GstCaps* coefs_before,
                          const GstCaps* raw_before, int scale) {
  const GstStructure* s = gst_caps_get_structure(coefs, 0);
  gint width = 0, height = 0;
  if (!gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr) ||
      width < 1 || height < 1)
    return nullptr;
  const auto resized = [=](const GstCaps* caps) {
    GstCaps* copy = gst_caps_copy(caps);
    gst_caps_set_simple(copy, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, nullptr);
    return CapsPtr(copy);
  };
  if (!gst_caps_is_strictly_equal(resized(coefs_before).get(), coefs)) return nullptr;
  CapsPtr raw = resized(raw_before);
  return scale_sizes_down(gst_caps_get_structure(raw.get(), 0), scale) ? raw.release() : nullptr;
}

Status read_dct_caps(const GstCaps* caps, GstDctInfo* info) {
  gchar* reason = nullptr;
  return gst_dct_info_from_caps(info, caps, &reason) ? Status() : unusable_coef_caps(reason);
}

GstCaps* fixate_dct_caps(GstCaps* candidates, bool prefer_cuda) {
  if (gst_caps_is_empty(candidates) || gst_caps_is_any(candidates)) return candidates;
  GstCaps* caps = keep_best(candidates, [=](const GstStructure* s, const GstCapsFeatures* f) {
    return 4 * (features_have_cuda(f) == prefer_cuda) + 2 * bool_field_allows_true(s, "quantized") +
           string_field_allows(s, "layout", "block");
  });
  GstStructure* s = gst_caps_get_structure(caps, 0);
  gst_structure_fixate_field_boolean(s, "quantized", TRUE);
  gst_structure_fixate_field_string(s, "layout", "block");
  gst_structure_fixate_field_string(s, "order", "raster");
  fixate_to_first_allowed(s, "format", {"S16LE", "S32LE", "F32LE"});
  return gst_caps_fixate(caps);
}

namespace {

// Sizes from `low` to `high`, not empty.
struct SizeRange {
  gint64 low, high;
};
SizeRange scaled_down(SizeRange size, int scale) {
  return {(size.low - 1) / scale + 1, (size.high - 1) / scale + 1};
}
// All sizes that scaled_down() maps to one of `size`.
SizeRange scaled_up(SizeRange size, int scale) {
  return {(size.low - 1) * scale + 1, size.high * scale};
}

// Appends to `list` the results of `scaled` for the sizes in `value`: an int, a range or a list. A
// range loses its steps: it is scaled from end to end.
template <typename Scaled>
void append_sizes(const GValue* value, const Scaled& scaled, GValue* list) {
  SizeRange size;
  if (G_VALUE_HOLDS_INT(value)) {
    size.low = size.high = g_value_get_int(value);
  } else if (GST_VALUE_HOLDS_INT_RANGE(value)) {
    size = {gst_value_get_int_range_min(value), gst_value_get_int_range_max(value)};
  } else {
    if (GST_VALUE_HOLDS_LIST(value))
      for (guint i = 0; i < gst_value_list_get_size(value); i++)
        append_sizes(gst_value_list_get_value(value, i), scaled, list);
    return;
  }
  if (size.high < 1) return;
  size = scaled({std::max<gint64>(size.low, 1), size.high});
  size.high = std::min<gint64>(size.high, G_MAXINT);
  if (size.low > size.high) return;
  GValue item = G_VALUE_INIT;
  g_value_init(&item, size.low == size.high ? G_TYPE_INT : GST_TYPE_INT_RANGE);
  if (size.low == size.high)
    g_value_set_int(&item, static_cast<gint>(size.low));
  else
    gst_value_set_int_range(&item, static_cast<gint>(size.low), static_cast<gint>(size.high));
  gst_value_list_append_and_take_value(list, &item);
}

// Replaces width and height. False if no size remains, because all are too large for caps.
template <typename Scaled>
bool scale_sizes(GstStructure* s, const Scaled& scaled) {
  for (const char* field : {"width", "height"}) {
    const GValue* value = gst_structure_get_value(s, field);
    if (!value) continue;
    GValue list = G_VALUE_INIT;
    g_value_init(&list, GST_TYPE_LIST);
    append_sizes(value, scaled, &list);
    const guint count = gst_value_list_get_size(&list);
    if (count == 1)
      gst_structure_set_value(s, field, gst_value_list_get_value(&list, 0));
    else if (count > 1)
      gst_structure_set_value(s, field, &list);
    g_value_unset(&list);
    if (count == 0) return false;
  }
  return true;
}

}  // namespace

bool scale_sizes_down(GstStructure* s, int scale) {
  return scale == 1 || scale_sizes(s, [scale](SizeRange size) { return scaled_down(size, scale); });
}

bool scale_sizes_up(GstStructure* s, int scale) {
  return scale == 1 || scale_sizes(s, [scale](SizeRange size) { return scaled_up(size, scale); });
}

namespace {

constexpr int kMaxPads = 64;  // that are searched upstream; a loop of links is possible

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

// BT.601's of limited range, which differs from JPEG's by the range alone.
bool has_only_another_range(const char* colorimetry) {
  return colorimetry && full_range_of(colorimetry) == kJpegColorimetry;
}

// Searches the pad that feeds `sink`, and those upstream of it, up to `pads` pads.
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

bool is_gray(const GstStructure* raw) {
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
    if (prefers && !has_colorimetry(s) && is_gray(s)) {
      GstStructure* preferred = gst_structure_copy(s);
      gst_structure_set(preferred, "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
      append_structure(result, preferred, features);
    }
    append_structure(result, gst_structure_copy(s), features);
  }
  return result;
}

}  // namespace cudatransform
