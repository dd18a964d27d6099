// A frame that the address space has no room for (ulimit -v): the element that requested the memory
// reports an error, and works once there is room again.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/memory/outofmemory.h"

namespace {

using namespace testing;  // the helpers are half of every line here

constexpr int kSize = 8192;  // 64 MiB of gray samples, 128 MiB of coefficients
// For threads and small allocations.
constexpr rlim_t kRoom = rlim_t{48} << 20;

rlim_t used_address_space() {
  unsigned long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  fail_unless(file != nullptr && std::fscanf(file, "%lu", &pages) == 1);
  std::fclose(file);
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

class LimitedAddressSpace {
 public:
  LimitedAddressSpace() {
    fail_unless(getrlimit(RLIMIT_AS, &before_) == 0);
    rlimit limited = before_;
    limited.rlim_cur = used_address_space() + kRoom;
    fail_unless(setrlimit(RLIMIT_AS, &limited) == 0);
  }
  ~LimitedAddressSpace() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

void check(const std::string& line, const Input& input) {
  g_autoptr(GstElement) pipeline = make_pipeline(line, input);
  Ending ending;
  {
    const LimitedAddressSpace limited;
    ending = play_input(pipeline, input);
  }
  fail_if(ending.error.empty(), "went through");
  check_no_space(ending, line.c_str());
  ending = play_input(pipeline, input);
  fail_unless(ending.error.empty(), "with room again: %s", ending.error.c_str());
}

GstVideoInfo frame_info() { return video_info(GST_VIDEO_FORMAT_GRAY8, kSize, kSize); }

GstBuffer* black_frame() {
  return gst_buffer_new_wrapped(g_malloc0(frame_info().size), frame_info().size);
}

// Coefficients that are all 0 and begin at `offset`.
Input no_qcoefs(gsize offset) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_GRAYSCALE, kSize, kSize);
  Input input;
  input.caps = gst_dct_info_to_caps(&info);
  GstBuffer* buffer = gst_buffer_new_wrapped(g_malloc0(info.size + offset), info.size + offset);
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  meta->components[0].offset = offset;
  meta->n_tables = 1;
  for (guint16& entry : meta->tables[0].values) entry = 1;
  GST_BUFFER_PTS(buffer) = 0;
  input.buffers.push_back(buffer);
  return input;
}

CHECK_TEST(test_frame_to_coefficients) {
  Input input;
  input.caps = video_caps(frame_info());
  input.buffers.push_back(black_frame());
  GST_BUFFER_PTS(input.buffers[0]) = 0;
  check("cudadct8x8 name=our backend=cpu n-threads=1", input);
}

CHECK_TEST(test_coefficients_to_frame) {
  check("cudaidct8x8 name=our backend=cpu n-threads=1", no_qcoefs(0));
}

CHECK_TEST(test_file_to_coefficients) {
  GstBuffer* frame = black_frame();
  const std::vector<guint8> file = jpeg_of_frame(frame_info(), frame, 1, 1, 80);
  gst_buffer_unref(frame);
  Input input;
  input.caps = gst_caps_from_string("image/jpeg,parsed=true");
  input.buffers.push_back(gst_buffer_new_memdup(file.data(), file.size()));
  GST_BUFFER_PTS(input.buffers[0]) = 0;
  check("jpegcoefdec name=our backend=cpu n-threads=1", input);
}

// Unaligned quantized coefficients are copied.
CHECK_TEST(test_coefficients_to_file) {
  check("jpegcoefenc name=our backend=cpu n-threads=1", no_qcoefs(2));
}

}  // namespace

int main(int argc, char** argv) {
  if (g_getenv("CUDATRANSFORM_SANITIZED"))
    return testing::skip("sanitizers need address space without end");
  return testing::run(argc, argv);
}
