// jpegcoefdec on a driver without a GPU that is to decode its codes: the driver decodes nothing,
// the element notices, and other pictures stay in order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <vector>

#include "tests/check/drivers/fakedriver_jpeg.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"

namespace testing {
namespace {

// Kernels that do nothing decode nothing, and the element notices.
CHECK_TEST_IF(test_idle_kernels, !is_mode("alloc-fails")) {
  constexpr guint kFrames = 40;
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "jpegcoefdec name=d backend=cuda n-threads=3 entropy=cuda ! jpegcoefenc backend=cuda");
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
      "jpegcoefdec backend=cuda n-threads=1 entropy=cuda max-errors=-1 ! "
      "cudaidct8x8 backend=cuda async-depth=6");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1,parsed=true");
  for (guint i = 0; i < 90; i++) {
    Bytes file = make_jpeg(70, 45, Subsampling::k420, 75, i);
    if (i % 3 == 0)
      file = with_level(file, 5, static_cast<int>(i));
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

// Levels that the host decoded to that memory do not stay there.
CHECK_TEST_IF(test_left_to_the_cpu, is_mode("ok")) {
  constexpr guint kFrames = 90;
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      "jpegcoefdec backend=cuda n-threads=1 entropy=cuda on-error=drop max-errors=-1 ! "
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
