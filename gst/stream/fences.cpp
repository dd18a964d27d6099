// The fence of a buffer of coefficients, in terms of our own queues and fences.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/fences.h"

namespace cudatransform {
namespace {

const FencePtr& fence_in(gpointer user_data) { return *static_cast<FencePtr*>(user_data); }

// A sync point at the end of the work `done`.
GstCoefSyncPoint* sync_point_of(const FencePtr& done) {
  static const GstCoefSyncPointFuncs kFuncs = {
      [](gpointer data) -> gboolean { return fence_in(data)->wait().ok(); },
      [](gpointer data, gpointer stream) -> gboolean {
        return fence_in(data)->enqueue_wait(stream).ok();
      },
      [](gpointer data) -> gboolean { return fence_in(data)->done(); },
  };
  return gst_coef_sync_point_new(&kFuncs, new FencePtr(done),
                                 [](gpointer data) { delete static_cast<FencePtr*>(data); });
}

}  // namespace

void set_written(GstCoefFence* fence, const FencePtr& done) {
  GstCoefSyncPoint* point = sync_point_of(done);
  gst_coef_fence_set_written(fence, point);
  gst_coef_sync_point_unref(point);
}

void add_read(GstCoefFence* fence, const FencePtr& done) {
  GstCoefSyncPoint* point = sync_point_of(done);
  gst_coef_fence_add_read(fence, point);
  gst_coef_sync_point_unref(point);
}

Status wait_written(Engine& engine, GstCoefFence* fence, Queue* queue) {
  if (!fence || gst_coef_fence_wait_written(fence, queue ? queue->native() : nullptr)) return {};
  return failed_work(queue ? *queue : engine.queue(QueueKind::kCompute),
                     "the work that made the coefficients has failed");
}

}  // namespace cudatransform
