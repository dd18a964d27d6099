// A GPU that never finishes its work, and one that is lost: an error after the timeout, or
// immediately; elements that go to NULL, and start again.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The fake driver ends the process where a call would never return.
#include <string>

#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

constexpr gint64 kTimeout = 60;  // ms

#define SOURCE "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=48 ! "
// Without the pinned pool that the next element proposes.
#define UNPINNED SOURCE "identity drop-allocation=true ! "
#define FILES SOURCE "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu n-threads=1 ! "
#define IN_CUDA "video/x-raw(memory:CUDAMemory) ! "
#define FORWARD "cudadct8x8 backend=cuda async-depth=@ "
#define INVERSE "cudaidct8x8 backend=cuda async-depth=@ "
#define DECODER "jpegcoefdec backend=cuda n-threads=@ "
#define ENCODER "jpegcoefenc backend=cuda n-threads=@ "

struct Line {
  const char* text;  // @ is the depth
  bool computes;
};

constexpr Line kLines[] = {
    {SOURCE FORWARD "! video/x-dct ! fakesink", true},
    {SOURCE FORWARD "! video/x-dct(memory:CUDAMemory) ! fakesink", true},
    {SOURCE FORWARD "! " INVERSE "! video/x-raw ! fakesink", true},
    {SOURCE FORWARD "measure=psnr+time keep-reference=true ! queue ! " INVERSE
                    "measure=psnr+time ! " IN_CUDA "fakesink",
     true},
    {SOURCE FORWARD "! " INVERSE "! " IN_CUDA FORWARD "! queue ! " INVERSE "! " IN_CUDA "fakesink",
     true},
    {UNPINNED FORWARD "method=matrix ! queue ! " INVERSE "! video/x-raw ! fakesink", true},
    {FILES DECODER "! " INVERSE "! " IN_CUDA "fakesink", true},
    {FILES DECODER "! queue ! " INVERSE "scale=half ! video/x-raw ! fakesink", true},
    {FILES DECODER "! video/x-dct(memory:CUDAMemory) ! " ENCODER "! fakesink", false},
    {FILES DECODER "! video/x-dct(memory:CUDAMemory) ! identity ! queue ! " ENCODER "! fakesink",
     false},
};

constexpr const char* kAfters[] = {"0", "5", "12", "33"};
constexpr const char* kDepths[] = {"1", "4"};
constexpr int kCases = G_N_ELEMENTS(kLines) * G_N_ELEMENTS(kAfters) * G_N_ELEMENTS(kDepths);

std::string line_of(const Line& line, const char* depth) {
  std::string text = line.text;
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos;) text.replace(at, 1, depth);
  return text;
}

bool is_stuck_mode() { return g_str_equal(mode(), "stuck"); }

void check_error(const Outcome& outcome, const std::string& line) {
  const char* named = is_stuck_mode() ? "GPU timeout after 60 ms" : "CUDA_ERROR_ILLEGAL_ADDRESS";
  fail_unless(outcome.error.find(named) != std::string::npos, "%s: expected '%s' in '%s'",
              line.c_str(), named, outcome.error.c_str());
  fail_unless(outcome.domain == GST_LIBRARY_ERROR && outcome.code == GST_LIBRARY_ERROR_FAILED);
}

// One wait for all elements of a context, however many frames they have in flight.
CHECK_LOOP_TEST(test_ends, 0, kCases) {
  const Line& one = kLines[size_t(__i__) % G_N_ELEMENTS(kLines)];
  const size_t rest = size_t(__i__) / G_N_ELEMENTS(kLines);
  if (strstr(one.text, "jpeg") && require_element_or_skip("jpegcoefdec") != 0) return;
  if (!is_stuck_mode() && !one.computes) return;  // kernels alone find the device lost
  if (quick() && __i__ % 3 != 0) return;
  const std::string line = line_of(one, kDepths[rest % G_N_ELEMENTS(kDepths)]);
  g_setenv("FAKECUDA_AFTER", kAfters[rest / G_N_ELEMENTS(kDepths)], TRUE);
  const std::string failing = mode();
  GstElement* pipeline = launch(line);
  const gint64 begin = g_get_monotonic_time();
  check_error(run_to_end(pipeline), line);
  const gint64 took = (g_get_monotonic_time() - begin) / 1000;
  if (is_stuck_mode()) fail_unless(took >= kTimeout, "%s: %d ms", line.c_str(), int(took));
  // Again, on a separate context, and once more when the GPU works.
  check_error(run_to_end(pipeline), line);
  g_setenv("FAKECUDA_MODE", "ok", TRUE);
  const Outcome outcome = run_to_end(pipeline);
  g_setenv("FAKECUDA_MODE", failing.c_str(), TRUE);
  fail_unless(outcome.error.empty(), "%s: %s", line.c_str(), outcome.error.c_str());
  gst_object_unref(pipeline);
  const FakecudaCounts now = counts();
  fail_unless_equals_int(now.calls_without_context, 0);
  fail_unless_equals_int(now.bad_copies, 0);
}

// The element notices a device that keeps a single picture, even if no other comes.
CHECK_TEST_IF(test_found_alone, is_stuck_mode()) {
  if (require_element_or_skip("jpegcoefdec") != 0) return;
  g_setenv("FAKECUDA_AFTER", "0", TRUE);
  g_autoptr(GstHarness) maker =
      gst_harness_new_parse("cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu n-threads=1");
  gst_harness_set_src_caps_str(maker, "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1");
  g_autoptr(GstHarness) h =
      gst_harness_new_parse("jpegcoefdec backend=cuda entropy-backend=cuda n-threads=3");
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  g_autoptr(GstElement) element = gst_harness_find_element(h, "jpegcoefdec");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  GstBuffer* file = gst_harness_push_and_pull(maker, gst_harness_create_buffer(maker, 64 * 48));
  fail_unless_equals_int(gst_harness_push(h, file), GST_FLOW_OK);
  GstMessage* message = gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless(message != nullptr, "nobody has found out");
  gst_message_unref(message);
  gst_element_set_bus(element, nullptr);
}

// The element waits for long work: 0 is no limit.
CHECK_TEST_IF(test_without_limit, is_stuck_mode()) {
  g_setenv("CUDATRANSFORM_GPU_TIMEOUT", "0", TRUE);
  g_setenv("FAKECUDA_MODE", "ok", TRUE);
  g_setenv("FAKECUDA_LAG", "1000000000", TRUE);
  g_setenv("FAKECUDA_WAIT", "300000", TRUE);  // us
  const Outcome outcome = run_line(
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=48 ! "
      "cudadct8x8 backend=cuda ! video/x-dct ! fakesink");
  g_unsetenv("FAKECUDA_WAIT");
  g_unsetenv("FAKECUDA_LAG");
  g_setenv("FAKECUDA_MODE", "stuck", TRUE);
  g_setenv("CUDATRANSFORM_GPU_TIMEOUT", std::to_string(kTimeout).c_str(), TRUE);
  fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  // No one waits for a lost device.
  const bool stuck = argc > 1 && g_str_equal(argv[1], "stuck");
  g_setenv("CUDATRANSFORM_GPU_TIMEOUT", stuck ? std::to_string(kTimeout).c_str() : "0", TRUE);
  return testing::run_in_mode(argc, argv);
}
