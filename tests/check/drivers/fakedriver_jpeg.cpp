// jpegcoefdec and jpegcoefenc with coefficients in CUDA memory, on a driver without a GPU: their
// copies, their allocations, leaks, and their behavior when memory runs out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <atomic>
#include <string>
#include <vector>

#include "tests/check/drivers/fakedriver.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"

namespace testing {

// A JPEG file that a frame of that format makes, by libjpeg.
inline std::vector<guint8> make_file(int width, int height, guint seed) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, width, height);
  g_autoptr(GstBuffer) frame = make_frame(raw, seed);
  return jpeg_of_frame(raw, frame, 2, 2, 80);
}

// `out`, which is taken, is a file of the same coefficients; `number`: for messages.
inline void expect_file(GstBuffer* out, const std::vector<guint8>& file, guint number) {
  fail_unless(out != nullptr, "frame %u is missing", number);
  const std::string text = difference(read_jpeg(bytes_of(out)), read_jpeg(file));
  fail_unless(text.empty(), "frame %u: %s", number, text.c_str());
  gst_buffer_unref(out);
}

}  // namespace testing

namespace {

using namespace testing;  // the helpers are half of every line here

// Stands in for the kernel, which does nothing on this driver: random quantized coefficients in the
// buffer's own layout. The test keeps those of the latest buffers, to compare them with the files.
struct Kernel {
  GstDctInfo info;
  std::vector<JpegFile> made;
};

GstPadProbeReturn write_qcoefs(GstPad*, GstPadProbeInfo* probe, gpointer data) {
  auto* kernel = static_cast<Kernel*>(data);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  GstBuffer* qcoefs = make_qcoefs(kernel->info, static_cast<guint>(kernel->made.size()));
  const std::vector<guint8> bytes = bytes_of(qcoefs);
  gst_buffer_unref(qcoefs);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (guint c = 0; c < kernel->info.n_components; c++) {
    const GstDctComponent& from = kernel->info.components[c];
    for (guint y = 0; y < from.blocks_h; y++)
      memcpy(map.data + meta->components[c].offset + y * meta->components[c].stride,
             &bytes[from.offset + y * from.stride], from.stride);
  }
  gst_buffer_unmap(buffer, &map);
  kernel->made.push_back(qcoefs_of(kernel->info, buffer));
  return GST_PAD_PROBE_OK;
}

bool is_in_cuda_memory(GstPad* pad) {
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
}

void run_frames(GstVideoFormat format, GstCoefSampling sampling, const std::string& properties) {
  constexpr guint kFrames = 60, kWarm = 12;
  const GstVideoInfo raw = video_info(format, 70, 45);
  Kernel kernel = {qcoefs_info(sampling, 70, 45), {}};
  GstHarness* h =
      gst_harness_new_parse(("cudadct8x8 name=f backend=cuda ! jpegcoefenc " + properties).c_str());
  g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(h->element), "f");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(f, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, write_qcoefs, &kernel, nullptr);
  gst_harness_set_src_caps(h, video_caps(raw));
  int allocations = 0;
  for (guint i = 0; i < kFrames; i++) {
    fail_unless_equals_int(gst_harness_push(h, make_frame(raw)), GST_FLOW_OK);
    if (i == kWarm) allocations = counts().allocations;
  }
  // On a busy machine, threads that fall behind may need another buffer and its place in pinned
  // memory, some thirty in all. One for every frame would be 47.
  fail_unless(counts().allocations - allocations < 40, "%d allocations, %d after some frames",
              counts().allocations, allocations);
  fail_unless(is_in_cuda_memory(pad));
  gst_harness_push_event(h, gst_event_new_eos());
  for (guint i = 0; i < kFrames; i++) {
    g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
    fail_unless(out != nullptr, "frame %u is missing", i);
    const std::string text = difference(read_jpeg(bytes_of(out)), kernel.made[i]);
    // The tables are those of cudadct8x8 on both sides.
    fail_unless(text.empty(), "frame %u: %s", i, text.c_str());
  }
  gst_harness_teardown(h);
}

