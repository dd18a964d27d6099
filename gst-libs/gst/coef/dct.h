// libgstcoef: what buffers of video/x-dct mean, for elements and applications.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Functions are documented where they are defined (in this folder) and, with introspection data, in
// the GIR.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#ifndef GST_COEF_API
#ifdef BUILDING_GST_COEF
#define GST_COEF_API GST_API_EXPORT
#else
#define GST_COEF_API GST_API_IMPORT
#endif
#endif

/**
 * GST_DCT_MEDIA_TYPE:
 *
 * The name of the caps structure that describes coefficients.
 */
#define GST_DCT_MEDIA_TYPE "video/x-dct"
#define GST_DCT_MAX_COMPONENTS 3
#define GST_DCT_MAX_TABLES 4

/**
 * GstDctFormat:
 * @GST_DCT_FORMAT_UNKNOWN: none
 * @GST_DCT_FORMAT_S16LE: signed 16 bits, little endian
 * @GST_DCT_FORMAT_S32LE: signed 32 bits, little endian
 * @GST_DCT_FORMAT_F32LE: IEEE 754 single precision, little endian
 *
 * The type of one coefficient in memory.
 */
typedef enum {
  GST_DCT_FORMAT_UNKNOWN,
  GST_DCT_FORMAT_S16LE,
  GST_DCT_FORMAT_S32LE,
  GST_DCT_FORMAT_F32LE,
} GstDctFormat;

/**
 * GstDctLayout:
 * @GST_DCT_LAYOUT_BLOCK: the 64 coefficients of a block follow one another, the blocks of a
 *   component are in raster order
 * @GST_DCT_LAYOUT_PLANE: coefficient (u, v) of block (bx, by) is at row 8 by + v, column 8 bx + u
 *
 * Where a block's coefficients lie.
 */
typedef enum {
  GST_DCT_LAYOUT_BLOCK,
  GST_DCT_LAYOUT_PLANE,
} GstDctLayout;

/**
 * GstDctOrder:
 * @GST_DCT_ORDER_RASTER: coefficient (u, v) at index 8 v + u
 * @GST_DCT_ORDER_ZIGZAG: the order of a JPEG file (ITU-T T.81, figure 5)
 *
 * The order of coefficients inside a block. #GST_DCT_LAYOUT_PLANE is always in raster order.
 */
typedef enum {
  GST_DCT_ORDER_RASTER,
  GST_DCT_ORDER_ZIGZAG,
} GstDctOrder;

/**
 * GstDctSampling:
 * @GST_DCT_SAMPLING_UNKNOWN: none
 * @GST_DCT_SAMPLING_GRAYSCALE: one component
 * @GST_DCT_SAMPLING_420: YCbCr-4:2:0, chroma halved in both directions
 * @GST_DCT_SAMPLING_422: YCbCr-4:2:2, chroma halved horizontally
 * @GST_DCT_SAMPLING_444: YCbCr-4:4:4
 * @GST_DCT_SAMPLING_440: YCbCr-4:4:0, chroma halved vertically
 * @GST_DCT_SAMPLING_411: YCbCr-4:1:1, chroma quartered horizontally
 * @GST_DCT_SAMPLING_RGB: red, green and blue, all at full size
 *
 * The components of a picture and their sizes relative to it.
 */
typedef enum {
  GST_DCT_SAMPLING_UNKNOWN,
  GST_DCT_SAMPLING_GRAYSCALE,
  GST_DCT_SAMPLING_420,
  GST_DCT_SAMPLING_422,
  GST_DCT_SAMPLING_444,
  GST_DCT_SAMPLING_440,
  GST_DCT_SAMPLING_411,
  GST_DCT_SAMPLING_RGB,
} GstDctSampling;

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
 * @n_components: 1 or 3
 * @components: (array fixed-size=3): the components in the default layout
 * @size: bytes of a buffer in the default layout
 *
 * Everything that video/x-dct caps say, and the default layout of a buffer in system memory:
 * components one after the other, rows without padding.
 */
