// Translates GstDctInfo and GstDctMeta of a buffer to the middle's terms, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/coefficients.h"

#include <algorithm>

#include "gst/engine/element_errors.h"

namespace cudatransform {

// Takes the places from `components`, which are those of `info` or of a meta.
static CoefLayout layout_with(const GstDctInfo& info, const GstDctComponent* components) {
  CoefLayout layout;
  layout.count = static_cast<int>(info.n_components);
  layout.gapless = info.layout != GST_DCT_LAYOUT_PLANE;
  layout.size = info.size;
  for (guint c = 0; c < info.n_components; c++)
    layout.plane[c] = {components[c].offset, components[c].stride, gst_dct_info_row_bytes(&info, c),
                       gst_dct_info_rows(&info, c)};
  return layout;
}

CoefLayout layout_of(const GstDctInfo& info) { return layout_with(info, info.components); }

Status find_coefficients(const Engine& engine, GstBuffer* buffer, const GstDctInfo& info,
                         const CapsTables& caps_tables, const GstDctMeta** meta,
                         CoefPlaces* places) {
  const bool in_system_memory = residence_of(engine, buffer) == Residence::kHost;
  CT_RETURN_IF_ERROR(caps_tables.find(buffer, in_system_memory, meta));
  if (!*meta && !in_system_memory)
    return Status::error(StatusCode::kInvalidArgument,
                         "coefficients in CUDA memory without GstDctMeta: their pitch is unknown");
  gchar* reason = nullptr;
  if (!gst_dct_meta_validate(*meta, &info, gst_buffer_get_size(buffer), &reason))
    return error_of(StatusCode::kInvalidArgument, reason, "bad GstDctMeta");
  *places = {layout_with(info, *meta ? (*meta)->components : info.components),
             *meta ? (*meta)->fence : nullptr};
  return {};
}

void add_dct_meta(GstBuffer* buffer, const GstDctInfo& info, const DctTables& tables,
                  const CoefPlaces& places) {
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  for (guint c = 0; c < info.n_components; c++) {
    meta->components[c].table = info.quantized ? tables.table_of[c] : 0;
    meta->components[c].offset = places.layout.plane[c].offset;
    meta->components[c].stride = places.layout.plane[c].pitch;
  }
  if (places.fence) gst_dct_meta_set_fence(meta, places.fence);
  if (!info.quantized) return;
  meta->n_tables = tables.count;
  for (int t = 0; t < tables.count; t++)
    std::copy_n(tables.tables[t].q, 64, meta->tables[t].values);
}

}  // namespace cudatransform
