// Keeps queries that travel with the data out of a stream that is being started or stopped.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>

namespace cudatransform {

// GST_QUERY_IS_SERIALIZED(), which C++ compilers warn of.
inline bool is_serialized(GstQuery* query) {
  return gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED;
}

// A serialized query is answered under the sink pad's stream lock, like a buffer, but GStreamer
// does not look whether the pad is flushing before it asks us: upstream, which stops last, may ask
// while our stop() runs, and after it, when there is nothing left to ask about.
//
// On the way down the flag of the pad is enough. It is set first; then the stopping thread waits
// for the stream lock, and so for a query that has not seen the flag; only then does stop() come.
// On the way up the pad of a GstBaseTransform takes queries before start() is over, so there is a
// flag of our own. It is an atomic one: start() must not wait for the stream lock, which a buffer
// that is blocked on the pad holds.
class StreamGate {
 public:
  // The last thing in start().
  void open() { running_ = true; }
  // The first thing in stop().
  void close() { running_ = false; }

  // Whether `query`, on the element's sink pad, has come too early or too late. It is to be
  // answered FALSE, and nothing of the stream is to be touched for it. Holds, for a query that is
  // let in, until the query has been answered.
  bool refuses(GstPad* sink, GstQuery* query) const;

 private:
  std::atomic<bool> running_ = false;
};

}  // namespace cudatransform
