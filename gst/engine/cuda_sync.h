// The order between our queues and what others do to CUDA memory on streams of their own.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From GStreamer 1.24 on, CUDA memory may have a stream. Its users work on that stream and, where
// work is left behind, set NEED_SYNC. We work on queues of our own, so both ends
// have to be tied to that stream; events do that on the device, and no thread waits. On 1.22 there
// are no such streams: other elements have finished memory only.
#pragma once

#include <gst/gst.h>

#include "transform/device/device.h"

typedef struct _GstCudaContext GstCudaContext;

namespace cudatransform {

// Later work of `queue` starts after what the producer of `buffer` has left behind. For CUDA memory
// of the queue's context that has been mapped: mapping may itself enqueue an upload.
Status wait_for_producer(GstBuffer* buffer, Queue& queue);

// The same on the host, for memory of any context.
void finish_producer(GstBuffer* buffer);

// Later work of `queue` may write to `buffer`: it starts after what readers and earlier
// users of the memory have left on its stream.
Status wait_for_readers(GstBuffer* buffer, Queue& queue);

// For a frame whose last work is `done`: others find it as its flags say. Where the memory has a
// stream, that waits; otherwise `*ready` becomes what the host has to wait for before the frame is
// pushed.
Status hand_over(GstBuffer* buffer, const FencePtr& done, FencePtr* ready);

// Whether hand_over() leaves nothing to wait for with memory of pools that add_stream() was for.
#if GST_CHECK_VERSION(1, 23, 1)
inline constexpr bool kFramesHaveStreams = true;
#else
inline constexpr bool kFramesHaveStreams = false;
#endif

// Gives the memory of the pool that `config` is for a stream, unless the pool's owner has chosen
// one already, so that hand_over() need not wait.
void add_stream(GstStructure* config, GstCudaContext* context);

}  // namespace cudatransform
