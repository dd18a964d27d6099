// libgstdct: what buffers of video/x-dct mean, for elements and applications.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#ifndef GST_DCT_API
#define GST_DCT_API extern
#endif

#define GST_DCT_MEDIA_TYPE "video/x-dct"
#define GST_DCT_MAX_COMPONENTS 3
#define GST_DCT_MAX_TABLES 4

// Type of one coefficient in memory, little endian.
typedef enum {
  GST_DCT_FORMAT_UNKNOWN,
  GST_DCT_FORMAT_S16LE,
  GST_DCT_FORMAT_S32LE,
  GST_DCT_FORMAT_F32LE,
} GstDctFormat;

typedef enum {
  GST_DCT_LAYOUT_BLOCK,  // 64 consecutive per block, blocks in raster order per component
  GST_DCT_LAYOUT_PLANE,  // coefficient (u,v) of block (bx,by) at row 8by+v, column 8bx+u
} GstDctLayout;

typedef enum { GST_DCT_ORDER_RASTER, GST_DCT_ORDER_ZIGZAG } GstDctOrder;

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

// One component of a picture and where its coefficients lie in the buffer.
typedef struct {
  guint id;           // 1 Y, 2 Cb, 3 Cr; 'R', 'G', 'B' (as in a JPEG frame header)
  guint h_samp;       // sampling factors as in a JPEG frame header (4:2:0: 2x2, 1x1, 1x1)
  guint v_samp;
  guint width;        // samples: ceil(picture width x h_samp / largest h_samp)
  guint height;
  guint blocks_w;     // ceil(width / 8)
  guint blocks_h;
  gsize offset;       // bytes from the start of the buffer
  gsize stride;       // bytes from one row of blocks (layout=block) or of coefficients (plane) to
                      // the next
  guint table;        // index of the quantisation table
  gpointer _gst_reserved[2];
} GstDctComponent;

// Everything that video/x-dct caps say, and the default layout of a buffer in system memory:
// components one after the other, rows without padding.
typedef struct {
  GstDctFormat format;
  GstDctLayout layout;
  GstDctOrder order;
  gboolean quantized;
  guint depth;  // 8, 10, 12, 16
  GstDctSampling sampling;
  gint width, height;  // picture size in samples
  gint fps_n, fps_d;   // 0/1: variable or unknown
  guint n_components;  // 1 or 3
  GstDctComponent components[GST_DCT_MAX_COMPONENTS];
  gsize size;  // bytes of a buffer in the default layout
  gpointer _gst_reserved[GST_PADDING];
} GstDctInfo;

GST_DCT_API const gchar* gst_dct_format_to_string(GstDctFormat format);
GST_DCT_API GstDctFormat gst_dct_format_from_string(const gchar* string);
// Bytes of one coefficient, 0 for UNKNOWN.
GST_DCT_API guint gst_dct_format_size(GstDctFormat format);
GST_DCT_API const gchar* gst_dct_sampling_to_string(GstDctSampling sampling);
GST_DCT_API GstDctSampling gst_dct_sampling_from_string(const gchar* string);
// "sYUV", "sRGB" or "GRAY".
GST_DCT_API const gchar* gst_dct_sampling_get_colorspace(GstDctSampling sampling);

// Fills `info`; FALSE where a value is out of range or a pair is not allowed (GST_DEBUG says which).
GST_DCT_API gboolean gst_dct_info_set(GstDctInfo* info, GstDctFormat format, GstDctLayout layout,
                                      GstDctOrder order, gboolean quantized, guint depth,
                                      GstDctSampling sampling, gint width, gint height);
// `caps` must be fixed. FALSE on anything that is not a complete, allowed video/x-dct.
GST_DCT_API gboolean gst_dct_info_from_caps(GstDctInfo* info, const GstCaps* caps);
GST_DCT_API GstCaps* gst_dct_info_to_caps(const GstDctInfo* info);
// Bytes that a row of `component` needs (a row of blocks for layout=block, else of coefficients) ...
GST_DCT_API gsize gst_dct_info_row_bytes(const GstDctInfo* info, guint component);
// ... and how many such rows it has.
GST_DCT_API guint gst_dct_info_rows(const GstDctInfo* info, guint component);

// ---- The fence: when a buffer's coefficients are complete, and when their readers are done ----

// One point in some device's work. Refcounted, thread safe; made by whoever submits work.
typedef struct _GstDctSyncPoint GstDctSyncPoint;
typedef struct {
  // Blocks until the work is done; FALSE when it failed.
  gboolean (*wait_host)(gpointer user_data);
  // Makes later work of `cuda_stream` (a CUstream) start after it, without blocking.
  gboolean (*wait_stream)(gpointer user_data, gpointer cuda_stream);
  gboolean (*is_done)(gpointer user_data);
} GstDctSyncPointFuncs;  // static storage

#define GST_TYPE_DCT_SYNC_POINT (gst_dct_sync_point_get_type())
GST_DCT_API GType gst_dct_sync_point_get_type(void);
GST_DCT_API GstDctSyncPoint* gst_dct_sync_point_new(const GstDctSyncPointFuncs* funcs,
                                                    gpointer user_data, GDestroyNotify destroy);
