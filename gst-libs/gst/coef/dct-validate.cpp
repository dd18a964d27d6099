// gst_dct_meta_validate(): whether a buffer's meta is valid.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Metas come from other elements, applications and files. A valid meta cannot make a reader leave
// the buffer or divide by zero.
#include <gst/coef/dct-private.h>

namespace {

gboolean check_component(const GstDctMeta* meta, const GstDctInfo* info, guint i, gsize buffer_size,
                         const gstcoef::Refusal& refuse) {
  const GstDctComponent& c = meta->components[i];
  const GstDctComponent& wanted = info->components[i];
  if (c.blocks_w != wanted.blocks_w || c.blocks_h != wanted.blocks_h)
    return refuse("component %u has %u x %u blocks in the meta, expected %u x %u", i, c.blocks_w,
                  c.blocks_h, wanted.blocks_w, wanted.blocks_h);
  const gstcoef::Placement placement = {c.offset, c.stride, gst_dct_info_row_bytes(info, i),
                                        gst_dct_info_rows(info, i)};
  return gstcoef::check_placement(placement, info->format, i, buffer_size, refuse);
}

gboolean check_tables(const GstDctMeta* meta, const GstDctInfo* info,
                      const gstcoef::Refusal& refuse) {
  if (!info->quantized) {
    if (meta->n_tables == 0) return TRUE;
    return refuse("%u quantisation tables with coefficients that are not quantised",
                  meta->n_tables);
  }
  if (meta->n_tables < 1 || meta->n_tables > GST_DCT_MAX_TABLES) {
    return refuse("%u quantisation tables, expected 1 to %d", meta->n_tables, GST_DCT_MAX_TABLES);
  }
  for (guint i = 0; i < info->n_components; i++) {
    if (meta->components[i].table >= meta->n_tables) {
      return refuse("component %u uses table %u of %u", i, meta->components[i].table,
                    meta->n_tables);
    }
  }
  for (guint t = 0; t < meta->n_tables; t++) {
    for (guint k = 0; k < 64; k++) {
      if (meta->tables[t].values[k] == 0) {
        return refuse("table %u has a zero at index %u, expected 1 to 65535", t, k);
      }
    }
  }
  return TRUE;
}

}  // namespace

gboolean gst_dct_meta_validate(const GstDctMeta* meta, const GstDctInfo* info, gsize buffer_size,
                               gchar** reason) {
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, FALSE);
  return gstcoef::validate(
      meta, *info, buffer_size, "GstDctMeta: the quantisation tables are missing", refuse,
      [&](guint i) { return check_component(meta, info, i, buffer_size, refuse); },
      [&] { return check_tables(meta, info, refuse); });
}
