// Coefficients of wavelets as GStreamer has them: their caps, and their places in buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/coefficients.h"

#include <algorithm>
#include <iterator>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/caps_fields.h"

namespace cudatransform {

static_assert(kMaxDwtBands == GST_DWT_MAX_BANDS);
static_assert(kMaxDwtLevels == GST_DWT_MAX_LEVELS && kMaxDwtLevelsHo == GST_DWT_MAX_LEVELS_HO);

// ---- Caps ----

namespace {

CoefKind dwt_kind() {
  return {GST_DWT_MEDIA_TYPE, {"wavelet", "wavelet-ho", "levels", "levels-ho"}, false};
}

// All filters except JPEG 2000's; any two can be combined.
std::vector<std::string> mixable_wavelets() {
  std::vector<std::string> names;
  auto* wavelets = static_cast<GEnumClass*>(g_type_class_ref(GST_TYPE_DWT_WAVELET));
  for (guint i = 0; i < wavelets->n_values; i++)
    if (wavelets->values[i].value != GST_DWT_WAVELET_J2K53)
      names.emplace_back(wavelets->values[i].value_nick);
  g_type_class_unref(wavelets);
  return names;
}

void set_range(GstStructure* s, const char* field, int low, int high) {
  gst_structure_set(s, field, GST_TYPE_INT_RANGE, low, high, nullptr);
}

void set_shape(GstStructure* s, const DwtShape& shape, guint depth) {
  const GstCoefFormat format =
      gst_dwt_choose_format(depth, shape.wavelet, shape.wavelet_ho, shape.levels, shape.levels_ho);
  set_strings(s, "format", {gst_coef_format_to_string(format)});
  set_strings(s, "wavelet", {gst_dwt_wavelet_to_string(shape.wavelet)});
  set_strings(s, "wavelet-ho", {gst_dwt_wavelet_to_string(shape.wavelet_ho)});
  set_ints(s, "levels", {static_cast<int>(shape.levels)});
  set_ints(s, "levels-ho", {static_cast<int>(shape.levels_ho)});
}

// Appends a structure for every shape: caps cannot express which format belongs to which.
void append_any_shape(GstCaps* caps, const GstStructure* base, const SampleGroup& group,
                      bool cuda) {
  const std::vector<std::string> j2k53 = {gst_dwt_wavelet_to_string(GST_DWT_WAVELET_J2K53)};
  for (const std::vector<std::string>& wavelets : {mixable_wavelets(), j2k53}) {
    for (const bool both : {true, false}) {
      GstStructure* s = append_coef_structure(caps, base, dwt_kind(), group, nullptr, cuda);
      std::vector<std::string> formats = {"S16LE", "S32LE"};
      if (group.depth > 8) formats = {"S32LE"};
      set_strings(s, "format", formats);
      set_strings(s, "wavelet", wavelets);
      set_strings(s, "wavelet-ho", wavelets);
      if (both) {
        set_range(s, "levels", 1, GST_DWT_MAX_LEVELS);
        set_range(s, "levels-ho", 0, GST_DWT_MAX_LEVELS_HO);
      } else {
        set_ints(s, "levels", {0});
        set_range(s, "levels-ho", 1, GST_DWT_MAX_LEVELS_HO);
      }
    }
  }
}

}  // namespace

GstCaps* dwt_template_caps() {
  const StructurePtr owner(gst_structure_new_empty(GST_DWT_MEDIA_TYPE));
  GstStructure* own = owner.get();
  std::vector<std::string> wavelets = mixable_wavelets();
  wavelets.emplace_back(gst_dwt_wavelet_to_string(GST_DWT_WAVELET_J2K53));
  set_strings(own, "format", {"S16LE", "S32LE"});
  set_strings(own, "wavelet", wavelets);
  set_strings(own, "wavelet-ho", wavelets);
  set_range(own, "levels", 0, GST_DWT_MAX_LEVELS);
  set_range(own, "levels-ho", 0, GST_DWT_MAX_LEVELS_HO);
  return coef_template_caps(dwt_kind(), own);
}

GstCaps* raw_to_dwt_caps(const GstCaps* caps, MemoryKinds kinds, const DwtShape* shape) {
  const auto append = [=](GstCaps* one, const GstStructure* base, const SampleGroup& group,
                          bool cuda) {
    if (shape)
      set_shape(append_coef_structure(one, base, dwt_kind(), group, nullptr, cuda), *shape,
                group.depth);
    else
      append_any_shape(one, base, group, cuda);
  };
  return raw_to_coef_caps(caps, kinds, dwt_kind(), append);
}

GstCaps* dwt_to_raw_caps(const GstCaps* caps, MemoryKinds kinds) {
  return coef_to_raw_caps(caps, kinds, dwt_kind());
}

Status read_dwt_caps(const GstCaps* caps, GstDwtInfo* info) {
  gchar* reason = nullptr;
  return gst_dwt_info_from_caps(info, caps, &reason) ? Status() : unusable_coef_caps(reason);
}

GstCaps* fixate_dwt_caps(GstCaps* candidates, bool prefer_cuda) {
  if (gst_caps_is_empty(candidates) || gst_caps_is_any(candidates)) return candidates;
  GstCaps* caps = keep_best(candidates, [=](const GstStructure* s, const GstCapsFeatures* f) {
    return 2 * (features_have_cuda(f) == prefer_cuda) + bool_field_allows_true(s, "quantized");
  });
  GstStructure* s = gst_caps_get_structure(caps, 0);
  gst_structure_fixate_field_boolean(s, "quantized", TRUE);
  gst_structure_fixate_field_string(s, "wavelet", "legall53");
  gst_structure_fixate_field_string(s, "wavelet-ho", "legall53");
  gst_structure_fixate_field_nearest_int(s, "levels", 4);
  gst_structure_fixate_field_nearest_int(s, "levels-ho", 0);
  return gst_caps_fixate(caps);
}

// ---- Buffers ----

// Takes the places from `components`, which are those of `info` or of a meta.
static CoefLayout layout_with(const GstDwtInfo& info, const GstDwtComponent* components) {
  CoefLayout layout;
  layout.count = static_cast<int>(info.n_components);
  layout.size = info.size;
  for (guint c = 0; c < info.n_components; c++)
    layout.plane[c] = {components[c].offset, components[c].stride, gst_dwt_info_row_bytes(&info, c),
                       components[c].padded_height};
  return layout;
}

CoefLayout layout_of(const GstDwtInfo& info) { return layout_with(info, info.components); }

Status find_coefficients(const Engine& engine, GstBuffer* buffer, const GstDwtInfo& info,
                         CoefPlaces* places, QuantIndices* indices) {
  const GstDwtMeta* meta = gst_buffer_get_dwt_meta(buffer);
  if (!meta && residence_of(engine, buffer) != Residence::kHost)
    return Status::error(StatusCode::kInvalidArgument,
                         "missing GstDwtMeta on coefficients in CUDA memory (unknown pitch)");
  gchar* reason = nullptr;
  if (!gst_dwt_meta_validate(meta, &info, gst_buffer_get_size(buffer), &reason))
    return error_of(StatusCode::kInvalidArgument, reason, "invalid GstDwtMeta");
  *indices = {};
  *places = {layout_with(info, meta ? meta->components : info.components),
             meta ? meta->fence : nullptr};
  const guint bands = gst_dwt_info_get_n_bands(&info);
  for (guint c = 0; meta && c < info.n_components; c++)
    std::copy_n(meta->quantizers[c].indices, bands, indices->of[c]);
  return {};
}

void add_dwt_meta(GstBuffer* buffer, const GstDwtInfo& info, const QuantIndices& indices,
                  const CoefPlaces& places) {
  GstDwtMeta* meta = gst_buffer_add_dwt_meta(buffer, &info);
  for (guint c = 0; c < info.n_components; c++) {
    meta->components[c].offset = places.layout.plane[c].offset;
    meta->components[c].stride = places.layout.plane[c].pitch;
    std::copy(std::begin(indices.of[c]), std::end(indices.of[c]), meta->quantizers[c].indices);
  }
  if (places.fence) gst_dwt_meta_set_fence(meta, places.fence);
}

}  // namespace cudatransform
