// The elements on a driver that fails in every way that drivers fail: their errors, their
// fallbacks, and that they free everything.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>
#include <string>

#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// ---- No usable GPU: no-init, no-device, no-context, no-module, absent ----

// Coefficients through the JPEG elements; "" in a build without them.
std::string jpeg_line(const char* backend) {
  g_autoptr(GstElementFactory) found = gst_element_factory_find("jpegcoefdec");
  if (found == nullptr) return "";
  return std::string(
             "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48 ! "
             "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu ! jpegcoefdec backend=") +
         backend + " ! jpegcoefenc backend=" + backend + " ! fakesink";
}

// Whether the GPU fails only once it has work.
bool fails_late() { return is_mode("alloc-fails") || is_mode("launch-fails") || is_mode("lost"); }

// Whether this machine has a GPU of NVIDIA's, whatever the driver under test says.
bool machine_has_gpu() {
  for (const char* path : {"/proc/driver/nvidia/version", "/dev/nvidiactl"})
    if (g_file_test(path, G_FILE_TEST_EXISTS)) return true;
  return system(
             "grep -lqs '^PCI_CLASS=3....$' $(grep -ls '^PCI_ID=10DE:' "
             "/sys/bus/pci/devices/*/uevent) /dev/null") == 0;
}

// Without driver or device, and without a GPU that could have them, only the log says so.
bool is_no_news() {
  return !machine_has_gpu() && (is_mode("absent") || is_mode("no-init") || is_mode("no-device"));
}

CHECK_TEST_IF(test_auto_takes_the_cpu, !fails_late()) {
  // Twice: with GStreamer 1.22 a second attempt to make a context could hang.
  for (int round = 0; round < 2; round++) {
    const Outcome outcome = run_line(both("auto"));
    fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
    fail_unless_equals_int(outcome.infos, is_no_news() ? 0 : 2);  // one of each element
    if (outcome.infos == 0) continue;
    expect(outcome.info.text, {"CPU"});
    expect(outcome.info.debug, {outcome.info.text.c_str()});
  }
  // These elements lose nothing without a GPU, and do not complain.
  if (const std::string line = jpeg_line("auto"); !line.empty()) {
    const Outcome outcome = run_line(line);
    fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
    fail_unless_equals_int(outcome.infos + outcome.warnings, 0);
  }
}

CHECK_TEST_IF(test_cuda_says_what_is_missing, !fails_late()) {
  const bool has_kernels = !g_str_equal(mode(), "no-module");
  for (const std::string& line :
       {both("cuda"), both("cuda"), has_kernels ? jpeg_line("cuda") : std::string()}) {
    if (line.empty()) continue;
    const Outcome outcome = run_line(line);
    fail_unless(outcome.domain == GST_RESOURCE_ERROR);
    fail_unless_equals_int(outcome.code, GST_RESOURCE_ERROR_NOT_FOUND);
    const char* named = g_str_equal(mode(), "no-init")     ? "CUDA_ERROR_NO_DEVICE"
                        : g_str_equal(mode(), "no-device") ? "no CUDA device"
                        : g_str_equal(mode(), "absent")    ? "libcuda"
                        : !has_kernels ? "no kernels for Fake GPU: cuModuleLoadData: "
                                         "CUDA_ERROR_NO_BINARY_FOR_GPU"
                                       : "context";
    fail_unless(outcome.error.find(named) != std::string::npos, "expected '%s' in '%s'", named,
                outcome.error.c_str());
  }
}

CHECK_TEST_IF(test_cpu_asks_no_driver, !fails_late()) {
  const int before = get_counts() ? counts().calls : 0;
  const Outcome outcome = run_line(both("cpu"));
  fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
  fail_unless_equals_int(outcome.infos, 0);
  if (get_counts()) fail_unless_equals_int(counts().calls, before);
}

// ---- A GPU that fails while running: alloc-fails, launch-fails, lost ----

CHECK_TEST_IF(test_failure_is_an_error, fails_late()) {
  const Outcome outcome = run_line(both("cuda"));
  fail_if(outcome.error.empty(), "went through");
  const char* named = g_str_equal(mode(), "launch-fails") ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                      : g_str_equal(mode(), "lost")       ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                                          : "";
  fail_unless(outcome.error.find(named) != std::string::npos, "expected '%s' in '%s'", named,
              outcome.error.c_str());
  const bool memory = g_str_equal(mode(), "alloc-fails");
  fail_unless(outcome.domain == (memory ? GST_RESOURCE_ERROR : GST_LIBRARY_ERROR), "%s",
              outcome.error.c_str());
  fail_unless_equals_int(
      outcome.code, memory ? int(GST_RESOURCE_ERROR_NO_SPACE_LEFT) : int(GST_LIBRARY_ERROR_FAILED));
}

// The failure strikes after some frames instead of at the first.
CHECK_TEST_IF(test_failure_mid_stream, fails_late()) {
  g_setenv("FAKECUDA_AFTER", g_str_equal(mode(), "alloc-fails") ? "6" : "5", TRUE);
  const Outcome outcome = run_line(both("cuda", 50));
  g_unsetenv("FAKECUDA_AFTER");
  fail_if(outcome.error.empty(), "went through");
}

// After the error the same elements start again, once the cause is removed.
CHECK_TEST_IF(test_recovers, fails_late()) {
  const std::string failing = mode();
  GstElement* pipeline = launch(both("cuda"));
  fail_if(run_to_end(pipeline).error.empty());
  g_setenv("FAKECUDA_MODE", "ok", TRUE);
  const Outcome outcome = run_to_end(pipeline);
  g_setenv("FAKECUDA_MODE", failing.c_str(), TRUE);
  fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
  gst_object_unref(pipeline);
  check_clean();
}

}  // namespace

int main(int argc, char** argv) { return testing::run_in_mode(argc, argv); }
