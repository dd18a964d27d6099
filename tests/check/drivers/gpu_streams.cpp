// CUDA memory with its own streams (GStreamer 1.24 and later) on a GPU: frames pushed long before
// they are finished give the right pictures, whichever stream is late.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/cuda/gstcuda.h>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr int kFrames = 8;
constexpr gsize kScratchPitch = 1 << 16, kScratchRows = 1 << 10;  // 64 MiB
constexpr int kCopies =
    100;  // of the scratch memory: milliseconds, where a frame takes microseconds

GstCudaContext* context_of(GstHarness* h) {
  g_autoptr(GstElement) first = gst_bin_get_by_name(GST_BIN(h->element), "first");
  GstContext* shared = gst_element_get_context(first, GST_CUDA_CONTEXT_TYPE);
  fail_unless(shared != nullptr);
  GstCudaContext* context = nullptr;
  gst_structure_get(gst_context_get_structure(shared), GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT,
                    &context, nullptr);
  fail_unless(context != nullptr);
  gst_context_unref(shared);
  return context;
}

GstBufferPool* make_pool(GstCudaContext* context, GstCudaStream* stream, GstCaps* caps,
                         const GstVideoInfo& info) {
  GstBufferPool* pool = gst_cuda_buffer_pool_new(context);
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), 0, 0);
  if (stream) gst_buffer_pool_config_set_cuda_stream(config, stream);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  return pool;
}

// A finished frame of `pool` with the picture of `from`.
GstBuffer* frame_in_cuda(GstBufferPool* pool, const GstVideoInfo& info, GstBuffer* from) {
  GstBuffer* buffer = acquire(pool);
  copy_frame(info, from, buffer);
  GstMapInfo map;  // uploads
  fail_unless(gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_CUDA)));
  gst_buffer_unmap(buffer, &map);
  gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0)));
  return buffer;
}

void copy_on(CUstream stream, gpointer to, gpointer from, gsize pitch, gsize rows) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = static_cast<CUdeviceptr>(reinterpret_cast<guintptr>(from));
  copy.dstDevice = static_cast<CUdeviceptr>(reinterpret_cast<guintptr>(to));
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = pitch;
  copy.Height = rows;
  fail_unless_equals_int(CuMemcpy2DAsync(&copy, stream), CUDA_SUCCESS);
}

// Enqueues on the memory's stream, after slow work, the copy of `from` to `to`.
void copy_late(GstCudaContext* context, CUdeviceptr scratch, GstBuffer* to, GstBuffer* from) {
  GstMemory* memory = gst_buffer_peek_memory(to, 0);
  CUstream stream =
      gst_cuda_stream_get_handle(gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(memory)));
  GstMapInfo target, source;
  fail_unless(gst_buffer_map(to, &target, static_cast<GstMapFlags>(GST_MAP_WRITE | GST_MAP_CUDA)));
  fail_unless(gst_buffer_map(from, &source, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_CUDA)));
  fail_unless(gst_cuda_context_push(context));
  auto* half = reinterpret_cast<guint8*>(static_cast<guintptr>(scratch));
  for (int i = 0; i < kCopies; i++)
    copy_on(stream, half, half + kScratchPitch * kScratchRows / 2, kScratchPitch, kScratchRows / 2);
  const gsize pitch = GST_CUDA_MEMORY_CAST(memory)->info.stride[0];
  copy_on(stream, target.data, source.data, pitch, target.size / pitch);
  gst_cuda_context_pop(nullptr);
  gst_buffer_unmap(from, &source);
  gst_buffer_unmap(to, &target);
  fail_unless(GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC));
}

// Each frame holds a wrong picture until long after its push; the test compares the output with the
// CPU engine's.
CHECK_TEST(test_late_frames) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 640, 360);
  GstCaps* caps = video_caps(info);
  g_autoptr(GstHarness) cpu =
      gst_harness_new_parse("cudadct8x8 backend=cpu ! cudaidct8x8 backend=cpu");
  gst_harness_set_src_caps(cpu, gst_caps_ref(caps));
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "cudadct8x8 name=first backend=cuda ! cudaidct8x8 backend=cuda ! "
      "capsfilter caps=video/x-raw(memory:CUDAMemory)");
  caps = gst_caps_make_writable(caps);
  gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
  gst_harness_set_src_caps(h, gst_caps_ref(caps));

  GstCudaContext* context = context_of(h);
  GstCudaStream* stream = gst_cuda_stream_new(context);
  GstBufferPool* pool = make_pool(context, stream, caps, info);
  GstBufferPool* stock = make_pool(context, nullptr, caps, info);
  CUdeviceptr scratch = 0;
  fail_unless(gst_cuda_context_push(context));
  fail_unless_equals_int(CuMemAlloc(&scratch, kScratchPitch * kScratchRows), CUDA_SUCCESS);
  gst_cuda_context_pop(nullptr);

  GstBuffer* wrong = make_frame(info, 1000);
  GstBuffer* outputs[kFrames];
  GstBuffer* expected[kFrames];
  for (guint i = 0; i < kFrames; i++) {
    GstBuffer* right = make_frame(info, i + 1);
    g_autoptr(GstBuffer) right_in_cuda = frame_in_cuda(stock, info, right);
    GstBuffer* in = frame_in_cuda(pool, info, wrong);
    copy_late(context, scratch, in, right_in_cuda);
    fail_unless_equals_int(gst_harness_push(h, in), GST_FLOW_OK);
    outputs[i] = gst_harness_pull(h);
    fail_unless(GST_MEMORY_FLAG_IS_SET(gst_buffer_peek_memory(outputs[i], 0),
                                       GST_CUDA_MEMORY_TRANSFER_NEED_SYNC));
    // Half of them are checked once all have been pushed.
    if (i % 2 == 0) {
      GstMapInfo map;
      fail_unless(gst_buffer_map(outputs[i], &map, GST_MAP_READ));
      gst_buffer_unmap(outputs[i], &map);
    }
    fail_unless_equals_int(gst_harness_push(cpu, right), GST_FLOW_OK);
    expected[i] = gst_harness_pull(cpu);
  }
  for (int i = 0; i < kFrames; i++) {
    fail_unless_equals_int(largest_difference(info, outputs[i], expected[i]), 0);
    gst_buffer_unref(outputs[i]);
    gst_buffer_unref(expected[i]);
  }

  gst_buffer_unref(wrong);
  fail_unless(gst_cuda_context_push(context));
  CuMemFree(scratch);
  gst_cuda_context_pop(nullptr);
  for (GstBufferPool* p : {pool, stock}) {
    gst_buffer_pool_set_active(p, FALSE);
    gst_object_unref(p);
  }
  gst_cuda_stream_unref(stream);
  gst_caps_unref(caps);
  gst_object_unref(context);
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::require_cuda_or_skip()) return status;
  return testing::run(argc, argv);
}
