// Negotiation between raw video and coefficients: formats, samplings, memories.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/coef_caps.h"

#include <algorithm>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/sampling.h"

namespace cudatransform {
namespace {

#if CT_HAVE_CUDA
constexpr bool kBuiltWithCuda = true;
#else
constexpr bool kBuiltWithCuda = false;
#endif

constexpr char kGray[] = "GRAY";  // a colorspace of one sampling

// We accept only frames in system or CUDA memory: not format:Interlaced, DMABuf or GLMemory.
bool features_are_ours(const GstCapsFeatures* features, MemoryKinds kinds) {
  if (!features || gst_caps_features_is_any(features)) return true;
  if (gst_caps_features_get_size(features) == 0) return true;
  if (gst_caps_features_get_size(features) != 1) return false;
  return gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY) ||
         (kinds.cuda && features_have_cuda(features));
}

void add_to_groups(std::vector<SampleGroup>& groups, GstCoefSampling sampling, guint depth) {
  const std::string name = gst_coef_sampling_to_string(sampling);
  const std::string colorspace = gst_coef_sampling_get_colorspace(sampling);
  for (SampleGroup& group : groups) {
    if (group.depth != depth || group.colorspace != colorspace) continue;
    if (std::find(group.samplings.begin(), group.samplings.end(), name) == group.samplings.end())
      group.samplings.push_back(name);
    return;
  }
  groups.push_back({depth, colorspace, {name}});
}

void add_sizes(GstStructure* s) {
  gst_structure_set(s, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height", GST_TYPE_INT_RANGE, 1,
                    G_MAXINT, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
}

// Appends `base` as raw video in the formats that the memory can hold; nothing if none remains.
template <typename Format>
void append_raw_structure(GstCaps* caps, const GstStructure* base,
                          const std::vector<const Format*>& formats, bool cuda) {
  std::vector<std::string> names;
  for (const Format* format : formats)
    if (!cuda || format->in_cuda_memory)
      names.emplace_back(gst_video_format_to_string(format->format));
  if (names.empty()) return;
  GstStructure* s = gst_structure_copy(base);
  gst_structure_set_name(s, "video/x-raw");
  set_strings(s, "format", names);
  gst_caps_append_structure_full(caps, s, features_for(cuda));
}

void remove_fields(GstStructure* s, const std::vector<const char*>& fields) {
  for (const char* field : fields) gst_structure_remove_field(s, field);
}

// Whether a field may have this value; one that is not there may have any.
bool may_be(const GstStructure* s, const char* field, const char* value) {
  return !gst_structure_has_field(s, field) || string_field_allows(s, field, value);
}

std::vector<SampleGroup> groups_of(const GstStructure* raw, const CoefKind& kind) {
  const std::vector<std::string> names = strings_of(raw, "format");
  std::vector<SampleGroup> groups;
  for (const RawFormat& format : raw_formats()) {
    const char* name = gst_video_format_to_string(format.format);
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    add_to_groups(groups, sampling_of(format), format.depth);
    if (kind.with_tall && holds_tall(format))
      for (const GstCoefSampling tall : kTallSamplings) add_to_groups(groups, tall, format.depth);
    if (kind.with_gray_12 && format.depth != 12 && holds_depth(format, 12))
      add_to_groups(groups, sampling_of(format), 12);
  }
  return groups;
}

std::vector<const RawFormat*> formats_of(const GstStructure* coefs, const CoefKind& kind) {
  const std::vector<std::string> samplings = strings_of(coefs, "sampling");
  const auto has_colorspace_of = [coefs](GstCoefSampling sampling) {
    return may_be(coefs, "colorspace", gst_coef_sampling_get_colorspace(sampling));
  };
  std::vector<const RawFormat*> formats;
  for (const RawFormat& format : raw_formats()) {
    const bool is_deep = kind.with_gray_12 && holds_depth(format, 12);
    if (!int_field_allows(coefs, "depth", static_cast<int>(format.depth)) &&
        !(is_deep && int_field_allows(coefs, "depth", 12)))
      continue;
    bool allowed = samplings.empty() && has_colorspace_of(sampling_of(format));
    for (const std::string& name : samplings) {
      const GstCoefSampling sampling = gst_coef_sampling_from_string(name.c_str());
      allowed = allowed || sampling == sampling_of(format) ||
                (kind.with_tall && rows_of_chroma(sampling) > 1 && holds_tall(format));
    }
    if (allowed) formats.push_back(&format);
  }
  return formats;
}

template <typename Format>
std::vector<const Format*> all_of(const std::vector<Format>& formats) {
  std::vector<const Format*> all;
  for (const Format& format : formats) all.push_back(&format);
  return all;
}

// Whether one of `formats` is allowed.
template <typename Format>
bool allows_one_of(const GstStructure* raw, const std::vector<Format>& formats) {
  return std::any_of(formats.begin(), formats.end(), [&](const Format& format) {
    return may_be(raw, "format", gst_video_format_to_string(format.format));
  });
}

// The coefficients that belong to frames in rgb_formats(): all of 8 bits. Pictures may be of any
// sampling.
std::vector<SampleGroup> groups_of_rgb(const GstStructure* raw, RgbFrames rgb) {
  std::vector<SampleGroup> groups;
  if (!allows_one_of(raw, rgb_formats())) return groups;
  for (const RawFormat& format : raw_formats()) {
    if (format.depth != 8) continue;
    add_to_groups(groups, sampling_of(format), 8);
    if (holds_tall(format))
      for (const GstCoefSampling tall : kTallSamplings) add_to_groups(groups, tall, 8);
  }
  for (SampleGroup& group : groups)
    if (rgb == RgbFrames::kPictures && group.colorspace != kGray) group.samplings.clear();
  return groups;
}

// Whether some of `coefs` can become RGB: upsampling is by whole factors.
bool has_pictures_in_rgb(const GstStructure* coefs) {
  const std::vector<std::string> samplings = strings_of(coefs, "sampling");
  return samplings.empty() ||
         std::any_of(samplings.begin(), samplings.end(), [](const std::string& name) {
           return has_whole_ratios(gst_coef_sampling_from_string(name.c_str()));
         });
}

// Appends the frames in rgb_formats() that belong to `coefs`; `base` has the fields of both.
void append_rgb_structure(GstCaps* caps, const GstStructure* coefs, const GstStructure* base,
                          const CoefKind& kind, bool cuda) {
  const bool sources = kind.rgb == RgbFrames::kSources;
  if (!int_field_allows(coefs, "depth", 8) || !has_pictures_in_rgb(coefs) ||
      (sources && !may_be(coefs, "colorimetry", kind.rgb_colorimetry)))
    return;
  const StructurePtr rgb(gst_structure_copy(base));
  gst_structure_remove_fields(rgb.get(), "colorimetry", "chroma-site", nullptr);
  if (!sources)
    gst_structure_set(rgb.get(), "colorimetry", G_TYPE_STRING, GST_VIDEO_COLORIMETRY_SRGB, nullptr);
  append_raw_structure(caps, rgb.get(), all_of(rgb_formats()), cuda);
}

// Likewise the coefficients that belong to `raw` in rgb_formats().
void append_coefs_of_rgb(GstCaps* caps, const GstStructure* raw, const GstStructure* base,
                         const CoefKind& kind, const AppendCoefs& append, bool cuda) {
  const StructurePtr coefs(gst_structure_copy(base));
  gst_structure_remove_fields(coefs.get(), "colorimetry", "chroma-site", nullptr);
  for (const SampleGroup& group : groups_of_rgb(raw, kind.rgb)) {
    const bool is_ycbcr =
        group.colorspace == gst_coef_sampling_get_colorspace(GST_COEF_SAMPLING_420);
    const StructurePtr own(gst_structure_copy(coefs.get()));
    if (is_ycbcr && kind.rgb == RgbFrames::kSources)
      gst_structure_set(own.get(), "colorimetry", G_TYPE_STRING, kind.rgb_colorimetry, nullptr);
    append(caps, own.get(), group, cuda);
  }
}

// Whether CUDA memory of the running GStreamer loses a plane of the format to be chosen.
bool memory_loses_a_plane(const GstStructure* s) {
  gint height = 0;
  if (!gst_structure_get_int(s, "height", &height)) return false;
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  for (const RawFormat& format : raw_formats())
    if (string_field_allows(s, "format", gst_video_format_to_string(format.format)))
      return cuda_memory_loses_a_plane(format.format, height, minor, micro);
  return false;
}

}  // namespace

GstCapsFeatures* features_for(bool cuda) {
  return cuda ? gst_caps_features_new(kCudaMemoryFeature, nullptr)
              : gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY, nullptr);
}

