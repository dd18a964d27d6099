// Shared by the tests on the shim driver: its counters, its failures, and the driver behind it.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On a machine without a GPU the fake driver is behind the shim (CUDATRANSFORM_REAL_LIBCUDA).
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "tests/check/shimcuda/shimcuda.h"
#include "tests/check/testing.h"

namespace testing {

// The shim's functions; null where the process has another libcuda, or none.
struct Shim {
  decltype(&shimcuda_get_counts) get_counts = nullptr;
  decltype(&shimcuda_fail) inject = nullptr;
  decltype(&shimcuda_failed) failed = nullptr;
};

inline const Shim& shim() {
  static const Shim found = [] {
    Shim made;
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) return made;
    made.get_counts =
        reinterpret_cast<decltype(made.get_counts)>(dlsym(driver, "shimcuda_get_counts"));
    made.inject = reinterpret_cast<decltype(made.inject)>(dlsym(driver, "shimcuda_fail"));
    made.failed = reinterpret_cast<decltype(made.failed)>(dlsym(driver, "shimcuda_failed"));
    return made;
  }();
  return found;
}

inline bool is_fake_behind_shim() {
  const char* next = g_getenv("CUDATRANSFORM_REAL_LIBCUDA");
  return next != nullptr && g_strstr_len(next, -1, "fakecuda") != nullptr;
}

// Later processes get the driver without the shim; this one keeps it. GStreamer's plugin scanner is
// such a process: it loads nvcodec, and NVIDIA's video decoder (libnvcuvid) waits for ever on a
// driver that has only the forwarded entries.
inline void hide_shim_from_children() {
  Dl_info info = {};
  const gchar* path = g_getenv("LD_LIBRARY_PATH");
  if (!path || !shim().get_counts || !dladdr(reinterpret_cast<void*>(shim().get_counts), &info) ||
      !info.dli_fname)
    return;
  g_autofree gchar* own = g_path_get_dirname(info.dli_fname);
  gchar** folders = g_strsplit(path, ":", -1);
  std::string others;
  for (gchar** folder = folders; *folder; folder++)
    if (**folder && g_strcmp0(*folder, own) != 0)
      others += (others.empty() ? "" : ":") + std::string(*folder);
  g_setenv("LD_LIBRARY_PATH", others.c_str(), TRUE);
  g_strfreev(folders);
}

// 0 with the shim and a device behind it; otherwise an exit status. Call it first in main.
inline int require_shim_or_skip() {
  const bool found = shim().get_counts != nullptr;
  if (is_fake_behind_shim() && (!found || require_cuda_or_skip() != 0)) {
    std::fprintf(stderr, "libcuda.so.1 is not the shim, or the fake driver is not behind it\n");
    return 1;
  }
  if (!found)
    return skip("libcuda.so.1 is not the shim of tests/check/shimcuda (LD_LIBRARY_PATH)", true);
  hide_shim_from_children();
  return require_cuda_or_skip();
}

inline ShimcudaCounts shim_counts() {
  ShimcudaCounts now = {};
  shim().get_counts(&now);
  return now;
}

inline bool has_live_objects(const ShimcudaCounts& c) {
  return c.memory || c.streams || c.events || c.modules || c.contexts;
}

// All objects are freed. A thread of GStreamer that commits a state change may hold the pipeline,
// and so its context, a moment longer than the test does.
inline void check_nothing_is_left(const char* after) {
  ShimcudaCounts now = shim_counts();
  for (int i = 0; i < 200 && has_live_objects(now); i++) {
    g_usleep(10000);
    now = shim_counts();
  }
  fail_if(has_live_objects(now),
          "%s: alive are %d blocks of memory, %d streams, %d events, %d modules, %d contexts",
          after, now.memory, now.streams, now.events, now.modules, now.contexts);
  fail_unless(now.device_bytes == 0 && now.pinned_bytes == 0, "%s: bytes are left", after);
  fail_unless(now.hasty_frees == 0, "%s: pinned memory was freed while a copy could use it", after);
}

}  // namespace testing
