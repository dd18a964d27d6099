// Tests of GstCoefFence with points that complete when the test says so.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <gst/coef/fence.h>
#include "tests/check/testing.h"

namespace {

// Work that finishes when the test says so.
struct Work {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool failed = false;
  bool stream_fails = false;
  int waiting = 0;
  std::atomic<int> stream_waits{0};
  std::atomic<gpointer> stream{nullptr};
  std::atomic<bool> destroyed{false};

  void finish(bool ok = true) {
    std::lock_guard lock(mutex);
    done = true;
    failed = !ok;
    changed.notify_all();
  }
  void wait_until_someone_waits() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return waiting > 0; });
  }
};

gboolean wait_host(gpointer data) {
  auto* work = static_cast<Work*>(data);
  std::unique_lock lock(work->mutex);
  work->waiting++;
  work->changed.notify_all();
  work->changed.wait(lock, [work] { return work->done; });
  return !work->failed;
}

gboolean wait_stream(gpointer data, gpointer stream) {
  auto* work = static_cast<Work*>(data);
  work->stream_waits++;
  work->stream = stream;
  return !work->failed && !work->stream_fails;
}

gboolean is_done(gpointer data) {
  auto* work = static_cast<Work*>(data);
  std::lock_guard lock(work->mutex);
  return work->done;
}

constexpr GstCoefSyncPointFuncs kFuncs = {wait_host, wait_stream, is_done};
constexpr GstCoefSyncPointFuncs kHostOnly = {wait_host, nullptr, is_done};

GstCoefSyncPoint* make_point(Work* work, const GstCoefSyncPointFuncs* funcs = &kFuncs) {
  return gst_coef_sync_point_new(funcs, work,
                                 [](gpointer data) { static_cast<Work*>(data)->destroyed = true; });
}

void set_written(GstCoefFence* fence, Work* work) {
  g_autoptr(GstCoefSyncPoint) point = make_point(work);
  gst_coef_fence_set_written(fence, point);
}

void add_read(GstCoefFence* fence, Work* work) {
  g_autoptr(GstCoefSyncPoint) point = make_point(work);
  gst_coef_fence_add_read(fence, point);
}

gpointer stream_at(guintptr address) { return reinterpret_cast<gpointer>(address); }

CHECK_TEST(test_unset_is_done) {
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  for (gpointer stream : {stream_at(0), stream_at(16)}) {
    fail_unless(gst_coef_fence_wait_written(fence, stream));
    fail_unless(gst_coef_fence_wait_read(fence, stream));
  }
}

// Both are mini objects: GStreamer copies them by reference, and its leak tracer sees them.
CHECK_TEST(test_mini_objects) {
  Work work;
  work.finish();
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  GstCoefSyncPoint* point = make_point(&work);
  const struct {
    gpointer object;
    GType type;
  } both[] = {{fence, GST_TYPE_COEF_FENCE}, {point, GST_TYPE_COEF_SYNC_POINT}};
  for (const auto& [object, type] : both) {
    fail_unless(GST_IS_MINI_OBJECT_TYPE(object, type), "%s", g_type_name(type));
    fail_unless(g_boxed_copy(type, object) == object);
    fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(object), 2);
    g_boxed_free(type, object);
    fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(object), 1);
  }
  gst_coef_sync_point_unref(point);
  fail_unless(work.destroyed);
}

// GstBaseTransform must not hand on the promise of the element after it.
CHECK_TEST(test_promise) {
  fail_unless_equals_string(g_type_name(GST_COEF_FENCE_API_TYPE), "GstCoefFenceAPI");
  fail_unless(gst_meta_api_type_has_tag(GST_COEF_FENCE_API_TYPE,
                                        g_quark_from_static_string(GST_META_TAG_MEMORY_STR)));
}

CHECK_TEST(test_written) {
  Work work;
  GstCoefFence* fence = gst_coef_fence_new();
  set_written(fence, &work);
  // A stream waits without blocking us, ...
  fail_unless(gst_coef_fence_wait_written(fence, stream_at(32)));
  fail_unless_equals_int(work.stream_waits, 1);
  fail_unless(work.stream == stream_at(32));
  fail_unless_equals_int(work.waiting, 0);
  // ... the other side is not concerned, ...
  fail_unless(gst_coef_fence_wait_read(fence, nullptr));
  // ... and a thread blocks until the work is done.
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    fail_unless(gst_coef_fence_wait_written(fence, nullptr));
    returned = true;
  });
  work.wait_until_someone_waits();
  fail_if(returned);
  work.finish();
  waiter.join();
  fail_unless(returned);
  fail_if(work.destroyed);
  gst_coef_fence_unref(fence);
  fail_unless(work.destroyed);
}

// While one thread waits, others must be able to use the fence: the lock is not held.
CHECK_TEST(test_waits_outside_the_lock) {
  Work written, read, late;
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  set_written(fence, &written);
  add_read(fence, &read);
  std::thread writer([&] { fail_unless(gst_coef_fence_wait_written(fence, nullptr)); });
  std::thread reader([&] { fail_unless(gst_coef_fence_wait_read(fence, nullptr)); });
  written.wait_until_someone_waits();
  read.wait_until_someone_waits();
  add_read(fence, &late);  // would hang
  fail_unless(gst_coef_fence_wait_written(fence, stream_at(8)));
  fail_unless(gst_coef_fence_wait_read(fence, stream_at(8)));
  fail_unless_equals_int(late.stream_waits, 1);
  written.finish();
  read.finish();
  writer.join();
  reader.join();
  // The waiting reader forgets what it waited for, but not what was added since.
  fail_unless(read.destroyed);
  fail_if(late.destroyed);
  late.finish();
  fail_unless(gst_coef_fence_wait_read(fence, nullptr));
  fail_unless(late.destroyed);
}

