// jpegcoefenc's property entropy, on a GPU and on a driver whose kernels code as the host does:
// which of the two codes a picture, and that the files are the same.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <functional>
#include <string>
#include <vector>

#include "tests/check/drivers/fakedriver.h"
#include "tests/check/jpeg/jpegs.h"

namespace {

using namespace testing;  // the helpers are half of every line here

using Bytes = std::vector<guint8>;

// Nothing stays alive, where the driver can tell.
void finish_run() {
  if (is_fake()) check_clean();
}

struct Kind {
  GstVideoFormat format;
  int width, height, h_samp, v_samp, quality;
};

Bytes make_file(const Kind& kind, guint seed) {
  const GstVideoInfo raw = video_info(kind.format, kind.width, kind.height);
  g_autoptr(GstBuffer) frame = make_frame(raw, seed);
  return jpeg_of_frame(raw, frame, kind.h_samp, kind.v_samp, kind.quality);
}

// The results of one run: files, their coders, and its end.
struct Outputs {
  std::vector<Bytes> files;
  guint64 frames = 0, by_cuda = 0, by_cpu = 0;
  GstFlowReturn flow = GST_FLOW_OK;
  std::string error;
};

using Change = std::function<void(GstBuffer* qcoefs, guint number)>;
struct Changing {
  const Change& change;
  guint number;
};

GstPadProbeReturn change_qcoefs(GstPad*, GstPadProbeInfo* probe, gpointer data) {
  auto* changing = static_cast<Changing*>(data);
  if (changing->change) changing->change(GST_PAD_PROBE_INFO_BUFFER(probe), changing->number++);
  return GST_PAD_PROBE_OK;
}

void read_stats(GstElement* encoder, Outputs* outputs) {
  outputs->frames = stat_of(encoder, "frames");
  outputs->by_cuda = stat_of(encoder, "cuda-frames");
  outputs->by_cpu = stat_of(encoder, "cpu-frames");
  fail_unless_equals_uint64(outputs->frames, outputs->by_cuda + outputs->by_cpu);
}

// Files through device memory and jpegcoefenc with these properties.
Outputs encode(const std::vector<Bytes>& files, const std::string& properties,
               const Change& change = nullptr) {
  const std::string line =
      "jpegcoefdec name=d backend=cuda n-threads=1 ! video/x-dct(memory:CUDAMemory) ! jpegcoefenc "
      "name=e backend=cuda " +
      properties;
  GstHarness* h = gst_harness_new_parse(line.c_str());
  GstElement* d = gst_bin_get_by_name(GST_BIN(h->element), "d");
  GstElement* e = gst_bin_get_by_name(GST_BIN(h->element), "e");
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  GstPad* pad = gst_element_get_static_pad(d, "src");
  Changing changing = {change, 0};
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, change_qcoefs, &changing, nullptr);
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  Outputs outputs;
  for (const Bytes& file : files) {
    outputs.flow = gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size()));
    if (outputs.flow != GST_FLOW_OK) break;
  }
  gst_harness_push_event(h, gst_event_new_eos());
  while (GstBuffer* out = gst_harness_try_pull(h)) {
    outputs.files.push_back(bytes_of(out));
    gst_buffer_unref(out);
  }
  read_stats(e, &outputs);
  outputs.error = take_text(bus, GST_MESSAGE_ERROR);
  gst_element_set_bus(h->element, nullptr);
  gst_object_unref(bus);
  gst_object_unref(pad);
  gst_object_unref(d);
  gst_object_unref(e);
  gst_harness_teardown(h);
  finish_run();
  return outputs;
}

void check_same(const Outputs& a, const Outputs& b, const std::string& what) {
  fail_unless_equals_int(static_cast<int>(a.files.size()), static_cast<int>(b.files.size()));
  for (size_t i = 0; i < a.files.size(); i++)
    fail_unless(a.files[i] == b.files[i], "%s: file %zu differs", what.c_str(), i);
}

constexpr Kind kKinds[] = {{GST_VIDEO_FORMAT_I420, 150, 91, 2, 2, 90},
                           {GST_VIDEO_FORMAT_Y42B, 64, 33, 2, 1, 50},
                           {GST_VIDEO_FORMAT_Y444, 33, 64, 1, 1, 100},
                           {GST_VIDEO_FORMAT_GRAY8, 75, 75, 1, 1, 75}};

// Pictures of many sizes in sequence, so that the first estimate of room is too small.
std::vector<Bytes> mixed_files(const Kind& kind, guint count) {
  std::vector<Bytes> files;
  for (guint i = 0; i < count; i++) {
    Kind own = kind;
    own.quality = i % 3 == 2 ? 100 : kind.quality / 2 + 1;
    files.push_back(make_file(own, i));
  }
  return files;
}

// Files that the test keeps, more than go downstream without a copy, do not change.
CHECK_TEST(test_files_that_are_kept) {
  std::vector<Bytes> files;
  for (guint i = 0; i < 90; i++) files.push_back(make_file(kKinds[0], i));
  check_same(encode(files, "entropy-backend=cuda n-threads=3"),
             encode(files, "entropy-backend=cpu n-threads=2"), "kept");
}

