// CUDA memory with its own streams (GStreamer 1.24 and later) on a driver without a GPU: which
// stream waits for which, that no thread waits, and the memory's flags.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/cuda/gstcuda.h>

#include <cstring>

#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

FakecudaWaits waits_of(GstCudaStream* stream) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto get = reinterpret_cast<void (*)(void*, FakecudaWaits*)>(dlsym(driver, "fakecuda_get_waits"));
  FakecudaWaits waits = {};
  get(gst_cuda_stream_get_handle(stream), &waits);
  return waits;
}

GstCudaMemory* memory_of(GstBuffer* buffer) {
  return GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0));
}

bool needs_sync(GstBuffer* buffer) {
  return GST_MEMORY_FLAG_IS_SET(memory_of(buffer), GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}

// A line whose two ends are in CUDA memory.
struct Line {
  GstHarness* h;
  GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstCaps* caps = video_caps(info);
  GstCudaContext* context = nullptr;

  explicit Line(const char* description) : h(gst_harness_new_parse(description)) {
    gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
    g_autoptr(GstElement) first = gst_bin_get_by_name(GST_BIN(h->element), "first");
    GstContext* shared = gst_element_get_context(first, GST_CUDA_CONTEXT_TYPE);
    fail_unless(shared != nullptr);
    gst_structure_get(gst_context_get_structure(shared), GST_CUDA_CONTEXT_TYPE,
                      GST_TYPE_CUDA_CONTEXT, &context, nullptr);
    fail_unless(context != nullptr);
    gst_context_unref(shared);
  }
  ~Line() {
    gst_harness_teardown(h);
    gst_caps_unref(caps);
    gst_object_unref(context);
  }

  void start() { gst_harness_set_src_caps(h, gst_caps_ref(caps)); }

  // An active pool of frames whose memory has `stream`, or none.
  GstBufferPool* pool(GstCudaStream* stream) {
    GstBufferPool* made = gst_cuda_buffer_pool_new(context);
    GstStructure* config = gst_buffer_pool_get_config(made);
    gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), 0, 0);
    if (stream) gst_buffer_pool_config_set_cuda_stream(config, stream);
    fail_unless(gst_buffer_pool_set_config(made, config));
    return made;
  }
};

void touch(GstBuffer* buffer, int flags) {
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(flags)));
  gst_buffer_unmap(buffer, &map);
}

constexpr const char* kBoth =
    "cudadct8x8 name=first backend=cuda ! cudaidct8x8 backend=cuda ! "
    "capsfilter caps=video/x-raw(memory:CUDAMemory)";

enum class Producer { kUnfinished, kFinished, kCpu };

// The element reads a frame after its producer's work on the frame's stream, and only then; that
// stream waits for us before outgoing frames are used. The host waits for neither.
CHECK_LOOP_TEST(test_frames_in_and_out, 0, 3) {
  const auto producer = static_cast<Producer>(__i__);
  Line line(kBoth);
  line.start();
  GstCudaStream* stream = gst_cuda_stream_new(line.context);
  GstBufferPool* pool = line.pool(stream);
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  int host_waits = 0;
  for (int i = 0; i < 12; i++) {
    GstBuffer* in = acquire(pool);
    if (producer == Producer::kCpu) {
      touch(in, GST_MAP_WRITE);  // uploaded when it is next mapped for CUDA, on its stream
    } else {
      touch(in, GST_MAP_WRITE | GST_MAP_CUDA);
      fail_unless(needs_sync(in));
      if (producer == Producer::kFinished) gst_cuda_memory_sync(memory_of(in));
    }
    gst_buffer_ref(in);
    const int before = waits_of(stream).waited_for;
    if (i == 4) host_waits = counts().waits;  // pools are filled now
    const int host_waits_before = counts().waits;
    fail_unless_equals_int(gst_harness_push(line.h, in), GST_FLOW_OK);
    if (i >= 4) fail_unless_equals_int(counts().waits, host_waits_before);
    fail_unless_equals_int(waits_of(stream).waited_for - before,
                           producer == Producer::kFinished ? 0 : 1);
    fail_unless(needs_sync(in) == (producer != Producer::kFinished));
    gst_buffer_unref(in);

    g_autoptr(GstBuffer) out = gst_harness_pull(line.h);
    GstCudaStream* out_stream = gst_cuda_memory_get_stream(memory_of(out));
    fail_unless(out_stream != nullptr && out_stream != stream);
    fail_unless_equals_int(waits_of(out_stream).waits, i + 1);
    fail_unless_equals_int(waits_of(out_stream).waited_for, i + 1);
    fail_unless(needs_sync(out));
    gst_cuda_memory_sync(memory_of(out));
    fail_if(needs_sync(out));
  }
  fail_unless(host_waits > 0);
  free_pool(pool);
  gst_cuda_stream_unref(stream);
}

