// GstDctInfo from caps, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct-private.h>

namespace {

// By GstDctLayout.
constexpr const char* kLayouts[] = {"block", "plane", "band"};

gboolean layout_from_string(const char* string, GstDctLayout* layout,
                            const gstcoef::Refusal& refuse) {
  for (guint i = 0; i < G_N_ELEMENTS(kLayouts); i++) {
    *layout = static_cast<GstDctLayout>(i);
    if (g_strcmp0(string, kLayouts[i]) == 0) return TRUE;
  }
  return refuse("layout is %s, expected block, plane or band", GST_STR_NULL(string));
}

gboolean order_from_string(const char* string, GstDctOrder* order, const gstcoef::Refusal& refuse) {
  if (g_strcmp0(string, "raster") == 0) {
    *order = GST_DCT_ORDER_RASTER;
  } else if (g_strcmp0(string, "zigzag") == 0) {
    *order = GST_DCT_ORDER_ZIGZAG;
  } else {
    return refuse("order is %s, expected raster or zigzag", GST_STR_NULL(string));
  }
  return TRUE;
}

}  // namespace

gboolean gst_dct_info_from_caps(GstDctInfo* info, const GstCaps* caps, gchar** reason) {
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  g_return_val_if_fail(info != nullptr, FALSE);
  *info = GstDctInfo{};
  g_return_val_if_fail(caps != nullptr, FALSE);
  const GstStructure* s = gstcoef::fixed_structure(caps, GST_DCT_MEDIA_TYPE, refuse);
  GstDctLayout layout = GST_DCT_LAYOUT_BLOCK;
  GstDctOrder order = GST_DCT_ORDER_RASTER;
  gstcoef::PictureFields fields;
  GstDctInfo filled;
  if (s == nullptr || !layout_from_string(gst_structure_get_string(s, "layout"), &layout, refuse) ||
      !order_from_string(gst_structure_get_string(s, "order"), &order, refuse) ||
      !gstcoef::read_picture_fields(s, &fields, refuse) ||
      !gst_dct_info_set(&filled, fields.format, layout, order, fields.quantized, fields.depth,
                        fields.sampling, fields.width, fields.height, reason)) {
    return FALSE;
  }
  filled.fps_n = fields.fps_n;
  filled.fps_d = fields.fps_d;
  *info = filled;
  return TRUE;
}

GstCaps* gst_dct_info_to_caps(const GstDctInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  g_return_val_if_fail(info->n_components > 0, nullptr);
  return gst_caps_new_simple(
      GST_DCT_MEDIA_TYPE, "format", G_TYPE_STRING, gst_coef_format_to_string(info->format),
      "layout", G_TYPE_STRING, kLayouts[info->layout], "order", G_TYPE_STRING,
      info->order == GST_DCT_ORDER_RASTER ? "raster" : "zigzag", "quantized", G_TYPE_BOOLEAN,
      info->quantized, "depth", G_TYPE_INT, static_cast<gint>(info->depth), "sampling",
      G_TYPE_STRING, gst_coef_sampling_to_string(info->sampling), "colorspace", G_TYPE_STRING,
      gst_coef_sampling_get_colorspace(info->sampling), "width", G_TYPE_INT, info->width, "height",
      G_TYPE_INT, info->height, "framerate", GST_TYPE_FRACTION, info->fps_n, info->fps_d, nullptr);
}
