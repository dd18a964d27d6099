// The properties of video/x-dct that may change with every buffer: places, tables, a fence; and the
// contents of a JPEG file other than its coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/dct-info.h>
#include <gst/coef/fence.h>
#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GstDctTable:
 * @values: (array fixed-size=64): the divisors in natural order: that of coefficient (u, v) at
 *   index 8 v + u
 *
 * A quantization table.
 *
 * Since: 1.0
 */
typedef struct {
  guint16 values[64];
} GstDctTable;

/**
 * GstDctMeta:
 * @meta: the parent
 * @n_components: components in use
 * @components: (array fixed-size=4): the components and where they are in this buffer
 * @n_tables: tables in use; 0 when the coefficients are not quantized
 * @tables: (array fixed-size=4): the tables that @components index
 * @fence: (nullable): when the coefficients are complete; %NULL: now
 *
 * The properties of video/x-dct that may change with every buffer. Immutable once the buffer has
 * been pushed. Copied with copies of the whole buffer only; the fence is shared.
 *
 * A consumer that has not promised to wait for @fence (%GST_COEF_FENCE_API_TYPE) receives finished
 * buffers. The library allocates the meta and may add fields at its end.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
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
 * read this meta", and promises nothing about fences: %GST_COEF_FENCE_API_TYPE does that. Producers
 * attach the meta in any case, because coefficients cannot be read without it.
 *
 * Since: 1.0
 */
#define GST_DCT_META_API_TYPE (gst_dct_meta_api_get_type())
#define GST_DCT_META_INFO (gst_dct_meta_get_info())

/**
 * gst_dct_meta_api_get_type:
 *
 * Returns: %GST_DCT_META_API_TYPE, the API of #GstDctMeta
 *
 * Since: 1.0
 */
GST_COEF_API GType gst_dct_meta_api_get_type(void);

/**
 * gst_dct_meta_get_info:
 *
 * Returns: (transfer none): what GStreamer knows of #GstDctMeta
 *
 * Since: 1.0
 */
GST_COEF_API const GstMetaInfo* gst_dct_meta_get_info(void);

/**
 * gst_buffer_add_dct_meta:
 * @buffer: (transfer none): a writable buffer
 * @info: a filled info
 *
 * Adds a meta with @info's components in its default layout, no tables and no fence; the caller
 * then changes the differing fields.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstDctMeta* gst_buffer_add_dct_meta(GstBuffer* buffer, const GstDctInfo* info);

/**
 * gst_buffer_get_dct_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstDctMeta* gst_buffer_get_dct_meta(GstBuffer* buffer);

/**
 * gst_dct_meta_get_table: (skip)
 * @meta: a meta
 * @index: index of the table
 * @order: the order wanted; the table itself is in natural order
 * @values: 64 divisors to fill
 *
 * Returns: %FALSE, with @values untouched, when there is no such table
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_meta_get_table(const GstDctMeta* meta, guint index, GstDctOrder order,
                                             guint16* values);

/**
 * gst_dct_meta_dup_table: (rename-to gst_dct_meta_get_table)
 * @meta: a meta
 * @index: index of the table
 * @order: the order wanted
 *
 * Returns: (transfer full) (nullable) (array fixed-size=64): the divisors, or %NULL when there is
 *   no such table
 *
 * Since: 1.0
 */
GST_COEF_API guint16* gst_dct_meta_dup_table(const GstDctMeta* meta, guint index,
                                             GstDctOrder order);

/**
 * gst_dct_meta_set_table:
 * @meta: a meta whose buffer has not been pushed
 * @index: index of the table; tables before it that were never set are zero, hence not valid
 * @values: (array fixed-size=64): the divisors in natural order
 *
 * Returns: %FALSE when there is no room for such a table
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_meta_set_table(GstDctMeta* meta, guint index, const guint16* values);

/**
 * gst_dct_meta_get_component:
 * @meta: a meta
 * @index: index of a component
 *
 * The same as the field, for languages that cannot read an array of structures.
 *
 * Returns: (transfer none) (nullable): the component, or %NULL when there is none
 *
 * Since: 1.0
 */
