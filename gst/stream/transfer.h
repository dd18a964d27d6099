// Frames and coefficients as rectangles of bytes: checking them, and moving them to the engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <string>

#include <gst/coef/dct.h>
#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/formats.h"

namespace cudatransform {

// One plane of samples, or one component's coefficients.
struct Rect {
  guint8* data = nullptr;
  gsize pitch = 0;
  gsize row_bytes = 0;
  guint rows = 0;
};

// Up to four rectangles of one buffer, all in one address space.
struct Rects {
  int count = 0;
  Rect rect[GST_VIDEO_MAX_PLANES];
  // Rows should follow each other without gaps, as the fast kernels need for coefficients in
  // blocks.
  bool gapless = false;

  // A block that has room for all: of the widest, and of all. Without gaps, rows of blocks end
  // where devices begin a new one.
  gsize row_bytes() const;
  guint rows() const;
  // Rectangles of the same sizes, one below the other in `block`, which has row_bytes() and rows().
  Rects stacked_in(const DeviceBlock& block) const;
  // Whether every address and pitch is a multiple of 16, as the kernels' vector loads need.
  bool aligned() const;
};

RawView view_of(const Rects& rects, const GstVideoInfo& info);

// Where a buffer's bytes are, seen from an engine.
enum class Residence {
  kHost,
  kDevice,         // in our context
  kForeignDevice,  // CUDA memory of another context; copied, never used in place
};
Residence residence_of(const Engine& engine, GstBuffer* buffer);

// Of a buffer in CUDA memory: its CUcontext.
void* native_context_of(GstBuffer* buffer);
// Of a buffer of kForeignDevice: empty where the engine's device reaches that of the buffer by
// itself, otherwise a sentence for the user. Asks the driver.
std::string describe_detour(const Engine& engine, GstBuffer* buffer);

// A mapped raw frame; the buffer has to outlive it. Checks that every plane lies inside the buffer.
// Mapped for the device, its bytes may still be on their way: see gst/engine/cuda_sync.h.
class MappedFrame {
 public:
  MappedFrame() = default;
  ~MappedFrame() { unmap(); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  // `info` is what caps (and a reference meta) say. `device`: addresses are device addresses.
  Status map(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags, bool device);
  void unmap();
  Rects rects() const;

 private:
  bool mapped_ = false;
  BufferPtr piece_;  // where that is not the frame's own buffer
  GstVideoFrame frame_;
};

// A coefficient buffer mapped for the time of one call. Checks it against caps and meta first.
class MappedCoefficients {
 public:
  MappedCoefficients() = default;
  ~MappedCoefficients() { unmap(); }
  MappedCoefficients(const MappedCoefficients&) = delete;
  MappedCoefficients& operator=(const MappedCoefficients&) = delete;

  Status map(GstBuffer* buffer, const GstDctInfo& info, const GstDctMeta* meta, bool device);
  void unmap();
  const Rects& rects() const { return rects_; }

 private:
  BufferPtr piece_;  // mapped
  GstMapInfo map_;
  Rects rects_;
};

// The rectangles of `info`'s components, with the offsets and strides of `components`.
Rects coefficient_rects(const GstDctInfo& info, const GstDctComponent* components, guint8* base);

// The quantisation tables of a frame, and which component has which.
struct DctTables {
  const QuantTable* tables;
  int count;
  const int* table_of;  // component -> table
};

// Attaches the GstDctMeta of coefficients to `buffer`: at the places of `info`, or, if they are on
// the device, at those of `on_device`, which `base` is the beginning of.
void add_dct_meta(GstBuffer* buffer, const GstDctInfo& info, const DctTables& tables,
                  const Rects* on_device, const guint8* base);

// Enqueues the copy of each rectangle; `from` and `to` have the same sizes.
Status upload(Device& device, Queue& queue, const Rects& from, const Rects& to);
Status download(Device& device, Queue& queue, const Rects& from, const Rects& to);
// `from` is in the CUcontext `from_context`.
Status copy(Device& device, Queue& queue, const Rects& from, void* from_context, const Rects& to);

// Makes a sync point of the end of the work that `fence` stands for.
GstCoefSyncPoint* sync_point_of(FencePtr fence);

}  // namespace cudatransform