CHECK_TEST_IF(test_downloads, is_mode("ok")) {
  for (const char* properties : {"n-threads=1", "n-threads=4", "n-threads=4 progressive=true"}) {
    run_frames(GST_VIDEO_FORMAT_I420, GST_COEF_SAMPLING_420, properties);
    run_frames(GST_VIDEO_FORMAT_GRAY8, GST_COEF_SAMPLING_GRAYSCALE, properties);
  }
}

// Files through device memory and back: uploaded by one element, downloaded by the other.
CHECK_TEST_IF(test_uploads, !is_mode("alloc-fails")) {
  constexpr guint kFrames = 60, kWarm = 24;
  for (const char* properties : {"n-threads=1", "n-threads=4"}) {
    g_autoptr(GstHarness) h =
        gst_harness_new_parse((std::string("jpegcoefdec name=d backend=cuda ") + properties +
                               " ! jpegcoefenc backend=cuda " + properties)
                                  .c_str());
    g_autoptr(GstElement) d = gst_bin_get_by_name(GST_BIN(h->element), "d");
    g_autoptr(GstPad) pad = gst_element_get_static_pad(d, "src");
    gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
    std::vector<std::vector<guint8>> files;
    int allocations = 0;
    for (guint i = 0; i < kFrames; i++) {
      // Another size for the last few.
      files.push_back(i < 50 ? make_file(70, 45, i) : make_file(33, 90, i));
      GstBuffer* buffer = gst_buffer_new_memdup(files[i].data(), files[i].size());
      GST_BUFFER_PTS(buffer) = i * 40 * GST_MSECOND;
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
      if (i == kWarm) allocations = counts().allocations;
      // As many pictures as may be in flight need separate memory whenever a thread falls behind;
      // one allocation per picture would be 25.
      if (i == 49) fail_unless(counts().allocations - allocations < int(49 - kWarm));
    }
    fail_unless(is_in_cuda_memory(pad));
    gst_harness_push_event(h, gst_event_new_eos());
    for (guint i = 0; i < kFrames; i++) {
      g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
      fail_unless(out != nullptr, "frame %u is missing", i);
      const std::string text = difference(read_jpeg(bytes_of(out)), read_jpeg(files[i]));
      fail_unless(text.empty(), "frame %u: %s", i, text.c_str());
      fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * 40 * GST_MSECOND);
    }
  }
}

// Without pinned memory: one line in the log of each element. test_uploads says that the files
// are the same.
void count_line(GstDebugCategory*, GstDebugLevel level, const gchar*, const gchar*, gint, GObject*,
                GstDebugMessage* message, gpointer lines) {
  if (level == GST_LEVEL_WARNING && contains(gst_debug_message_get(message), "no pinned memory"))
    (*static_cast<std::atomic<int>*>(lines))++;
}

CHECK_TEST_IF(test_ordinary_memory_is_logged_once, is_mode("no-pinned")) {
  std::atomic<int> lines = 0;
  gst_debug_set_default_threshold(GST_LEVEL_WARNING);
  gst_debug_add_log_function(count_line, &lines, nullptr);
  GstHarness* h = gst_harness_new_parse(
      "jpegcoefdec backend=cuda n-threads=3 ! jpegcoefenc backend=cuda n-threads=3");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  for (guint i = 0; i < 10; i++) {
    const std::vector<guint8> file = make_file(70, 45, i);
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size())),
                           GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(gst_harness_buffers_received(h), 10);
  gst_harness_teardown(h);
  gst_debug_remove_log_function(count_line);
  gst_debug_set_default_threshold(GST_LEVEL_ERROR);
  fail_unless_equals_int(lines, 2);
}

// Quantized coefficients on another device than the encoder's. The encoder has to read them on the
// CPU anyway, so it downloads them directly.
CHECK_TEST_IF(test_qcoefs_of_another_device, is_mode("ok")) {
  g_setenv("FAKECUDA_DEVICES", "2", TRUE);
  GstHarness* h = gst_harness_new_parse(
      "jpegcoefdec backend=cuda cuda-device-id=0 ! video/x-dct(memory:CUDAMemory) ! queue ! "
      "jpegcoefenc backend=cuda cuda-device-id=1");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  for (guint i = 0; i < 10; i++) {
    const std::vector<guint8> file = make_file(70, 45, i);
    gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size()));
  }
  gst_harness_push_event(h, gst_event_new_eos());
  for (guint i = 0; i < 10; i++) {
    expect_file(gst_harness_pull(h), make_file(70, 45, i), i);
  }
  fail_unless_equals_int(counts().contexts, 2);
  gst_harness_teardown(h);
  g_unsetenv("FAKECUDA_DEVICES");
}

