// The transforms and cudadiracdec with nvcodec's elements: nvcodec makes and takes frames in CUDA
// memory, with the bytes of the CPU engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib/gstdio.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

struct Case {
  const char* name;
  std::vector<const char*> elements;  // needed besides cudaupload and cudadownload
  const char* source;
  // Null, or an encoder that writes the source's frames to a file, once: an encoder with many
  // threads need not write the same bytes twice.
  const char* encoder;
  const char* line;  // from the source, or the file, to frames in CUDA memory
};

#define SOURCE \
  "videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=1 num-buffers=30 ! video/x-raw,format="
#define SIZE ",width=322,height=242,framerate=25/1"
#define IN_CUDA " ! video/x-raw(memory:CUDAMemory)"

const Case kCases[] = {
    {"cudaupload, I420", {}, SOURCE "I420" SIZE, nullptr, "cudaupload" IN_CUDA},
    {"cudaupload, NV12", {}, SOURCE "NV12" SIZE, nullptr, "cudaupload" IN_CUDA},
    {"cudaupload, Y444", {}, SOURCE "Y444" SIZE, nullptr, "cudaupload" IN_CUDA},
    {"nvh264dec",
     {"x264enc", "h264parse", "nvh264dec"},
     SOURCE "I420" SIZE,
     "x264enc speed-preset=ultrafast ! video/x-h264,stream-format=byte-stream",
     "h264parse ! nvh264dec" IN_CUDA},
    {"nvh265dec",
     {"x265enc", "h265parse", "nvh265dec"},
     SOURCE "I420" SIZE,
     "x265enc speed-preset=ultrafast ! video/x-h265,stream-format=byte-stream",
     "h265parse ! nvh265dec" IN_CUDA},
    {"nvjpegdec",
     {"jpegenc", "jpegparse", "nvjpegdec"},
     SOURCE "I420" SIZE,
     "jpegenc",
     "jpegparse ! nvjpegdec" IN_CUDA},
    {"cudaconvert",
     {"cudaconvert"},
     SOURCE "NV12" SIZE,
     nullptr,
     "cudaupload ! cudaconvert" IN_CUDA ",format=I420"},
};

bool has(const char* name) {
  GstElementFactory* factory = gst_element_factory_find(name);
  const bool found = factory != nullptr;
  gst_clear_object(&factory);
  return found;
}

// A file of a pipeline's output.
class Written {
 public:
  explicit Written(const std::string& line) {
    const int file = g_file_open_tmp("cudatransform-XXXXXX", &name_, nullptr);
    fail_unless(file >= 0, "no temporary file");
    g_close(file, nullptr);
    run_well(line + " ! filesink location=" + name_);
  }
  ~Written() {
    g_unlink(name_);
    g_free(name_);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  const char* name() const { return name_; }
  std::string bytes() const {
    g_autofree gchar* bytes = nullptr;
    gsize size = 0;
    fail_unless(g_file_get_contents(name_, &bytes, &size, nullptr), "%s", name_);
    std::string all(bytes, size);
    return all;
  }

 private:
  gchar* name_ = nullptr;
};

CHECK_LOOP_TEST(test_between_others, 0, G_N_ELEMENTS(kCases)) {
  const Case& one = kCases[__i__];
  for (const char* element : one.elements)
    if (!has(element)) {
      std::printf("%s: no element %s\n", one.name, element);
      return;
    }
  std::string line = one.source + std::string(" ! ");
  std::optional<Written> file;
  if (one.encoder) {
    file.emplace(line + one.encoder);
    line = std::string("filesrc location=") + file->name() + " ! ";
  }
  line += one.line;
  const Frames expected =
      play(line +
           " ! cudadownload ! cudadct8x8 backend=cpu ! cudaidct8x8 backend=cpu ! video/x-raw ! "
           "appsink name=sink sync=false");
  // A line whose own frames differ from run to run is no evidence about our elements.
  const std::string alone = line + " ! cudadownload ! video/x-raw ! appsink name=sink sync=false";
  const std::string what = std::string(one.name) + ", without the transforms";
  compare(play(alone), play(alone), what);
  for (const char* depth : {"1", "3"})
    for (const char* queue : {"", "queue ! "}) {
      const std::string ours = std::string(" ! cudadct8x8 backend=cuda async-depth=") + depth +
                               " ! " + queue + "cudaidct8x8 backend=cuda async-depth=" + depth;
      int warnings = 0;
      // Straight to the host, by way of cudadownload, and to both simultaneously.
      compare(expected,
              play(line + ours + " ! video/x-raw ! appsink name=sink sync=false", &warnings),
              one.name);
      fail_unless_equals_int(warnings, 0);
      compare(expected,
              play(line + ours + IN_CUDA " ! cudadownload ! appsink name=sink sync=false"),
              one.name);
      compare(
          expected,
          play(line + ours +
               IN_CUDA " ! tee name=t ! queue ! cudadownload ! appsink name=sink sync=false  t. ! "
                       "queue ! cudadct8x8 backend=cuda ! fakesink"),
          one.name);
    }
  std::printf("%s: %d frames\n", one.name, static_cast<int>(expected.size()));
}

// Pictures that stay on the GPU, go to the host, go both ways, and are encoded there.
CHECK_TEST(test_dirac_decoder) {
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  const char* names[] = {"p01_qpel_biref_8x8full_420", "p05_qpel_444", "i11_dd97_d4_422_10b_vlc"};
  for (const char* name : names) {
    const std::string path = std::string(data ? data : "") + "/dirac/" + name + ".drc";
    if (!g_file_test(path.c_str(), G_FILE_TEST_EXISTS)) {
      std::printf("%s: not there\n", path.c_str());
      return;
    }
    const std::string from = "filesrc location=" + path + " ! cudadiracdec backend=";
    const Frames expected = play(from + "cpu ! video/x-raw ! appsink name=sink sync=false");
    const std::string line = from + "cuda" IN_CUDA;
    compare(expected, play(line + " ! cudadownload ! appsink name=sink sync=false"), name);
    compare(expected,
            play(line + " ! tee name=t ! queue ! cudadownload ! appsink name=sink sync=false  t. ! "
                        "queue ! cudadct8x8 backend=cuda ! fakesink"),
            name);
    std::printf("%s: %d frames\n", name, static_cast<int>(expected.size()));
    if (name != names[0] || !has("x264enc")) continue;
    const std::string encode = " ! x264enc threads=1 speed-preset=ultrafast";
    const std::string film = Written(line + " ! cudadownload" + encode).bytes();
    fail_unless(!film.empty() && film == Written(from + "cpu ! video/x-raw" + encode).bytes());
    std::printf("x264enc: %d bytes\n", static_cast<int>(film.size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::require_cuda_or_skip()) return status;
  gst_init(&argc, &argv);
  for (const char* element : {"cudaupload", "cudadownload"})
    if (const int status = testing::require_element_or_skip(element)) return status;
  return testing::run(argc, argv);
}
