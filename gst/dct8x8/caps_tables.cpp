// Quantisation tables in caps, for files, which keep no metas.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/caps_tables.h"

#include <algorithm>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"

namespace cudatransform {

bool ToldTables::same(const DctTables& tables, guint n_components) const {
  if (count_ != tables.count || components_ != n_components) return false;
  for (int t = 0; t < count_; t++)
    if (!std::equal(std::begin(tables_[t].q), std::end(tables_[t].q), tables.tables[t].q))
      return false;
  return std::equal(table_of_, table_of_ + components_, tables.table_of);
}

void ToldTables::tell(GstCaps* caps, const DctTables& tables, guint n_components) {
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
    GST_WARNING("tables do not go into caps: %s",
                error_of(StatusCode::kFailed, reason, "they are wrong").message.c_str());
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
    wrong_ = error_of(StatusCode::kInvalidArgument, reason, "they cannot be read").message;
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
                         "a buffer of quantised coefficients without GstDctMeta, and the "
                         "quantisation tables of its caps cannot be used: " +
                             wrong_);
  if (usable_) *meta = &meta_;
  return {};
}

}  // namespace cudatransform
