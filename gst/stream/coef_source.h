// Coefficients that the CPU makes, delivered in the memory that caps want.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <deque>
#include <memory>

#include <gst/coef/dct.h>
#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/engine/pools.h"
#include "gst/stream/transfer.h"

namespace cudatransform {

// Where one frame's coefficients are written, by any thread: host memory, laid out as `info` says.
// Made by CoefSource::begin(), used up by CoefSource::finish().
struct CoefFrame {
  GstDctInfo info = {};
  BufferPtr buffer;  // system memory, mapped
  GstMapInfo map = {};
  std::unique_ptr<Memory> pinned;  // or memory that a device copies from, page-locked if possible
  guint8* data = nullptr;

  CoefFrame() = default;
  ~CoefFrame() { unmap(); }
  CoefFrame(const CoefFrame&) = delete;
  CoefFrame& operator=(const CoefFrame&) = delete;
  void unmap();
};

// The src pad's side of an element whose coefficients come from the CPU; used by its streaming
// thread alone. Frames of another geometry than the negotiated one may be begun at any time:
// whether they will ever be pushed is not known then.
class CoefSource {
 public:
  explicit CoefSource(Engine& engine) : engine_(engine) {}
  ~CoefSource() { stop(); }

  // New caps: memory of the old size goes. The answered ALLOCATION query says whether all peers
  // promise to honour the fence.
  void configure(const GstDctInfo& info, bool in_cuda);
  Status allocate(GstQuery* query);
  const GstDctInfo& info() const { return info_; }
  // Of system memory; none before allocate().
  GstBufferPool* pool() const { return pool_; }

  Status begin(const GstDctInfo& info, std::unique_ptr<CoefFrame>* frame);
  // `frame` has the negotiated geometry. The buffer has its meta, without timestamps.
  Status finish(std::unique_ptr<CoefFrame> frame, const DctTables& tables, GstBuffer** buffer);

  // Takes back what will not be pushed.
  void discard(std::unique_ptr<CoefFrame> frame);

  // Host memory that is kept for frames to come, idle or still being uploaded: from now on no more
  // than `most` bytes of it. Waits for uploads where it is more.
  void limit_kept(gsize most);
  // How much of it begin() would use up for a frame of `info`.
  gsize reusable(const GstDctInfo& info) const;

  // Waits for uploads in flight and gives up all memory.
  void stop();

 private:
  bool is_negotiated(const GstDctInfo& info) const;
  Status begin_pinned(CoefFrame* frame);
  Status upload_frame(std::unique_ptr<CoefFrame> frame, const DctTables& tables,
                      GstBuffer** buffer);

  Engine& engine_;
  GstDctInfo info_ = {};
  bool in_cuda_ = false;
  bool fence_is_honoured_ = false;
  GstBufferPool* pool_ = nullptr;  // system memory
  BlockPool blocks_;               // device memory
  // Pinned memory of the negotiated size and what still reads it; null: nothing.
  std::deque<std::pair<std::unique_ptr<Memory>, FencePtr>> pinned_;
  gsize most_kept_ = G_MAXSIZE;
};

}  // namespace cudatransform
