// GStreamer's CUDA library: synchronization of our queues with its users' work, and when to poll.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From GStreamer 1.24 on, CUDA memory may have a stream. Its users work on that stream and, where
// they leave work pending, set NEED_SYNC. We work on our own queues, so we tie both ends to that
// stream: events do that on the device, and no thread waits. GStreamer 1.22 has no such streams:
// other elements pass finished memory only.
#pragma once

#include <glib.h>
#include <gst/gst.h>

#if CT_HAVE_CUDA
// 1.22 has no umbrella header; it came with 1.24.
#if __has_include(<gst/cuda/gstcuda.h>)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif
#endif

#include "transform/device/device.h"

typedef struct _GstCudaContext GstCudaContext;

namespace cudatransform {

// Later work of `queue` starts after the pending work of the producer of `buffer`. For
// CUDA memory of the queue's context that has been mapped: mapping may itself enqueue an upload.
Status wait_for_producer(GstBuffer* buffer, Queue& queue);

// The same on the host, for memory of any context.
void finish_producer(GstBuffer* buffer);

// Later work of `queue` may write to `buffer`: it starts after what readers and earlier
// users of the memory have enqueued on its stream.
Status wait_for_readers(GstBuffer* buffer, Queue& queue);

// For a frame whose last work is `done`: its flags tell other users where to find it. If the memory
// has a stream, the stream waits. Otherwise the host has to wait for `*ready` before it pushes the
// frame.
Status hand_over(GstBuffer* buffer, const FencePtr& done, FencePtr* ready);

// Whether hand_over() leaves nothing to wait for, in memory of pools with a stream of add_stream().
#if GST_CHECK_VERSION(1, 23, 1)
inline constexpr bool kFramesHaveStreams = true;
#else
inline constexpr bool kFramesHaveStreams = false;
#endif

// Gives the memory of the pool of `config` a stream, unless the pool's owner has chosen one
// already, so that hand_over() need not wait.
void add_stream(GstStructure* config, GstCudaContext* context);

// A poll takes a microsecond, a twentieth of a small frame. A thread that waits for a frame learns
// anyway that the frame is done, and its input with it. So code that only releases something, or
// reads measurements, polls the device when a fence's state has been unknown for this many
// microseconds.
inline constexpr gint64 kPollUs = 200;

// Whether the first of `count` fences is done; it was made at `since`. `now` and `since` are times
// of g_get_monotonic_time(). `at`: as for first_is_done(), and never null.
template <typename At>
bool first_is_done_by(gint64 now, gint64 since, size_t count, At&& at) {
  return at(0)->known_done() || (now - since >= kPollUs && first_is_done(count, at));
}

}  // namespace cudatransform