struct Offer {
  GstBufferPool* pool;
  guint size;
};

GstPadProbeReturn offer_pool(GstPad*, GstPadProbeInfo* probe, gpointer user_data) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(probe);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  const auto* offer = static_cast<Offer*>(user_data);
  gst_query_add_allocation_pool(query, offer->pool, offer->size, 0, 0);
  return GST_PAD_PROBE_HANDLED;
}

// The pool that a peer offers keeps its stream; one without a stream gets one.
CHECK_LOOP_TEST(test_pool_of_the_peer, 0, 2) {
  const bool has_stream = __i__ == 1;
  Line line(kBoth);
  GstCudaStream* stream = has_stream ? gst_cuda_stream_new(line.context) : nullptr;
  GstBufferPool* pool = line.pool(stream);
  Offer offer = {pool, static_cast<guint>(GST_VIDEO_INFO_SIZE(&line.info))};
  gst_pad_add_probe(line.h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, &offer,
                    nullptr);
  line.start();
  GstBufferPool* source = line.pool(nullptr);
  fail_unless(gst_buffer_pool_set_active(source, TRUE));
  for (int i = 0; i < 3; i++) {
    g_autoptr(GstBuffer) out = passed(line.h, acquire(source));
    fail_unless(out->pool == pool);
    GstCudaStream* of_memory = gst_cuda_memory_get_stream(memory_of(out));
    fail_unless(of_memory != nullptr);
    fail_unless(!has_stream || of_memory == stream);
    fail_unless_equals_int(waits_of(of_memory).waits, i + 1);
    fail_unless(needs_sync(out));
  }
  free_pool(source);
  gst_object_unref(pool);
  if (stream) gst_cuda_stream_unref(stream);
}

// The pool that an answered ALLOCATION query proposes (transfer full), and its stream, which lives
// as long.
GstBufferPool* proposed_pool(GstQuery* query, GstCudaStream** stream) {
  fail_unless(gst_query_get_n_allocation_pools(query) > 0, "no pool");
  GstBufferPool* pool = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  g_autoptr(GstStructure) config = gst_buffer_pool_get_config(pool);
  *stream = gst_buffer_pool_config_get_cuda_stream(config);
  fail_unless(*stream != nullptr, "the proposed pool has no stream");
  gst_cuda_stream_unref(*stream);
  return pool;
}

// The proposed pool has a stream, and its frames arrive on it.
CHECK_TEST(test_pool_for_the_peer) {
  Line line(kBoth);
  line.start();
  g_autoptr(GstQuery) query = gst_query_new_allocation(line.caps, TRUE);
  fail_unless(gst_pad_peer_query(line.h->srcpad, query));
  GstCudaStream* stream = nullptr;
  GstBufferPool* pool = proposed_pool(query, &stream);
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  for (int i = 0; i < 3; i++) {
    GstBuffer* in = acquire(pool);
    fail_unless(gst_cuda_memory_get_stream(memory_of(in)) == stream);
    touch(in, GST_MAP_WRITE | GST_MAP_CUDA);
    fail_unless_equals_int(gst_harness_push(line.h, in), GST_FLOW_OK);
    fail_unless_equals_int(waits_of(stream).waited_for, i + 1);
    gst_buffer_unref(gst_harness_pull(line.h));
  }
  free_pool(pool);
}

struct Seen {
  GstCudaStream* proposed = nullptr;
  int frames = 0;
};

GstPadProbeReturn see(GstPad*, GstPadProbeInfo* probe, gpointer user_data) {
  auto* seen = static_cast<Seen*>(user_data);
  if (probe->type & GST_PAD_PROBE_TYPE_BUFFER) {
    GstCudaMemory* memory = memory_of(GST_PAD_PROBE_INFO_BUFFER(probe));
    fail_unless(gst_cuda_memory_get_stream(memory) == seen->proposed, "another stream");
    seen->frames++;
  } else if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(probe)) == GST_QUERY_ALLOCATION) {
    gst_object_unref(proposed_pool(GST_PAD_PROBE_INFO_QUERY(probe), &seen->proposed));
  }
  return GST_PAD_PROBE_OK;
}