CHECK_TEST(test_device_writes_the_same_files) {
  for (const Kind& kind : kKinds) {
    const std::vector<Bytes> files = mixed_files(kind, 9);
    for (const char* options : {"", "optimize=true", "restart-interval=3",
                                "optimize=true restart-interval=1", "keep-metadata=false"}) {
      const Outputs cpu = encode(files, std::string("entropy-backend=cpu n-threads=2 ") + options);
      fail_unless_equals_uint64(cpu.by_cpu, files.size());
      for (const char* threads : {"n-threads=1", "n-threads=4"}) {
        const std::string how = std::string(" ") + threads + " " + options;
        const Outputs device = encode(files, "entropy-backend=cuda" + how);
        fail_unless_equals_uint64(device.by_cuda, files.size());
        check_same(device, cpu, how);
      }
    }
    const Outputs chosen = encode(files, "n-threads=3");
    fail_unless_equals_uint64(chosen.by_cuda, files.size());
  }
}

// Files that only libjpeg writes.
CHECK_TEST(test_other_processes_are_the_cpus) {
  const std::vector<Bytes> files = mixed_files(kKinds[0], 6);
  for (const char* options : {"progressive=true", "arithmetic=true"}) {
    const Outputs cpu = encode(files, std::string("entropy-backend=cpu n-threads=3 ") + options);
    const Outputs device =
        encode(files, std::string("entropy-backend=cuda n-threads=3 ") + options);
    fail_unless_equals_uint64(device.by_cpu, files.size());
    check_same(device, cpu, options);
  }
}

// Sets a quantized coefficient of the first component.
Change set_one_qcoef(guint which, gsize offset, gint16 value) {
  return [=](GstBuffer* qcoefs, guint number) {
    if (number != which) return;
    const GstDctMeta* meta = gst_buffer_get_dct_meta(qcoefs);
    if (meta->fence) fail_unless(gst_coef_fence_wait_written(meta->fence, nullptr));
    GstMapInfo map;
    fail_unless(gst_buffer_map(qcoefs, &map, GST_MAP_READWRITE));
    reinterpret_cast<gint16*>(map.data + meta->components[0].offset)[offset] = value;
    gst_buffer_unmap(qcoefs, &map);
  };
}

// DC quantized coefficients beyond those of samples, which JPEG still has codes for: in order with
// others.
CHECK_TEST(test_unusual_qcoefs_are_the_cpus) {
  const std::vector<Bytes> files = mixed_files(kKinds[0], 8);
  const Change change = set_one_qcoef(3, 0, 1030);
  const Outputs cpu = encode(files, "entropy-backend=cpu n-threads=4", change);
  const Outputs device = encode(files, "entropy-backend=cuda n-threads=4", change);
  fail_unless_equals_uint64(device.by_cuda, files.size() - 1);
  fail_unless_equals_uint64(device.by_cpu, 1);
  check_same(device, cpu, "a DC coefficient of 1030");
}

// The CPU's threads take a stream of them, and the element tries the device again now and then.
CHECK_TEST(test_unusual_streams_are_the_cpus) {
  const std::vector<Bytes> files = mixed_files(kKinds[3], 90);
  const Change change = [](GstBuffer* qcoefs, guint number) {
    if (number < 40) set_one_qcoef(number, 0, 1030)(qcoefs, number);
  };
  const Outputs cpu = encode(files, "entropy-backend=cpu n-threads=4", change);
  const Outputs device = encode(files, "entropy-backend=cuda n-threads=4", change);
  check_same(device, cpu, "DC coefficients of 1030");
  fail_unless(device.by_cuda > 0 && device.by_cuda <= 30);
}

// The same verdict, in the same words, after the same files.
CHECK_TEST(test_qcoefs_that_jpeg_has_not) {
  const std::vector<Bytes> files = mixed_files(kKinds[0], 8);
  for (const gint16 value : {gint16{1024}, gint16{-32768}})
    for (const char* options : {"", "optimize=true"}) {
      const Change change = set_one_qcoef(5, 64 * 7 + 9, value);
      const Outputs cpu =
          encode(files, std::string("entropy-backend=cpu n-threads=2 ") + options, change);
      const Outputs device =
          encode(files, std::string("entropy-backend=cuda n-threads=2 ") + options, change);
      fail_unless_equals_int(static_cast<int>(cpu.files.size()), 5);
      fail_if(cpu.error.empty());
      fail_unless_equals_string(device.error.c_str(), cpu.error.c_str());
      check_same(device, cpu, options);
    }
}

// A flush and a stop while pictures are in flight leave no objects.
CHECK_TEST(test_stops_with_pictures_in_flight) {
  for (const bool flushes : {false, true}) {
    GstHarness* h = gst_harness_new_parse(
        "jpegcoefdec backend=cuda n-threads=1 ! jpegcoefenc backend=cuda n-threads=8 "
        "entropy-backend=cuda");
    gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
    for (guint i = 0; i < 5; i++) {
      const Bytes file = make_file(kKinds[0], i);
      fail_unless_equals_int(gst_harness_push(h, gst_buffer_new_memdup(file.data(), file.size())),
                             GST_FLOW_OK);
    }
    if (flushes) {
      gst_harness_push_event(h, gst_event_new_flush_start());
      gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
    }
    gst_harness_teardown(h);
    finish_run();
  }
}

CHECK_TEST(test_cuda_without_an_engine) {
  const Outcome outcome = run_line(
      "videotestsrc num-buffers=2 ! cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu "
      "entropy-backend=cuda "
      "! fakesink");
  fail_unless(outcome.domain == GST_RESOURCE_ERROR);
  finish_run();
}

}  // namespace

// The first argument: "gpu", or the fake driver's mode.
int main(int argc, char** argv) {
  if (argc < 2 || !g_str_equal(argv[1], "gpu")) return testing::run_in_mode(argc, argv);
  if (const int status = testing::require_cuda_or_skip()) return status;
  return testing::run(argc, argv);
}
