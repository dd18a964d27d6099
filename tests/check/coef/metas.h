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

// The functions of a kind of meta.
template <typename InfoType, typename MetaType>
struct MetaKind {
  using Info = InfoType;
  using Meta = MetaType;
  GType (*api)();
  Meta* (*add)(GstBuffer* buffer, const Info* info);
  Meta* (*get)(GstBuffer* buffer);
  void (*set_fence)(Meta* meta, GstCoefFence* fence);
  gboolean (*validate)(const Meta* meta, const Info* info, gsize size, gchar** reason);
  bool (*serialize)(const Meta& meta, std::vector<uint8_t>* bytes);
  bool (*deserialize)(const uint8_t* bytes, size_t size, uint8_t version, Meta* meta);
  uint8_t version;
  // The test's own: a buffer with a valid meta of a picture of 17 x 33 in 4:2:0, and whether two
  // metas are equal except for the fence.
  GstBuffer* (*make)(const Info& info, Meta** meta);
  bool (*equal)(const Meta& a, const Meta& b);
};

// A new meta has the places of `info` and no fence. Returns its buffer.
template <typename Kind>
GstBuffer* check_fresh(const Kind& kind, const typename Kind::Info& info) {
  GstBuffer* buffer = gst_buffer_new();
  fail_unless(kind.get(buffer) == nullptr);
  const auto* meta = kind.add(buffer, &info);
  fail_unless(meta != nullptr && kind.get(buffer) == meta);
  fail_unless_equals_int(meta->n_components, 3);
  fail_unless(std::memcmp(meta->components, info.components, sizeof(info.components)) == 0);
  fail_unless(meta->fence == nullptr);
  fail_unless(
      gst_meta_api_type_has_tag(kind.api(), g_quark_from_static_string(GST_META_TAG_MEMORY_STR)));
  return buffer;
}

// Copies of a whole buffer have its meta and share its fence, a part of a buffer is no picture.
template <typename Kind>
void check_copies(const Kind& kind, const typename Kind::Info& info) {
  typename Kind::Meta* meta;
  GstBuffer* buffer = kind.make(info, &meta);
  gint destroyed = 0;
  GstCoefFence* fence = make_watched_fence(&destroyed);
  kind.set_fence(meta, fence);
  gst_coef_fence_unref(fence);

  GstBuffer* deep = gst_buffer_copy_deep(buffer);
  GstBuffer* shallow = gst_buffer_copy(buffer);
  GstBuffer* whole = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 0, info.size);
  for (GstBuffer* copy : {deep, shallow, whole}) {
    const auto* copied = kind.get(copy);
    fail_unless(copied != nullptr && copied != meta);
    fail_unless(copied->fence == meta->fence, "the fence is not shared");
    fail_unless(kind.equal(*copied, *meta));
    fail_unless(kind.validate(copied, &info, gst_buffer_get_size(copy), nullptr));
  }
  for (const gsize from : {0, 2}) {
    g_autoptr(GstBuffer) part =
        gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, from, info.size - 2);
    fail_unless(kind.get(part) == nullptr, "part of a buffer is no picture");
  }
  for (GstBuffer* one : {buffer, shallow, whole}) gst_buffer_unref(one);
  fail_unless_equals_int(destroyed, 0);
  gst_buffer_unref(deep);
  fail_unless_equals_int(destroyed, 1);
}

// A meta keeps the fence that it has, also if that is set again.
template <typename Kind>
void check_set_fence(const Kind& kind, const typename Kind::Info& info) {
  typename Kind::Meta* meta;
  g_autoptr(GstBuffer) buffer = kind.make(info, &meta);
  gint destroyed = 0;
  GstCoefFence* fence = make_watched_fence(&destroyed);
  kind.set_fence(meta, fence);
  gst_coef_fence_unref(fence);
  kind.set_fence(meta, meta->fence);  // must not free what it sets
  fail_unless_equals_int(destroyed, 0);
  fail_unless(gst_coef_fence_wait_written(meta->fence, nullptr));
  kind.set_fence(meta, nullptr);
  fail_unless_equals_int(destroyed, 1);
}

