// Negotiation: which video/x-raw and which video/x-dct belong together, and which to prefer.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/caps.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gst/dct8x8/caps_sizes.h"
#include "gst/dct8x8/sampling.h"
#include "gst/stream/formats.h"

namespace cudatransform {
namespace {

#if CT_HAVE_CUDA
constexpr bool kBuiltWithCuda = true;
#else
constexpr bool kBuiltWithCuda = false;
#endif

GstCapsFeatures* features_for(bool cuda) {
  return cuda ? gst_caps_features_new(kCudaMemoryFeature, nullptr)
              : gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY, nullptr);
}

// Only frames in system or CUDA memory are ours: not format:Interlaced, DMABuf or GLMemory.
bool features_are_ours(const GstCapsFeatures* features, MemoryKinds kinds) {
  if (!features || gst_caps_features_is_any(features)) return true;
  if (gst_caps_features_get_size(features) == 0) return true;
  if (gst_caps_features_get_size(features) != 1) return false;
  return gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY) ||
         (kinds.cuda && features_have_cuda(features));
}

// A string field that holds one string or a list; empty where the field is missing.
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

// Whether an int field is missing or includes `n`.
bool int_field_allows(const GstStructure* s, const char* field, int n) {
  const GValue* value = gst_structure_get_value(s, field);
  if (!value) return true;
  GValue wanted = G_VALUE_INIT;
  g_value_init(&wanted, G_TYPE_INT);
  g_value_set_int(&wanted, n);
  const bool allows = gst_value_intersect(nullptr, value, &wanted);
  g_value_unset(&wanted);
  return allows;
}

void set_strings(GstStructure* s, const char* field, const std::vector<std::string>& strings) {
  GValue value = G_VALUE_INIT;
  if (strings.size() == 1) {
    g_value_init(&value, G_TYPE_STRING);
    g_value_set_string(&value, strings[0].c_str());
  } else {
    g_value_init(&value, GST_TYPE_LIST);
    for (const std::string& string : strings) {
      GValue item = G_VALUE_INIT;
      g_value_init(&item, G_TYPE_STRING);
      g_value_set_string(&item, string.c_str());
      gst_value_list_append_and_take_value(&value, &item);
    }
  }
  gst_structure_take_value(s, field, &value);
}

// Both values, true first.
void set_bools(GstStructure* s, const char* field) {
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (const bool item : {true, false}) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_BOOLEAN);
    g_value_set_boolean(&value, item);
    gst_value_list_append_and_take_value(&list, &value);
  }
  gst_structure_take_value(s, field, &list);
}

// Samplings that share depth and colour space, and so one caps structure.
struct SampleGroup {
  guint depth;
  std::string colorspace;
  std::vector<std::string> samplings;
};

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

// Appends the allowed video/x-dct of one group to `caps`, keeping the other fields of `base`:
// levels before orthonormal values, blocks before planes.
void append_dct_structures(GstCaps* caps, const GstStructure* base, const SampleGroup& group,
                           bool cuda) {
  for (const bool quantized : {true, false}) {
    for (const bool plane : {false, true}) {
      GstStructure* s = gst_structure_copy(base);
      gst_structure_set_name(s, GST_DCT_MEDIA_TYPE);
      std::vector<std::string> types = {"S32LE", "F32LE"};
      if (quantized) types = {group.depth == 16 ? "S32LE" : "S16LE"};
      set_strings(s, "format", types);
      set_strings(s, "layout", {plane ? "plane" : "block"});
      if (plane)
        set_strings(s, "order", {"raster"});
      else
        set_strings(s, "order", {"raster", "zigzag"});
      gst_structure_set(s, "quantized", G_TYPE_BOOLEAN, quantized, "depth", G_TYPE_INT,
                        static_cast<int>(group.depth), nullptr);
      set_strings(s, "sampling", group.samplings);
      set_strings(s, "colorspace", {group.colorspace});
      gst_caps_append_structure_full(caps, s, features_for(cuda));
    }
  }
}

GstStructure* new_size_structure(const char* name) {
  return gst_structure_new(name, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height",
                           GST_TYPE_INT_RANGE, 1, G_MAXINT, "framerate", GST_TYPE_FRACTION_RANGE, 0,
                           1, G_MAXINT, 1, nullptr);
}

