// The latency of frames that are held back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <algorithm>

namespace cudatransform {

// The frame rate if caps do not name one (framerate=0/1: a variable or unknown rate). GStreamer's
// x264enc assumes the same. If we reported no latency, sinks of a live pipeline would drop every
// frame.
inline constexpr int kAssumedRate = 25;

// The delay of a frame that waits for `held` more, at the rate of the caps.
inline GstClockTime latency_of(guint held, int fps_n, int fps_d) {
  const bool known = fps_n > 0 && fps_d > 0;
  return gst_util_uint64_scale_int(GST_SECOND * held, known ? fps_d : 1,
                                   known ? fps_n : kAssumedRate);
}

// The time that pictures take that leave as soon as they are finished: the longest so far. It grows
// by doubling, because a pipeline queries all its elements again after every change.
class MeasuredLatency {
 public:
  // A new stream, or new caps. No picture is held back for longer than `max`.
  void start(GstClockTime max) {
    max_ = max;
    reported_ = std::min(step_, max_);
  }
  // Whether value() has changed. Also counts the time for which the pushing thread may leave a
  // finished picture alone.
  bool add(GstClockTime took) {
    const GstClockTime late = took + kLeftAlone;
    while (step_ < late && step_ < max_) step_ = step_ == 0 ? GST_MSECOND : 2 * step_;
    const GstClockTime reported = reported_;
    reported_ = std::min(step_, max_);
    return reported_ != reported;
  }
  GstClockTime value() const { return reported_; }

 private:
  // At most FrameWorkers' kGrace and kNap; a single picture is polled sooner at first.
  static constexpr GstClockTime kLeftAlone = 700 * GST_USECOND;

  GstClockTime max_ = 0, step_ = 0, reported_ = 0;
};

}  // namespace cudatransform