GST_COEF_API const GstDctComponent* gst_dct_meta_get_component(const GstDctMeta* meta, guint index);

/**
 * gst_dct_meta_set_fence:
 * @meta: a meta
 * @fence: (transfer none) (nullable): a fence, or %NULL to remove the one there is
 *
 * Since: 1.0
 */
GST_COEF_API void gst_dct_meta_set_fence(GstDctMeta* meta, GstCoefFence* fence);

/**
 * gst_dct_meta_validate:
 * @meta: (nullable): a buffer's meta, or %NULL when it has none
 * @info: a filled info
 * @buffer_size: bytes of the buffer
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Whether @meta (or, when it is %NULL and the coefficients are not quantized, the default layout)
 * describes coefficients of @info inside @buffer_size bytes: components, block counts, offsets,
 * strides, alignment, tables that were set. Some of a table's divisors may be 0, as in a few JPEG
 * files: such a coefficient is dequantized to 0.
 *
 * Returns: %TRUE when a reader can rely on @meta
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_meta_validate(const GstDctMeta* meta, const GstDctInfo* info,
                                            gsize buffer_size, gchar** reason);

/**
 * GstDctJpegIrregularity:
 * @GST_DCT_JPEG_REGULAR: nothing
 * @GST_DCT_JPEG_TRAILING_BYTES: bytes after the last block of a scan or of a restart interval,
 *   before the next marker
 * @GST_DCT_JPEG_EXTRANEOUS_BYTES: bytes between segments
 * @GST_DCT_JPEG_SCAN_PARAMETERS: the header of a sequential scan has other values than 0, 63, 0, 0
 *   for Ss, Se, Ah and Al
 * @GST_DCT_JPEG_MISSING_EOI: the file ends after the last block, without an EOI marker
 * @GST_DCT_JPEG_UNEXPECTED_MARKER: a marker without a meaning where it is: RSTn outside of a scan,
 *   TEM, DNL after a frame header that has the height
 * @GST_DCT_JPEG_UNKNOWN_HEADER: an unknown JFIF version or Adobe transform code
 *
 * The irregularities of a complete JPEG file: all blocks were decoded from valid codes, so the
 * coefficients are as certain as files of Huffman codes allow.
 *
 * Since: 1.0
 */
typedef enum {
  GST_DCT_JPEG_REGULAR = 0,
  GST_DCT_JPEG_TRAILING_BYTES = 1 << 0,
  GST_DCT_JPEG_EXTRANEOUS_BYTES = 1 << 1,
  GST_DCT_JPEG_SCAN_PARAMETERS = 1 << 2,
  GST_DCT_JPEG_MISSING_EOI = 1 << 3,
  GST_DCT_JPEG_UNEXPECTED_MARKER = 1 << 4,
  GST_DCT_JPEG_UNKNOWN_HEADER = 1 << 5,
} GstDctJpegIrregularity;

#define GST_TYPE_DCT_JPEG_IRREGULARITY (gst_dct_jpeg_irregularity_get_type())
GST_COEF_API GType gst_dct_jpeg_irregularity_get_type(void);

/**
 * GST_DCT_JPEG_MAX_ATTACHMENTS:
 *
 * The maximum number of pictures in a #GstDctJpegMeta besides the one of its coefficients.
 *
 * Since: 1.0
 */
#define GST_DCT_JPEG_MAX_ATTACHMENTS 255

/**
 * GstDctJpegPlace:
 * @offset: of the first byte, in bytes
 * @size: bytes
 *
 * A range of bytes.
 *
 * Since: 1.0
 */
typedef struct {
  gsize offset;
  gsize size;
} GstDctJpegPlace;

