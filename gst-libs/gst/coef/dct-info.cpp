// GstDctInfo: the names and the geometry of coefficients, their GTypes, and caps to info and back.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/coef/coef-private.h>

namespace {

bool pair_allowed(GstCoefFormat format, gboolean quantized, guint depth) {
  if (!quantized) return format != GST_COEF_FORMAT_S16LE;
  return format == (depth <= 12 ? GST_COEF_FORMAT_S16LE : GST_COEF_FORMAT_S32LE);
}

// How many rows the coefficients of a block are in.
guint rows_of_block(GstDctLayout layout) {
  return layout == GST_DCT_LAYOUT_BLOCK ? 1 : layout == GST_DCT_LAYOUT_PLANE ? 8 : 64;
}

// The sizes of component `index`; the caller sets its offset and stride.
GstDctComponent component_geometry(GstCoefSampling sampling, guint index, gint width, gint height) {
  const GstCoefShape shape = gst_coef_sampling_shape(sampling, index, width, height);
  GstDctComponent c = {};
  c.id = shape.id;
  c.h_samp = shape.h_samp;
  c.v_samp = shape.v_samp;
  c.width = shape.width;
  c.height = shape.height;
  c.blocks_w = (c.width + 7) / 8;
  c.blocks_h = (c.height + 7) / 8;
  c.table = gst_coef_sampling_is_chroma(sampling, index) ? 1 : 0;
  return c;
}

// Lays the components out one after the other; false if the bytes do not fit a gssize.
bool lay_out(GstDctInfo* info) {
  const guint coefficient_size = gst_coef_format_size(info->format);
  const guint components = gst_coef_sampling_components(info->sampling);
  gsize offset = 0;
  for (guint i = 0; i < components; i++) {
    GstDctComponent c = component_geometry(info->sampling, i, info->width, info->height);
    const gsize row_of_blocks = gsize{c.blocks_w} * 64 * coefficient_size;
    c.stride = row_of_blocks / rows_of_block(info->layout);
    c.offset = offset;
    if (!gstcoef::place_rows(row_of_blocks, c.blocks_h, &offset)) return false;
    info->components[i] = c;
  }
  info->n_components = components;
  info->size = offset;
  return true;
}

}  // namespace

gboolean gst_dct_info_set(GstDctInfo* info, GstCoefFormat format, GstDctLayout layout,
                          GstDctOrder order, gboolean quantized, guint depth,
                          GstCoefSampling sampling, gint width, gint height, gchar** reason) {
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  g_return_val_if_fail(info != nullptr, FALSE);
  *info = GstDctInfo{};
  if (!gstcoef::check_picture(format, depth, sampling, width, height, refuse)) return FALSE;
  if (layout < GST_DCT_LAYOUT_BLOCK || layout > GST_DCT_LAYOUT_BAND)
    return refuse("layout %d, expected %d to %d", static_cast<int>(layout),
                  static_cast<int>(GST_DCT_LAYOUT_BLOCK), static_cast<int>(GST_DCT_LAYOUT_BAND));
  if (order != GST_DCT_ORDER_RASTER && order != GST_DCT_ORDER_ZIGZAG)
    return refuse("order %d, expected %d or %d", static_cast<int>(order),
                  static_cast<int>(GST_DCT_ORDER_RASTER), static_cast<int>(GST_DCT_ORDER_ZIGZAG));
  if (layout == GST_DCT_LAYOUT_PLANE && order != GST_DCT_ORDER_RASTER)
    return refuse("order=zigzag with layout=plane, expected order=raster");
  if (layout == GST_DCT_LAYOUT_BAND && order != GST_DCT_ORDER_ZIGZAG)
    return refuse("order=raster with layout=band, expected order=zigzag");
  if (!pair_allowed(format, quantized, depth))
    return refuse("format=%s with quantized=%s at depth=%u, expected %s",
                  gst_coef_format_to_string(format), quantized ? "true" : "false", depth,
                  !quantized    ? "S32LE, F32LE or F16LE"
                  : depth <= 12 ? "S16LE"
                                : "S32LE");
  GstDctInfo filled = {};
  filled.format = format;
  filled.layout = layout;
  filled.order = order;
  filled.quantized = quantized ? TRUE : FALSE;
  filled.depth = depth;
  filled.sampling = sampling;
  filled.width = width;
  filled.height = height;
  filled.fps_n = 0;
  filled.fps_d = 1;
  if (!lay_out(&filled))
    return refuse("the coefficients of %d x %d samples exceed the address space", width, height);
  *info = filled;
  return TRUE;
}

