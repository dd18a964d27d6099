// The watch over a soak test: frames keep coming, and memory does not grow.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/states/soakwatch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/check/drivers/shimdriver.h"

namespace testing {
namespace {

constexpr double kMb = 1048576;

int patience() {
  // Everything takes many times as long there.
  const bool slow = g_getenv("CUDATRANSFORM_SANITIZED") || g_getenv("CUDATRANSFORM_VALGRIND");
  return slow ? 300 : 30;
}

double resident_mb() {
  g_autofree gchar* text = nullptr;
  if (!g_file_get_contents("/proc/self/statm", &text, nullptr, nullptr)) return 0;
  unsigned long size = 0, resident = 0;
  std::sscanf(text, "%lu %lu", &size, &resident);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMb;
}

// Device and pinned memory of this process, which the shim counts. The driver itself only reports
// the usage of all processes on the device.
double device_mb() {
  if (!shim().get_counts) return 0;
  const ShimcudaCounts now = shim_counts();
  return static_cast<double>(now.device_bytes + now.pinned_bytes) / kMb;
}

}  // namespace

SoakWatch& soak_watch() {
  static SoakWatch watch;
  return watch;
}

void SoakWatch::start(const std::string& what) {
  stop();
  what_ = what;
  ended_ = false;
  thread_ = g_thread_new(
      "watch",
      [](gpointer self) -> gpointer {
        static_cast<SoakWatch*>(self)->watch();
        return nullptr;
      },
      this);
}

void SoakWatch::stop() {
  ended_ = true;
  if (thread_) g_thread_join(thread_);
  thread_ = nullptr;
}

void SoakWatch::watch() {
  unsigned seen = arrived_;
  int quiet = 0;  // tenths of a second
  while (!ended_) {
    g_usleep(G_USEC_PER_SEC / 10);
    quiet = arrived_ == seen ? quiet + 1 : 0;
    seen = arrived_;
    if (quiet >= 10 * patience()) give_up(quiet / 10);
  }
}

// Where each thread of the process is, as far as the system tells.
void SoakWatch::give_up(int seconds) {
  std::fprintf(stderr, "%s: no frame for %d s, %u so far; before frame %d, step %d\n",
               what_.c_str(), seconds, arrived_.load(), frame_.load(), step_.load());
  GDir* threads = g_dir_open("/proc/self/task", 0, nullptr);
  while (const gchar* id = threads ? g_dir_read_name(threads) : nullptr) {
    std::string line = std::string("  thread ") + id;
    for (const char* file : {"comm", "wchan", "syscall"}) {
      g_autofree gchar* text = nullptr;
      const std::string path = std::string("/proc/self/task/") + id + "/" + file;
      if (g_file_get_contents(path.c_str(), &text, nullptr, nullptr))
        line += std::string(" ") + g_strchomp(text);
    }
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::abort();
}

void SoakMemory::sample(int frame) {
  if (frame < frames_ / 10) return;
  const int half = frame < frames_ / 2 ? 0 : 1;
  const double resident = resident_mb();
  if (resident_[half] == 0 || resident < resident_[half]) resident_[half] = resident;
  device_[half] = std::max(device_[half], device_mb());
}

void SoakMemory::check(double host_limit, double device_limit) const {
  std::printf("  at least resident %.1f, then %.1f MB; on the device at most %.1f, then %.1f MB\n",
              resident_[0], resident_[1], device_[0], device_[1]);
  fail_unless(resident_[0] > 0 && resident_[1] > 0, "nothing was sampled");
  if (test_numbers()) fail_unless(resident_[1] - resident_[0] < host_limit, "memory grew");
  fail_unless(device_[1] - device_[0] < device_limit, "device memory grew");
}

}  // namespace testing