// Dropped pictures give their pinned memory back, and so do files without a holder.
CHECK_TEST_IF(test_drops_leave_nothing, is_mode("ok")) {
  g_autoptr(GstHarness) h =
      gst_harness_new_parse("jpegcoefdec backend=cuda ! jpegcoefenc backend=cuda");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  const std::vector<guint8> file = make_file(70, 45, 1);
  int allocations = 0, files = 0;
  const auto take_files = [&] {
    for (; GstBuffer* out = gst_harness_try_pull(h); files++) gst_buffer_unref(out);
  };
  for (guint i = 0; i < 300; i++) {
    const gsize size = i % 3 == 2 ? file.size() * 2 / 3 : file.size();
    gst_harness_push(h, gst_buffer_new_memdup(file.data(), size));
    take_files();
    if (i == 30) allocations = counts().allocations;
  }
  gst_harness_push_event(h, gst_event_new_eos());
  take_files();
  fail_unless_equals_int(files, 200);
  // Threads that fall behind need more for a while; each dropped picture would take another.
  fail_unless(counts().allocations - allocations < 45, "%d allocations, %d after some files",
              counts().allocations, allocations);
}

// Without our engine, coefficients come in system memory.
CHECK_TEST_IF(test_backend_cpu, is_mode("ok")) {
  GstHarness* h = gst_harness_new_parse("cudadct8x8 name=f ! jpegcoefenc backend=cpu");
  g_autoptr(GstElement) f = gst_bin_get_by_name(GST_BIN(h->element), "f");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(f, "src");
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 70, 45);
  gst_harness_set_src_caps(h, video_caps(raw));
  Kernel kernel = {qcoefs_info(GST_COEF_SAMPLING_420, 70, 45), {}};
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, write_qcoefs, &kernel, nullptr);
  fail_unless_equals_int(gst_harness_push(h, make_frame(raw)), GST_FLOW_OK);
  fail_if(is_in_cuda_memory(pad));
  gst_harness_teardown(h);
}

// The element's context is the pipeline's.
CHECK_TEST_IF(test_context_is_shared, is_mode("ok")) {
  g_autoptr(GstElement) pipeline = launch(
      "videotestsrc num-buffers=3 ! cudadct8x8 backend=cuda ! jpegcoefenc backend=cuda ! fakesink");
  gst_element_set_state(pipeline, GST_STATE_READY);
  fail_unless_equals_int(counts().contexts, 1);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

// How many of 24 runs of a line end for want of memory, the first at its first allocation, the
// next at its second.
int count_short_of_memory(const std::string& line) {
  int failed = 0;
  for (int after = 0; after < 24; after++) {
    g_setenv("FAKECUDA_AFTER", std::to_string(counts().allocations + after).c_str(), TRUE);
    const Outcome outcome = run_line(line);
    if (outcome.error.empty()) continue;
    fail_unless(
        outcome.domain == GST_RESOURCE_ERROR && outcome.code == GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "%s", outcome.error.c_str());
    failed++;
  }
  return failed;
}

// Whichever allocation fails: an error or none, but no leak.
CHECK_TEST_IF(test_allocation_fails, is_mode("alloc-fails")) {
  g_setenv("FAKECUDA_FILL", "0",
           TRUE);  // quantized coefficients that no kernel writes can be coded
  const std::string frames = " ! video/x-raw,format=I420,width=64,height=48 ! ";
  const std::string encoder = " ! jpegcoefenc backend=cuda n-threads=2 ! fakesink";
  const std::string decoder = "jpegenc ! jpegcoefdec backend=cuda n-threads=2 entropy-backend=";
  const std::string lines[] = {
      "videotestsrc num-buffers=4" + frames + "cudadct8x8 backend=cuda" + encoder,
      "videotestsrc num-buffers=6" + frames + decoder + "cpu" + encoder,
      "videotestsrc num-buffers=6" + frames + decoder + "cuda" + encoder,
  };
  // How many buffers a stream needs depends on how soon they come back, but it needs one.
  for (const std::string& line : lines)
    fail_unless(count_short_of_memory(line) > 0, "no run of %s was short of memory", line.c_str());
}

}  // namespace

