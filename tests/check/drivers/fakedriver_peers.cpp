// Consumers whose sync points fail, on a driver without a GPU: no frame is lost, and the memory is
// reused once they have left it, and only then.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <set>

#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// A consumer of one buffer, which answers as the case requires.
struct Reader {
  bool stream_waits, host_waits, is_done;
  int asked_stream = 0, asked_host = 0;
};

gboolean wait_host(gpointer data) {
  auto* reader = static_cast<Reader*>(data);
  reader->asked_host++;
  return reader->host_waits;
}

gboolean wait_stream(gpointer data, gpointer) {
  auto* reader = static_cast<Reader*>(data);
  reader->asked_stream++;
  return reader->stream_waits;
}

gboolean is_done(gpointer data) { return static_cast<Reader*>(data)->is_done; }

constexpr GstCoefSyncPointFuncs kFuncs = {wait_host, wait_stream, is_done};
constexpr GstCoefSyncPointFuncs kHostOnly = {wait_host, nullptr, is_done};

struct Case {
  const char* name;
  Reader reader;
  bool used_again;  // the memory that it reads
};

constexpr Case kCases[] = {
    {"works", {true, true, true}, true},
    {"no stream can wait", {false, true, false}, true},
    {"the work has failed", {false, false, true}, true},
    {"cannot be waited for", {false, false, false}, false},
};

void add_read(GstBuffer* buffer, const GstCoefSyncPointFuncs* funcs, Reader* reader) {
  g_autoptr(GstCoefSyncPoint) point = gst_coef_sync_point_new(funcs, reader, nullptr);
  gst_coef_fence_add_read(gst_buffer_get_dct_meta(buffer)->fence, point);
}

CHECK_LOOP_TEST(test_failing_readers, 0, 2 * G_N_ELEMENTS(kCases)) {
  const Case& one = kCases[__i__ / 2];
  const GstCoefSyncPointFuncs* funcs = __i__ % 2 ? &kHostOnly : &kFuncs;
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "cudadct8x8 backend=cuda ! capsfilter caps=video/x-dct(memory:CUDAMemory)");
  gst_harness_add_propose_allocation_meta(h, GST_COEF_FENCE_API_TYPE, nullptr);
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  gst_harness_set_src_caps(h, video_caps(info));
  Reader readers[3] = {one.reader, one.reader, one.reader};
  std::set<GstMemory*> read;  // by them
  bool again = false;
  for (int i = 0; i < 24; i++) {
    fail_unless(gst_harness_push(h, make_frame(info)) == GST_FLOW_OK, "%s: frame %d", one.name, i);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    GstMemory* memory = gst_buffer_peek_memory(out, 0);
    again = again || read.count(memory) != 0;
    if (i >= 6 && i < 9) {  // all blocks are made by then
      add_read(out, funcs, &readers[i - 6]);
      read.insert(memory);
    }
  }
  for (const Reader& reader : readers) {
    const bool in_stream = funcs->wait_stream && reader.stream_waits;
    fail_unless_equals_int(reader.asked_stream > 0, funcs->wait_stream != nullptr);
    fail_unless_equals_int(reader.asked_host > 0, !in_stream);
  }
  fail_unless(again == one.used_again, "%s", one.name);
}

}  // namespace

int main(int argc, char** argv) { return testing::run_in_mode(argc, argv); }
