// GstDctInfo: the names and the geometry of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/dct.h>

#include <gst/coef/dct-private.h>

namespace {

struct SamplingRule {
  GstDctSampling sampling;
  const char* name;  // jpegparse's spelling
  const char* colorspace;
  guint components;
  guint h_max, v_max;  // luma's sampling factors; chroma's are 1
};

constexpr SamplingRule kSamplings[] = {
    {GST_DCT_SAMPLING_GRAYSCALE, "GRAYSCALE", "GRAY", 1, 1, 1},
    {GST_DCT_SAMPLING_420, "YCbCr-4:2:0", "sYUV", 3, 2, 2},
    {GST_DCT_SAMPLING_422, "YCbCr-4:2:2", "sYUV", 3, 2, 1},
    {GST_DCT_SAMPLING_444, "YCbCr-4:4:4", "sYUV", 3, 1, 1},
    {GST_DCT_SAMPLING_440, "YCbCr-4:4:0", "sYUV", 3, 1, 2},
    {GST_DCT_SAMPLING_411, "YCbCr-4:1:1", "sYUV", 3, 4, 1},
    {GST_DCT_SAMPLING_RGB, "RGB", "sRGB", 3, 1, 1},
};

struct FormatRule {
  GstDctFormat format;
  const char* name;
  guint size;
};

constexpr FormatRule kFormats[] = {
    {GST_DCT_FORMAT_S16LE, "S16LE", 2},
    {GST_DCT_FORMAT_S32LE, "S32LE", 4},
    {GST_DCT_FORMAT_F32LE, "F32LE", 4},
};

const SamplingRule* find_sampling(GstDctSampling sampling) {
  for (const SamplingRule& rule : kSamplings)
    if (rule.sampling == sampling) return &rule;
  return nullptr;
}

const FormatRule* find_format(GstDctFormat format) {
  for (const FormatRule& rule : kFormats)
    if (rule.format == format) return &rule;
  return nullptr;
}

bool pair_allowed(GstDctFormat format, gboolean quantized, guint depth) {
  if (!quantized) return format == GST_DCT_FORMAT_S32LE || format == GST_DCT_FORMAT_F32LE;
  return format == (depth <= 12 ? GST_DCT_FORMAT_S16LE : GST_DCT_FORMAT_S32LE);
}

guint divide_up(guint64 value, guint divisor) {
  return static_cast<guint>((value + divisor - 1) / divisor);
}

// The sizes of component `index`; its offset and stride are the caller's.
GstDctComponent component_geometry(const SamplingRule& rule, guint index, gint width, gint height) {
  GstDctComponent c = {};
  const bool rgb = rule.sampling == GST_DCT_SAMPLING_RGB;
  c.id = rgb ? static_cast<guint>("RGB"[index]) : index + 1;
  c.h_samp = index == 0 ? rule.h_max : 1;
  c.v_samp = index == 0 ? rule.v_max : 1;
  c.width = divide_up(guint64{c.h_samp} * static_cast<guint>(width), rule.h_max);
  c.height = divide_up(guint64{c.v_samp} * static_cast<guint>(height), rule.v_max);
  c.blocks_w = divide_up(c.width, 8);
  c.blocks_h = divide_up(c.height, 8);
  c.table = !rgb && index > 0 ? 1 : 0;
  return c;
}

// Lays the components out one after the other; false when the bytes do not fit a gssize.
bool lay_out(GstDctInfo* info, const SamplingRule& rule, guint coefficient_size) {
  gsize offset = 0;
  for (guint i = 0; i < rule.components; i++) {
    GstDctComponent c = component_geometry(rule, i, info->width, info->height);
    const gsize row_of_blocks = gsize{c.blocks_w} * 64 * coefficient_size;
    c.stride = info->layout == GST_DCT_LAYOUT_BLOCK ? row_of_blocks : row_of_blocks / 8;
    c.offset = offset;
    gsize bytes = 0;
    if (__builtin_mul_overflow(row_of_blocks, gsize{c.blocks_h}, &bytes) ||
        __builtin_add_overflow(offset, bytes, &offset) || offset > G_MAXSSIZE) {
      return false;
    }
    info->components[i] = c;
  }
  info->n_components = rule.components;
  info->size = offset;
  return true;
}

}  // namespace

/**
 * gst_dct_format_to_string:
 * @format: a #GstDctFormat
 *
 * Returns: (nullable): the spelling in caps, or %NULL for #GST_DCT_FORMAT_UNKNOWN
 *
 * Since: 1.0
 */
const gchar* gst_dct_format_to_string(GstDctFormat format) {
  const FormatRule* rule = find_format(format);
  return rule ? rule->name : nullptr;
}

/**
 * gst_dct_format_from_string:
 * @string: (nullable): the spelling in caps
 *
 * Returns: the format, or #GST_DCT_FORMAT_UNKNOWN
 *
 * Since: 1.0
 */
GstDctFormat gst_dct_format_from_string(const gchar* string) {
  for (const FormatRule& rule : kFormats)
    if (g_strcmp0(rule.name, string) == 0) return rule.format;
  return GST_DCT_FORMAT_UNKNOWN;
}

/**
 * gst_dct_format_size:
 * @format: a #GstDctFormat
 *
 * Returns: the bytes of one coefficient, or 0 for #GST_DCT_FORMAT_UNKNOWN
 *
 * Since: 1.0
 */
guint gst_dct_format_size(GstDctFormat format) {
  const FormatRule* rule = find_format(format);
  return rule ? rule->size : 0;
}

/**
 * gst_dct_sampling_to_string:
 * @sampling: a #GstDctSampling
 *
 * Returns: (nullable): the spelling in caps, or %NULL for #GST_DCT_SAMPLING_UNKNOWN
 *
 * Since: 1.0
 */