GstCaps* caps_in_each_memory(const GstCaps* caps, MemoryKinds kinds, const AppendOthers& append) {
  GstCaps* result = gst_caps_new_empty();
  for (const bool cuda : {true, false}) {
    if (cuda && !(kBuiltWithCuda && kinds.cuda)) continue;
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
      if (!features_are_ours(gst_caps_get_features(caps, i), kinds)) continue;
      GstCaps* one = gst_caps_new_empty();
      append(one, gst_caps_get_structure(caps, i), cuda);
      result = gst_caps_merge(result, one);
    }
  }
  return result;
}

GstCaps* template_caps_in_each_memory(GstStructure* s) {
  add_sizes(s);
  GstCaps* caps = gst_caps_new_empty();
  for (const bool cuda : {true, false})
    if (!cuda || kBuiltWithCuda)
      gst_caps_append_structure_full(caps, gst_structure_copy(s), features_for(cuda));
  return caps;
}

GstStructure* append_coef_structure(GstCaps* caps, const GstStructure* base, const CoefKind& kind,
                                    const SampleGroup& group, const bool* quantized, bool cuda) {
  GstStructure* s = gst_structure_copy(base);
  gst_structure_set_name(s, kind.media_type);
  if (quantized)
    gst_structure_set(s, "quantized", G_TYPE_BOOLEAN, *quantized, nullptr);
  else
    set_bools(s, "quantized");
  set_ints(s, "depth", {static_cast<int>(group.depth)});
  if (!group.samplings.empty()) set_strings(s, "sampling", group.samplings);
  set_strings(s, "colorspace", {group.colorspace});
  gst_caps_append_structure_full(caps, s, features_for(cuda));
  return s;
}

