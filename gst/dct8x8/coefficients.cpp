// Buffers of video/x-dct: where their coefficients and tables are, by meta or caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/coefficients.h"

#include <algorithm>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"

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
                         "missing GstDctMeta on coefficients in CUDA memory (unknown pitch)");
  gchar* reason = nullptr;
  if (!gst_dct_meta_validate(*meta, &info, gst_buffer_get_size(buffer), &reason))
    return error_of(StatusCode::kInvalidArgument, reason, "invalid GstDctMeta");
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

bool WrittenTables::same(const DctTables& tables, guint n_components) const {
  if (count_ != tables.count || components_ != n_components) return false;
  for (int t = 0; t < count_; t++)
    if (!std::equal(std::begin(tables_[t].q), std::end(tables_[t].q), tables.tables[t].q))
      return false;
  return std::equal(table_of_, table_of_ + components_, tables.table_of);
}

void WrittenTables::write(GstCaps* caps, const DctTables& tables, guint n_components) {
  count_ = tables.count;
  components_ = n_components;
  std::copy_n(tables.tables, count_, tables_);
  std::copy_n(tables.table_of, components_, table_of_);
  guint16 values[GST_DCT_MAX_TABLES * 64];
  guint of_component[GST_DCT_MAX_COMPONENTS];
  for (int t = 0; t < count_; t++) std::copy_n(tables_[t].q, 64, values + 64 * t);
  std::copy_n(table_of_, components_, of_component);
  gchar* reason = nullptr;
  if (!gst_dct_caps_set_tables(caps, values, 64 * gsize(count_), of_component, components_,
                               &reason))
    GST_WARNING("failed to write quantization tables into caps: %s",
                error_of(StatusCode::kFailed, reason, "invalid tables").message.c_str());
}

void remove_tables(GstCaps* caps) {
  (void)gst_dct_caps_set_tables(caps, nullptr, 0, nullptr, 0, nullptr);
}

void CapsTables::read(const GstCaps* caps, const GstDctInfo& info) {
  usable_ = false;
  wrong_.clear();
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  if (!info.quantized || !gst_structure_has_field(s, "quantization-tables")) return;
  guint16* values = nullptr;
  guint* of_component = nullptr;
  gsize n_values = 0;
  guint n_components = 0;
  gchar* reason = nullptr;
  if (!gst_dct_caps_get_tables(caps, &values, &n_values, &of_component, &n_components, &reason)) {
    wrong_ = error_of(StatusCode::kInvalidArgument, reason, "invalid tables").message;
    return;
  }
  const GlibPtr<guint16> values_owner(values);
  const GlibPtr<guint> of_component_owner(of_component);
  if (n_components != info.n_components) {
    wrong_ = "tables of " + std::to_string(n_components) + " components, expected " +
             std::to_string(info.n_components);
    return;
  }
  usable_ = true;
  meta_ = {};
  meta_.n_components = info.n_components;
  std::copy_n(info.components, info.n_components, meta_.components);
  for (guint c = 0; c < info.n_components; c++) meta_.components[c].table = of_component[c];
  meta_.n_tables = static_cast<guint>(n_values / 64);
  for (guint t = 0; t < meta_.n_tables; t++)
    std::copy_n(values + 64 * t, 64, meta_.tables[t].values);
}

Status CapsTables::find(GstBuffer* buffer, bool in_system_memory, const GstDctMeta** meta) const {
  *meta = gst_buffer_get_dct_meta(buffer);
  if (*meta || !in_system_memory) return {};
  if (!wrong_.empty())
    return Status::error(StatusCode::kInvalidArgument,
                         "missing GstDctMeta, and invalid quantization tables in caps: " + wrong_);
  if (usable_) *meta = &meta_;
  return {};
}

}  // namespace cudatransform
