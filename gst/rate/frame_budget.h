// What the next frame of a stream may take of a bit rate, by the times of frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/status.h"
#include "transform/ratecontrol/leaky_bucket.h"

namespace cudatransform {

// Used by the streaming thread.
class FrameBudget {
 public:
  // A new stream.
  void start() { *this = {}; }
  // Nothing is known of frames before the next one, and the buffer is half full.
  void forget() {
    bucket_ = {};
    has_frames_ = false;
    stretch_ = 1;
  }
  // The time of the next frame; the rate of the caps is for frames without durations.
  void take_time(GstBuffer* frame, int fps_n, int fps_d);
  // The most bytes for the next frame, at `bitrate` kbit/s, in a buffer of `capacity` ms, 0:
  // automatic.
  Status find(guint bitrate, guint capacity, double* bytes);
  // The bytes that the buffer has room for, once find() has been called for the frame.
  double room() const { return bucket_.room(); }
  // Of the frame.
  void add(double bytes) { (void)bucket_.add(bytes); }
  // Of the buffer, 0 to 1.
  double fill() const { return bucket_.fill(); }

 private:
  double waited_until(GstClockTime time, double last_interval);

  LeakyBucket bucket_;
  GstClockTime time_ = GST_CLOCK_TIME_NONE;  // the latest of the frames before
  double interval_ = 0;  // seconds until the next frame, by duration or rate; 0: unknown
  double stretch_ = 1;   // the interval of recent frames by their times, as a multiple of that
  double waited_ = 0;    // since the frame before
  bool has_frames_ = false;
};

}  // namespace cudatransform
