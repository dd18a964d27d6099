// The rate control of cudaapvenc: the quantization parameter of a frame, by the size of its unit.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <span>

#include "apv/frame_encoder.h"
#include "gst/rate/frame_budget.h"

namespace cudatransform {

inline constexpr int kMaxApvEncodeQp = 63;

// The last frame; any thread may read it.
struct ApvRateResult {
  std::atomic<gint> qp = -1;                  // -1: there was none
  std::atomic<guint64> oversized_frames = 0;  // that the buffer had no room for
};

// Of one stream; used with the stream lock.
class ApvRateControl {
 public:
  // The sizes of units with quantization parameters of component 0.
  using Measure = std::function<Status(std::span<const int> qps, uint64_t* bytes)>;

  // A new stream.
  void start();
  // No bit rate: the next frame starts over.
  void note_constant(int qp) {
    budget_.forget();
    result_.qp = qp;
    guess_ = -1;
  }
  // The next frame, and what the bit rate, in kbit/s, leaves it.
  Status begin(GstBuffer* frame, int fps_n, int fps_d, guint bitrate, guint vbv_buf_capacity);
  // The parameter whose unit is closest to that, and for which the buffer has room. If it fails, it
  // may be called again for the frame.
  // `at_a_time`: how many parameters are measured together, up to kMaxApvMeasuredQps.
  Status choose(int at_a_time, const Measure& measure, int* qp);

  const ApvRateResult& result() const { return result_; }

 private:
  Status search(uint64_t target, int at_a_time, const Measure& measure, int* qp, uint64_t* bytes);

  FrameBudget budget_;
  double target_ = 0;  // bytes of the frame
  int guess_ = -1;     // the parameter of the frame before; -1: none
  ApvRateResult result_;
};

}  // namespace cudatransform
