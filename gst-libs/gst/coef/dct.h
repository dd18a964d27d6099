// What buffers of video/x-dct mean: the coefficients of an 8x8 DCT, as in JPEG.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Functions are documented where they are defined (in this folder) and, with introspection data, in
// the GIR.
#pragma once

#include <gst/gst.h>

#include <gst/coef/fence.h>
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
 * How many components there is room for. No #GstCoefSampling has four yet: the fourth is there for
 * CMYK and alpha, and gst_dct_meta_validate() refuses it until then.
 *
 * Since: 1.0
 */
#define GST_DCT_MAX_COMPONENTS 4

/**
 * GST_DCT_MAX_TABLES:
 *
 * How many quantisation tables a buffer may have.
 *
 * Since: 1.0
 */
#define GST_DCT_MAX_TABLES 4

/**
 * GstDctLayout:
 * @GST_DCT_LAYOUT_BLOCK: the 64 coefficients of a block follow one another, the blocks of a
 *   component are in raster order
 * @GST_DCT_LAYOUT_PLANE: coefficient (u, v) of block (bx, by) is at row 8 by + v, column 8 bx + u
 *
 * Where a block's coefficients lie.
 *
 * Since: 1.0
 */
typedef enum {
  GST_DCT_LAYOUT_BLOCK,
  GST_DCT_LAYOUT_PLANE,
} GstDctLayout;

#define GST_TYPE_DCT_LAYOUT (gst_dct_layout_get_type())
GST_COEF_API GType gst_dct_layout_get_type(void);

/**
 * GstDctOrder:
 * @GST_DCT_ORDER_RASTER: coefficient (u, v) at index 8 v + u
 * @GST_DCT_ORDER_ZIGZAG: the order of a JPEG file (ITU-T T.81, figure 5)
 *
 * The order of coefficients inside a block. #GST_DCT_LAYOUT_PLANE is always in raster order.
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
 * @id: 1 Y, 2 Cb, 3 Cr; 'R', 'G', 'B' (as in a JPEG frame header)
 * @h_samp: horizontal sampling factor as in a JPEG frame header (4:2:0: 2, 1, 1)
 * @v_samp: vertical sampling factor
 * @width: samples in a row: picture width x @h_samp / largest h_samp, rounded up
 * @height: rows, likewise
 * @blocks_w: blocks in a row: @width / 8, rounded up
 * @blocks_h: rows of blocks
 * @offset: bytes from the start of the buffer to the first coefficient
 * @stride: bytes from one row of blocks (#GST_DCT_LAYOUT_BLOCK) or of coefficients
 *   (#GST_DCT_LAYOUT_PLANE) to the next
 * @table: index of the quantisation table
 *
 * One component of a picture and where its coefficients lie in the buffer.
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
 * @layout: where a block's coefficients lie
 * @order: the order of coefficients inside a block
 * @quantized: %TRUE: levels, to be multiplied by the tables in #GstDctMeta; %FALSE: values of the
 *   orthonormal transform
 * @depth: bits of the samples that the coefficients stand for: 8, 10, 12 or 16
 * @sampling: the components and their relative sizes
 * @width: width of the picture in samples
 * @height: height of the picture in samples
 * @fps_n: numerator of the frame rate; 0/1 means variable or unknown
 * @fps_d: denominator of the frame rate
 * @n_components: components in use: 1 or 3
 * @components: (array fixed-size=4): the components in the default layout
 * @size: bytes of a buffer in the default layout
 *
 * Everything that video/x-dct caps say, and the default layout of a buffer in system memory:
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
GST_COEF_API GstDctInfo* gst_dct_info_new(void);
GST_COEF_API GstDctInfo* gst_dct_info_copy(const GstDctInfo* info);
GST_COEF_API void gst_dct_info_free(GstDctInfo* info);
GST_COEF_API gboolean gst_dct_info_set(GstDctInfo* info, GstCoefFormat format, GstDctLayout layout,
                                       GstDctOrder order, gboolean quantized, guint depth,
                                       GstCoefSampling sampling, gint width, gint height);
GST_COEF_API gboolean gst_dct_info_from_caps(GstDctInfo* info, const GstCaps* caps);
GST_COEF_API GstCaps* gst_dct_info_to_caps(const GstDctInfo* info);
GST_COEF_API const GstDctComponent* gst_dct_info_get_component(const GstDctInfo* info, guint index);
GST_COEF_API gsize gst_dct_info_row_bytes(const GstDctInfo* info, guint component);
GST_COEF_API guint gst_dct_info_rows(const GstDctInfo* info, guint component);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstDctInfo, gst_dct_info_free)

GST_COEF_API gboolean gst_dct_caps_set_tables(GstCaps* caps, const guint16* values, gsize n_values,
                                              const guint* component_tables, guint n_components,
                                              gchar** reason);
GST_COEF_API gboolean gst_dct_caps_get_tables(const GstCaps* caps, guint16** values,
                                              gsize* n_values, guint** component_tables,
                                              guint* n_components, gchar** reason);

/**
 * GstDctTable:
 * @values: (array fixed-size=64): the divisors in natural order: that of coefficient (u, v) at
 *   index 8 v + u
 *
 * A quantisation table.
 *
 * Since: 1.0
 */
