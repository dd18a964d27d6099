// gst_dct_meta_validate(): whether a buffer's meta can be believed.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Metas come from other elements, applications and files. What passes here cannot make a reader
// leave the buffer or divide by zero.
#include <gst/coef/dct-private.h>

namespace {

// Sampling factors mean ratios: 2x2, 2x2, 2x2 is as good a 4:4:4 as 1x1, 1x1, 1x1.
bool same_ratios(const GstDctMeta* meta, const GstDctInfo* info) {
  const GstDctComponent& luma = meta->components[0];
  const GstDctComponent& wanted_luma = info->components[0];
  for (guint i = 0; i < info->n_components; i++) {
    const GstDctComponent& c = meta->components[i];
    const GstDctComponent& wanted = info->components[i];
    if (c.h_samp < 1 || c.h_samp > 4 || c.v_samp < 1 || c.v_samp > 4 ||
        c.h_samp * wanted_luma.h_samp != wanted.h_samp * luma.h_samp ||
        c.v_samp * wanted_luma.v_samp != wanted.v_samp * luma.v_samp) {
      return false;
    }
  }
  return true;
}

gboolean validate_geometry(const GstDctComponent& c, const GstDctComponent& wanted, guint i,
                           gchar** reason) {
  if (c.id != wanted.id)
    return gst_dct_refuse(reason, "component %u has id %u, expected %u", i, c.id, wanted.id);
  if (c.width != wanted.width || c.height != wanted.height) {
    return gst_dct_refuse(reason, "component %u is %u x %u samples in the meta, expected %u x %u",
                          i, c.width, c.height, wanted.width, wanted.height);
  }
  if (c.blocks_w != wanted.blocks_w || c.blocks_h != wanted.blocks_h) {
    return gst_dct_refuse(reason, "component %u has %u x %u blocks in the meta, expected %u x %u",
                          i, c.blocks_w, c.blocks_h, wanted.blocks_w, wanted.blocks_h);
  }
  return TRUE;
}

gboolean validate_placement(const GstDctComponent& c, const GstDctInfo* info, guint i,
                            gsize buffer_size, gchar** reason) {
  const guint alignment = gst_coef_format_size(info->format);
  if (c.offset % alignment != 0 || c.stride % alignment != 0) {
    return gst_dct_refuse(reason,
                          "component %u has offset %" G_GSIZE_FORMAT " and stride %" G_GSIZE_FORMAT
                          ", expected multiples of the %u bytes of a coefficient",
                          i, c.offset, c.stride, alignment);
  }
  const gsize row_bytes = gst_dct_info_row_bytes(info, i);
  if (c.stride < row_bytes) {
    return gst_dct_refuse(reason,
                          "component %u has a stride of %" G_GSIZE_FORMAT
                          " bytes, expected at least %" G_GSIZE_FORMAT,
                          i, c.stride, row_bytes);
  }
  gsize end = 0;
  if (__builtin_mul_overflow(c.stride, gsize{gst_dct_info_rows(info, i)} - 1, &end) ||
      __builtin_add_overflow(end, row_bytes, &end) || __builtin_add_overflow(end, c.offset, &end)) {
    return gst_dct_refuse(reason,
                          "component %u with offset %" G_GSIZE_FORMAT " and stride %" G_GSIZE_FORMAT
                          " ends beyond the address space",
                          i, c.offset, c.stride);
  }
  if (end > buffer_size) {
    return gst_dct_refuse(reason,
                          "component %u ends at byte %" G_GSIZE_FORMAT
                          ", but the buffer has %" G_GSIZE_FORMAT " bytes",
                          i, end, buffer_size);
  }
  return TRUE;
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
  if (meta == nullptr) {
    if (info->quantized) {
      return gst_dct_refuse(
          reason,
          "a buffer of quantised coefficients without GstDctMeta: the quantisation tables "
          "are missing");
    }
    if (buffer_size >= info->size) return TRUE;
    return gst_dct_refuse(
        reason,
        "a buffer of %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT " for %d x %d %s %s",
        buffer_size, info->size, info->width, info->height,
        gst_coef_sampling_to_string(info->sampling), gst_coef_format_to_string(info->format));
  }
  if (meta->n_components != info->n_components) {
    return gst_dct_refuse(reason, "%u components in the meta, expected %u for %s",
                          meta->n_components, info->n_components,
                          gst_coef_sampling_to_string(info->sampling));
  }
  const guint32 flags = gst_dct_meta_raw_flags(meta);
  if ((flags & ~kDctMetaAllFlags) != 0)
    return gst_dct_refuse(reason, "the meta has flags %#x, expected some of %#x", flags,
                          kDctMetaAllFlags);
  if (flags == kDctMetaAllFlags)
    return gst_dct_refuse(reason, "the meta calls the picture both a top and a bottom field");
  for (guint i = 0; i < info->n_components; i++) {
    if (!validate_geometry(meta->components[i], info->components[i], i, reason) ||
        !validate_placement(meta->components[i], info, i, buffer_size, reason)) {
      return FALSE;
    }
  }
  if (!same_ratios(meta, info)) {
    return gst_dct_refuse(reason, "sampling factors in the meta do not make %s",
                          gst_coef_sampling_to_string(info->sampling));
  }
  return validate_tables(meta, info, reason);
}