namespace testing {
namespace {

// Kernels that do nothing decode nothing, and the element notices.
CHECK_TEST_IF(test_idle_kernels, !is_mode("alloc-fails")) {
  constexpr guint kFrames = 40;
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "jpegcoefdec name=d backend=cuda n-threads=3 entropy-backend=cuda ! jpegcoefenc "
      "backend=cuda");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  for (guint i = 0; i < kFrames; i++) {
    const std::vector<guint8> file = make_file(i < 30 ? 70 : 33, 45, i);
    gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size()));
  }
  gst_harness_push_event(h, gst_event_new_eos());
  for (guint i = 0; i < kFrames; i++) {
    expect_file(gst_harness_try_pull(h), make_file(i < 30 ? 70 : 33, 45, i), i);
  }
  g_autoptr(GstElement) d = gst_bin_get_by_name(GST_BIN(h->element), "d");
  fail_unless_equals_uint64(stat_of(d, "cpu-frames"), kFrames);
}

// Frames of a stream of arithmetic-coded pictures, which are uploaded, and of damaged ones, which
// get memory on the device but no work.
std::vector<std::vector<guint8>> frames_of_odd_stream() {
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "jpegcoefdec backend=cuda n-threads=1 entropy-backend=cuda max-errors=-1 ! "
      "cudaidct8x8 backend=cuda async-depth=6");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1,parsed=true");
  for (guint i = 0; i < 90; i++) {
    Bytes file = make_jpeg(70, 45, Subsampling::k420, 75, i);
    if (i % 3 == 0)
      file = with_qcoef(file, 5, static_cast<int>(i));
    else
      file.resize(file.size() * 2 / 3);
    gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size()));
  }
  gst_harness_push_event(h, gst_event_new_eos());
  std::vector<std::vector<guint8>> frames;
  while (GstBuffer* out = gst_harness_try_pull(h)) {
    frames.push_back(bytes_of(out));
    gst_buffer_unref(out);
  }
  return frames;
}

// An earlier reader of that memory may go on reading.
CHECK_TEST_IF(test_readers_are_waited_for, is_mode("ok")) {
  std::vector<std::vector<guint8>> judge;
  {
    DoneAtOnce at_once;
    judge = frames_of_odd_stream();
  }
  const auto ours = frames_of_odd_stream();
  fail_unless_equals_int(static_cast<int>(judge.size()), 30);
  fail_unless_equals_int(static_cast<int>(ours.size()), 30);
  for (size_t i = 0; i < judge.size(); i++)
    fail_unless(ours[i] == judge[i], "frame %d differs", static_cast<int>(i));
}

// Quantized coefficients that the host decoded to that memory do not stay there.
CHECK_TEST_IF(test_left_to_the_cpu, is_mode("ok")) {
  constexpr guint kFrames = 90;
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "jpegcoefdec backend=cuda n-threads=1 entropy-backend=cuda on-error=drop max-errors=-1 ! "
      "jpegcoefenc backend=cuda n-threads=4");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1,parsed=true");
  std::vector<std::vector<guint8>> sound;
  for (guint i = 0; i < kFrames; i++) {
    std::vector<guint8> file = make_file(70, 45, i);
    if (i % 3 == 0) {
      sound.push_back(file);
    } else if (i % 3 == 1) {
      file.resize(file.size() * 2 / 3);
    } else {  // sound as well, but odd: for the CPU
      sound.push_back(file);
      file.insert(file.end() - 2, 0);
    }
    gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size()));
  }
  gst_harness_push_event(h, gst_event_new_eos());
  for (size_t i = 0; i < sound.size(); i++) {
    expect_file(gst_harness_try_pull(h), sound[i], static_cast<guint>(i));
  }
}

}  // namespace

}  // namespace testing

int main(int argc, char** argv) { return testing::run_in_mode(argc, argv); }
