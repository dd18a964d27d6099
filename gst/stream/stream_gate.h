// Keeps serialized queries out of a stream that is being started or stopped.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>

GST_DEBUG_CATEGORY_EXTERN(cudatransform_debug);

namespace cudatransform {

// GST_QUERY_IS_SERIALIZED(), which causes warnings in C++.
inline bool is_serialized(GstQuery* query) {
  return gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED;
}

// A serialized query is answered under the sink pad's stream lock, like a buffer, but GStreamer
// does not check whether the pad is flushing before it calls us. Upstream stops last, so it may
// query while our stop() runs, and after it, when the stream has been freed.
//
// On the way down the flag of the pad is enough. GStreamer sets it first. Then the stopping thread
// waits for the stream lock, and so for a query that has not seen the flag; only then does it call
// stop(). On the way up the pad of a GstBaseTransform takes queries before start() is over, so we
// have our own flag. It is atomic: start() must not wait for the stream lock, which a buffer that
// is blocked on the pad holds.
class StreamGate {
 public:
  // Call it last in start().
  void open() { running_ = true; }
  // Call it first in stop().
  void close() { running_ = false; }

  // Whether `query`, on the element's sink pad, has come too early or too late. Then the caller
  // answers FALSE and touches nothing of the stream. If not, the answer holds until the query has
  // been answered.
  bool refuses(GstPad* sink, GstQuery* query) const {
    if (!is_serialized(query)) return false;
    // We check the pad first: a thread that finds it not flushing again also sees that stop() has
    // closed the gate.
    GST_OBJECT_LOCK(sink);
    const bool flushing = GST_PAD_IS_FLUSHING(sink);
    GST_OBJECT_UNLOCK(sink);
    if (!flushing && running_) return false;
    GST_CAT_DEBUG_OBJECT(cudatransform_debug, sink, "refusing %s: the pad is %s",
                         GST_QUERY_TYPE_NAME(query), flushing ? "flushing" : "not started");
    return true;
  }

 private:
  std::atomic<bool> running_ = false;
};

}  // namespace cudatransform
