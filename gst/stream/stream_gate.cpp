// Keeps serialized queries out of a stream that is being started or stopped.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/stream_gate.h"

#include "gst/engine/debug.h"

namespace cudatransform {

bool StreamGate::refuses(GstPad* sink, GstQuery* query) const {
  if (!is_serialized(query)) return false;
  // We look at the pad first: a thread that finds it not flushing again also sees that stop() has
  // closed the gate.
  GST_OBJECT_LOCK(sink);
  const bool flushing = GST_PAD_IS_FLUSHING(sink);
  GST_OBJECT_UNLOCK(sink);
  if (!flushing && running_) return false;
  GST_DEBUG_OBJECT(sink, "refusing %s: the pad is %s", GST_QUERY_TYPE_NAME(query),
                   flushing ? "flushing" : "not started");
  return true;
}

}  // namespace cudatransform
