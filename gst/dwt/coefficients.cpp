// Translates GstDwtInfo and GstDwtMeta of a buffer to the middle's terms, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/coefficients.h"

#include <algorithm>
#include <iterator>

#include "gst/engine/element_errors.h"

namespace cudatransform {

static_assert(kMaxDwtBands == GST_DWT_MAX_BANDS);
static_assert(kMaxDwtLevels == GST_DWT_MAX_LEVELS && kMaxDwtLevelsHo == GST_DWT_MAX_LEVELS_HO);

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
                         "coefficients in CUDA memory without GstDwtMeta: their pitch is unknown");
  gchar* reason = nullptr;
  if (!gst_dwt_meta_validate(meta, &info, gst_buffer_get_size(buffer), &reason))
    return error_of(StatusCode::kInvalidArgument, reason, "bad GstDwtMeta");
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
