// The decoder of cudadiracdec: from units of a stream to rendered frames in display order.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "dirac/decoder.h"
#include "dirac/order.h"
#include "dirac/renderer.h"
#include "gst/dirac/frames.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/ordered_pictures.h"
#include "transform/device/device.h"
#include "transform/device/memory_budget.h"

namespace cudatransform {

// For an Engine.
Status probe_dirac_kernels(Device& device);

// The units of a codec frame, and their bytes for as long as they are needed.
struct DiracInput {
  // Takes the bytes of `buffer`, unless it has some already. False: `status` has the reason.
  bool map(GstBuffer* buffer);

  struct Unit {
    gsize at, size;
  };
  std::vector<Unit> units;  // one picture at most, the last one
  const guint8* data = nullptr;
  Status status;
  std::unique_ptr<Memory> memory;  // of what has been collected

 private:
  BufferPtr buffer_;
  MappedBuffer mapped_;  // the map of buffer_
};
using DiracInputPtr = std::shared_ptr<DiracInput>;

// The stages of a picture; motion rendering is prediction, the sum with the residual and clipping.
enum class DiracStage { kMotionDecode, kResidualDecode, kWavelet, kUpsample, kMotionRender };
inline constexpr int kDiracStages = 5;

struct DiracStats {
  guint64 pictures = 0, on_cuda = 0, bytes = 0, damaged = 0, lost = 0, late = 0;
  // Of all threads.
  struct Time {
    GstClockTime last = GST_CLOCK_TIME_NONE;  // none before the first
    GstClockTime sum = 0;
  };
  Time times[kDiracStages];

  void add(DiracStage stage, guint64 nanoseconds) {
    Time& time = times[static_cast<int>(stage)];
    time.last = nanoseconds;
    time.sum += nanoseconds;
  }
};

// The decoder of cudadiracdec. Workers read the codes of several pictures; finish() renders them in
// coding order, and gives frames in display order to DiracFrames.
//
// Called with the decoder's stream lock, except where a comment says otherwise. Releases codec
// frames that yield no picture.
class DiracPictures final : private PictureCodec {
 public:
  // The properties are guarded by the object lock.
  DiracPictures(GstVideoDecoder* decoder, Engine& engine, const PictureSettings& properties);
  ~DiracPictures() { stop(); }

  // A new stream.
  void start();
  // Makes threads for the property n-threads. The engine is open, and stays open until stop().
  void start_decoder(const DiracLimits& limits, guint n_threads);
  bool is_started() const { return decoder_state_ != nullptr; }
  void stop();

  // The maximum memory of all pictures in bytes, from now on; 0: no limit.
  void limit(guint64 max) { budget_->set_max(max); }
  // Memory for bytes that decode() will get; older pictures make room for it. kCancelled: a push
  // has failed, see flow_after().
  Status allocate(gsize bytes, std::unique_ptr<Memory>* memory);
  // Makes room for bytes that the caller holds. Likewise.
  Status hold(gsize bytes);

  // Takes all units of a codec frame (transfer full); a picture keeps the bytes until it is
  // rendered. A faulty unit does not affect the others.
  GstFlowReturn decode(GstVideoCodecFrame* frame, const DiracInputPtr& input);
  // The flow after work that ended with `status`: an error ends the stream.
  GstFlowReturn flow_after(const Status& status);
  // The stream ends: all frames are pushed.
  GstFlowReturn drain();
  void flush();

  OrderedPictures& loop() { return loop_; }
  DiracFrames& frames() { return frames_; }
  const DiracFrames& frames() const { return frames_; }
  // Any thread.
  DiracStats stats() const;

 private:
  struct Job;

  // PictureCodec.
  GstFlowReturn finish(std::unique_ptr<FrameJob> picture) override;
  void discard(std::unique_ptr<FrameJob> picture) override;
  GstFlowReturn push_kept(bool all) override { return frames_.push_kept(all); }
  void discard_kept() override;
  GstFlowReturn explain(GstFlowReturn flow) override { return frames_.explain(flow); }

  Status take(GstVideoCodecFrame* frame, const DiracInputPtr& input, Status* problem);
  Status submit(GstVideoCodecFrame* frame);
  bool ends_stream(const Status& problem) const;

  Status make_room(bool* made);
  Status have_room(const std::function<DiracRenderNeed()>& need_of);
  Status reserve(const Job& job, guint64* bytes);
  Status status_of(GstFlowReturn flow);

  Status render(Job& job);
  Status render_picture(Job& job, DiracShown* shown);
  bool is_late(const Job& job) const;
  bool is_shown(const Job& job, bool is_damaged);
  void begin_sequence(const std::shared_ptr<const DiracSequence>& sequence);
  void end_sequence();
  void pop(bool at_end);
  void pair(DiracShown picture);
  GstFlowReturn push_ready();
  void release(GstVideoCodecFrame* frame);

  GstVideoDecoder* const decoder_;
  Engine& engine_;
  const PictureSettings& properties_;
  OrderedPictures loop_;
  DiracFrames frames_;
  std::unique_ptr<DiracDecoder> decoder_state_;
  std::unique_ptr<DiracRenderer> renderer_;
  const MemoryBudgetPtr budget_ = std::make_shared<MemoryBudget>();
  // The memory that pictures in flight may still take one after the other; the loop counts what
  // each of them may take.
  guint64 reserved_shared_ = 0;
  GstFlowReturn last_ = GST_FLOW_OK;    // why the last push failed
  GstVideoCodecFrame* open_ = nullptr;  // its picture lacks fragments
  std::unique_ptr<DiracOrder<std::shared_ptr<DiracShown>>> order_;
  std::shared_ptr<DiracShown> half_;  // a frame whose second field has not come
  std::shared_ptr<const DiracSequence> shown_sequence_;
  // No frame is shown before the first intra picture, nor after it if it refers to pictures before
  // it.
  bool seen_intra_ = false;
  uint32_t first_intra_ = 0;
  std::deque<DiracShown> ready_;
  DiracStats stats_;      // of the streaming thread
  DiracStats published_;  // guarded by the object lock
  // The longest time from a picture's bytes to its samples, or to the start of the device's work.
  GstClockTime longest_ = 0;
};

}  // namespace cudatransform
