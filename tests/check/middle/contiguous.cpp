// The bytes of an adapter in one piece, and how often they are copied; formats whose frames lose a
// plane in CUDA memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "gst/engine/contiguous_adapter.h"
#include "gst/stream/formats.h"
#include "tests/check/files.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;
using cudatransform::BufferPtr;
using cudatransform::ContiguousAdapter;
using cudatransform::Status;

struct Adapter {
  Adapter() = default;
  ~Adapter() {
    bytes.clear();
    g_object_unref(adapter);
  }
  void push(const Bytes& more) { gst_adapter_push(adapter, buffer_of(more)); }
  void gather() { fail_unless(bytes.gather(adapter).ok()); }
  Bytes all() const { return Bytes(bytes.bytes().begin(), bytes.bytes().end()); }

  GstAdapter* adapter = gst_adapter_new();
  ContiguousAdapter bytes;
};

Bytes counted(gsize size, guint8 first) {
  Bytes bytes(size);
  for (gsize i = 0; i < size; i++) bytes[i] = static_cast<guint8>(first + i);
  return bytes;
}

// A buffer of several memories.
GstBuffer* in_memories(const Bytes& whole, gsize piece) {
  GstBuffer* buffer = gst_buffer_new();
  for (const Bytes& part : in_pieces(whole, piece)) {
    g_autoptr(GstBuffer) one = buffer_of(part);
    gst_buffer_append_memory(buffer, gst_buffer_get_memory(one, 0));
  }
  return buffer;
}

CHECK_TEST(test_one_buffer_is_not_copied) {
  Adapter one;
  const Bytes whole = counted(100000, 3);
  g_autoptr(GstBuffer) buffer = buffer_of(whole);
  gst_adapter_push(one.adapter, gst_buffer_ref(buffer));
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_READ);
  for (gsize left = whole.size(); left > 0; left -= 1000) {
    one.gather();
    fail_unless(one.bytes.bytes().data() == map.data + (whole.size() - left));
    fail_unless_equals_uint64(one.bytes.bytes().size(), left);
    one.bytes.flush(1000);
  }
  gst_buffer_unmap(buffer, &map);
  fail_unless_equals_uint64(one.bytes.copied(), 0);
  fail_unless_equals_uint64(one.bytes.capacity(), 0);
}

// Against a model, with buffers of any size, of which others keep parts.
CHECK_TEST(test_any_pieces) {
  std::mt19937 random(1);
  for (int round = 0; round < (quick() ? 5 : 50); round++) {
    Adapter one;
    Bytes model;
    std::vector<std::pair<BufferPtr, Bytes>> kept;
    guint64 pushed = 0;
    const gsize largest = gsize{1} << (random() % 15);
    for (int step = 0; step < 300; step++) {
      for (int buffers = static_cast<int>(random() % 3); buffers >= 0; buffers--) {
        const Bytes more = counted(random() % largest + 1, static_cast<guint8>(random()));
        model = joined({model, more});
        pushed += more.size();
        if (random() % 8 == 0)
          gst_adapter_push(one.adapter, in_memories(more, more.size() / 3 + 1));
        else
          one.push(more);
      }
      one.gather();
      fail_unless(std::ranges::equal(one.bytes.bytes(), model));
      fail_unless_equals_uint64(gst_adapter_available(one.adapter), model.size());
      fail_unless_equals_uint64(gst_adapter_available_fast(one.adapter), model.size());
      const gsize gone = random() % 4 == 0 ? model.size() : random() % (model.size() + 1);
      if (gone > 0 && random() % 4 == 0)
        kept.emplace_back(gst_adapter_get_buffer_fast(one.adapter, gone), cut(model, gone));
      if (kept.size() > 8) kept.erase(kept.begin());
      if (random() % 4 == 0) continue;
      one.bytes.flush(gone);
      model.erase(model.begin(), model.begin() + static_cast<gssize>(gone));
    }
    fail_unless(one.bytes.copied() <= ContiguousAdapter::kMaxCopies * pushed,
                "%" G_GUINT64_FORMAT " copies of %" G_GUINT64_FORMAT " bytes", one.bytes.copied(),
                pushed);
    for (const auto& [buffer, bytes] : kept) {
      fail_unless_equals_uint64(gst_buffer_get_size(buffer.get()), bytes.size());
      fail_unless(gst_buffer_memcmp(buffer.get(), 0, bytes.data(), bytes.size()) == 0);
    }
  }
}

