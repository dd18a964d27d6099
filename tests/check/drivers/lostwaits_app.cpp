// The application in the tests of lost waits: a stream, points of fences, and memory that it writes
// to as soon as it gets the memory back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/drivers/lostwaits_app.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <deque>

namespace testing {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  _exit(2);
}

AppStream::AppStream(GstCudaContext* context) : context_(context) {
  gst_cuda_context_push(context_);
  constexpr unsigned kNonBlocking = 1;
  require(CuStreamCreate(&stream_, kNonBlocking) == CUDA_SUCCESS, "no stream");
  gst_cuda_context_pop(nullptr);
}

AppStream::~AppStream() {
  gst_cuda_context_push(context_);
  CuStreamSynchronize(stream_);
  CuStreamDestroy(stream_);
  gst_cuda_context_pop(nullptr);
}

void AppStream::copy(const void* from, CUmemorytype from_type, size_t from_pitch, void* to,
                     CUmemorytype to_type, size_t to_pitch, size_t width, size_t rows) const {
  CUDA_MEMCPY2D what = {};
  what.srcMemoryType = from_type;
  what.srcHost = from;
  what.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  what.srcPitch = from_pitch;
  what.dstMemoryType = to_type;
  what.dstHost = to;
  what.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  what.dstPitch = to_pitch;
  what.WidthInBytes = width;
  what.Height = rows;
  gst_cuda_context_push(context_);
  require(CuMemcpy2DAsync(&what, stream_) == CUDA_SUCCESS, "a copy failed");
  gst_cuda_context_pop(nullptr);
}

void AppStream::finish() const {
  gst_cuda_context_push(context_);
  CuStreamSynchronize(stream_);
  gst_cuda_context_pop(nullptr);
}

namespace {

// An event of the application as a point of a fence.
struct AppEvent {
  GstCudaContext* context;
  void* event = nullptr;
};

template <typename Call>
gboolean in_context(gpointer data, Call&& call) {
  auto* self = static_cast<AppEvent*>(data);
  gst_cuda_context_push(self->context);
  const int result = call(self->event);
  gst_cuda_context_pop(nullptr);
  return result == 0;
}

}  // namespace

GstCoefSyncPoint* point_of(const AppStream& stream) {
  static const GstCoefSyncPointFuncs kFuncs = {
      [](gpointer data) { return in_context(data, entry<int(void*)>("cuEventSynchronize")); },
      [](gpointer data, gpointer other) {
        return in_context(data, [&](void* event) {
          return entry<int(void*, void*, unsigned)>("cuStreamWaitEvent")(other, event, 0);
        });
      },
      [](gpointer data) { return in_context(data, entry<int(void*)>("cuEventQuery")); },
  };
  auto* made = new AppEvent{stream.context()};
  gst_cuda_context_push(made->context);
  require(entry<int(void**, unsigned)>("cuEventCreate")(&made->event, 2) == 0 &&
              entry<int(void*, void*)>("cuEventRecord")(made->event, stream.handle()) == 0,
          "no event");
  gst_cuda_context_pop(nullptr);
  return gst_coef_sync_point_new(&kFuncs, made, [](gpointer data) {
    in_context(data, entry<int(void*)>("cuEventDestroy_v2"));
    delete static_cast<AppEvent*>(data);
  });
}

std::vector<Bytes> bytes_in(GstBuffer* buffer, GstCaps* caps) {
  const bool cuda = gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0));
  const auto flags = static_cast<GstMapFlags>(GST_MAP_READ | (cuda ? GST_MAP_CUDA : 0));
  std::vector<Bytes> bytes;
  GstDctInfo dct;
  if (gst_dct_info_from_caps(&dct, caps, nullptr)) {
    const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
    GstMapInfo map;
    require(meta && gst_buffer_map(buffer, &map, flags), "coefficients cannot be mapped");
    for (guint c = 0; c < dct.n_components; c++)
      bytes.push_back({map.data + meta->components[c].offset, meta->components[c].stride,
                       gst_dct_info_row_bytes(&dct, c), gst_dct_info_rows(&dct, c)});
    gst_buffer_unmap(buffer, &map);
    return bytes;
  }
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) {  // a file
    GstMapInfo map;
    require(gst_buffer_map(buffer, &map, GST_MAP_READ), "a file cannot be mapped");
    bytes.push_back({map.data, map.size, map.size, 1});
    gst_buffer_unmap(buffer, &map);
    return bytes;
  }
  GstVideoFrame frame;
  require(gst_video_frame_map(&frame, &info, buffer, flags), "a frame cannot be mapped");
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++)
    bytes.push_back({static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)),
                     static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p)),
                     static_cast<size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, p)),
                     static_cast<size_t>(GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p))});
  gst_video_frame_unmap(&frame);
  return bytes;
}

void Slot::write(unsigned char value, std::deque<std::vector<guint8>>* from) const {
  for (const Bytes& b : rows) {
    if (stream == nullptr) {
      for (size_t y = 0; y < b.rows; y++) std::memset(b.data + y * b.pitch, value, b.width);
      continue;
    }
    from->emplace_back(b.width * b.rows, value);
    stream->copy(from->back().data(), CU_MEMORYTYPE_HOST, b.width, b.data, CU_MEMORYTYPE_DEVICE,
                 b.pitch, b.width, b.rows);
  }
}

GstBuffer* lend(Slot* slot) {
  const auto give_back = [](gpointer data, GstMiniObject*) {
    constexpr unsigned char kScribble = 0x5a;
    auto* back = static_cast<Slot*>(data);
    back->scribbles.clear();
    back->write(kScribble, &back->scribbles);
    back->free = true;
  };
  GstBuffer* buffer = gst_buffer_copy(slot->own);
  slot->free = false;
  gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(buffer), give_back, slot);
  return buffer;
}

}  // namespace testing