typedef struct {
  guint16 values[64];
} GstDctTable;

/**
 * GstDctMetaFlags:
 * @GST_DCT_META_FLAG_NONE: a frame
 * @GST_DCT_META_FLAG_TOP_FIELD: the picture is a single top field
 * @GST_DCT_META_FLAG_BOTTOM_FIELD: the picture is a single bottom field
 *
 * Since: 1.0
 */
typedef enum {
  GST_DCT_META_FLAG_NONE = 0,
  GST_DCT_META_FLAG_TOP_FIELD = 1 << 0,
  GST_DCT_META_FLAG_BOTTOM_FIELD = 1 << 1,
} GstDctMetaFlags;

#define GST_TYPE_DCT_META_FLAGS (gst_dct_meta_flags_get_type())
GST_COEF_API GType gst_dct_meta_flags_get_type(void);

/**
 * GstDctMeta:
 * @meta: the parent
 * @flags: what the picture is
 * @n_components: components in use
 * @components: (array fixed-size=4): the components and where they lie in this buffer
 * @n_tables: tables in use; 0 when the coefficients are not quantised
 * @tables: (array fixed-size=4): the tables that @components index
 * @fence: (nullable): when the coefficients are complete; %NULL: now
 *
 * What may change with every buffer of video/x-dct. Immutable once the buffer has been pushed.
 * Copied with copies of the whole buffer only; the fence is shared.
 *
 * Who has not promised to wait for @fence (%GST_COEF_FENCE_API_TYPE) gets buffers whose
 * coefficients are complete. The library allocates the meta and may add fields at its end.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  GstDctMetaFlags flags;
  guint n_components;
  GstDctComponent components[GST_DCT_MAX_COMPONENTS];
  guint n_tables;
  GstDctTable tables[GST_DCT_MAX_TABLES];
  GstCoefFence* fence;
} GstDctMeta;

/**
 * GST_DCT_META_API_TYPE:
 *
 * The API of #GstDctMeta. In the answer to an ALLOCATION query it has GStreamer's usual meaning, "I
 * read this meta", and promises nothing about fences: that is %GST_COEF_FENCE_API_TYPE. Producers
 * attach the meta in any case, because coefficients cannot be read without it.
 *
 * Since: 1.0
 */
#define GST_DCT_META_API_TYPE (gst_dct_meta_api_get_type())
#define GST_DCT_META_INFO (gst_dct_meta_get_info())
GST_COEF_API GType gst_dct_meta_api_get_type(void);
GST_COEF_API const GstMetaInfo* gst_dct_meta_get_info(void);
GST_COEF_API GstDctMeta* gst_buffer_add_dct_meta(GstBuffer* buffer, const GstDctInfo* info);
GST_COEF_API GstDctMeta* gst_buffer_get_dct_meta(GstBuffer* buffer);
GST_COEF_API gboolean gst_dct_meta_get_table(const GstDctMeta* meta, guint index, GstDctOrder order,
                                             guint16* values);
