// Tests that need two GPUs: buffers that cross from one to the other arrive whole, in order and in
// time, and give the bytes of the CPU engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/drivers/cudaframes.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

Frames play(const std::string& line, int* warnings, std::string* upload = nullptr) {
  const auto look = [&](GstElement* pipeline) {
    if (!upload) return;
    g_autoptr(GstElement) inverse = gst_bin_get_by_name(GST_BIN(pipeline), "inverse");
    g_autoptr(GstStructure) stats = stats_of(inverse);
    g_autofree gchar* text = gst_structure_to_string(stats);
    *upload = text;
  };
  return testing::play(line, warnings, look);
}

// 0 or 1: each element that copies warns once of devices that are no peers.
int warnings_of_a_copy() {
  GstCudaContext* one = new_context(0);
  GstCudaContext* other = new_context(1);
  const bool reach = gst_cuda_context_can_access_peer(other, one);
  gst_object_unref(one);
  gst_object_unref(other);
  return reach ? 0 : 1;
}

std::string source(const char* format, int width, int height, int frames) {
  return "videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=1 num-buffers=" +
         std::to_string(frames) + " ! video/x-raw,format=" + format +
         ",width=" + std::to_string(width) + ",height=" + std::to_string(height) + " ! ";
}

constexpr char kSink[] = " ! video/x-raw ! appsink name=sink sync=false";

// Coefficients of cuda`name` to cudai`name`.
void coefficients_cross(const std::string& name) {
  const std::string forward = "cuda" + name + " backend=", inverse = "cudai" + name + " backend=";
  const std::string caps = name == "dwt" ? "video/x-dwt" : "video/x-dct";
  const int expected = warnings_of_a_copy();
  for (const char* format : {"I420", "NV12", "GRAY8", "Y444", "GBR"}) {
    for (const auto& [width, height] : {std::pair{67, 45}, {640, 360}, {1920, 1080}}) {
      const std::string from = source(format, width, height, 30);
      int warnings = 0;
      const Frames cpu = play(from + forward + "cpu ! " + inverse + "cpu" + kSink, &warnings);
      for (const char* queue : {"", "queue max-size-buffers=3 ! "}) {
        const Frames gpu =
            play(from + forward + "cuda cuda-device-id=0 ! " + caps + "(memory:CUDAMemory) ! " +
                     queue + inverse + "cuda cuda-device-id=1" + kSink,
                 &warnings);
        compare(cpu, gpu, from);
        fail_unless_equals_int(warnings, expected);
      }
    }
  }
}

CHECK_TEST(test_coefficients_cross) {
  for (const char* name : {"dct8x8", "dwt"}) coefficients_cross(name);
}

// Back and forth, with all devices busy: a copy that starts too early, or memory that is reused too
// early, shows as other bytes.
CHECK_TEST(test_race) {
  const std::string from = source("I420", 1280, 720, 100);
  const auto chain = [&](bool cuda) {
    std::string line = from;
    for (int i = 0; i < 4; i++) {
      const auto element = [&](const char* name, int device) {
        return std::string(name) + " backend=" + (cuda ? "cuda" : "cpu") +
               " cuda-device-id=" + std::to_string(device) + " ! queue max-size-buffers=2 ! ";
      };
      line += element("cudadct8x8", i % 2) + element("cudaidct8x8", (i + 1) % 2);
    }
    return line + "video/x-raw ! appsink name=sink sync=false";
  };
  int warnings = 0;
  const Frames cpu = play(chain(false), &warnings);
  compare(cpu, play(chain(true), &warnings), "four times there and back");
}

CHECK_TEST(test_frames_cross) {
  for (const auto& [width, height] : {std::pair{66, 46}, {1920, 1080}}) {
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, width, height);
    g_autoptr(GstBuffer) frame = make_frame(info);
    g_autoptr(GstHarness) cpu = harness_of("cudadct8x8 backend=cpu", info);
    gst_harness_push(cpu, gst_buffer_ref(frame));
    g_autoptr(GstBuffer) expected = gst_harness_pull(cpu);
    g_autoptr(GstHarness) gpu = gst_harness_new_parse(
        "cudadct8x8 backend=cuda cuda-device-id=1 ! capsfilter caps=video/x-dct");
    gst_harness_set_src_caps(gpu, cuda_video_caps(info));
    GstCudaContext* context = new_context(0);
    for (int i = 0; i < 20; i++) {
      gst_harness_push(gpu, to_cuda(context, info, frame));
      g_autoptr(GstBuffer) got = gst_harness_pull(gpu);
      fail_unless(bytes_of(got) == bytes_of(expected), "%d x %d, frame %d", width, height, i);
    }
    gst_object_unref(context);
  }
}

