// Tells ThreadSanitizer about the ordering in GLib and GStreamer, which are not instrumented.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Part of every test program of a build with -Db_sanitize=thread, and of no other. The functions
// here precede the libraries' functions of the same name, also for these libraries and the plugin,
// and call them; in between they declare which accesses happen before which others. ThreadSanitizer
// sees GLib's use of pthreads (recursive locks, threads) without help, but not its use of futexes
// (locks, conditions) and of its own atomics (reference counts, queues).
//
// Every statement is true: a lock too many here would hide a race.
#include <dlfcn.h>
#include <glib.h>
#include <gst/gst.h>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

// Fields of objects that the libraries free, unseen: reading them here is no access of ours.
#define UNSEEN __attribute__((no_sanitize("thread"), noinline)) static

#define ORDERED extern "C" __attribute__((visibility("default")))
// The library's function of that name.
#define REAL(function) \
  static const auto real = reinterpret_cast<decltype(&function)>(dlsym(RTLD_NEXT, #function))

// ---- Locks and conditions ----

ORDERED void g_mutex_lock(GMutex* mutex) {
  REAL(g_mutex_lock);
  real(mutex);
  __tsan_acquire(mutex);
}

ORDERED gboolean g_mutex_trylock(GMutex* mutex) {
  REAL(g_mutex_trylock);
  const gboolean locked = real(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

ORDERED void g_mutex_unlock(GMutex* mutex) {
  REAL(g_mutex_unlock);
  __tsan_release(mutex);
  real(mutex);
}

// A wait gives the lock back and takes it again.
ORDERED void g_cond_wait(GCond* cond, GMutex* mutex) {
  REAL(g_cond_wait);
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}

ORDERED gboolean g_cond_wait_until(GCond* cond, GMutex* mutex, gint64 end) {
  REAL(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = real(cond, mutex, end);
  __tsan_acquire(mutex);
  return signalled;
}

// ---- Reference counts ----

// Null except for a buffer of a pool.
UNSEEN GstBufferPool* pool_of(GstMiniObject* object) {
  return GST_MINI_OBJECT_TYPE(object) == GST_TYPE_BUFFER ? GST_BUFFER_CAST(object)->pool : nullptr;
}

// These hold only values of GStreamer's, caps among them, whose references it counts without a call
// that can be seen here.
UNSEEN bool holds_values(GstMiniObject* object) {
  const GType type = GST_MINI_OBJECT_TYPE(object);
  return type == GST_TYPE_CAPS || type == GST_TYPE_EVENT || type == GST_TYPE_QUERY;
}

// Whether it was not the last reference.
UNSEEN bool drop_but_the_last(GstMiniObject* object) {
  gint seen = g_atomic_int_get(&object->refcount);
  while (seen > 1) {
    if (g_atomic_int_compare_and_exchange(&object->refcount, seen, seen - 1)) return true;
    seen = g_atomic_int_get(&object->refcount);
  }
  return false;
}

// The thread that drops the last reference comes after all other holders, which have announced
// themselves before they were counted.
ORDERED void gst_mini_object_unref(GstMiniObject* object) {
  REAL(gst_mini_object_unref);
  __tsan_release(object);
  if (drop_but_the_last(object)) return;
  __tsan_acquire(object);
  // A buffer goes back to its pool: its next user's accesses come after those of the last one.
  if (GstBufferPool* pool = pool_of(object)) __tsan_release(pool);
  const bool ignore = holds_values(object);
  if (ignore) AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  real(object);
  if (ignore) AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

ORDERED GstFlowReturn gst_buffer_pool_acquire_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                                     GstBufferPoolAcquireParams* params) {
  REAL(gst_buffer_pool_acquire_buffer);
  const GstFlowReturn flow = real(pool, buffer, params);
  __tsan_acquire(pool);
  return flow;
}

// A pool that stops frees the buffers in it.
ORDERED gboolean gst_buffer_pool_set_active(GstBufferPool* pool, gboolean active) {
  REAL(gst_buffer_pool_set_active);
  if (!active) __tsan_acquire(pool);
  return real(pool, active);
}

// Objects have more to their counts (toggle references, weak ones), which stay with GObject.
ORDERED void g_object_unref(gpointer object) {
  REAL(g_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}

ORDERED void gst_object_unref(gpointer object) {
  REAL(gst_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}

// ---- Queues ----

// A test's harness hands on its output in these.
ORDERED void g_async_queue_push(GAsyncQueue* queue, gpointer item) {
  REAL(g_async_queue_push);
  __tsan_release(queue);
  real(queue, item);
}

ORDERED gpointer g_async_queue_try_pop(GAsyncQueue* queue) {
  REAL(g_async_queue_try_pop);
  gpointer item = real(queue);
  __tsan_acquire(queue);
  return item;
}

ORDERED gpointer g_async_queue_timeout_pop(GAsyncQueue* queue, guint64 microseconds) {
  REAL(g_async_queue_timeout_pop);
  gpointer item = real(queue, microseconds);
  __tsan_acquire(queue);
  return item;
}

// ---- Thread pools ----

namespace {

// The function of a pool's threads: the pool's own function, after the thread that pushed the job.
struct PoolFunction {
  GFunc function;
  gpointer data;
};

void run_job(gpointer job, gpointer data) {
  auto* wrapped = static_cast<PoolFunction*>(data);
  __tsan_acquire(job);
  wrapped->function(job, wrapped->data);
  __tsan_release(wrapped);
}

UNSEEN PoolFunction* wrapped_of(GThreadPool* pool) {
  return pool->func == run_job ? static_cast<PoolFunction*>(pool->user_data) : nullptr;
}

}  // namespace

ORDERED GThreadPool* g_thread_pool_new(GFunc function, gpointer data, gint threads,
                                       gboolean exclusive, GError** error) {
  REAL(g_thread_pool_new);
  auto* wrapped = new PoolFunction{function, data};
  // The last of the pool's threads frees it, also one that has never had a job.
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  GThreadPool* pool = real(run_job, wrapped, threads, exclusive, error);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  if (!pool) delete wrapped;
  return pool;
}

ORDERED gboolean g_thread_pool_push(GThreadPool* pool, gpointer job, GError** error) {
  REAL(g_thread_pool_push);
  __tsan_release(job);
  return real(pool, job, error);
}

ORDERED void g_thread_pool_free(GThreadPool* pool, gboolean immediate, gboolean wait) {
  REAL(g_thread_pool_free);
  PoolFunction* wrapped = wrapped_of(pool);
  real(pool, immediate, wait);
  if (!wrapped || !wait) return;  // a pool that goes on keeps it
  __tsan_acquire(wrapped);
  delete wrapped;
}
