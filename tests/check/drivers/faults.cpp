// The elements on a driver in which each call fails, early and late: the posted error, that nothing
// leaks, and that the same pipeline then runs.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the shim driver (shimcuda/), with a GPU or the fake driver behind it.
// check-faults [PART PARTS]: a part of the faults, such as 2 4; all of them without arguments.
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "tests/check/drivers/outcomes.h"
#include "tests/check/drivers/shimdriver.h"

namespace {

using namespace testing;

// Frames that the CPU transforms: files can be written of them on the fake driver, too.
#define SOURCE "videotestsrc num-buffers=12 ! video/x-raw,format=I420,width=64,height=48 ! "
#define FILES SOURCE "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu n-threads=1 ! "

constexpr const char* kLines[] = {
    SOURCE "cudadct8x8 backend=cuda ! cudaidct8x8 backend=cuda ! fakesink",
    SOURCE
    "cudadct8x8 backend=cuda measure=psnr+time keep-reference=true ! queue ! "
    "cudaidct8x8 backend=cuda measure=psnr+time ! video/x-raw(memory:CUDAMemory) ! "
    "cudadct8x8 backend=cuda method=matrix ! video/x-dct ! fakesink",
    SOURCE
    "cudadwt backend=cuda measure=psnr+time keep-reference=true quant-index=9 ! queue ! "
    "cudaidwt backend=cuda measure=psnr+time ! video/x-raw(memory:CUDAMemory) ! "
    "cudadwt backend=cuda levels=2 method=separable-slab ! video/x-dwt ! fakesink",
    SOURCE
    "cudadct8x8 backend=cuda ! cudadctflip backend=cuda video-direction=90r measure=time ! queue ! "
    "cudadctquant backend=cuda quality=20 measure=psnr+time ! video/x-dct ! fakesink",
    SOURCE
    "cudaresize backend=cuda measure=time ! video/x-raw(memory:CUDAMemory),width=40 ! queue ! "
    "cudaresize backend=cuda method=mks2021 box-x=3.5 reducing-gap=1 ! "
    "video/x-raw,width=8,height=30 ! fakesink",
    "videotestsrc num-buffers=4 ! video/x-raw,format=I422_10LE,width=64,height=48 ! "
    "cudaapvenc backend=cuda n-threads=2 ! fakesink",
    "videotestsrc num-buffers=2 ! video/x-raw,format=I422_10LE,width=64,height=48 ! "
    "cudaapvenc backend=cuda bitrate=1000 frame-hash=true ! fakesink",
    FILES "jpegcoefdec backend=cuda n-threads=2 ! cudaidct8x8 backend=cuda scale=half ! fakesink",
    FILES "jpegcoefdec backend=cuda n-threads=2 ! jpegcoefenc backend=cuda n-threads=2 ! fakesink",
    FILES
    "jpegcoefdec backend=cuda entropy-backend=cuda n-threads=2 ! "
    "jpegcoefenc backend=cuda entropy-backend=cuda n-threads=2 ! fakesink",
    "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=48 ! "
    "cudadct8x8 backend=cuda target-size=1500 ! fakesink",
};

// Streams of the test data, where that is there: predicted pictures, and slices that a GPU reads.
// To system memory: a pool of GStreamer's CUDA memory forgets a block whose context cannot be
// entered when it is freed.
constexpr const char* kStreams[] = {"p07_res_preset1_8x8_4x4", "v10_hqcbr_fragments"};

std::vector<std::string> all_lines() {
  std::vector<std::string> lines(std::begin(kLines), std::end(kLines));
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  for (const char* stream : kStreams) {
    const std::string path = std::string(data ? data : "") + "/dirac/" + stream + ".drc";
    if (g_file_test(path.c_str(), G_FILE_TEST_IS_REGULAR))
      lines.push_back("filesrc location=\"" + path +
                      "\" ! cudadiracdec backend=cuda n-threads=2 ! video/x-raw ! fakesink");
  }
  return lines;
}

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kNoBinaryForGpu = 209, kIllegalAddress = 700;

struct Fault {
  const char* call;
  int code;
  ShimcudaFailure how;
};

// A short list by the kind of call: allocations run out of memory, other calls fail for another
// reason, and after some the device is lost.
constexpr Fault kFaults[] = {
    {"cuMemAllocPitch_v2", kOutOfMemory, kShimcudaAlways},
    {"cuMemAllocPitch_v2", kIllegalAddress, kShimcudaSticky},
    {"cuMemAlloc_v2", kOutOfMemory, kShimcudaAlways},
    {"cuMemHostAlloc", kOutOfMemory, kShimcudaAlways},
    {"cuStreamCreate", kOutOfMemory, kShimcudaAlways},
    {"cuEventCreate", kOutOfMemory, kShimcudaAlways},
    {"cuEventCreate", kOutOfMemory, kShimcudaOnce},
    {"cuModuleLoadData", kOutOfMemory, kShimcudaAlways},
    {"cuModuleLoadData", kNoBinaryForGpu, kShimcudaAlways},
    {"cuModuleGetFunction", kInvalidValue, kShimcudaAlways},
    {"cuLaunchKernel", kInvalidValue, kShimcudaOnce},
    {"cuLaunchKernel", kIllegalAddress, kShimcudaSticky},
    {"cuLaunchKernelEx", kIllegalAddress, kShimcudaSticky},
    {"cuMemcpy2DAsync_v2", kInvalidValue, kShimcudaOnce},
    {"cuMemcpy2DAsync_v2", kIllegalAddress, kShimcudaSticky},
    {"cuMemsetD8Async", kInvalidValue, kShimcudaOnce},
    {"cuMemsetD8Async", kIllegalAddress, kShimcudaSticky},
    {"cuEventRecord", kInvalidValue, kShimcudaOnce},
    {"cuEventRecord", kIllegalAddress, kShimcudaSticky},
    {"cuEventQuery", kInvalidValue, kShimcudaOnce},
    {"cuEventQuery", kIllegalAddress, kShimcudaSticky},
    {"cuStreamWaitEvent", kIllegalAddress, kShimcudaSticky},
    {"cuStreamQuery", kIllegalAddress, kShimcudaSticky},
    {"cuCtxPushCurrent_v2", kIllegalAddress, kShimcudaSticky},
};

// The error that a fault must lead to, if it leads to one.
void check_error(const std::string& what, const Fault& fault, const Outcome& outcome) {
  GQuark domain = GST_LIBRARY_ERROR;
  int code = GST_LIBRARY_ERROR_FAILED;
  const char* named = fault.code == kInvalidValue     ? "CUDA_ERROR_INVALID_VALUE"
                      : fault.code == kNoBinaryForGpu ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
                                                      : "CUDA_ERROR_ILLEGAL_ADDRESS";
#if GST_CHECK_VERSION(1, 23, 1)
  // GStreamer enters a context while it creates it, and does not report why there is none.
  constexpr char kNoContext[] = "failed to create a CUDA context";
  if (g_str_equal(fault.call, "cuCtxPushCurrent_v2") &&
      outcome.error.find(kNoContext) != std::string::npos) {
    domain = GST_RESOURCE_ERROR;
    code = GST_RESOURCE_ERROR_NOT_FOUND;
    named = kNoContext;
  }
#endif
  if (fault.code == kOutOfMemory || fault.code == kNoBinaryForGpu) {
    domain = GST_RESOURCE_ERROR;
    code = fault.code == kOutOfMemory ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
                                      : GST_RESOURCE_ERROR_NOT_FOUND;
  }
  fail_unless(outcome.domain == domain && outcome.code == code, "%s: %s %d: %s", what.c_str(),
              g_quark_to_string(outcome.domain), outcome.code, outcome.error.c_str());
  // GStreamer's pools do not report why they have no memory.
  if (fault.code != kOutOfMemory)
    fail_unless(outcome.error.find(named) != std::string::npos, "%s: expected '%s' in '%s'",
                what.c_str(), named, outcome.error.c_str());
}

// True while the fault strikes that late.
bool strikes(const char* line, const Fault& fault, int after, int* errors) {
  const std::string what =
      std::string(fault.call) + " number " + std::to_string(after) + " in " + line;
  GstElement* pipeline = launch(line);
  shim().inject(fault.call, after, fault.code, fault.how);
  const Outcome outcome = run_to_end(pipeline);
  const int failed = shim().failed();
  shim().inject(nullptr, 0, 0, kShimcudaOnce);
  if (!outcome.error.empty()) {
    (*errors)++;
    fail_unless(failed > 0, "%s: %s", what.c_str(), outcome.error.c_str());
    check_error(what, fault, outcome);
  }
  const Outcome again = run_to_end(pipeline);
  fail_unless(again.error.empty(), "%s, and then without: %s", what.c_str(), again.error.c_str());
  gst_object_unref(pipeline);
  check_nothing_is_left(what.c_str());
  return failed > 0;
}

// A program's share of the faults: every `parts`-th from `part` on. On a GPU all of them take
// longer than a test may.
int part = 0, parts = 1;

int faults_of_part() {
  const int faults = quick() ? 8 : G_N_ELEMENTS(kFaults);
  return (faults - part + parts - 1) / parts;
}

CHECK_LOOP_TEST(test_faults, 0, faults_of_part()) {
  const Fault& fault = kFaults[part + __i__ * parts];
  int errors = 0, reached = 0;
  static const std::vector<std::string> lines = all_lines();
  for (const std::string& text : lines) {
    const char* line = text.c_str();
    if (strstr(line, "jpeg") && require_element_or_skip("jpegcoefdec") != 0) continue;
    for (int after : {0, 1, 2, 3, 4, 6, 9, 14, 21, 33, 50, 80}) {
      if (quick() && after % 7 > 1) continue;  // 0, 1, 14, 21, 50
      if (under_valgrind() && after > 14) break;
      if (!strikes(line, fault, after, &errors)) break;
      reached++;
    }
  }
  // Elements do not call functions that a device or its driver lacks.
  const bool optional = g_str_equal(fault.call, "cuLaunchKernelEx") ||
                        (g_str_equal(fault.call, "cuLaunchKernel") && !is_fake_behind_shim());
  fail_unless(optional || reached > 1, "%s was called %d times", fault.call, reached);
  // Where no pages can be locked, ordinary memory is used.
  const bool harmless = g_str_equal(fault.call, "cuMemHostAlloc");
  fail_unless(harmless ? errors == 0 : optional || errors > 1, "%s: %d errors", fault.call, errors);
}

// ---- backend=auto ----

// A GPU that this build has no kernels for counts as none, from the beginning.
CHECK_TEST_IF(test_auto_without_kernels, part == 0) {
  shim().inject("cuModuleLoadData", 0, kNoBinaryForGpu, kShimcudaAlways);
  const Outcome outcome =
      run_line(SOURCE
               "cudadct8x8 ! cudadctflip video-direction=180 ! cudadctquant quality=20 ! "
               "cudadctconvert ! video/x-dct,layout=plane ! cudaidct8x8 ! fakesink");
  shim().inject(nullptr, 0, 0, kShimcudaOnce);
  fail_unless(outcome.error.empty(), "%s", outcome.error.c_str());
  fail_unless_equals_int(outcome.infos, 5);
  fail_unless(outcome.info.text.find("CUDA_ERROR_NO_BINARY_FOR_GPU") != std::string::npos, "%s",
              outcome.info.text.c_str());
  check_nothing_is_left("no kernels");
}

// The engine does not change in the middle of a stream.
CHECK_TEST_IF(test_auto_stays, part == 0) {
  shim().inject("cuMemcpy2DAsync_v2", 20, kIllegalAddress, kShimcudaSticky);
  const Outcome outcome = run_line(SOURCE "cudadct8x8 ! cudaidct8x8 ! fakesink");
  shim().inject(nullptr, 0, 0, kShimcudaOnce);
  fail_unless(outcome.domain == GST_LIBRARY_ERROR, "%s", outcome.error.c_str());
  check_nothing_is_left("auto");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    part = atoi(argv[1]) - 1;
    parts = atoi(argv[2]);
    g_assert(part >= 0 && part < parts && parts <= 8);
  }
  if (const int status = testing::require_shim_or_skip()) return status;
  // As on a GPU, the event has not happened yet at the first query.
  g_setenv("FAKECUDA_LAG", "2", TRUE);
  return testing::run(argc, argv);
}
