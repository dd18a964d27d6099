// Caps of video/x-dct and the geometry that they mean: the coefficients of an 8x8 DCT.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/format.h>
#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GST_DCT_MEDIA_TYPE:
 *
 * The name of the caps structure that describes coefficients.
 *
 * Since: 1.0
 */
#define GST_DCT_MEDIA_TYPE "video/x-dct"

/**
 * GST_DCT_MAX_COMPONENTS:
 *
 * The number of components that fit. CMYK and YCCK have four.
 *
 * Since: 1.0
 */
#define GST_DCT_MAX_COMPONENTS 4

/**
 * GST_DCT_MAX_TABLES:
 *
 * The most quantization tables of a buffer.
 *
 * Since: 1.0
 */
#define GST_DCT_MAX_TABLES 4

/**
 * GstDctLayout:
 * @GST_DCT_LAYOUT_BLOCK: the 64 coefficients of a block follow one another, the blocks of a
 *   component are in raster order
 * @GST_DCT_LAYOUT_PLANE: coefficient (u, v) of block (bx, by) is at row 8 by + v, column 8 bx + u
 * @GST_DCT_LAYOUT_BAND: a plane for each of the 64 frequencies, one below the other in zigzag
 *   order: the k-th coefficient of block (bx, by) is at row k blocks_h + by, column bx
 *
 * The layout of a block's coefficients in memory.
 *
 * Since: 1.0
 */
typedef enum {
  GST_DCT_LAYOUT_BLOCK,
  GST_DCT_LAYOUT_PLANE,
  GST_DCT_LAYOUT_BAND,
} GstDctLayout;

#define GST_TYPE_DCT_LAYOUT (gst_dct_layout_get_type())
GST_COEF_API GType gst_dct_layout_get_type(void);

/**
 * GstDctOrder:
 * @GST_DCT_ORDER_RASTER: coefficient (u, v) at index 8 v + u
 * @GST_DCT_ORDER_ZIGZAG: the order of a JPEG file (ITU-T T.81, figure 5)
 *
 * The order of coefficients inside a block. #GST_DCT_LAYOUT_PLANE is always in raster order,
 * #GST_DCT_LAYOUT_BAND in zigzag order.
 *
 * Since: 1.0
 */
typedef enum {
  GST_DCT_ORDER_RASTER,
  GST_DCT_ORDER_ZIGZAG,
} GstDctOrder;

#define GST_TYPE_DCT_ORDER (gst_dct_order_get_type())
GST_COEF_API GType gst_dct_order_get_type(void);

/**
 * GstDctComponent:
 * @id: 1 Y, 2 Cb, 3 Cr, 4 K; 'R', 'G', 'B'; 'C', 'M', 'Y', 'K' (as in a JPEG frame header)
 * @h_samp: horizontal sampling factor as in a JPEG frame header (4:2:0: 2, 1, 1)
 * @v_samp: vertical sampling factor
 * @width: samples in a row: picture width x @h_samp / largest h_samp, rounded up
 * @height: rows, likewise
 * @blocks_w: blocks in a row: @width / 8, rounded up
 * @blocks_h: rows of blocks
 * @offset: bytes from the start of the buffer to the first coefficient
 * @stride: bytes from one row of blocks (#GST_DCT_LAYOUT_BLOCK) or of coefficients
 *   (#GST_DCT_LAYOUT_PLANE, #GST_DCT_LAYOUT_BAND) to the next
 * @table: index of the quantization table
 *
 * One component of a picture and where its coefficients are in the buffer.
 *
 * Since: 1.0
 */
typedef struct {
  guint id;
  guint h_samp;
  guint v_samp;
  guint width;
  guint height;
  guint blocks_w;
  guint blocks_h;
  gsize offset;
  gsize stride;
  guint table;
  /*< private >*/
  gpointer _gst_reserved[2];
} GstDctComponent;

#define GST_TYPE_DCT_COMPONENT (gst_dct_component_get_type())
GST_COEF_API GType gst_dct_component_get_type(void);

/**
 * GstDctInfo:
 * @format: the type of a coefficient
 * @layout: where a block's coefficients are
 * @order: the order of coefficients inside a block
 * @quantized: %TRUE: quantized coefficients, to be multiplied by the tables in #GstDctMeta; %FALSE:
 *   values of the orthonormal transform
 * @depth: bits of the samples that the coefficients represent: 8, 10, 12 or 16
 * @sampling: the components and their relative sizes
 * @width: width of the picture in samples
 * @height: height of the picture in samples
 * @fps_n: numerator of the frame rate; 0/1 means variable or unknown
 * @fps_d: denominator of the frame rate
 * @n_components: components in use: 1 to 4
 * @components: (array fixed-size=4): the components in the default layout
 * @size: bytes of a buffer in the default layout
 *
 * The contents of video/x-dct caps, and the default layout of a buffer in system memory:
 * components one after the other, rows without padding.
 *
 * Since: 1.0
 */
typedef struct {
  GstCoefFormat format;
  GstDctLayout layout;
  GstDctOrder order;
  gboolean quantized;
  guint depth;
  GstCoefSampling sampling;
  gint width;
  gint height;
  gint fps_n;
  gint fps_d;
  guint n_components;
  GstDctComponent components[GST_DCT_MAX_COMPONENTS];
  gsize size;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
} GstDctInfo;