GST_COEF_API guint16* gst_dct_meta_dup_table(const GstDctMeta* meta, guint index,
                                             GstDctOrder order);
GST_COEF_API gboolean gst_dct_meta_set_table(GstDctMeta* meta, guint index, const guint16* values);
GST_COEF_API const GstDctComponent* gst_dct_meta_get_component(const GstDctMeta* meta, guint index);
GST_COEF_API void gst_dct_meta_set_fence(GstDctMeta* meta, GstCoefFence* fence);
GST_COEF_API gboolean gst_dct_meta_validate(const GstDctMeta* meta, const GstDctInfo* info,
                                            gsize buffer_size, gchar** reason);

/**
 * GstDctJpegIrregularity:
 * @GST_DCT_JPEG_REGULAR: nothing
 * @GST_DCT_JPEG_LEFT_OVER_BYTES: bytes behind the last block of a scan or of a restart interval,
 *   before the next marker
 * @GST_DCT_JPEG_STRAY_BYTES: bytes between segments
 * @GST_DCT_JPEG_SCAN_PARAMETERS: the header of a sequential scan has other values than 0, 63, 0, 0
 *   for Ss, Se, Ah and Al
 * @GST_DCT_JPEG_MISSING_END: the file ends behind the last block, without an EOI marker
 * @GST_DCT_JPEG_USELESS_MARKER: a marker without a meaning where it is: RSTn outside of a scan,
 * TEM, DNL behind a frame header that has the height
 * @GST_DCT_JPEG_UNKNOWN_HEADER: a JFIF version or an Adobe transform code that nobody knows
 *
 * What was odd about a JPEG file of which nothing is missing: all blocks came, by valid codes, so
 * that the coefficients are certain, as far as files of Huffman codes can be.
 *
 * Since: 1.0
 */
typedef enum {
  GST_DCT_JPEG_REGULAR = 0,
  GST_DCT_JPEG_LEFT_OVER_BYTES = 1 << 0,
  GST_DCT_JPEG_STRAY_BYTES = 1 << 1,
  GST_DCT_JPEG_SCAN_PARAMETERS = 1 << 2,
  GST_DCT_JPEG_MISSING_END = 1 << 3,
  GST_DCT_JPEG_USELESS_MARKER = 1 << 4,
  GST_DCT_JPEG_UNKNOWN_HEADER = 1 << 5,
} GstDctJpegIrregularity;

#define GST_TYPE_DCT_JPEG_IRREGULARITY (gst_dct_jpeg_irregularity_get_type())
GST_COEF_API GType gst_dct_jpeg_irregularity_get_type(void);

/**
 * GstDctJpegMeta:
 * @meta: the parent
 * @segments: (nullable): APPn and COM segments as they stand in a JPEG file, one behind the other,
 *   each from the FF of its marker on; %NULL: none were kept
 * @irregular: what was odd about the file that was read
 *
 * What a JPEG file says about its picture besides the coefficients: density, Exif, XMP, colour
 * profile, comments. Attached by jpegcoefdec, written by jpegcoefenc. Copied with copies of the
 * whole buffer; the bytes are shared. It holds for that very picture, so elements that make another
 * one of it do not carry it over.
 *
 * @irregular describes the file that was read and not the coefficients, so nobody writes it into
 * another file, and the meta is not serialised for it. The library allocates the meta and may add
 * fields at its end.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  GBytes* segments;
  GstDctJpegIrregularity irregular;
} GstDctJpegMeta;

#define GST_DCT_JPEG_META_API_TYPE (gst_dct_jpeg_meta_api_get_type())
#define GST_DCT_JPEG_META_INFO (gst_dct_jpeg_meta_get_info())
GST_COEF_API GType gst_dct_jpeg_meta_api_get_type(void);
GST_COEF_API const GstMetaInfo* gst_dct_jpeg_meta_get_info(void);
GST_COEF_API GstDctJpegMeta* gst_buffer_add_dct_jpeg_meta(GstBuffer* buffer, GBytes* segments);
GST_COEF_API GstDctJpegMeta* gst_buffer_get_dct_jpeg_meta(GstBuffer* buffer);

G_END_DECLS
