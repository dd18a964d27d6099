// gst_dct_meta_validate(): whether a buffer's meta can be believed.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Metas come from other elements, applications and files. What passes here cannot make a reader
// leave the buffer or divide by zero.
#include <gst/coef/dct-private.h>

namespace {

gboolean validate_component(const GstDctMeta* meta, const GstDctInfo* info, guint i,
                            gsize buffer_size, const gstcoef::Refusal& refuse) {
  const GstDctComponent& c = meta->components[i];
  const GstDctComponent& wanted = info->components[i];
  if (!gstcoef::check_shape(c, wanted, i, refuse)) return FALSE;
  if (c.blocks_w != wanted.blocks_w || c.blocks_h != wanted.blocks_h)
    return refuse("component %u has %u x %u blocks in the meta, expected %u x %u", i, c.blocks_w,
                  c.blocks_h, wanted.blocks_w, wanted.blocks_h);
  const gstcoef::Placement placement = {c.offset, c.stride, gst_dct_info_row_bytes(info, i),
                                        gst_dct_info_rows(info, i)};
  return gstcoef::check_placement(placement, info->format, i, buffer_size, refuse);
}

gboolean validate_tables(const GstDctMeta* meta, const GstDctInfo* info, gchar** reason) {
  if (!info->quantized) {
    if (meta->n_tables == 0) return TRUE;
    return gst_dct_refuse(reason, "%u quantisation tables with coefficients that are not quantised",
                          meta->n_tables);
  }
  if (meta->n_tables < 1 || meta->n_tables > GST_DCT_MAX_TABLES) {
    return gst_dct_refuse(reason, "%u quantisation tables, expected 1 to %d", meta->n_tables,
                          GST_DCT_MAX_TABLES);
  }
  for (guint i = 0; i < info->n_components; i++) {
    if (meta->components[i].table >= meta->n_tables) {
      return gst_dct_refuse(reason, "component %u uses table %u of %u", i,
                            meta->components[i].table, meta->n_tables);
    }
  }
  for (guint t = 0; t < meta->n_tables; t++) {
    for (guint k = 0; k < 64; k++) {
      if (meta->tables[t].values[k] == 0) {
        return gst_dct_refuse(reason, "table %u has a zero at index %u, expected 1 to 65535", t, k);
      }
    }
  }
  return TRUE;
}

}  // namespace

/**
 * gst_dct_meta_validate:
 * @meta: (nullable): a buffer's meta, or %NULL when it has none
 * @info: a filled info
 * @buffer_size: bytes of the buffer
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Whether @meta (or, when it is %NULL and the coefficients are not quantised, the default layout)
 * describes coefficients of @info inside @buffer_size bytes: components, block counts, offsets,
 * strides, alignment, tables without zeros.
 *
 * Returns: %TRUE when a reader can rely on @meta
 *
 * Since: 1.0
 */
gboolean gst_dct_meta_validate(const GstDctMeta* meta, const GstDctInfo* info, gsize buffer_size,
                               gchar** reason) {
  if (reason != nullptr) *reason = nullptr;
  g_return_val_if_fail(info != nullptr && info->n_components > 0, FALSE);
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  if (meta == nullptr) {
    if (info->quantized) {
      return gst_dct_refuse(
          reason,
          "a buffer of quantised coefficients without GstDctMeta: the quantisation tables "
          "are missing");
    }
    return gstcoef::check_size(*info, buffer_size, refuse);
  }
  if (!gstcoef::check_count(*meta, *info, refuse)) return FALSE;
  const guint32 flags = gst_dct_meta_raw_flags(meta);
  if ((flags & ~kDctMetaAllFlags) != 0)
    return gst_dct_refuse(reason, "the meta has flags %#x, expected some of %#x", flags,
                          kDctMetaAllFlags);
  if (flags == kDctMetaAllFlags)
    return gst_dct_refuse(reason, "the meta calls the picture both a top and a bottom field");
  for (guint i = 0; i < info->n_components; i++) {
    if (!validate_component(meta, info, i, buffer_size, refuse)) return FALSE;
  }
  if (!gstcoef::check_ratios(*meta, *info, refuse)) return FALSE;
  return validate_tables(meta, info, reason);
}
