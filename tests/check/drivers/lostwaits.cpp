// A running pipeline loses one wait at a time, the host's or a stream's: other bytes come out, or
// the driver sees that work is not in order, or another wait gives the same order.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the fake driver with FAKECUDA_DEFERRED=1 (fakecuda/deferred.h). Every run has its own process:
// a lost wait may lead anywhere.
#include "tests/check/drivers/lostwaits.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <string>

#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr int kAttempts = 5;        // to notice a lost wait
constexpr unsigned kSeconds = 120;  // after which a hanging run ends

// ---- Scenes ----

// Waits that may be lost on a frame's way, as the test prints them.
constexpr char kKernelBehindUpload[] = "forward does not wait for a copy from the host",
               kRangeBehindUpload[] = "range_bytes does not wait for a copy from the host",
               kInverseBehindForward[] = "inverse does not wait for forward",
               kInverseBehindUpload[] = "inverse does not wait for a copy from the host",
               kDownloadBehindKernel[] = "a copy to the host does not wait for inverse",
               kDownloadBehindCode[] =
                   "a copy to the host does not wait for jpeg_encode_write_tiles",
               kDownloadBehindForward[] = "a copy to the host does not wait for forward",
               kPushBehindDownload[] = "the host for a copy to the host",
               kReuseBehindKernel[] = "a copy from the host does not wait for forward",
               kReuseBehindReader[] = "a copy from the host does not wait for a copy to the host",
               kReuseOfPinned[] = "the host for a copy from the host: the host has written";
// The element waits for the upload of each plane in ordinary memory. It still keeps the frame until
// the upload is done, like any other, and knows that before it releases the frame.
constexpr char kEachPlane[] = "the host for a copy from the host";

#define COEFFICIENTS "capsfilter caps=video/x-dct(memory:CUDAMemory)"
#define FRAMES "capsfilter caps=video/x-raw"
constexpr char kBoth[] = "cudadct8x8 ! cudaidct8x8 ! " FRAMES;

