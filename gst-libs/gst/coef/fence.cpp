// GstCoefFence and GstCoefSyncPoint: the completion of a buffer, and the end of its readers' work.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The lock guards only the lists. We poll and wait for points outside it, on our own references, so
// that a waiting thread does not hold up others.
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <gst/coef/fence.h>
#include <gst/coef/meta-private.h>

struct _GstCoefSyncPoint {
  GstMiniObject mini_object;
  const GstCoefSyncPointFuncs* funcs;
  gpointer user_data;
  GDestroyNotify destroy;
};

namespace {

// A counted reference.
class Point {
 public:
  explicit Point(GstCoefSyncPoint* point) : point_(gst_coef_sync_point_ref(point)) {}
  Point(const Point& other) : Point(other.point_) {}
  Point(Point&& other) noexcept : point_(std::exchange(other.point_, nullptr)) {}
  Point& operator=(Point other) noexcept {
    std::swap(point_, other.point_);
    return *this;
  }
  ~Point() {
    if (point_ != nullptr) gst_coef_sync_point_unref(point_);
  }

  bool operator==(const Point& other) const { return point_ == other.point_; }
  bool is_done() const { return point_->funcs->is_done(point_->user_data); }
  // If a stream cannot wait, the work may still be good: then the host waits.
  bool wait(gpointer cuda_stream) const {
    const GstCoefSyncPointFuncs& funcs = *point_->funcs;
    if (cuda_stream != nullptr && funcs.wait_stream != nullptr &&
        funcs.wait_stream(point_->user_data, cuda_stream))
      return true;
    return funcs.wait_host(point_->user_data);
  }

 private:
  GstCoefSyncPoint* point_;
};

using Points = std::vector<Point>;

// Waits for all points, even after a failure: the memory is free only when all users are done.
// Adds the failed points to `*failed`.
bool wait_for_all(const Points& points, gpointer cuda_stream, Points* failed = nullptr) {
  bool ok = true;
  for (const Point& point : points) {
    if (point.wait(cuda_stream)) continue;
    ok = false;
    if (failed != nullptr) failed->push_back(point);
  }
  return ok;
}

}  // namespace

struct _GstCoefFence {
  GstMiniObject mini_object;
  std::mutex mutex;
  Points written;  // none or one
  Points read;

  Points snapshot(const Points& side) {
    std::lock_guard lock(mutex);
    return side;
  }

  // Forgets the points of `gone` that are still in the list of readers. Releases them after the
  // lock, because a point's destroy function is foreign code.
  void forget_read(const Points& gone) {
    Points released;
    std::lock_guard lock(mutex);
    auto is_gone = [&](const Point& p) {
      return std::find(gone.begin(), gone.end(), p) != gone.end();
    };
    auto kept_end = std::stable_partition(read.begin(), read.end(),
                                          [&](const Point& p) { return !is_gone(p); });
    released.assign(std::make_move_iterator(kept_end), std::make_move_iterator(read.end()));
    read.erase(kept_end, read.end());
  }
};

G_DEFINE_BOXED_TYPE(GstCoefSyncPoint, gst_coef_sync_point, gst_coef_sync_point_ref,
                    gst_coef_sync_point_unref)
G_DEFINE_BOXED_TYPE(GstCoefFence, gst_coef_fence, gst_coef_fence_ref, gst_coef_fence_unref)

namespace {

// Called with the last reference.
void free_point(GstMiniObject* object) {
  auto* point = reinterpret_cast<GstCoefSyncPoint*>(object);
  if (point->destroy != nullptr) point->destroy(point->user_data);
  delete point;
}

void free_fence(GstMiniObject* object) { delete reinterpret_cast<GstCoefFence*>(object); }

}  // namespace

GType gst_coef_fence_api_get_type(void) {
  static const GType type = gstcoef::register_memory_api("GstCoefFenceAPI");
  return type;
}

GstCoefSyncPoint* gst_coef_sync_point_new(const GstCoefSyncPointFuncs* funcs, gpointer user_data,
                                          GDestroyNotify destroy) {
  g_return_val_if_fail(funcs != nullptr, nullptr);
  g_return_val_if_fail(funcs->wait_host != nullptr && funcs->is_done != nullptr, nullptr);
  auto* point = new GstCoefSyncPoint{{}, funcs, user_data, destroy};
  gst_mini_object_init(&point->mini_object, 0, GST_TYPE_COEF_SYNC_POINT, nullptr, nullptr,
                       free_point);
  return point;
}

GstCoefSyncPoint* gst_coef_sync_point_ref(GstCoefSyncPoint* point) {
  g_return_val_if_fail(point != nullptr, nullptr);
  gst_mini_object_ref(&point->mini_object);
  return point;
}

void gst_coef_sync_point_unref(GstCoefSyncPoint* point) {
  g_return_if_fail(point != nullptr);
  gst_mini_object_unref(&point->mini_object);
}

GstCoefFence* gst_coef_fence_new(void) {
  auto* fence = new GstCoefFence{};
  gst_mini_object_init(&fence->mini_object, 0, GST_TYPE_COEF_FENCE, nullptr, nullptr, free_fence);
  return fence;
}

GstCoefFence* gst_coef_fence_ref(GstCoefFence* fence) {
  g_return_val_if_fail(fence != nullptr, nullptr);
  gst_mini_object_ref(&fence->mini_object);
  return fence;
}

void gst_coef_fence_unref(GstCoefFence* fence) {
  g_return_if_fail(fence != nullptr);
  gst_mini_object_unref(&fence->mini_object);
}

void gst_coef_fence_set_written(GstCoefFence* fence, GstCoefSyncPoint* point) {
  g_return_if_fail(fence != nullptr && point != nullptr);
  Points written{Point(point)};  // and after the swap what was there before, released unlocked
  std::lock_guard lock(fence->mutex);
  fence->written.swap(written);
}

void gst_coef_fence_add_read(GstCoefFence* fence, GstCoefSyncPoint* point) {
  g_return_if_fail(fence != nullptr && point != nullptr);
  Points done = fence->snapshot(fence->read);
  done.erase(std::remove_if(done.begin(), done.end(), [](const Point& p) { return !p.is_done(); }),
             done.end());
  fence->forget_read(done);
  std::lock_guard lock(fence->mutex);
  fence->read.emplace_back(point);
}

gboolean gst_coef_fence_wait_written(GstCoefFence* fence, gpointer cuda_stream) {
  g_return_val_if_fail(fence != nullptr, FALSE);
  return wait_for_all(fence->snapshot(fence->written), cuda_stream);
}

gboolean gst_coef_fence_wait_read(GstCoefFence* fence, gpointer cuda_stream) {
  g_return_val_if_fail(fence != nullptr, FALSE);
  const Points readers = fence->snapshot(fence->read);
  Points failed;
  const bool ok = wait_for_all(readers, cuda_stream, &failed);
  Points left = cuda_stream == nullptr ? readers : failed;
  if (!ok)
    left.erase(
        std::remove_if(left.begin(), left.end(), [](const Point& p) { return !p.is_done(); }),
        left.end());
  fence->forget_read(left);
  return ok;
}