#define GST_TYPE_DCT_INFO (gst_dct_info_get_type())
GST_COEF_API GType gst_dct_info_get_type(void);

/**
 * gst_dct_info_new: (constructor)
 *
 * Returns: (transfer full): an unfilled info, with all fields zero
 *
 * Since: 1.0
 */
GST_COEF_API GstDctInfo* gst_dct_info_new(void);

/**
 * gst_dct_info_copy:
 * @info: an info
 *
 * Returns: (transfer full): a copy of @info
 *
 * Since: 1.0
 */
GST_COEF_API GstDctInfo* gst_dct_info_copy(const GstDctInfo* info);

/**
 * gst_dct_info_free:
 * @info: (nullable): an info of gst_dct_info_new() or gst_dct_info_copy()
 *
 * Since: 1.0
 */
GST_COEF_API void gst_dct_info_free(GstDctInfo* info);

/**
 * gst_dct_info_set:
 * @info: (out caller-allocates): the info to fill
 * @format: the type of a coefficient
 * @layout: where a block's coefficients are
 * @order: the order inside a block; raster with #GST_DCT_LAYOUT_PLANE, zigzag with
 *   #GST_DCT_LAYOUT_BAND
 * @quantized: %TRUE needs #GST_COEF_FORMAT_S16LE (@depth to 12) or #GST_COEF_FORMAT_S32LE (@depth
 *   16), %FALSE needs #GST_COEF_FORMAT_S32LE, #GST_COEF_FORMAT_F32LE or #GST_COEF_FORMAT_F16LE
 * @depth: 8, 10, 12 or 16
 * @sampling: the components
 * @width: width of the picture, at least 1
 * @height: height of the picture, at least 1
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Fills @info, with an unknown frame rate and components in the default layout.
 *
 * Returns: %FALSE, with @info zeroed, where a value is out of range or two of them do not go
 *   together
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_info_set(GstDctInfo* info, GstCoefFormat format, GstDctLayout layout,
                                       GstDctOrder order, gboolean quantized, guint depth,
                                       GstCoefSampling sampling, gint width, gint height,
                                       gchar** reason);

/**
 * gst_dct_info_from_caps:
 * @info: (out caller-allocates): the info to fill
 * @caps: fixed caps
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Returns: %FALSE, with @info zeroed, on anything that is not a complete, allowed video/x-dct
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_info_from_caps(GstDctInfo* info, const GstCaps* caps, gchar** reason);

/**
 * gst_dct_info_to_caps:
 * @info: an info that gst_dct_info_set() or gst_dct_info_from_caps() has filled
 *
 * Makes caps in system memory; the caller adds features and the fields that are not in #GstDctInfo.
 *
 * Returns: (transfer full) (nullable): fixed caps, or %NULL when @info was never filled
 *
 * Since: 1.0
 */
GST_COEF_API GstCaps* gst_dct_info_to_caps(const GstDctInfo* info);

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
GST_COEF_API const GstDctComponent* gst_dct_info_get_component(const GstDctInfo* info, guint index);

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
GST_COEF_API gsize gst_dct_info_row_bytes(const GstDctInfo* info, guint component);

/**
 * gst_dct_info_rows:
 * @info: a filled info
 * @component: index of a component
 *
 * Returns: how many rows of gst_dct_info_row_bytes() @component has
 *
 * Since: 1.0
 */
GST_COEF_API guint gst_dct_info_rows(const GstDctInfo* info, guint component);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstDctInfo, gst_dct_info_free)

/**
 * gst_dct_caps_set_tables:
 * @caps: writable caps of video/x-dct
 * @values: (array length=n_values) (nullable): 64 divisors for each table, not all 0, in natural
 *   order, one table after the other
 * @n_values: 64 for each of 1 to 4 tables; 0 removes the fields
 * @component_tables: (array length=n_components) (nullable): the index of each component's table
 * @n_components: 1 to 4
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Writes quantization tables into the fields quantization-tables and component-tables. Coefficients
 * of buffers without #GstDctMeta have to be multiplied by them. Caps stay with coefficients where
 * metas do not, as in files of gdppay. A buffer's meta takes precedence.
 *
 * Returns: %TRUE when the fields have been set or removed
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_caps_set_tables(GstCaps* caps, const guint16* values, gsize n_values,
                                              const guint* component_tables, guint n_components,
                                              gchar** reason);

/**
 * gst_dct_caps_get_tables:
 * @caps: fixed caps of video/x-dct
 * @values: (out) (array length=n_values) (transfer full) (nullable): 64 divisors for each table, in
 *   natural order, one table after the other
 * @n_values: (out): 64 for each of 1 to 4 tables
 * @component_tables: (out) (array length=n_components) (transfer full) (nullable): the index of
 * each component's table
 * @n_components: (out): 1 to 4
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Reads the fields that gst_dct_caps_set_tables(), or other code, has written. On %FALSE the arrays
 * are %NULL.
 *
 * Returns: %TRUE when @caps have tables that can be used
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_caps_get_tables(const GstCaps* caps, guint16** values,
                                              gsize* n_values, guint** component_tables,
                                              guint* n_components, gchar** reason);

G_END_DECLS