const gchar* gst_dct_sampling_to_string(GstDctSampling sampling) {
  const SamplingRule* rule = find_sampling(sampling);
  return rule ? rule->name : nullptr;
}

/**
 * gst_dct_sampling_from_string:
 * @string: (nullable): the spelling in caps
 *
 * Returns: the sampling, or #GST_DCT_SAMPLING_UNKNOWN
 *
 * Since: 1.0
 */
GstDctSampling gst_dct_sampling_from_string(const gchar* string) {
  for (const SamplingRule& rule : kSamplings)
    if (g_strcmp0(rule.name, string) == 0) return rule.sampling;
  return GST_DCT_SAMPLING_UNKNOWN;
}

/**
 * gst_dct_sampling_get_colorspace:
 * @sampling: a #GstDctSampling
 *
 * Returns: (nullable): the only colorspace that caps with @sampling may name: "sYUV", "sRGB" or
 *   "GRAY"
 *
 * Since: 1.0
 */
const gchar* gst_dct_sampling_get_colorspace(GstDctSampling sampling) {
  const SamplingRule* rule = find_sampling(sampling);
  return rule ? rule->colorspace : nullptr;
}

/**
 * gst_dct_info_set:
 * @info: (out caller-allocates): the info to fill
 * @format: the type of a coefficient
 * @layout: where a block's coefficients lie
 * @order: the order inside a block; raster with #GST_DCT_LAYOUT_PLANE
 * @quantized: %TRUE needs #GST_DCT_FORMAT_S16LE (@depth to 12) or #GST_DCT_FORMAT_S32LE (@depth
 *   16), %FALSE needs #GST_DCT_FORMAT_S32LE or #GST_DCT_FORMAT_F32LE
 * @depth: 8, 10, 12 or 16
 * @sampling: the components
 * @width: width of the picture, at least 1
 * @height: height of the picture, at least 1
 *
 * Fills @info, with an unknown frame rate and components in the default layout.
 *
 * Returns: %FALSE, with @info zeroed, where a value is out of range or a pair is not allowed; the
 *   debug category "dct" says which
 *
 * Since: 1.0
 */
gboolean gst_dct_info_set(GstDctInfo* info, GstDctFormat format, GstDctLayout layout,
                          GstDctOrder order, gboolean quantized, guint depth,
                          GstDctSampling sampling, gint width, gint height) {
  g_return_val_if_fail(info != nullptr, FALSE);
  *info = GstDctInfo{};
  const SamplingRule* sampling_rule = find_sampling(sampling);
  const FormatRule* format_rule = find_format(format);
  if (sampling_rule == nullptr || format_rule == nullptr) {
    GST_DEBUG("unknown sampling or format");
    return FALSE;
  }
  if (layout != GST_DCT_LAYOUT_BLOCK &&
      (layout != GST_DCT_LAYOUT_PLANE || order != GST_DCT_ORDER_RASTER)) {
    GST_DEBUG("layout=plane is always order=raster");
    return FALSE;
  }
  if (order != GST_DCT_ORDER_RASTER && order != GST_DCT_ORDER_ZIGZAG) {
    GST_DEBUG("unknown order %d", static_cast<int>(order));
    return FALSE;
  }
  if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
    GST_DEBUG("depth %u is none of 8, 10, 12, 16", depth);
    return FALSE;
  }
  if (!pair_allowed(format, quantized, depth)) {
    GST_DEBUG("format %s does not go with quantized=%s at depth %u", format_rule->name,
              quantized ? "true" : "false", depth);
    return FALSE;
  }
  if (width < 1 || height < 1) {
    GST_DEBUG("%d x %d is no size of a picture", width, height);
    return FALSE;
  }
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
  if (!lay_out(&filled, *sampling_rule, format_rule->size)) {
    GST_DEBUG("%d x %d coefficients do not fit the address space", width, height);
    return FALSE;
  }
  *info = filled;
  return TRUE;
}

/**
 * gst_dct_info_get_component:
 * @info: a filled info
 * @index: index of a component
 *
 * The same as the field, for languages that cannot read an array of structures.
 *
 * Returns: (transfer none) (nullable): the component, or %NULL when there is none
 *
 * Since: 1.0
 */
const GstDctComponent* gst_dct_info_get_component(const GstDctInfo* info, guint index) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return index < info->n_components ? &info->components[index] : nullptr;
}

/**
 * gst_dct_info_row_bytes:
 * @info: a filled info
 * @component: index of a component
 *
 * Returns: the bytes of a row of @component without padding: of blocks for #GST_DCT_LAYOUT_BLOCK,
 *   else of coefficients
 *
 * Since: 1.0
 */
gsize gst_dct_info_row_bytes(const GstDctInfo* info, guint component) {
  g_return_val_if_fail(info != nullptr, 0);
  g_return_val_if_fail(component < info->n_components, 0);
  const gsize in_row = info->layout == GST_DCT_LAYOUT_BLOCK ? 64 : 8;
  return info->components[component].blocks_w * in_row * gst_dct_format_size(info->format);
}

/**
 * gst_dct_info_rows:
 * @info: a filled info
 * @component: index of a component
 *
 * Returns: how many rows of gst_dct_info_row_bytes() @component has
 *
 * Since: 1.0
 */
guint gst_dct_info_rows(const GstDctInfo* info, guint component) {
  g_return_val_if_fail(info != nullptr, 0);
  g_return_val_if_fail(component < info->n_components, 0);
  const guint rows = info->components[component].blocks_h;
  return info->layout == GST_DCT_LAYOUT_BLOCK ? rows : rows * 8;
}