const std::vector<Scene>& scenes() {
  using S = Scene;
  static const std::vector<Scene> all = {
      {"frames",
       kBoth,
       S::kPinned,
       false,
       {kKernelBehindUpload, kInverseBehindForward, kDownloadBehindKernel, kPushBehindDownload}},
      {"frames in flight",
       "cudadct8x8 async-depth=8 ! cudaidct8x8 async-depth=8 ! " FRAMES,
       S::kPinned,
       false,
       {kKernelBehindUpload, kInverseBehindForward, kDownloadBehindKernel}},
      {"ordinary memory",
       kBoth,
       S::kPageable,
       false,
       {kInverseBehindForward, kDownloadBehindKernel, kPushBehindDownload},
       {kEachPlane}},
      {"coefficients",
       "cudadct8x8 ! capsfilter caps=video/x-dct",
       S::kPinned,
       false,
       {kKernelBehindUpload, kDownloadBehindForward, kPushBehindDownload}},
      {"CUDA memory in place",
       "cudadct8x8 ! cudaidct8x8 ! capsfilter caps=video/x-raw(memory:CUDAMemory)",
       S::kCuda,
       false,
       {kInverseBehindForward, "the host for inverse: a copy to the host does not wait"}},
      {"CUDA memory held until read",
       "cudadct8x8 ! " COEFFICIENTS,
       S::kCuda,
       true,
       {"the host for forward: a copy from the host does not wait for forward"}},
      {"who knows the fence",
       "cudadct8x8 ! " COEFFICIENTS,
       S::kPinned,
       true,
       {kKernelBehindUpload, kDownloadBehindForward, kReuseBehindKernel,
        "forward does not wait for a copy to the host"}},
      {"who does not",
       "cudadct8x8 ! " COEFFICIENTS,
       S::kPinned,
       false,
       {"the host for forward: a copy to the host does not wait for forward"}},
      {"a fence of others",
       "cudaidct8x8 ! " FRAMES,
       S::kCoefficients,
       false,
       {"inverse does not wait for a copy", kDownloadBehindKernel, kPushBehindDownload},
       {kEachPlane}},
      {"a reference",
       "cudadct8x8 name=f keep-reference=true measure=psnr+zeros ! "
       "cudaidct8x8 name=i measure=psnr ! " FRAMES,
       S::kPinned,
       false,
       {kKernelBehindUpload, kInverseBehindUpload, kDownloadBehindKernel, kPushBehindDownload}},
      {"a method that teaches",
       "cudadct8x8 name=f method=matrix measure=psnr+zeros ! cudaidct8x8 method=matrix ! " FRAMES,
       S::kPinned,
       false,
       {kKernelBehindUpload, kInverseBehindForward, kDownloadBehindKernel, kPushBehindDownload}},
      {"scaled",
       "cudadct8x8 ! cudaidct8x8 scale=half ! " FRAMES,
       S::kPinned,
       false,
       {"scaled does not wait for forward", "a copy to the host does not wait for scaled"}},
      {"converted",
       "cudadct8x8 ! " COEFFICIENTS " ! cudadctconvert ! " COEFFICIENTS
       ",layout=band ! cudadctconvert ! capsfilter caps=video/x-dct,layout=plane",
       S::kPinned,
       false,
       {"convert_copy_16 does not wait for forward",
        "convert_copy_16 does not wait for convert_copy_16",
        "a copy to the host does not wait for convert_copy_16", kPushBehindDownload}},
      {"passed on",
       "cudadct8x8 ! " COEFFICIENTS " ! cudadctconvert ! " COEFFICIENTS,
       S::kPinned,
       false,
       {"the host for forward: a copy to the host does not wait for forward"}},
      {"two devices",
       "cudadct8x8 cuda-device-id=0 ! " COEFFICIENTS " ! cudaidct8x8 cuda-device-id=1 ! " FRAMES,
       S::kPinned,
       false,
       {"a copy does not wait for forward", "inverse does not wait for a copy"}},
      {"from files",
       "jpegcoefdec n-threads=1 ! cudaidct8x8 ! " FRAMES,
       S::kFiles,
       false,
       {kInverseBehindUpload, kDownloadBehindKernel, kPushBehindDownload}},
      {"files to who knows the fence",
       "jpegcoefdec n-threads=1 ! " COEFFICIENTS,
       S::kFiles,
       true,
       {kReuseBehindReader, kReuseOfPinned}},
      {"files to who does not",
       "jpegcoefdec n-threads=1 ! " COEFFICIENTS,
       S::kFiles,
       false,
       {"the host for a copy from the host"}},
      {"to files",
       "cudadct8x8 ! jpegcoefenc n-threads=1 entropy-backend=cpu",
       S::kPinned,
       false,
       {kRangeBehindUpload, kDownloadBehindForward, kPushBehindDownload}},
      {"to files that the device codes",
       "cudadct8x8 ! jpegcoefenc n-threads=1 entropy-backend=cuda",
       S::kPinned,
       false,
       {kRangeBehindUpload, kDownloadBehindCode, kPushBehindDownload}},
      {"to files with tables of their own",
       "cudadct8x8 ! jpegcoefenc n-threads=1 entropy-backend=cuda optimize=true",
       S::kPinned,
       false,
       {kRangeBehindUpload, kDownloadBehindCode, kPushBehindDownload}},
      {"from file to file",
       "jpegcoefdec n-threads=1 ! jpegcoefenc n-threads=1 entropy-backend=cpu",
       S::kFiles,
       false,
       {"a copy to the host does not wait for a copy from the host", kPushBehindDownload}},
      {"from file to file that the device codes",
       "jpegcoefdec n-threads=1 ! jpegcoefenc n-threads=1 entropy-backend=cuda",
       S::kFiles,
       false,
       {"jpeg_encode_code_tiles does not wait for a copy from the host", kDownloadBehindCode,
        kPushBehindDownload}},
  };
  return all;
}

// ---- Runs ----

struct Run {
  bool ended = false;
  SceneResult result = {};
};

