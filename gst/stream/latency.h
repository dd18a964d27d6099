// What it costs in time to hold frames back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <algorithm>

namespace cudatransform {

// Frames a second where caps do not say how many there are (framerate=0/1: a variable or unknown
// rate). GStreamer's x264enc assumes the same. To report no latency would be worse: sinks of a live
// pipeline would drop every frame.
inline constexpr int kAssumedRate = 25;

// How late a frame leaves that waits for `held` more, at a rate as caps have it.
inline GstClockTime latency_of(guint held, int fps_n, int fps_d) {
  const bool known = fps_n > 0 && fps_d > 0;
  return gst_util_uint64_scale_int(GST_SECOND * held, known ? fps_d : 1,
                                   known ? fps_n : kAssumedRate);
}

// How long pictures take that leave as soon as they are finished: the longest so far. In steps,
// each twice the one before, because whenever it changes a pipeline asks all its elements anew.
class MeasuredLatency {
 public:
  // A new stream, or new caps. No picture is held back for longer than `most`.
  void start(GstClockTime most) {
    most_ = most;
    told_ = std::min(step_, most_);
  }
  // Whether value() has changed. Counts as well that the thread that pushes may leave a finished
  // picture alone for a while.
  bool add(GstClockTime took) {
    const GstClockTime late = took + kLeftAlone;
    while (step_ < late && step_ < most_) step_ = step_ == 0 ? GST_MSECOND : 2 * step_;
    const GstClockTime told = told_;
    told_ = std::min(step_, most_);
    return told_ != told;
  }
  GstClockTime value() const { return told_; }

 private:
  static constexpr GstClockTime kLeftAlone = 700 * GST_USECOND;  // FrameWorkers' kGrace and kNap

  GstClockTime most_ = 0, step_ = 0, told_ = 0;
};

}  // namespace cudatransform