// One fault, and a part of the message that must name it.
template <typename Meta>
struct Lie {
  void (*apply)(Meta* meta);
  const char* named;
};

// A sound meta is valid; validate() refuses every fault, and names it.
template <typename Kind, size_t n>
void check_lies(const Kind& kind, const typename Kind::Info& info,
                const Lie<typename Kind::Meta> (&lies)[n]) {
  for (const auto& lie : lies) {
    typename Kind::Meta* meta;
    g_autoptr(GstBuffer) buffer = kind.make(info, &meta);
    g_autofree gchar* reason = reinterpret_cast<gchar*>(1);
    fail_unless(kind.validate(meta, &info, info.size, &reason));
    fail_unless(reason == nullptr);
    lie.apply(meta);
    fail_if(kind.validate(meta, &info, info.size, nullptr), "believed: %s", lie.named);
    fail_if(kind.validate(meta, &info, info.size, &reason));
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
    // A separate block for each length: the sanitizer sees a read past its end.
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    fail_if(read(cut.data(), size, version));
  }
  for (uint8_t other : {0, 2, 255})
    fail_if(read(bytes.data(), bytes.size(), other), "version %d", other);
  bytes.push_back(0);
  fail_if(read(bytes.data(), bytes.size(), version));
}

// Buffers that are too small are refused. Another order of components, padding between rows and
// equal ratios of factors are no faults.
template <typename Kind>
void check_places(const Kind& kind, const typename Kind::Info& info) {
  typename Kind::Meta* meta;
  g_autoptr(GstBuffer) buffer = kind.make(info, &meta);
  gchar* reason;
  for (gsize size : {gsize{0}, gsize{1}, info.size / 2, info.size - 1}) {
    fail_if(kind.validate(meta, &info, size, &reason));
    expect_reason(reason, "exceeds the buffer");
  }
  fail_unless(kind.validate(meta, &info, info.size + 100, nullptr));
  meta->components[0].offset = 4096;
  meta->components[1].stride += 64;
  for (auto& component : meta->components) component.v_samp *= 2;
  fail_unless(kind.validate(meta, &info, 8192, &reason), "%s", reason);
}

// A meta round-trips through its serial form of this many bytes, and from GStreamer's. Returns the
// form.
template <typename Kind>
std::vector<uint8_t> check_serial(const Kind& kind, const typename Kind::Info& info, size_t size) {
  typename Kind::Meta *meta, back = {};
  g_autoptr(GstBuffer) buffer = kind.make(info, &meta);
  meta->components[2].offset = gsize{0x123456789a};
  std::vector<uint8_t> bytes;
  fail_unless(kind.serialize(*meta, &bytes));
  fail_unless_equals_uint64(bytes.size(), size);
  fail_unless(kind.deserialize(bytes.data(), bytes.size(), kind.version, &back));
  fail_unless(kind.equal(back, *meta));
  check_only_whole(bytes, kind.version, [&](const uint8_t* data, size_t length, uint8_t version) {
    return kind.deserialize(data, length, version, &back);
  });
#if GST_CHECK_VERSION(1, 23, 0)
  g_autoptr(GByteArray) stored = g_byte_array_new();
  fail_unless(gst_meta_serialize_simple(&meta->meta, stored));
  g_autoptr(GstBuffer) other = gst_buffer_new();
  guint32 consumed = 0;
  fail_unless(gst_meta_deserialize(other, stored->data, stored->len, &consumed) != nullptr);
  fail_unless_equals_int(consumed, stored->len);
  fail_unless(kind.equal(*kind.get(other), *meta) && kind.get(other)->fence == nullptr);
#endif
  return bytes;
}

}  // namespace testing
