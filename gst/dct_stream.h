// The data path of both transforms: one negotiated stream of frames through one engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <deque>
#include <string>
#include <utility>

#include "gst/engine.h"
#include "gst/lib/gstdct.h"
#include "gst/measure.h"
#include "gst/pools.h"
#include "gst/transfer.h"

namespace cudatransform {

// What one frame is transformed with: a snapshot of the properties.
struct FrameSettings {
  Method method = Method::kIslow;  // an effective one
  QuantTable tables[4] = {};       // forward, quantised
  int table_count = 0;
  int table_of[3] = {};  // component -> table
  bool keep_reference = false;
};

// Made by the base class for every element; used by its streaming thread alone. A frame goes: map
// the input, bring it to the engine, submit the job, bring the result to where the caps want it,
// and tell through fences who has to wait for what. No step waits for the GPU but those that
// docs/architecture.md lists.
class DctStream {
 public:
  explicit DctStream(Engine& engine) : engine_(engine) {}
  ~DctStream() { stop(); }

  // New caps. Pools are made on first use.
  void configure(const GstVideoInfo& raw, const GstDctInfo& dct, bool raw_in_cuda,
                 bool dct_in_cuda);
  // The answered ALLOCATION query of the src pad. Forward: learns whether all peers promise to
  // honour the fence. Inverse: makes the pool of output frames.
  Status allocate_coefficients(GstQuery* query);
  Status allocate_frames(GstQuery* query, GstCaps* caps);

  // `*out` is a new buffer without the input's metas and timestamps. `frame` is null when nothing
  // is measured.
  Status forward(const FrameSettings& settings, GstBuffer* in, GstBuffer** out,
                 MeasuredFrame* frame);
  Status inverse(const FrameSettings& settings, GstBuffer* in, GstBuffer** out,
                 MeasuredFrame* frame);

  // Waits for work in flight and gives up all buffers.
  void stop();

  const GstDctInfo& dct_info() const { return dct_; }
  // A sentence for the user when frames had to be copied unexpectedly, once; else empty.
  std::string take_warning() { return std::exchange(warning_, {}); }

 private:
  struct Reference;

  Dct8x8Job make_job(const FrameSettings& settings, Direction direction, const Rects& raw,
                     const Rects& dct, MeasuredFrame* frame);
  Status bring_to_device(const Rects& from, GstBuffer* buffer, Residence residence, BlockPool& pool,
                         DeviceBlock* block, Rects* on_device, Timer* timer);
  Status submit(const Dct8x8Job& job, MeasuredFrame* frame, FencePtr* done);
  Status fetch(const Rects& from, const Rects& to, const FencePtr& computed, MeasuredFrame* frame);
  Status make_coefficients(GstBuffer** buffer, DeviceBlock* block, Rects* rects);
  Status keep_source(GstBuffer* in, DeviceBlock* uploaded, const Rects& on_device, GstBuffer* out);
  Status open_reference(GstBuffer* in, Reference* reference, Dct8x8Job* job);
  void hold_until_done(GstBuffer* buffer, const FencePtr& fence);

  Engine& engine_;
  GstVideoInfo raw_ = {};
  GstDctInfo dct_ = {};
  bool raw_in_cuda_ = false, dct_in_cuda_ = false;
  bool fence_is_honoured_ = false;
  BlockPool raw_blocks_, dct_blocks_, reference_blocks_;
  GstBufferPool* coefficient_pool_ = nullptr;  // system memory
  GstBufferPool* frame_pool_ = nullptr;
  std::deque<std::pair<GstBuffer*, FencePtr>> in_flight_;
  std::string warning_;
  bool warned_ = false;
};

}  // namespace cudatransform
