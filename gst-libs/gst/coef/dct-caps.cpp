// GstDctInfo from caps, and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct-private.h>

namespace {

// Reads an enum-like string field; null when it is missing or no string.
const char* string_field(const GstStructure* s, const char* field) {
  const char* value = gst_structure_get_string(s, field);
  if (value == nullptr) GST_DEBUG("field %s is missing or not a string", field);
  return value;
}

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

// Fields that do not decide the geometry: the frame rate, and the interlacing that would make
// width and height ambiguous.
bool read_optional_fields(const GstStructure* s, GstDctInfo* info) {
  info->fps_n = 0;
  info->fps_d = 1;
  if (gst_structure_has_field(s, "framerate") &&
      (!gst_structure_get_fraction(s, "framerate", &info->fps_n, &info->fps_d) ||
       info->fps_n < 0)) {
    GST_DEBUG("framerate is not a fraction from 0/1");
    return false;
  }
  if (g_strcmp0(gst_structure_get_string(s, "interlace-mode"), "alternate") == 0) {
    GST_DEBUG("interlace-mode=alternate: a buffer would be half of width x height");
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
  if (!gst_caps_is_fixed(caps)) {
    GST_DEBUG("caps are not fixed: %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  if (!gst_structure_has_name(s, GST_DCT_MEDIA_TYPE)) {
    GST_DEBUG("not " GST_DCT_MEDIA_TYPE ": %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  GstDctLayout layout;
  GstDctOrder order;
  gboolean quantized;
  gint depth, width, height;
  if (!layout_from_string(string_field(s, "layout"), &layout) ||
      !order_from_string(string_field(s, "order"), &order)) {
    return FALSE;
  }
  if (!gst_structure_get_boolean(s, "quantized", &quantized) ||
      !gst_structure_get_int(s, "depth", &depth) || !gst_structure_get_int(s, "width", &width) ||
      !gst_structure_get_int(s, "height", &height)) {
    GST_DEBUG("quantized, depth, width or height is missing or of another type: %" GST_PTR_FORMAT,
              caps);
    return FALSE;
  }
  const GstCoefFormat format = gst_coef_format_from_string(string_field(s, "format"));
  const char* sampling_name = string_field(s, "sampling");
  const GstCoefSampling sampling = gst_coef_sampling_from_string(sampling_name);
  if (sampling == GST_COEF_SAMPLING_UNKNOWN) {
    GST_DEBUG("sampling %s is none that is known", GST_STR_NULL(sampling_name));
    return FALSE;
  }
  const char* colorspace = string_field(s, "colorspace");
  GstDctInfo filled;
  if (!gst_dct_info_set(&filled, format, layout, order, quantized,
                        static_cast<guint>(MAX(depth, 0)), sampling, width, height)) {
    return FALSE;
  }
  if (g_strcmp0(colorspace, gst_coef_sampling_get_colorspace(sampling)) != 0) {
    GST_DEBUG("colorspace %s contradicts sampling %s", GST_STR_NULL(colorspace),
              gst_coef_sampling_to_string(sampling));
    return FALSE;
  }
  if (!read_optional_fields(s, &filled)) return FALSE;
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