// Appends `base` as raw video in the formats that the memory can hold; nothing where none is left.
void append_raw_structure(GstCaps* caps, const GstStructure* base,
                          const std::vector<const RawFormat*>& formats, bool cuda) {
  std::vector<std::string> names;
  for (const RawFormat* format : formats)
    if (!cuda || format->in_cuda_memory)
      names.emplace_back(gst_video_format_to_string(format->format));
  if (names.empty()) return;
  GstStructure* s = gst_structure_copy(base);
  gst_structure_set_name(s, "video/x-raw");
  set_strings(s, "format", names);
  gst_caps_append_structure_full(caps, s, features_for(cuda));
}

}  // namespace

GstCaps* raw_template_caps() {
  std::vector<const RawFormat*> all;
  for (const RawFormat& format : raw_formats()) all.push_back(&format);
  GstCaps* caps = gst_caps_new_empty();
  GstStructure* base = new_size_structure("video/x-raw");
  if (kBuiltWithCuda) append_raw_structure(caps, base, all, true);
  append_raw_structure(caps, base, all, false);
  gst_structure_free(base);
  return caps;
}

GstCaps* dct_template_caps(bool with_440) {
  GstStructure* s = new_size_structure(GST_DCT_MEDIA_TYPE);
  set_strings(s, "format", {"S16LE", "S32LE", "F32LE"});
  set_strings(s, "layout", {"block", "plane"});
  set_strings(s, "order", {"raster", "zigzag"});
  GValue depths = G_VALUE_INIT;
  g_value_init(&depths, GST_TYPE_LIST);
  std::vector<std::string> samplings, colorspaces;
  const auto add = [](std::vector<std::string>& strings, const char* string) {
    if (std::find(strings.begin(), strings.end(), string) == strings.end())
      strings.emplace_back(string);
  };
  for (const RawFormat& format : raw_formats()) {
    add(samplings, gst_coef_sampling_to_string(sampling_of(format)));
    add(colorspaces, gst_coef_sampling_get_colorspace(sampling_of(format)));
  }
  if (with_440) add(samplings, gst_coef_sampling_to_string(GST_COEF_SAMPLING_440));
  for (const int depth : {8, 10, 12, 16}) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_INT);
    g_value_set_int(&value, depth);
    gst_value_list_append_and_take_value(&depths, &value);
  }
  gst_structure_take_value(s, "depth", &depths);
  set_bools(s, "quantized");
  set_strings(s, "sampling", samplings);
  set_strings(s, "colorspace", colorspaces);

  GstCaps* caps = gst_caps_new_empty();
  for (const bool cuda : {true, false})
    if (!cuda || kBuiltWithCuda)
      gst_caps_append_structure_full(caps, gst_structure_copy(s), features_for(cuda));
  gst_structure_free(s);
  return caps;
}

GstCaps* raw_to_dct_caps(const GstCaps* caps, MemoryKinds kinds, bool with_440, int scale) {
  GstCaps* result = gst_caps_new_empty();
  for (const bool cuda : {true, false}) {
    if (cuda && !(kBuiltWithCuda && kinds.cuda)) continue;
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
      if (!features_are_ours(gst_caps_get_features(caps, i), kinds)) continue;
      const GstStructure* raw = gst_caps_get_structure(caps, i);
      const std::vector<std::string> names = strings_of(raw, "format");
      std::vector<SampleGroup> groups;
      for (const RawFormat& format : raw_formats()) {
        const char* name = gst_video_format_to_string(format.format);
        if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
        add_to_groups(groups, sampling_of(format), format.depth);
        if (with_440 && holds_440(format))
          add_to_groups(groups, GST_COEF_SAMPLING_440, format.depth);
      }
      GstStructure* base = gst_structure_copy(raw);
      gst_structure_remove_fields(base, "format", "quantization-tables", "component-tables",
                                  nullptr);
      GstCaps* one = gst_caps_new_empty();
      if (scale_sizes_up(base, scale))
        for (const SampleGroup& group : groups) append_dct_structures(one, base, group, cuda);
      result = gst_caps_merge(result, one);
      gst_structure_free(base);
    }
  }
  return result;
}