GstCaps* raw_template_caps(RgbFrames rgb) {
  GstCaps* caps = gst_caps_new_empty();
  const StructurePtr base(gst_structure_new_empty("video/x-raw"));
  add_sizes(base.get());
  const auto append = [&](const auto& formats) {
    if (kBuiltWithCuda) append_raw_structure(caps, base.get(), all_of(formats), true);
    append_raw_structure(caps, base.get(), all_of(formats), false);
  };
  append(raw_formats());
  if (rgb != RgbFrames::kNone) append(rgb_formats());
  return caps;
}

GstCaps* coef_template_caps(const CoefKind& kind, const GstStructure* own) {
  const StructurePtr owner(gst_structure_copy(own));
  GstStructure* s = owner.get();
  gst_structure_set_name(s, kind.media_type);
  std::vector<std::string> samplings, colorspaces;
  const auto add = [](std::vector<std::string>& strings, const char* string) {
    if (std::find(strings.begin(), strings.end(), string) == strings.end())
      strings.emplace_back(string);
  };
  for (const RawFormat& format : raw_formats()) {
    add(samplings, gst_coef_sampling_to_string(sampling_of(format)));
    add(colorspaces, gst_coef_sampling_get_colorspace(sampling_of(format)));
  }
  if (kind.with_tall || kind.rgb != RgbFrames::kNone)
    for (const GstCoefSampling tall : kTallSamplings)
      add(samplings, gst_coef_sampling_to_string(tall));
  set_bools(s, "quantized");
  const StructurePtr in_rgb(gst_structure_copy(s));
  set_ints(s, "depth", {8, 10, 12, 16});
  set_strings(s, "sampling", samplings);
  set_strings(s, "colorspace", colorspaces);
  GstCaps* caps = template_caps_in_each_memory(s);
  if (kind.rgb != RgbFrames::kPictures) return caps;
  set_ints(in_rgb.get(), "depth", {8});
  colorspaces.erase(std::remove(colorspaces.begin(), colorspaces.end(), kGray), colorspaces.end());
  set_strings(in_rgb.get(), "colorspace", colorspaces);
  return gst_caps_merge(caps, template_caps_in_each_memory(in_rgb.get()));
}

