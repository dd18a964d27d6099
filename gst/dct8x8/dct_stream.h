// The data path of both transforms: one negotiated stream of frames through one engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include <gst/coef/coef.h>
#include "gst/dct8x8/caps_tables.h"
#include "gst/engine/block_pool.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/engine/pools.h"
#include "gst/stream/frames_in_flight.h"
#include "gst/stream/measure.h"
#include "gst/stream/transfer.h"

namespace cudatransform {

// What one frame is transformed with: a snapshot of the properties.
struct FrameSettings {
  Method method = Method::kIslow;  // an effective one
  int scale = 1;                   // inverse: frames have 1/scale of the coefficients' size
  QuantTable tables[4] = {};       // forward, quantised
  int table_count = 0;
  int table_of[kMaxComponents] = {};  // component -> table
  bool keep_reference = false;
};

// Source frames that a pipeline may keep between the two transforms (keep-reference), besides the
// one that is being filled and the one that is being read.
inline constexpr guint kReferenceBuffers = 4;
inline constexpr guint kWorkingBuffers = 2;

// Made by the base class for every element; used by its streaming thread alone. A frame goes: map
// the input, bring it to the engine, submit the job, bring the result to where the caps want it,
// and tell through fences who has to wait for what. No step waits for the GPU: what the host has to
// wait for before a frame is pushed is handed out with it.
class DctStream {
 public:
  explicit DctStream(Engine& engine) : engine_(engine) {}
  ~DctStream() { stop(); }

  // A new stream, before configure(): how many frames may be in flight between submission and
  // push. Every warning may come again.
  void start(guint async_depth);
  // That, or less where the pool of output frames is too small for it.
  guint usable_depth() const;
  // Whether the host has to wait for a frame before it can be pushed.
  bool waits_for_frames() const { return waits_for_frames_; }

  // New caps. Pools are made on first use.
  void configure(const GstVideoInfo& raw, const GstDctInfo& dct, bool raw_in_cuda,
                 bool dct_in_cuda);
  // The caps that `dct` above is of, for buffers without meta.
  void read_tables(const GstCaps* dct_caps) { caps_tables_.read(dct_caps, dct_); }
  // The scale at which the coefficients make frames of the negotiated size: `wanted` or, when that
  // has just been changed and is not negotiated yet, the one that the frame before had. Small
  // pictures have the same size at several scales. 0: there is none.
  int scale_for(int wanted);
  // The answered ALLOCATION query of the src pad. Forward: learns whether all peers promise to
  // honour the fence. Inverse: makes the pool of output frames.
  Status allocate_coefficients(GstQuery* query);
  Status allocate_frames(GstQuery* query, GstCaps* caps);

  // `out` gets a new buffer without the input's metas and timestamps; it must be reset after a
  // failure. `frame` is null when nothing is measured.
  Status forward(const FrameSettings& settings, GstBuffer* in, SubmittedFrame* out,
                 MeasuredFrame* frame);
  Status inverse(const FrameSettings& settings, GstBuffer* in, SubmittedFrame* out,
                 MeasuredFrame* frame);

  // After a failed frame: waits until nothing uses that frame's memory any more.
  void settle();

  // Waits until the device has read all input buffers, and lets go of them.
  void release_inputs();
  // Likewise, and gives up all memory.
  void stop();

  const GstDctInfo& dct_info() const { return dct_; }
  const GstVideoInfo& raw_info() const { return raw_; }
  bool is_scaled() const { return raw_.width != dct_.width || raw_.height != dct_.height; }
  // A sentence for the user when frames had to be copied unexpectedly, or could not be measured,
  // once for each; else empty.
  std::string take_warning() { return std::exchange(warning_, {}); }

 private:
  struct Reference;

  Dct8x8Job make_job(const FrameSettings& settings, Direction direction, const Rects& raw,
                     const Rects& dct, MeasuredFrame* frame);
  using MapFunction = std::function<Status(bool device, Rects* rects)>;
  // Where the engine finds the bytes of a buffer.
  struct Placed {
    Rects rects;
    DeviceBlock block;  // a copy on the device; its buffer is null when the bytes are used in place
    BufferPtr owner;    // of block.buffer
  };
  enum class InPlace { kAlways, kIfAligned, kNever };  // of bytes that are on our device already
  Status place(GstBuffer* buffer, const MapFunction& map, InPlace in_place, BlockPool& pool,
               Timer* timer, Placed* placed);
  Status bring_to_device(GstBuffer* buffer, Residence residence, BlockPool& pool, Timer* timer,
                         Placed* placed);
  Status submit(const Dct8x8Job& job, MeasuredFrame* frame, FencePtr* done);
  Status fetch(const Rects& from, const Rects& to, const FencePtr& computed, MeasuredFrame* frame,
               FencePtr* downloaded);
  Status make_coefficients(GstBuffer** buffer, DeviceBlock* block, Rects* rects);
  Status keep_source(GstBuffer* in, bool copy, const Placed& source, GstBuffer* out);
  Status open_reference(GstBuffer* in, Reference* reference, Dct8x8Job* job);
  guint known_pool_maximum(GstBuffer* buffer);
  void hold_until_done(GstBuffer* buffer, const FencePtr& fence);
  void release_oldest();
  void warn_once(std::string warning, bool* warned);
  void warn_of_reference(const GstCoefReferenceMeta* meta);
  void warn_of_detour(GstBuffer* buffer);

  Engine& engine_;
  GstVideoInfo raw_ = {};
  GstDctInfo dct_ = {};
  CapsTables caps_tables_;
  bool raw_in_cuda_ = false, dct_in_cuda_ = false;
  bool fence_is_honoured_ = false;
  bool waits_for_frames_ = false;
  guint async_depth_ = 1;
  BlockPool raw_blocks_, dct_blocks_, reference_blocks_;
  GstBufferPool* coefficient_pool_ = nullptr;  // system memory
  GstBufferPool* frame_pool_ = nullptr;
  guint frame_pool_maximum_ = 0;
  struct HeldBuffer {
    GstBuffer* buffer;
    FencePtr fence;
    gint64 since;  // by g_get_monotonic_time()
  };
  std::deque<HeldBuffer> in_flight_;
  GstBufferPool* known_pool_ = nullptr;  // not owned: only compared
  guint known_maximum_ = 0;
  int scale_ = 1;  // of the latest frame
  std::string warning_;
  bool warned_of_copies_ = false, warned_of_detour_ = false, warned_of_scale_ = false;
  bool warned_of_reference_ = false;
  void* known_foreign_context_ = nullptr;  // only compared
};

}  // namespace cudatransform