// Frames between two elements are made on the reader's stream.
CHECK_TEST(test_chain) {
  Line line(
      "cudadct8x8 name=first backend=cuda ! cudaidct8x8 backend=cuda ! "
      "video/x-raw(memory:CUDAMemory) ! cudadct8x8 name=reader backend=cuda ! "
      "capsfilter caps=video/x-dct(memory:CUDAMemory)");
  Seen seen;
  GstElement* reader = gst_bin_get_by_name(GST_BIN(line.h->element), "reader");
  GstPad* pad = gst_element_get_static_pad(reader, "sink");
  // PULL: queries that have been answered.
  gst_pad_add_probe(
      pad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL),
      see, &seen, nullptr);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see, &seen, nullptr);
  gst_object_unref(pad);
  gst_object_unref(reader);
  line.start();
  GstBufferPool* source = line.pool(nullptr);
  fail_unless(gst_buffer_pool_set_active(source, TRUE));
  for (int i = 0; i < 3; i++) {
    gst_buffer_unref(passed(line.h, acquire(source)));
  }
  fail_unless_equals_int(seen.frames, 3);
  fail_unless(waits_of(seen.proposed).waited_for >= 3);
  free_pool(source);
}

// A foreign producer's unfinished coefficients, read in place and downloaded.
CHECK_LOOP_TEST(test_coefficients_of_a_stranger, 0, 2) {
  static const char* const elements[] = {"cudaidct8x8 name=first backend=cuda",
                                         "jpegcoefenc name=first"};
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  g_autoptr(GstHarness) producer = harness_of(
      "cudadct8x8 name=first backend=cuda ! capsfilter caps=video/x-dct(memory:CUDAMemory)", info);
  gst_harness_push(producer, make_frame(info));
  g_autoptr(GstBuffer) coefficients = gst_harness_pull(producer);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(producer->sinkpad);
  {
    GstHarness* h = gst_harness_new_parse(elements[__i__]);
    GstElement* f = gst_bin_get_by_name(GST_BIN(producer->element), "first");
    GstContext* shared = gst_element_get_context(f, GST_CUDA_CONTEXT_TYPE);
    GstElement* first = gst_bin_get_by_name(GST_BIN(h->element), "first");
    gst_element_set_state(h->element, GST_STATE_NULL);
    gst_element_set_context(first, shared);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    gst_object_unref(first);
    gst_context_unref(shared);
    gst_object_unref(f);

    // The same bytes in memory with a stream.
    GstCudaMemory* original = memory_of(coefficients);
    GstCudaStream* stream = gst_cuda_stream_new(original->context);
    GstMapInfo map;
    fail_unless(gst_memory_map(GST_MEMORY_CAST(original), &map,
                               static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_CUDA)));
    std::memset(map.data, 0, map.size);  // kernels did nothing, and the driver's memory is ours
    GstMemory* wrapped = gst_cuda_allocator_alloc_wrapped(
        nullptr, original->context, stream, &original->info,
        static_cast<CUdeviceptr>(reinterpret_cast<guintptr>(map.data)), nullptr, [](gpointer) {});
    GstBuffer* stranger = gst_buffer_new();
    gst_buffer_append_memory(stranger, wrapped);
    const GstDctMeta* meta = gst_buffer_get_dct_meta(coefficients);
    GstDctInfo dct;
    fail_unless(gst_dct_info_from_caps(&dct, caps, nullptr));
    GstDctMeta* copied = gst_buffer_add_dct_meta(stranger, &dct);
    const GstMeta base = copied->meta;
    *copied = *meta;
    copied->meta = base;
    copied->fence = nullptr;
    GST_MINI_OBJECT_FLAG_SET(wrapped, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);

    gst_harness_set_src_caps(h, gst_caps_ref(caps));
    fail_unless_equals_int(gst_harness_push(h, stranger), GST_FLOW_OK);
    fail_unless_equals_int(waits_of(stream).waited_for, 1);
    gst_harness_push_event(h, gst_event_new_eos());
    gst_harness_teardown(h);
    gst_memory_unmap(GST_MEMORY_CAST(original), &map);
    gst_cuda_stream_unref(stream);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::enter_mode("ok")) return status;
  return testing::run(argc, argv);
}
