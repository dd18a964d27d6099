// Negotiation: the matching of video/x-raw and video/x-dct, and the preferred choice.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/caps.h"

#include "gst/dct8x8/caps_sizes.h"
#include "gst/dct8x8/range_caps.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "transform/range/range.h"

namespace cudatransform {
namespace {

// Frames of 4:4:0 are made alone: nothing says that the rows of Y444 have the same chroma.
CoefKind dct_kind(Direction direction) {
  const bool forward = direction == Direction::kForward;
  return {GST_DCT_MEDIA_TYPE,
          {"layout", "order", "quantization-tables", "component-tables"},
          !forward,
          true,
          forward ? RgbFrames::kSources : RgbFrames::kPictures,
          kJpegColorimetry};
}

// Appends the allowed video/x-dct of one group: quantised coefficients before orthonormal values,
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

}  // namespace cudatransform
