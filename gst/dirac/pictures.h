// Units of a stream to rendered frames in the order in which they are shown, each with the codec
// frame that it came in.
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

// The units of a codec frame, and their bytes for as long as somebody needs them.
struct DiracInput {
  // Takes the bytes of `buffer`, unless there are some. False: `status` says why not.
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
  MappedBuffer mapped_;  // of which
};
using DiracInputPtr = std::shared_ptr<DiracInput>;

// One frame to be shown: a picture, or two fields, either of which may be missing. Both are where
// it was too late to be rendered.
struct DiracShown {
  std::shared_ptr<const DiracSequence> sequence;
  uint64_t sequence_count = 0;
  uint32_t number = 0;  // of the picture, or of the first of both fields
  DiracRenderedPtr pictures[2];
  GstVideoCodecFrame* frame = nullptr;  // the first that had a part of it
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

// One thread at a time. Codec frames that nothing comes out of are released.
class DiracPictures {
 public:
  DiracPictures(GstVideoDecoder* decoder, Engine& engine) : decoder_(decoder), engine_(engine) {}
  ~DiracPictures() { stop(); }

  // The engine is open, and stays so until stop(). `threads`: pictures whose codes are read at a
  // time.
  void start(const DiracLimits& limits, int threads);
  // Bytes of memory that all may take together, from now on; 0: any number.
  void limit(guint64 most) { budget_->set_most(most); }
  void stop();
  bool is_started() const { return decoder_state_ != nullptr; }
  int threads() const { return workers_.threads(); }
  // Whose codes are being read, or have been.
  int most_in_work() const { return workers_.most(); }

  // Whether a picture would be shown too late. Asked about those that nobody refers to, which are
  // not rendered then.
  using IsLate = std::function<bool(GstVideoCodecFrame* frame, const DiracSequence& sequence,
                                    uint64_t sequence_count, uint32_t number)>;
  void drop_late(IsLate is_late) { is_late_ = std::move(is_late); }
  // Called by take() and allocate() where memory is short: takes all that next() gives. Anything
  // but OK: the call ends with kCancelled.
  using PushReady = std::function<GstFlowReturn()>;
  void push_when_full(PushReady push) { push_ready_ = std::move(push); }
  // Memory for bytes that are to be taken; older pictures make room for it.
  Status allocate(gsize bytes, std::unique_ptr<Memory>* memory);
  // Makes room for bytes that somebody else holds meanwhile.
  Status hold(gsize bytes);

  // Takes all units of a codec frame, whose bytes a picture has until it is rendered. What is wrong
  // with one of them is in `*problem`, and is no failure of the others; a failure of the call is
  // one of the device, or of memory.
  Status take(GstVideoCodecFrame* frame, const DiracInputPtr& input, Status* problem);
  // Renders the oldest picture if its codes have been read.
  Status take_ready();
  // The stream ends: everything comes out.
  Status finish();
  // Drops everything.
  void flush();

  // The next frame to be shown; false: none yet. The codec frame is the caller's.
  bool next(DiracShown* shown);
  bool has_ready() const { return !ready_.empty(); }
  const DiracStats& stats() const { return stats_; }
  // The longest time from a picture's bytes to its samples, or to the device's work on them.
  GstClockTime longest() const { return longest_; }
  // Whose threads read the codes.
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
  // What pictures in work may take yet: each, and one after the other.
  guint64 reserved_ = 0, reserved_shared_ = 0;
  FrameWorkers workers_;
  GstVideoCodecFrame* open_ = nullptr;  // of a picture of which fragments are missing
  std::unique_ptr<DiracOrder<std::shared_ptr<DiracShown>>> order_;
  std::shared_ptr<DiracShown> half_;  // a frame whose second field has not come
  std::shared_ptr<const DiracSequence> shown_sequence_;
  // Before the first intra picture there is nothing to be shown, nor what it leaves to references
  // before it.
  bool seen_intra_ = false;
  uint32_t first_intra_ = 0;
  std::deque<DiracShown> ready_;
  IsLate is_late_;
  DiracStats stats_;
  GstClockTime longest_ = 0;
};

}  // namespace cudatransform
