// GstDctInfo from caps, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct-private.h>

namespace {

bool layout_from_string(const char* string, GstDctLayout* layout) {
  if (g_strcmp0(string, "block") == 0) {
    *layout = GST_DCT_LAYOUT_BLOCK;
  } else if (g_strcmp0(string, "plane") == 0) {
    *layout = GST_DCT_LAYOUT_PLANE;
  } else {
    GST_DEBUG("layout %s is neither block nor plane", GST_STR_NULL(string));
    return false;
  }
  return true;
}

bool order_from_string(const char* string, GstDctOrder* order) {
  if (g_strcmp0(string, "raster") == 0) {
    *order = GST_DCT_ORDER_RASTER;
  } else if (g_strcmp0(string, "zigzag") == 0) {
    *order = GST_DCT_ORDER_ZIGZAG;
  } else {
    GST_DEBUG("order %s is neither raster nor zigzag", GST_STR_NULL(string));
    return false;
  }
  return true;
}

}  // namespace

/**
 * gst_dct_info_from_caps:
 * @info: (out caller-allocates): the info to fill
 * @caps: fixed caps
 *
 * Returns: %FALSE, with @info zeroed, on anything that is not a complete, allowed video/x-dct; the
 *   debug category "dct" says why
 *
 * Since: 1.0
 */
gboolean gst_dct_info_from_caps(GstDctInfo* info, const GstCaps* caps) {
  g_return_val_if_fail(info != nullptr, FALSE);
  g_return_val_if_fail(caps != nullptr, FALSE);
  *info = GstDctInfo{};
  const gstcoef::Refusal refuse = gst_dct_refusal(nullptr);
  const GstStructure* s = gstcoef::fixed_structure(caps, GST_DCT_MEDIA_TYPE, refuse);
  GstDctLayout layout;
  GstDctOrder order;
  gstcoef::PictureFields fields;
  GstDctInfo filled;
  if (s == nullptr || !layout_from_string(gst_structure_get_string(s, "layout"), &layout) ||
      !order_from_string(gst_structure_get_string(s, "order"), &order) ||
      !gstcoef::read_picture_fields(s, &fields, refuse) ||
      !gst_dct_info_set(&filled, fields.format, layout, order, fields.quantized, fields.depth,
                        fields.sampling, fields.width, fields.height)) {
    return FALSE;
  }
  filled.fps_n = fields.fps_n;
  filled.fps_d = fields.fps_d;
  *info = filled;
  return TRUE;
}

/**
 * gst_dct_info_to_caps:
 * @info: an info that gst_dct_info_set() or gst_dct_info_from_caps() has filled
 *
 * Makes caps in system memory; the caller adds features and the fields that #GstDctInfo does not
 * know.
 *
 * Returns: (transfer full) (nullable): fixed caps, or %NULL when @info was never filled
 *
 * Since: 1.0
 */
GstCaps* gst_dct_info_to_caps(const GstDctInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  g_return_val_if_fail(info->n_components > 0, nullptr);
  return gst_caps_new_simple(
      GST_DCT_MEDIA_TYPE, "format", G_TYPE_STRING, gst_coef_format_to_string(info->format),
      "layout", G_TYPE_STRING, info->layout == GST_DCT_LAYOUT_BLOCK ? "block" : "plane", "order",
      G_TYPE_STRING, info->order == GST_DCT_ORDER_RASTER ? "raster" : "zigzag", "quantized",
      G_TYPE_BOOLEAN, info->quantized, "depth", G_TYPE_INT, static_cast<gint>(info->depth),
      "sampling", G_TYPE_STRING, gst_coef_sampling_to_string(info->sampling), "colorspace",
      G_TYPE_STRING, gst_coef_sampling_get_colorspace(info->sampling), "width", G_TYPE_INT,
      info->width, "height", G_TYPE_INT, info->height, "framerate", GST_TYPE_FRACTION, info->fps_n,
      info->fps_d, nullptr);
}
