// Buffers that travel while a device still computes them: their completion, and the end of their
// readers' work.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GstCoefSyncPoint:
 *
 * A point in a device's work: a #GstMiniObject that the submitter creates. Thread safe.
 *
 * Since: 1.0
 */
typedef struct _GstCoefSyncPoint GstCoefSyncPoint;

/**
 * GstCoefSyncPointFuncs:
 * @wait_host: blocks until the work is done; returns %FALSE when it failed, or when it cannot be
 *   waited for: @is_done distinguishes the two
 * @wait_stream: makes later work of the given CUstream start after it, without blocking; %NULL
 *   where the calling thread has to wait instead, which it does as well after %FALSE
 * @is_done: whether the work is done (also when it failed); never blocks
 *
 * The functions of a #GstCoefSyncPoint. Any thread may call them, several at a time.
 *
 * Since: 1.0
 */
typedef struct {
  gboolean (*wait_host)(gpointer user_data);
  gboolean (*wait_stream)(gpointer user_data, gpointer cuda_stream);
  gboolean (*is_done)(gpointer user_data);
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
} GstCoefSyncPointFuncs;

#define GST_TYPE_COEF_SYNC_POINT (gst_coef_sync_point_get_type())
GST_COEF_API GType gst_coef_sync_point_get_type(void);

/**
 * gst_coef_sync_point_new: (skip)
 * @funcs: what the point can do, in static storage
 * @user_data: given to @funcs
 * @destroy: (nullable): frees @user_data with the last reference
 *
 * Returns: (transfer full): a point in some device's work
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefSyncPoint* gst_coef_sync_point_new(const GstCoefSyncPointFuncs* funcs,
                                                       gpointer user_data, GDestroyNotify destroy);

/**
 * gst_coef_sync_point_ref:
 * @point: a point
 *
 * Returns: (transfer full): @point
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefSyncPoint* gst_coef_sync_point_ref(GstCoefSyncPoint* point);

/**
 * gst_coef_sync_point_unref:
 * @point: (transfer full): a point
 *
 * Since: 1.0
 */
GST_COEF_API void gst_coef_sync_point_unref(GstCoefSyncPoint* point);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCoefSyncPoint, gst_coef_sync_point_unref)

/**
 * GstCoefFence:
 *
 * The completion of a buffer's coefficients, and the end of its readers' work: a #GstMiniObject
 * that all copies of the buffer share. It has two sides: *written*, which a consumer waits for
 * before it reads, and *read*, which the memory's next writer waits for. A fence that was never set
 * is done. Thread safe.
 *
 * Since: 1.0
 */
typedef struct _GstCoefFence GstCoefFence;

#define GST_TYPE_COEF_FENCE (gst_coef_fence_get_type())
GST_COEF_API GType gst_coef_fence_get_type(void);

/**
 * gst_coef_fence_new:
 *
 * Returns: (transfer full): a fence that was never set: both sides are done
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefFence* gst_coef_fence_new(void);

/**
 * gst_coef_fence_ref:
 * @fence: a fence
 *
 * Returns: (transfer full): @fence
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefFence* gst_coef_fence_ref(GstCoefFence* fence);

/**
 * gst_coef_fence_unref:
 * @fence: (transfer full): a fence
 *
 * Since: 1.0
 */
GST_COEF_API void gst_coef_fence_unref(GstCoefFence* fence);

/**
 * gst_coef_fence_set_written:
 * @fence: a fence
 * @point: (transfer none): when the coefficients are complete
 *
 * For the producer, once, before it pushes the buffer.
 *
 * Since: 1.0
 */
GST_COEF_API void gst_coef_fence_set_written(GstCoefFence* fence, GstCoefSyncPoint* point);

/**
 * gst_coef_fence_add_read:
 * @fence: a fence
 * @point: (transfer none): when the reader is done
 *
 * For a consumer that reads asynchronously, after it has submitted its work. Drops points that are
 * done, so that the list stays short.
 *
 * Since: 1.0
 */
GST_COEF_API void gst_coef_fence_add_read(GstCoefFence* fence, GstCoefSyncPoint* point);

/**
 * gst_coef_fence_wait_written:
 * @fence: a fence
 * @cuda_stream: (nullable): a CUstream whose later work waits, or %NULL: the calling thread waits
 *
 * For a consumer, before it reads the coefficients.
 *
 * Returns: %FALSE when the producer's work failed
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_coef_fence_wait_written(GstCoefFence* fence, gpointer cuda_stream);

/**
 * gst_coef_fence_wait_read:
 * @fence: a fence
 * @cuda_stream: (nullable): a CUstream whose later work waits, or %NULL: the calling thread waits
 *
 * For the memory's next writer. Each failure is reported once: a reader whose work has failed no
 * longer uses the memory and is forgotten. If the next call fails as well, a reader is still
 * running and cannot be waited for: then the memory must not be written.
 *
 * Returns: %FALSE when a reader's work failed
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_coef_fence_wait_read(GstCoefFence* fence, gpointer cuda_stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCoefFence, gst_coef_fence_unref)

/**
 * GST_COEF_FENCE_API_TYPE:
 *
 * The promise to honor fences. An element lists it, without parameters, in its answer to the
 * ALLOCATION query: it will call gst_coef_fence_wait_written() for every buffer whose meta has a
 * fence before it reads, and gst_coef_fence_add_read() where it reads asynchronously. A producer
 * finishes its buffers before it pushes them to a peer that has not promised.
 *
 * No meta has this API. It is tagged "memory", so that a #GstBaseTransform that makes its own
 * buffers does not pass on the promise of the element after it as its own.
 *
 * Since: 1.0
 */
#define GST_COEF_FENCE_API_TYPE (gst_coef_fence_api_get_type())

/**
 * gst_coef_fence_api_get_type:
 *
 * Returns: %GST_COEF_FENCE_API_TYPE, the promise to honor fences
 *
 * Since: 1.0
 */
GST_COEF_API GType gst_coef_fence_api_get_type(void);

G_END_DECLS