// Many small buffers for one large picture, which buffers of others share or not.
CHECK_TEST(test_small_buffers) {
  for (const bool shares : {false, true}) {
    Adapter one;
    BufferPtr last;
    constexpr gsize kPiece = 188, kBytes = gsize{4} << 20;
    gsize size = 0;
    for (; size < kBytes; size += kPiece) {
      one.push(Bytes(kPiece, static_cast<guint8>(size / kPiece)));
      one.gather();
      fail_unless_equals_uint64(one.bytes.bytes().size(), size + kPiece);
      if (shares) last.reset(gst_adapter_get_buffer_fast(one.adapter, 1));
    }
    fail_unless(one.bytes.copied() <= ContiguousAdapter::kMaxCopies * size);
    fail_unless(one.bytes.capacity() <= 2 * size + kPiece);
    // What the large one needed is not kept for small ones.
    one.bytes.flush(size);
    for (int i = 0; i < 10; i++) {
      one.push(Bytes(kPiece, 1));
      one.push(Bytes(kPiece, 2));
      one.gather();
      one.bytes.flush(2 * kPiece - 1);
    }
    fail_unless(one.bytes.capacity() <= kBytes + kBytes / 2, "%" G_GSIZE_FORMAT,
                one.bytes.capacity());
    for (gsize i = 0; i < 2 * kBytes; i += kPiece) {
      one.push(Bytes(kPiece, 1));
      one.gather();
      one.bytes.flush(kPiece);
      if (i == kBytes) last.reset();
    }
    fail_unless(one.bytes.capacity() <= gsize{1} << 18, "%" G_GSIZE_FORMAT, one.bytes.capacity());
  }
}

// ---- Memory that cannot be mapped ----

struct Unmappable {
  GstAllocator parent;
};
struct UnmappableClass {
  GstAllocatorClass parent_class;
};
GType unmappable_get_type();
G_DEFINE_TYPE(Unmappable, unmappable, GST_TYPE_ALLOCATOR)

void unmappable_class_init(UnmappableClass* klass) {
  auto* allocator = reinterpret_cast<GstAllocatorClass*>(klass);
  allocator->free = [](GstAllocator*, GstMemory* memory) { g_free(memory); };
}

void unmappable_init(Unmappable* self) {
  GstAllocator* allocator = &self->parent;
  allocator->mem_type = "unmappable";
  allocator->mem_map = [](GstMemory*, gsize, GstMapFlags) -> gpointer { return nullptr; };
  allocator->mem_unmap = [](GstMemory*) {};
}

GstBuffer* unmappable_buffer(gsize size) {
  g_autoptr(GstAllocator) allocator =
      GST_ALLOCATOR(g_object_ref_sink(g_object_new(unmappable_get_type(), nullptr)));
  GstMemory* memory = g_new0(GstMemory, 1);
  gst_memory_init(memory, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, size, 0, 0, size);
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  return buffer;
}

// It is an error, and the adapter continues after it.
CHECK_TEST(test_memory_that_cannot_be_mapped) {
  Adapter one;
  one.push({1, 2, 3});
  one.gather();
  gst_adapter_push(one.adapter, unmappable_buffer(100));
  _gst_check_expecting_log = TRUE;  // GStreamer 1.22 complains about it, too
  const Status status = one.bytes.gather(one.adapter);
  _gst_check_expecting_log = FALSE;
  fail_unless(status.code == cudatransform::StatusCode::kFailed, "%s", status.message.c_str());
  one.bytes.discard(one.adapter, 0);
  fail_unless_equals_uint64(gst_adapter_available(one.adapter), 0);
  one.push({4});
  one.gather();
  fail_unless(one.all() == Bytes({4}));
}

using cudatransform::cuda_memory_loses_a_plane;

CHECK_TEST(test_lost_planes) {
  const struct {
    guint minor, micro;
    bool odd, even;  // whether frames of such heights lose one
  } cases[] = {
      {20, 3, true, false}, {22, 0, true, false},  {22, 12, true, false}, {24, 0, false, true},
      {24, 3, false, true}, {24, 4, false, false}, {26, 0, false, false}, {28, 1, false, false},
  };
  for (const auto& c : cases) {
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
                                  GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I420_12LE}) {
      fail_unless(cuda_memory_loses_a_plane(format, 45, c.minor, c.micro) == c.odd);
      fail_unless(cuda_memory_loses_a_plane(format, 1080, c.minor, c.micro) == c.even);
    }
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE,
                                  GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444})
      for (int height : {45, 1080})
        fail_if(cuda_memory_loses_a_plane(format, height, c.minor, c.micro));
  }
}

}  // namespace
