// Shared by the tests of both metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <gst/coef/coef.h>
#include "tests/check/testing.h"

namespace testing {

// A fence whose life is visible: its written point counts its own destruction.
inline GstCoefFence* make_watched_fence(gint* destroyed) {
  static const GstCoefSyncPointFuncs funcs = {[](gpointer) -> gboolean { return TRUE; },
                                              [](gpointer, gpointer) -> gboolean { return TRUE; },
                                              [](gpointer) -> gboolean { return TRUE; }};
  g_autoptr(GstCoefSyncPoint) point = gst_coef_sync_point_new(
      &funcs, destroyed, [](gpointer data) { g_atomic_int_inc(static_cast<gint*>(data)); });
  GstCoefFence* fence = gst_coef_fence_new();
  gst_coef_fence_set_written(fence, point);
  return fence;
}

// One lie, and a part of the sentence that must name it.
template <typename Meta>
struct Lie {
  void (*tell)(Meta* meta);
  const char* named;
};

// A true meta of `make(info, &meta)` is valid; validate() refuses every lie, and names it.
template <typename Info, typename Meta, size_t n>
void check_lies(const Info& info, const Lie<Meta> (&lies)[n],
                GstBuffer* (*make)(const Info&, Meta**),
                gboolean (*validate)(const Meta*, const Info*, gsize, gchar**)) {
  for (const Lie<Meta>& lie : lies) {
    Meta* meta;
    g_autoptr(GstBuffer) buffer = make(info, &meta);
    g_autofree gchar* reason = reinterpret_cast<gchar*>(1);
    fail_unless(validate(meta, &info, info.size, &reason));
    fail_unless(reason == nullptr);
    lie.tell(meta);
    fail_if(validate(meta, &info, info.size, nullptr), "believed: %s", lie.named);
    fail_if(validate(meta, &info, info.size, &reason));
    fail_unless(reason != nullptr && std::strstr(reason, lie.named) != nullptr,
                "expected '%s', got '%s'", lie.named, reason);
  }
}

// The refusal names that part; `reason` is taken.
inline void expect_reason(gchar* reason, const char* named) {
  fail_unless(reason != nullptr && std::strstr(reason, named) != nullptr, "expected '%s', got '%s'",
              named, reason ? reason : "nothing");
  g_free(reason);
}

// No parts of the serial form, longer data, or other versions are read.
template <typename Read>
void check_only_whole(std::vector<uint8_t> bytes, uint8_t version, Read read) {
  for (size_t size = 0; size < bytes.size(); size++) {
    // A separate block for each length: the sanitiser sees a read past its end.
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    fail_if(read(cut.data(), size, version));
  }
  for (uint8_t other : {0, 2, 255})
    fail_if(read(bytes.data(), bytes.size(), other), "version %d", other);
  bytes.push_back(0);
  fail_if(read(bytes.data(), bytes.size(), version));
}

}  // namespace testing