GstCaps* raw_to_coef_caps(const GstCaps* caps, MemoryKinds kinds, const CoefKind& kind,
                          const AppendCoefs& append, const Resize& resize) {
  const auto of_frames = [&](bool in_rgb) {
    return caps_in_each_memory(caps, kinds, [&](GstCaps* one, const GstStructure* raw, bool cuda) {
      const StructurePtr base(gst_structure_copy(raw));
      gst_structure_remove_field(base.get(), "format");
      remove_fields(base.get(), kind.fields);
      if (resize && !resize(base.get())) return;
      if (in_rgb) return append_coefs_of_rgb(one, raw, base.get(), kind, append, cuda);
      for (const SampleGroup& group : groups_of(raw, kind)) append(one, base.get(), group, cuda);
    });
  };
  if (kind.rgb == RgbFrames::kNone) return of_frames(false);
  return gst_caps_merge(of_frames(false), of_frames(true));
}

GstCaps* coef_to_raw_caps(const GstCaps* caps, MemoryKinds kinds, const CoefKind& kind,
                          const Resize& resize) {
  const auto to_frames = [&](bool in_rgb) {
    return caps_in_each_memory(
        caps, kinds, [&](GstCaps* one, const GstStructure* coefs, bool cuda) {
          const StructurePtr base(gst_structure_copy(coefs));
          gst_structure_remove_fields(base.get(), "format", "quantized", "depth", "sampling",
                                      "colorspace", nullptr);
          remove_fields(base.get(), kind.fields);
          if (resize && !resize(base.get())) return;
          if (in_rgb) return append_rgb_structure(one, coefs, base.get(), kind, cuda);
          append_raw_structure(one, base.get(), formats_of(coefs, kind), cuda);
        });
  };
  if (kind.rgb == RgbFrames::kNone) return to_frames(false);
  return gst_caps_merge(to_frames(false), to_frames(true));
}

GstCaps* fixate_raw_caps(GstCaps* candidates, bool prefer_cuda) {
  if (gst_caps_is_empty(candidates) || gst_caps_is_any(candidates)) return candidates;
  prefer_cuda = prefer_cuda && !memory_loses_a_plane(gst_caps_get_structure(candidates, 0));
  GstCaps* caps = keep_best(candidates, [=](const GstStructure* s, const GstCapsFeatures* f) {
    return 2 * allows_one_of(s, raw_formats()) + (features_have_cuda(f) == prefer_cuda);
  });
  GstStructure* s = gst_caps_get_structure(caps, 0);
  std::vector<std::string> names;
  for (const RawFormat& format : raw_formats())
    names.emplace_back(gst_video_format_to_string(format.format));
  for (const RgbFormat& format : rgb_formats())
    names.emplace_back(gst_video_format_to_string(format.format));
  fixate_to_first_allowed(s, "format", names);
  return gst_caps_fixate(caps);
}

Status read_raw_caps(const GstCaps* caps, GstVideoInfo* info) {
  const bool known = gst_video_info_from_caps(info, caps);
  const GstVideoFormat format = known ? GST_VIDEO_INFO_FORMAT(info) : GST_VIDEO_FORMAT_UNKNOWN;
  if (!find_raw_format(format) && !is_rgb_format(format))
    return Status::error(StatusCode::kUnsupported, "Unsupported raw video caps");
  // GStreamer fills in a default, which frames without the field need not have.
  if (!gst_structure_has_field(gst_caps_get_structure(caps, 0), "colorimetry"))
    info->colorimetry.range = GST_VIDEO_COLOR_RANGE_UNKNOWN;
  if (GST_VIDEO_INFO_INTERLACE_MODE(info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    return Status::error(StatusCode::kUnsupported,
                         "interlace-mode=alternate is not supported; weave the fields first");
  return {};
}

Status unusable_coef_caps(gchar* reason) {
  const Status why = error_of(StatusCode::kInvalidArgument, reason, "unknown reason");
  return Status::error(why.code, "Invalid coefficient caps: " + why.message);
}

}  // namespace cudatransform
