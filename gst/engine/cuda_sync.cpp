// GStreamer's CUDA library: synchronization of our queues with its users' work, and when to poll.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/cuda_sync.h"

namespace cudatransform {

#if CT_HAVE_CUDA && GST_CHECK_VERSION(1, 23, 1)

namespace {

GstCudaMemory* memory_of(GstBuffer* buffer) {
  return GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0));
}

// Null: the memory has no stream, and its users work on the NULL stream. That and our own streams
// wait for each other without our help.
CUstream stream_of(GstCudaMemory* memory) {
  return gst_cuda_stream_get_handle(gst_cuda_memory_get_stream(memory));
}

}  // namespace

Status wait_for_producer(GstBuffer* buffer, Queue& queue) {
  GstCudaMemory* memory = memory_of(buffer);
  CUstream stream = stream_of(memory);
  if (!stream || !GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC)) return {};
  // The flag stays: we have not waited on the host, where other readers may be.
  return queue.wait_for_stream(stream);
}

void finish_producer(GstBuffer* buffer) { gst_cuda_memory_sync(memory_of(buffer)); }

Status wait_for_readers(GstBuffer* buffer, Queue& queue) {
  CUstream stream = stream_of(memory_of(buffer));
  return stream ? queue.wait_for_stream(stream) : Status{};
}

Status hand_over(GstBuffer* buffer, const FencePtr& done, FencePtr* ready) {
  GstCudaMemory* memory = memory_of(buffer);
  if (CUstream stream = stream_of(memory)) {
    GST_MINI_OBJECT_FLAG_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
    return done->enqueue_wait(stream);
  }
  GST_MEMORY_FLAG_UNSET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
  *ready = done;
  return {};
}

void add_stream(GstStructure* config, GstCudaContext* context) {
  GstCudaStream* chosen = gst_buffer_pool_config_get_cuda_stream(config);
  GstCudaStream* stream = chosen ? chosen : gst_cuda_stream_new(context);
  if (stream && !chosen) gst_buffer_pool_config_set_cuda_stream(config, stream);
  gst_clear_cuda_stream(&stream);
}

#else

Status wait_for_producer(GstBuffer*, Queue&) { return {}; }
void finish_producer(GstBuffer*) {}
Status wait_for_readers(GstBuffer*, Queue&) { return {}; }
Status hand_over(GstBuffer*, const FencePtr& done, FencePtr* ready) {
  *ready = done;
  return {};
}
void add_stream(GstStructure*, GstCudaContext*) {}

#endif

}  // namespace cudatransform