const GstDctComponent* gst_dct_info_get_component(const GstDctInfo* info, guint index) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return index < info->n_components ? &info->components[index] : nullptr;
}

gsize gst_dct_info_row_bytes(const GstDctInfo* info, guint component) {
  g_return_val_if_fail(info != nullptr, 0);
  g_return_val_if_fail(component < info->n_components, 0);
  const gsize in_row = 64 / rows_of_block(info->layout);
  return info->components[component].blocks_w * in_row * gst_coef_format_size(info->format);
}

guint gst_dct_info_rows(const GstDctInfo* info, guint component) {
  g_return_val_if_fail(info != nullptr, 0);
  g_return_val_if_fail(component < info->n_components, 0);
  return info->components[component].blocks_h * rows_of_block(info->layout);
}

G_DEFINE_BOXED_TYPE(GstDctInfo, gst_dct_info, gst_dct_info_copy, gst_dct_info_free)
G_DEFINE_BOXED_TYPE(GstDctComponent, gst_dct_component, gstcoef::copy_struct<GstDctComponent>,
                    g_free)

#define VALUE(name, nick) \
  { name, #name, nick }

GType gst_dct_layout_get_type(void) {
  static const GEnumValue values[] = {VALUE(GST_DCT_LAYOUT_BLOCK, "block"),
                                      VALUE(GST_DCT_LAYOUT_PLANE, "plane"),
                                      VALUE(GST_DCT_LAYOUT_BAND, "band"),
                                      {}};
  static const GType type = g_enum_register_static("GstDctLayout", values);
  return type;
}

GType gst_dct_order_get_type(void) {
  static const GEnumValue values[] = {
      VALUE(GST_DCT_ORDER_RASTER, "raster"), VALUE(GST_DCT_ORDER_ZIGZAG, "zigzag"), {}};
  static const GType type = g_enum_register_static("GstDctOrder", values);
  return type;
}

GType gst_dct_jpeg_irregularity_get_type(void) {
  static const GFlagsValue values[] = {VALUE(GST_DCT_JPEG_REGULAR, "regular"),
                                       VALUE(GST_DCT_JPEG_TRAILING_BYTES, "trailing-bytes"),
                                       VALUE(GST_DCT_JPEG_EXTRANEOUS_BYTES, "extraneous-bytes"),
                                       VALUE(GST_DCT_JPEG_SCAN_PARAMETERS, "scan-parameters"),
                                       VALUE(GST_DCT_JPEG_MISSING_EOI, "missing-eoi"),
                                       VALUE(GST_DCT_JPEG_UNEXPECTED_MARKER, "unexpected-marker"),
                                       VALUE(GST_DCT_JPEG_UNKNOWN_HEADER, "unknown-header"),
                                       {}};
  static const GType type = g_flags_register_static("GstDctJpegIrregularity", values);
  return type;
}

GstDebugCategory* gst_dct_debug_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "coef-dct", 0, "video/x-dct caps and metas");
    return made;
  }();
  return category;
}

GstDctInfo* gst_dct_info_new(void) { return g_new0(GstDctInfo, 1); }

GstDctInfo* gst_dct_info_copy(const GstDctInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return gstcoef::copy_struct(info);
}

void gst_dct_info_free(GstDctInfo* info) { g_free(info); }

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