/**
 * GstDctJpegMeta:
 * @meta: the parent
 * @segments: (nullable): APPn and COM segments as in a JPEG file, concatenated,
 *   each from the FF of its marker on; %NULL: none were kept
 * @irregular: irregularities of the file that was read
 * @trailing: (nullable): the bytes after the picture in its file; %NULL: none were kept
 * @n_attachments: further pictures in @trailing, up to %GST_DCT_JPEG_MAX_ATTACHMENTS
 * @attachments: (nullable) (array length=n_attachments): where they are in @trailing, each a whole
 *   JPEG file, in the order of the file's index
 *
 * The contents of a JPEG file besides the coefficients: density, Exif, XMP, color profile,
 * comments; and the bytes after the picture: gain maps, the other half of a stereo pair,
 * previews, trailers. Attached by jpegcoefdec, written by jpegcoefenc. Copied with copies of the
 * whole buffer; the bytes are shared. It describes this very picture, so elements that turn it into
 * another do not carry it over.
 *
 * With attachments @segments has the file's index of pictures, an APP2 segment "MPF" (CIPA DC-007),
 * whose sizes and offsets are those of the file that was read. jpegcoefenc rewrites them. The
 * fields from @trailing on are set by gst_dct_jpeg_meta_set_trailing().
 *
 * @irregular describes the file that was read and not the coefficients, so elements do not write it
 * into another file. From GStreamer 1.24 on the meta has a serial form (gdppay, unixfdsink). The
 * library allocates the meta and may add fields at its end.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  GBytes* segments;
  GstDctJpegIrregularity irregular;
  GBytes* trailing;
  guint n_attachments;
  GstDctJpegPlace* attachments;
} GstDctJpegMeta;

#define GST_DCT_JPEG_META_API_TYPE (gst_dct_jpeg_meta_api_get_type())
#define GST_DCT_JPEG_META_INFO (gst_dct_jpeg_meta_get_info())

/**
 * gst_dct_jpeg_meta_api_get_type:
 *
 * Returns: the API of #GstDctJpegMeta
 *
 * Since: 1.0
 */
GST_COEF_API GType gst_dct_jpeg_meta_api_get_type(void);

/**
 * gst_dct_jpeg_meta_get_info:
 *
 * Returns: (transfer none): what GStreamer knows of #GstDctJpegMeta
 *
 * Since: 1.0
 */
GST_COEF_API const GstMetaInfo* gst_dct_jpeg_meta_get_info(void);

/**
 * gst_buffer_add_dct_jpeg_meta:
 * @buffer: (transfer none): a writable buffer of coefficients
 * @segments: (transfer none) (nullable): marker segments, see #GstDctJpegMeta
 *
 * Does not check @segments. The meta reports no oddities; the caller then changes that.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstDctJpegMeta* gst_buffer_add_dct_jpeg_meta(GstBuffer* buffer, GBytes* segments);

/**
 * gst_buffer_get_dct_jpeg_meta:
 * @buffer: (transfer none): a buffer
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer
 *
 * Since: 1.0
 */
GST_COEF_API GstDctJpegMeta* gst_buffer_get_dct_jpeg_meta(GstBuffer* buffer);

/**
 * gst_dct_jpeg_meta_set_trailing:
 * @meta: a meta whose buffer has not been pushed
 * @trailing: (transfer none) (nullable): the bytes after the picture in its file
 * @attachments: (nullable) (array length=n_attachments): where pictures are in it, which is copied
 * @n_attachments: how many
 *
 * The function replaces earlier bytes and places. It does not parse @trailing.
 *
 * Returns: %FALSE, and nothing changes, with more than %GST_DCT_JPEG_MAX_ATTACHMENTS places or with
 *   one that is empty or not in @trailing
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dct_jpeg_meta_set_trailing(GstDctJpegMeta* meta, GBytes* trailing,
                                                     const GstDctJpegPlace* attachments,
                                                     guint n_attachments);

/**
 * gst_dct_jpeg_meta_get_attachment:
 * @meta: a meta
 * @index: index of an attachment
 *
 * Returns: (transfer full) (nullable): the attachment, a whole JPEG file, or %NULL when there is
 *   none
 *
 * Since: 1.0
 */
GST_COEF_API GBytes* gst_dct_jpeg_meta_get_attachment(const GstDctJpegMeta* meta, guint index);

/**
 * gst_dct_jpeg_meta_get_trailer:
 * @meta: a meta
 *
 * Returns: (transfer full) (nullable): the bytes after the last of all pictures, or %NULL when
 *   there are none
 *
 * Since: 1.0
 */
GST_COEF_API GBytes* gst_dct_jpeg_meta_get_trailer(const GstDctJpegMeta* meta);

G_END_DECLS