typedef struct {
  GstDctFormat format;
  GstDctLayout layout;
  GstDctOrder order;
  gboolean quantized;
  guint depth;
  GstDctSampling sampling;
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

GST_COEF_API const gchar* gst_dct_format_to_string(GstDctFormat format);
GST_COEF_API GstDctFormat gst_dct_format_from_string(const gchar* string);
GST_COEF_API guint gst_dct_format_size(GstDctFormat format);
GST_COEF_API const gchar* gst_dct_sampling_to_string(GstDctSampling sampling);
GST_COEF_API GstDctSampling gst_dct_sampling_from_string(const gchar* string);
GST_COEF_API const gchar* gst_dct_sampling_get_colorspace(GstDctSampling sampling);

GST_COEF_API gboolean gst_dct_info_set(GstDctInfo* info, GstDctFormat format, GstDctLayout layout,
                                       GstDctOrder order, gboolean quantized, guint depth,
                                       GstDctSampling sampling, gint width, gint height);
GST_COEF_API gboolean gst_dct_info_from_caps(GstDctInfo* info, const GstCaps* caps);
GST_COEF_API GstCaps* gst_dct_info_to_caps(const GstDctInfo* info);
GST_COEF_API const GstDctComponent* gst_dct_info_get_component(const GstDctInfo* info, guint index);
GST_COEF_API gsize gst_dct_info_row_bytes(const GstDctInfo* info, guint component);
GST_COEF_API guint gst_dct_info_rows(const GstDctInfo* info, guint component);

GST_COEF_API gboolean gst_dct_caps_set_tables(GstCaps* caps, const guint16* values, gsize n_values,
                                              const guint* component_tables, guint n_components,
                                              gchar** reason);
GST_COEF_API gboolean gst_dct_caps_get_tables(const GstCaps* caps, guint16** values,
                                              gsize* n_values, guint** component_tables,
                                              guint* n_components, gchar** reason);

/**
 * GstCoefSyncPoint:
 *
 * One point in some device's work. Reference counted and thread safe; made by whoever submits the
 * work.
 */
typedef struct _GstCoefSyncPoint GstCoefSyncPoint;

/**
 * GstCoefSyncPointFuncs:
 * @wait_host: blocks until the work is done; returns %FALSE when it failed, or when it cannot be
 *   waited for: then @is_done tells which
 * @wait_stream: makes later work of the given CUstream start after it, without blocking; %NULL
 *   where the calling thread has to wait instead, which it does as well after %FALSE
 * @is_done: whether the work is done (also when it failed); never blocks
 *
 * What a #GstCoefSyncPoint can do. The functions may be called from any thread, several at a time.
 */
typedef struct {
  gboolean (*wait_host)(gpointer user_data);
  gboolean (*wait_stream)(gpointer user_data, gpointer cuda_stream);
  gboolean (*is_done)(gpointer user_data);
} GstCoefSyncPointFuncs;

#define GST_TYPE_COEF_SYNC_POINT (gst_coef_sync_point_get_type())
GST_COEF_API GType gst_coef_sync_point_get_type(void);
GST_COEF_API GstCoefSyncPoint* gst_coef_sync_point_new(const GstCoefSyncPointFuncs* funcs,
                                                       gpointer user_data, GDestroyNotify destroy);
GST_COEF_API GstCoefSyncPoint* gst_coef_sync_point_ref(GstCoefSyncPoint* point);
GST_COEF_API void gst_coef_sync_point_unref(GstCoefSyncPoint* point);

/**
 * GstCoefFence:
 *
 * When a buffer's coefficients are complete, and when their readers are done. Shared by all copies
 * of a buffer. It has two sides: *written*, which a consumer waits for before it reads, and *read*,
 * which the memory's next writer waits for. A fence that nobody has set is done.
 */
typedef struct _GstCoefFence GstCoefFence;

#define GST_TYPE_COEF_FENCE (gst_coef_fence_get_type())
GST_COEF_API GType gst_coef_fence_get_type(void);
GST_COEF_API GstCoefFence* gst_coef_fence_new(void);
GST_COEF_API GstCoefFence* gst_coef_fence_ref(GstCoefFence* fence);
GST_COEF_API void gst_coef_fence_unref(GstCoefFence* fence);
GST_COEF_API void gst_coef_fence_set_written(GstCoefFence* fence, GstCoefSyncPoint* point);
GST_COEF_API void gst_coef_fence_add_read(GstCoefFence* fence, GstCoefSyncPoint* point);
GST_COEF_API gboolean gst_coef_fence_wait_written(GstCoefFence* fence, gpointer cuda_stream);
GST_COEF_API gboolean gst_coef_fence_wait_read(GstCoefFence* fence, gpointer cuda_stream);

/**
 * GstDctTable:
 * @values: (array fixed-size=64): the divisors in natural order: that of coefficient (u, v) at
 *   index 8 v + u
 *
 * A quantisation table.
 */
typedef struct {
  guint16 values[64];
} GstDctTable;

/**
 * GstDctMetaFlags:
 * @GST_DCT_META_FLAG_NONE: a frame
 * @GST_DCT_META_FLAG_TOP_FIELD: the picture is a single top field
 * @GST_DCT_META_FLAG_BOTTOM_FIELD: the picture is a single bottom field
 */
typedef enum {
  GST_DCT_META_FLAG_NONE = 0,
  GST_DCT_META_FLAG_TOP_FIELD = 1 << 0,
  GST_DCT_META_FLAG_BOTTOM_FIELD = 1 << 1,
} GstDctMetaFlags;

/**
 * GstDctMeta:
 * @meta: the parent
 * @flags: what the picture is
 * @n_components: components in use
 * @components: (array fixed-size=3): the components and where they lie in this buffer
 * @n_tables: tables in use; 0 when the coefficients are not quantised
 * @tables: (array fixed-size=4): the tables that @components index
 * @fence: (nullable): when the coefficients are complete; %NULL: now
 *
 * What may change with every buffer of video/x-dct. Immutable once the buffer has been pushed.
 * Copied with copies of the whole buffer only; the fence is shared.
 *
 * An element that lists #GST_DCT_META_API_TYPE in the answer to an ALLOCATION query promises to
 * wait for @fence; others get buffers whose coefficients are complete.
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
 * GstCoefReferenceMeta:
 * @meta: the parent
 * @source: the frame that the coefficients were made from
 * @info: its format and size, and the strides and offsets that hold in @source
 *
 * The source frame, kept for measuring. Attached by cudadct8x8 keep-reference=true.
 */
typedef struct {
  GstMeta meta;
  GstBuffer* source;
  GstVideoInfo info;
} GstCoefReferenceMeta;

#define GST_COEF_REFERENCE_META_API_TYPE (gst_coef_reference_meta_api_get_type())
#define GST_COEF_REFERENCE_META_INFO (gst_coef_reference_meta_get_info())
GST_COEF_API GType gst_coef_reference_meta_api_get_type(void);
GST_COEF_API const GstMetaInfo* gst_coef_reference_meta_get_info(void);
GST_COEF_API GstCoefReferenceMeta* gst_buffer_add_coef_reference_meta(GstBuffer* buffer,
                                                                      GstBuffer* source,
                                                                      const GstVideoInfo* info);
GST_COEF_API GstCoefReferenceMeta* gst_buffer_get_coef_reference_meta(GstBuffer* buffer);

/**
 * GstDctJpegMeta:
 * @meta: the parent
 * @segments: APPn and COM segments as they stand in a JPEG file, one behind the other, each from
 *   the FF of its marker on
 *
 * What a JPEG file says about its picture besides the coefficients: density, Exif, XMP, colour
 * profile, comments. Attached by jpegcoefdec, written by jpegcoefenc. Copied with copies of the
 * whole buffer; the bytes are shared. It holds for that very picture, so elements that make another
 * one of it do not carry it over.
 */
typedef struct {
  GstMeta meta;
  GBytes* segments;
} GstDctJpegMeta;

#define GST_DCT_JPEG_META_API_TYPE (gst_dct_jpeg_meta_api_get_type())
#define GST_DCT_JPEG_META_INFO (gst_dct_jpeg_meta_get_info())
GST_COEF_API GType gst_dct_jpeg_meta_api_get_type(void);
GST_COEF_API const GstMetaInfo* gst_dct_jpeg_meta_get_info(void);
GST_COEF_API GstDctJpegMeta* gst_buffer_add_dct_jpeg_meta(GstBuffer* buffer, GBytes* segments);
GST_COEF_API GstDctJpegMeta* gst_buffer_get_dct_jpeg_meta(GstBuffer* buffer);

G_END_DECLS