GST_DCT_API GstDctSyncPoint* gst_dct_sync_point_ref(GstDctSyncPoint* point);
GST_DCT_API void gst_dct_sync_point_unref(GstDctSyncPoint* point);

// Shared by all copies of a buffer. Two sides: *written*, which a consumer waits for before it
// reads, and *read*, which the memory's next writer waits for. A fence that nobody set is done.
typedef struct _GstDctFence GstDctFence;

#define GST_TYPE_DCT_FENCE (gst_dct_fence_get_type())
GST_DCT_API GType gst_dct_fence_get_type(void);
GST_DCT_API GstDctFence* gst_dct_fence_new(void);
GST_DCT_API GstDctFence* gst_dct_fence_ref(GstDctFence* fence);
GST_DCT_API void gst_dct_fence_unref(GstDctFence* fence);
// The producer, once, before it pushes the buffer. Takes its own reference.
GST_DCT_API void gst_dct_fence_set_written(GstDctFence* fence, GstDctSyncPoint* point);
// A consumer that reads asynchronously, after it has submitted its work. Points that are done are
// dropped, so that the list stays short.
GST_DCT_API void gst_dct_fence_add_read(GstDctFence* fence, GstDctSyncPoint* point);
// With a CUstream: that stream waits. With NULL: the calling thread waits. FALSE when the work
// failed.
GST_DCT_API gboolean gst_dct_fence_wait_written(GstDctFence* fence, gpointer cuda_stream);
GST_DCT_API gboolean gst_dct_fence_wait_read(GstDctFence* fence, gpointer cuda_stream);

// ---- The meta ----

// 64 divisors in natural order (index 8 v + u).
typedef struct {
  guint16 values[64];
} GstDctTable;

typedef enum {
  GST_DCT_META_FLAG_NONE = 0,
  GST_DCT_META_FLAG_TOP_FIELD = 1 << 0,     // the picture is a single top field
  GST_DCT_META_FLAG_BOTTOM_FIELD = 1 << 1,  // ... bottom field
} GstDctMetaFlags;

// What may change with every buffer. Immutable once the buffer has been pushed. Copied with copies
// of the whole buffer only; the fence is shared.
typedef struct {
  GstMeta meta;
  GstDctMetaFlags flags;
  guint n_components;
  GstDctComponent components[GST_DCT_MAX_COMPONENTS];
  guint n_tables;  // 0 when the coefficients are not quantised
  GstDctTable tables[GST_DCT_MAX_TABLES];
  GstDctFence* fence;  // NULL: the coefficients are complete
} GstDctMeta;

#define GST_DCT_META_API_TYPE (gst_dct_meta_api_get_type())
#define GST_DCT_META_INFO (gst_dct_meta_get_info())
GST_DCT_API GType gst_dct_meta_api_get_type(void);
GST_DCT_API const GstMetaInfo* gst_dct_meta_get_info(void);

// Adds a meta with `info`'s components in its default layout, no tables and no fence; the caller
// then changes what differs. The buffer must be writable.
GST_DCT_API GstDctMeta* gst_buffer_add_dct_meta(GstBuffer* buffer, const GstDctInfo* info);
GST_DCT_API GstDctMeta* gst_buffer_get_dct_meta(GstBuffer* buffer);
// Copies table `index` into `values` (64), in zigzag order if asked. FALSE: no such table.
GST_DCT_API gboolean gst_dct_meta_get_table(const GstDctMeta* meta, guint index, GstDctOrder order,
                                            guint16* values);
// Takes its own reference on `fence`; NULL removes.
GST_DCT_API void gst_dct_meta_set_fence(GstDctMeta* meta, GstDctFence* fence);
// Whether `meta` (or, when NULL and not quantised, the default layout) describes coefficients of
// `info` inside `buffer_size` bytes: components, block counts, offsets, strides, alignment, tables
// without zeros. On FALSE `*reason` (transfer full) says what was wrong and what was expected.
GST_DCT_API gboolean gst_dct_meta_validate(const GstDctMeta* meta, const GstDctInfo* info,
                                           gsize buffer_size, gchar** reason);

// ---- The source frame, kept for measuring ----

// The frame that coefficients were made from. Attached by cudadct8x8 keep-reference=true.
typedef struct {
  GstMeta meta;
  GstBuffer* source;
  GstVideoInfo info;  // format, size, and the strides and offsets that hold in `source`
} GstDctReferenceMeta;

#define GST_DCT_REFERENCE_META_API_TYPE (gst_dct_reference_meta_api_get_type())
#define GST_DCT_REFERENCE_META_INFO (gst_dct_reference_meta_get_info())
GST_DCT_API GType gst_dct_reference_meta_api_get_type(void);
GST_DCT_API const GstMetaInfo* gst_dct_reference_meta_get_info(void);
// Takes its own reference on `source`.
GST_DCT_API GstDctReferenceMeta* gst_buffer_add_dct_reference_meta(GstBuffer* buffer,
                                                                   GstBuffer* source,
                                                                   const GstVideoInfo* info);
GST_DCT_API GstDctReferenceMeta* gst_buffer_get_dct_reference_meta(GstBuffer* buffer);

G_END_DECLS
