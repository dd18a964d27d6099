// Turns units of a stream into rendered frames in display order, each with its codec frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dirac/decoder.h"
#include "dirac/memory_budget.h"
#include "dirac/order.h"
#include "dirac/renderer.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/engine/frame_workers.h"
#include "transform/device/device.h"

namespace cudatransform {

// The units of a codec frame, and their bytes for as long as they are needed.
struct DiracInput {
  // Takes the bytes of `buffer`, unless it has some already. False: `status` says why not.
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

// One frame to be shown: a picture, or two fields, either of which may be missing. Both are missing
// where the frame was too late to be rendered.
struct DiracShown {
  std::shared_ptr<const DiracSequence> sequence;
  uint64_t sequence_count = 0;
  uint32_t number = 0;  // of the picture, or of the first of both fields
  DiracRenderedPtr pictures[2];
  GstVideoCodecFrame* frame = nullptr;  // the first codec frame that had a part of it
  bool is_damaged = false;
  std::string damage;
};

// The stages of a picture; motion rendering is prediction, the sum with the residual and clipping.
enum class DiracStage { kMotionDecode, kResidualDecode, kWavelet, kUpsample, kMotionRender };
inline constexpr int kDiracStages = 5;

struct DiracStats {
  guint64 pictures = 0, on_cuda = 0, bytes = 0, damaged = 0, lost = 0, late = 0;
  // Nanoseconds, over all threads; `last` is -1 before the first.
  struct Time {
    gint64 last = -1;
    guint64 sum = 0;
  };
  Time times[kDiracStages];

  void add(DiracStage stage, guint64 nanoseconds) {
    Time& time = times[static_cast<int>(stage)];
    time.last = static_cast<gint64>(nanoseconds);
    time.sum += nanoseconds;
  }
};

// Used by one thread at a time. Releases codec frames that yield no picture.
class DiracPictures {
 public:
  DiracPictures(GstVideoDecoder* decoder, Engine& engine) : decoder_(decoder), engine_(engine) {}
  ~DiracPictures() { stop(); }

  // The engine is open, and stays open until stop(). `threads`: how many pictures have their codes
  // read at a time.
  void start(const DiracLimits& limits, int threads);
  // The most bytes that all pictures may take together, from now on; 0: no limit.
  void limit(guint64 most) { budget_->set_most(most); }
  void stop();
  bool is_started() const { return decoder_state_ != nullptr; }
  int threads() const { return workers_.threads(); }
  // The most pictures whose codes are being read or have been.
  int most_in_work() const { return workers_.most(); }

  // Whether a picture would be shown too late. Only asked about pictures that no other refers to;
  // late ones are not rendered.
  using IsLate = std::function<bool(GstVideoCodecFrame* frame, const DiracSequence& sequence,
                                    uint64_t sequence_count, uint32_t number)>;
  void drop_late(IsLate is_late) { is_late_ = std::move(is_late); }
  // Called by take() and allocate() where memory is short: takes all frames that next() gives. On
  // any result but OK the call ends with kCancelled.
  using PushReady = std::function<GstFlowReturn()>;
  void push_when_full(PushReady push) { push_ready_ = std::move(push); }
  // Memory for bytes that take() will get; older pictures make room for it.
  Status allocate(gsize bytes, std::unique_ptr<Memory>* memory);
  // Makes room for bytes that the caller holds meanwhile.
  Status hold(gsize bytes);

  // Takes all units of a codec frame; a picture keeps the bytes until it is rendered. A faulty unit
  // is reported in `*problem` and does not affect the others. The call itself fails only with the
  // device, or for want of memory.
  Status take(GstVideoCodecFrame* frame, const DiracInputPtr& input, Status* problem);
  // Renders the oldest picture if its codes have been read.
  Status take_ready();
  // The stream ends: all frames come out.
  Status finish();
  // Drops everything.
  void flush();

  // The next frame to be shown; false: none yet. The codec frame is the caller's.
  bool next(DiracShown* shown);
  bool has_ready() const { return !ready_.empty(); }
  const DiracStats& stats() const { return stats_; }
  // The longest time from a picture's bytes to its samples, or to the start of the device's work.
  GstClockTime longest() const { return longest_; }
  // The threads that read the codes.
  FrameWorkers& workers() { return workers_; }

 private:
  struct Job;
  Status submit(GstVideoCodecFrame* frame);
  Status take_done(bool all);
  Status take_oldest(bool wait, bool* taken);
  Status make_room(bool* made);
  Status have_room(const std::function<DiracRenderNeed()>& need_of);
  Status reserve(Job& job);
  Status render(Job& job);
  Status render_picture(Job& job, DiracShown* shown);
  bool is_late(const Job& job) const;
  void pair(DiracShown picture);
  void begin_sequence(const std::shared_ptr<const DiracSequence>& sequence);
  bool is_shown(const Job& job, bool is_damaged);
  void end_sequence();
  void pop(bool at_end);
  void release(GstVideoCodecFrame* frame);

  GstVideoDecoder* decoder_;
  Engine& engine_;
  DiracLimits limits_;
  std::unique_ptr<DiracDecoder> decoder_state_;
  std::unique_ptr<DiracRenderer> renderer_;
  const MemoryBudgetPtr budget_ = std::make_shared<MemoryBudget>();
  PushReady push_ready_;
  // The memory that pictures in work may still take: each of them, and one after the other.
  guint64 reserved_ = 0, reserved_shared_ = 0;
  FrameWorkers workers_;
  GstVideoCodecFrame* open_ = nullptr;  // its picture lacks fragments
  std::unique_ptr<DiracOrder<std::shared_ptr<DiracShown>>> order_;
  std::shared_ptr<DiracShown> half_;  // a frame whose second field has not come
  std::shared_ptr<const DiracSequence> shown_sequence_;
  // No frame is shown before the first intra picture, nor after it if it refers to pictures before
  // it.
  bool seen_intra_ = false;
  uint32_t first_intra_ = 0;
  std::deque<DiracShown> ready_;
  IsLate is_late_;
  DiracStats stats_;
  GstClockTime longest_ = 0;
};

}  // namespace cudatransform