CHECK_TEST(test_done_readers_are_dropped) {
  Work works[100];
  GstCoefFence* fence = gst_coef_fence_new();
  for (int i = 0; i < 100; i++) {
    add_read(fence, &works[i]);
    if (i % 2 == 0) works[i].finish();
    // All earlier even ones were removed, the odd ones stay.
    for (int j = 0; j < i; j++) fail_unless_equals_int(works[j].destroyed, j % 2 == 0);
  }
  fail_unless(gst_coef_fence_wait_read(fence, stream_at(64)));
  for (int i = 1; i < 100; i += 2) fail_unless_equals_int(works[i].stream_waits, 1);
  gst_coef_fence_unref(fence);
  for (Work& work : works) fail_unless(work.destroyed);
}

CHECK_TEST(test_failures) {
  Work bad, good;
  bad.finish(false);
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  set_written(fence, &bad);
  fail_if(gst_coef_fence_wait_written(fence, nullptr));
  fail_if(gst_coef_fence_wait_written(fence, stream_at(8)));
  Work bad_reader;
  add_read(fence, &bad_reader);
  add_read(fence, &good);
  bad_reader.finish(false);
  // A failure does not stop it from waiting for the others.
  fail_if(gst_coef_fence_wait_read(fence, stream_at(8)));
  fail_unless_equals_int(good.stream_waits, 1);
  // The failed point has left the memory and is reported once; later readers get the written side.
  fail_unless(bad_reader.destroyed);
  fail_if(good.destroyed);
  fail_unless(gst_coef_fence_wait_read(fence, stream_at(8)));
  fail_if(gst_coef_fence_wait_written(fence, nullptr));
  good.finish();
  fail_unless(gst_coef_fence_wait_read(fence, nullptr));
  fail_unless(good.destroyed);
}

// Where a stream cannot wait for a point, a thread does, and nothing has failed.
CHECK_TEST(test_stream_cannot_wait) {
  Work work;
  work.stream_fails = true;
  work.finish();
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  set_written(fence, &work);
  add_read(fence, &work);
  fail_unless(gst_coef_fence_wait_written(fence, stream_at(8)));
  fail_unless(gst_coef_fence_wait_read(fence, stream_at(8)));
  fail_unless_equals_int(work.stream_waits, 2);
  fail_unless_equals_int(work.waiting, 2);
}

// A point that can neither be waited for nor is done is reported again and again.
CHECK_TEST(test_reader_cannot_be_waited_for) {
  static constexpr GstCoefSyncPointFuncs kBroken = {[](gpointer) -> gboolean { return FALSE; },
                                                    nullptr, is_done};
  Work work;
  GstCoefSyncPoint* point = make_point(&work, &kBroken);
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  gst_coef_fence_add_read(fence, point);
  gst_coef_sync_point_unref(point);
  for (gpointer stream : {stream_at(8), stream_at(0), stream_at(8)})
    fail_if(gst_coef_fence_wait_read(fence, stream));
  fail_if(work.destroyed);
  work.finish(false);
  fail_if(gst_coef_fence_wait_read(fence, stream_at(8)));
  fail_unless(work.destroyed);
  fail_unless(gst_coef_fence_wait_read(fence, stream_at(8)));
}

// A point without wait_stream makes the thread wait instead.
CHECK_TEST(test_host_only) {
  Work work;
  work.finish();
  GstCoefSyncPoint* point = make_point(&work, &kHostOnly);
  GstCoefFence* fence = gst_coef_fence_new();
  gst_coef_fence_set_written(fence, point);
  fail_unless(gst_coef_fence_wait_written(fence, stream_at(8)));
  fail_unless_equals_int(work.waiting, 1);
  // A second set replaces the first, and boxed copies are references.
  Work other;
  other.finish();
  set_written(fence, &other);
  fail_if(work.destroyed);
  gst_coef_sync_point_unref(point);
  fail_unless(work.destroyed);
  auto* same = static_cast<GstCoefFence*>(g_boxed_copy(GST_TYPE_COEF_FENCE, fence));
  fail_unless(same == fence);
  gst_coef_fence_unref(fence);
  fail_if(other.destroyed);
  g_boxed_free(GST_TYPE_COEF_FENCE, same);
  fail_unless(other.destroyed);
}

// Many readers and one writer simultaneously; the sanitizers and valgrind watch.
CHECK_TEST(test_threads) {
  constexpr int kThreads = 4, kRounds = 500;
  std::vector<Work> works(kThreads * kRounds);
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) fail_unless(gst_coef_fence_wait_read(fence, nullptr));
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < kThreads; t++) {
    readers.emplace_back([&, t] {
      for (int i = 0; i < kRounds; i++) {
        Work* work = &works[static_cast<size_t>(t * kRounds + i)];
        add_read(fence, work);
        gst_coef_fence_wait_written(fence, stream_at(8));
        work->finish();
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  stop = true;
  writer.join();
  fail_unless(gst_coef_fence_wait_read(fence, nullptr));
  for (Work& work : works) fail_unless(work.destroyed);
}

}  // namespace