CHECK_TEST(test_files_of_qcoefs_that_cross) {
  if (require_element_or_skip("jpegcoefenc")) return;
  const std::string from = source("I420", 640, 361, 40);
  int warnings = 0;
  const Frames cpu = play(from +
                              "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu ! "
                              "appsink name=sink sync=false",
                          &warnings);
  const Frames gpu = play(from +
                              "cudadct8x8 backend=cuda cuda-device-id=0 ! "
                              "video/x-dct(memory:CUDAMemory) ! jpegcoefenc backend=cuda "
                              "cuda-device-id=1 ! appsink name=sink sync=false",
                          &warnings);
  compare(cpu, gpu, from);
  fail_unless_equals_int(warnings, 0);
}

// One device reads the codes of files, and another transforms the quantized coefficients or writes
// them to files; and the other way round.
CHECK_TEST(test_files_that_a_device_reads_cross) {
  if (require_element_or_skip("jpegcoefenc")) return;
  const std::string files =
      source("I420", 640, 361, 40) +
      "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu ! jpegcoefdec name=d n-threads=3 ";
  const std::string sink = " ! appsink name=sink sync=false";
  int warnings = 0;
  const Frames frames =
      play(files + "backend=cpu ! cudaidct8x8 backend=cpu ! video/x-raw" + sink, &warnings);
  const Frames same = play(files + "backend=cpu ! jpegcoefenc backend=cpu" + sink, &warnings);
  for (const int device : {0, 1}) {
    const auto on = [](int number) {
      return "backend=cuda cuda-device-id=" + std::to_string(number);
    };
    const std::string decoder =
        files + "entropy-backend=cuda " + on(device) + " ! video/x-dct(memory:CUDAMemory) ! ";
    compare(frames,
            play(decoder + "cudaidct8x8 " + on(1 - device) + " ! video/x-raw" + sink, &warnings),
            decoder);
    compare(same, play(decoder + "jpegcoefenc " + on(1 - device) + sink, &warnings), decoder);
    compare(same,
            play(decoder + "jpegcoefenc entropy-backend=cuda " + on(device) + sink, &warnings),
            decoder);
  }
}

// One device decodes pictures, and the other transforms the frames; a decoder on each
// simultaneously.
CHECK_TEST(test_pictures_cross) {
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  if (data == nullptr || *data == '\0') {
    g_print("pictures that cross: no CUDATRANSFORM_TEST_DATA\n");
    return;
  }
  const int expected = warnings_of_a_copy();
  // Predicted pictures, intra ones, slices that the device reads.
  for (const char* name :
       {"p01_qpel_biref_8x8full_420", "i14_1080p_vlc_422", "v02_hq_legall_d3_420"}) {
    const std::string decoder =
        "filesrc location=" + std::string(data) + "/dirac/" + name + ".drc ! cudadiracdec backend=";
    int warnings = 0;
    const Frames cpu =
        play(decoder + "cpu ! cudadct8x8 backend=cpu ! appsink name=sink sync=false", &warnings);
    for (const int device : {0, 1}) {
      const auto on = [](int number) { return "cuda cuda-device-id=" + std::to_string(number); };
      const Frames gpu = play(
          decoder + on(device) + " ! video/x-raw(memory:CUDAMemory) ! tee name=tee ! queue ! " +
              "cudadct8x8 backend=" + on(1 - device) + " ! video/x-dct ! " +
              "appsink name=sink sync=false tee. ! queue ! cudadct8x8 backend=" + on(device) +
              " ! fakesink",
          &warnings);
      compare(cpu, gpu, name);
      fail_unless_equals_int(warnings, expected);
    }
  }
}

// For readers of the log: the time to copy a frame of coefficients.
CHECK_TEST(test_speed) {
  int warnings = 0;
  std::string stats;
  play(source("I420", 3840, 2160, 60) +
           "cudadct8x8 backend=cuda cuda-device-id=0 ! video/x-dct(memory:CUDAMemory) ! "
           "cudaidct8x8 name=inverse measure=time backend=cuda cuda-device-id=1" +
           kSink,
       &warnings, &stats);
  g_print("24.9 MB of coefficients from device 0 to device 1 are the upload of\n%s\n",
          stats.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::require_cuda_or_skip(2)) return status;
  return testing::run(argc, argv);
}