GstCaps* dct_to_raw_caps(const GstCaps* caps, MemoryKinds kinds, int scale) {
  GstCaps* result = gst_caps_new_empty();
  for (const bool cuda : {true, false}) {
    if (cuda && !(kBuiltWithCuda && kinds.cuda)) continue;
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
      if (!features_are_ours(gst_caps_get_features(caps, i), kinds)) continue;
      const GstStructure* dct = gst_caps_get_structure(caps, i);
      std::vector<std::string> samplings = strings_of(dct, "sampling");
      std::vector<const RawFormat*> formats;
      for (const RawFormat& format : raw_formats()) {
        if (!int_field_allows(dct, "depth", format.depth)) continue;
        bool allowed = samplings.empty();
        for (const std::string& name : samplings) {
          const GstCoefSampling sampling = gst_coef_sampling_from_string(name.c_str());
          allowed = allowed || sampling == sampling_of(format) ||
                    (sampling == GST_COEF_SAMPLING_440 && holds_440(format));
        }
        if (allowed) formats.push_back(&format);
      }
      GstStructure* base = gst_structure_copy(dct);
      gst_structure_remove_fields(base, "format", "layout", "order", "quantized", "depth",
                                  "sampling", "colorspace", "quantization-tables",
                                  "component-tables", nullptr);
      GstCaps* one = gst_caps_new_empty();
      if (scale_sizes_down(base, scale)) append_raw_structure(one, base, formats, cuda);
      result = gst_caps_merge(result, one);
      gst_structure_free(base);
    }
  }
  return result;
}

namespace {

// Keeps the structure with the highest score (the first of equals).
template <typename Score>
GstCaps* keep_best(GstCaps* caps, Score score) {
  guint best = 0;
  for (guint i = 1; i < gst_caps_get_size(caps); i++) {
    if (score(gst_caps_get_structure(caps, i), gst_caps_get_features(caps, i)) >
        score(gst_caps_get_structure(caps, best), gst_caps_get_features(caps, best)))
      best = i;
  }
  GstCaps* kept = gst_caps_copy_nth(caps, best);
  gst_caps_unref(caps);
  return kept;
}

bool bool_field_allows_true(const GstStructure* s, const char* field) {
  const GValue* value = gst_structure_get_value(s, field);
  if (!value) return false;
  GValue wanted = G_VALUE_INIT;
  g_value_init(&wanted, G_TYPE_BOOLEAN);
  g_value_set_boolean(&wanted, TRUE);
  const bool allows = gst_value_intersect(nullptr, value, &wanted);
  g_value_unset(&wanted);
  return allows;
}

bool string_field_allows(const GstStructure* s, const char* field, const char* string) {
  const std::vector<std::string> strings = strings_of(s, field);
  return std::find(strings.begin(), strings.end(), string) != strings.end();
}

void fixate_to_first_allowed(GstStructure* s, const char* field,
                             const std::vector<std::string>& preferred) {
  for (const std::string& string : preferred) {
    if (!string_field_allows(s, field, string.c_str())) continue;
    gst_structure_fixate_field_string(s, field, string.c_str());
    return;
  }
}

}  // namespace

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

// Of the GStreamer that is running, and the format that will be chosen.
static bool cuda_memory_loses_a_plane(const GstStructure* s) {
  gint height = 0;
  if (!gst_structure_get_int(s, "height", &height)) return false;
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  for (const RawFormat& format : raw_formats())
    if (string_field_allows(s, "format", gst_video_format_to_string(format.format)))
      return cuda_memory_loses_a_plane(format.format, height, minor, micro);
  return false;
}

GstCaps* fixate_raw_caps(GstCaps* candidates, bool prefer_cuda) {
  if (gst_caps_is_empty(candidates) || gst_caps_is_any(candidates)) return candidates;
  prefer_cuda = prefer_cuda && !cuda_memory_loses_a_plane(gst_caps_get_structure(candidates, 0));
  GstCaps* caps = keep_best(candidates, [=](const GstStructure*, const GstCapsFeatures* f) {
    return int(features_have_cuda(f) == prefer_cuda);
  });
  GstStructure* s = gst_caps_get_structure(caps, 0);
  std::vector<std::string> names;
  for (const RawFormat& format : raw_formats())
    names.emplace_back(gst_video_format_to_string(format.format));
  fixate_to_first_allowed(s, "format", names);
  return gst_caps_fixate(caps);
}

}  // namespace cudatransform