// fork() is safe here: GStreamer has started no thread as yet.
Run run(const Scene& scene, int lost) {
  int ends[2];
  fail_unless(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  fail_unless(child >= 0);
  if (child == 0) {
    alarm(kSeconds);
    const SceneResult result = run_scene(scene, lost);
    _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  Run run;
  const bool reported = read(ends[0], &run.result, sizeof run.result) == sizeof run.result;
  close(ends[0]);
  int status = 0;
  fail_unless(waitpid(child, &status, 0) == child);
  run.ended = reported && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return run;
}

// "" if no check noticed.
std::string how_noticed(const Run& run, const Run& expected) {
  if (!run.ended) return "the pipeline did not end";
  if (run.result.order.violations > 0) return run.result.order.first;
  if (run.result.hash != expected.result.hash) return "other bytes came out";
  return "";
}

// Without the numbers of streams, and without the kernel's kind.
std::string in_short(const std::string& text) {
  const std::string kernels =
      std::regex_replace(text, std::regex("(forward|inverse|scaled)_[a-z0-9_]+"), "$1");
  return std::regex_replace(kernels, std::regex("( on)? stream [0-9]+"), "");
}

bool has_one_of(const std::string& text, const std::vector<const char*>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

constexpr char kUnnoticed[] = "nobody notices";

// Loses a wait; returns the test's line about it, at worst "..., and nobody notices".
std::string lose_once(const Scene& scene, int lost, const Run& expected) {
  const Run mutant = run(scene, lost);
  const FakecudaOrder& order = mutant.result.order;
  const std::string noticed = how_noticed(mutant, expected);
  const std::string who = mutant.ended ? in_short(order.ignored) : "somebody";
  if (!noticed.empty()) return who + ": " + in_short(noticed);
  if (!order.has_ignored) return "no such wait";  // their number depends on timing, too
  const bool enough = order.made_good || has_one_of(who, scene.covered);
  return who + (enough ? ", and another wait is enough" : std::string(", and ") + kUnnoticed);
}

// On a busy machine the work may be done before the wait by chance: the test loses an unnoticed
// wait again.
std::string lose(const Scene& scene, int lost, const Run& expected) {
  std::string reported;
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    reported = lose_once(scene, lost, expected);
    if (reported.find(kUnnoticed) == std::string::npos) break;
  }
  return reported;
}

std::string lose_each(const Scene& scene, int waits, const Run& expected) {
  std::string all;
  for (int lost = 0; lost < waits; lost++) {
    const std::string found = lose(scene, lost, expected);
    std::printf("%s: %s\n", scene.name, found.c_str());
    all += found + "\n";
  }
  fail_unless(all.find(kUnnoticed) == std::string::npos, "%s: %s", scene.name, kUnnoticed);
  return all;
}

// The first missing line; "" if all were there.
std::string first_missing(const Scene& scene, const std::string& noticed) {
  for (const char* kind : scene.caught)
    if (noticed.find(kind) == std::string::npos) return kind;
  return "";
}

CHECK_LOOP_TEST(test_each_wait, 0, static_cast<int>(scenes().size())) {
  const Scene& scene = scenes()[static_cast<size_t>(__i__)];
  if (std::string(scene.line).find("jpeg") != std::string::npos &&
      require_element_or_skip("jpegcoefdec") != 0)
    return;
  Run expected;
  {
    const DoneAtOnce order;
    expected = run(scene, -1);
  }
  fail_unless(expected.ended, "%s: the pipeline did not end", scene.name);
  const Run whole = run(scene, -1);
  const std::string wrong = how_noticed(whole, expected);
  fail_unless(wrong.empty(), "%s, with no wait lost: %s", scene.name, wrong.c_str());

  // The numbers of waits depend on timing, too: a query for completed work may replace a later
  // wait. So the test retries waits that were not lost.
  constexpr int kRounds = 3;
  std::string all;
  for (int round = 0; round < kRounds && (round == 0 || !first_missing(scene, all).empty());
       round++)
    all += lose_each(scene, whole.result.waits, expected);
  const std::string missing = first_missing(scene, all);
  fail_unless(missing.empty(), "%s: not noticed: %s", scene.name, missing.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  // After a lost wait, work uses freed memory: the test detects just that.
  if (g_getenv("CUDATRANSFORM_SANITIZED"))
    return testing::skip("a sanitizer ends what shall go wrong");
  g_setenv("FAKECUDA_DEVICES", "2", TRUE);
  return testing::run(argc, argv);
}
