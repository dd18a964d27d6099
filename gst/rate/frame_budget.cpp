// What the next frame of a stream may take of a bit rate, by the times of frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/rate/frame_budget.h"

#include <algorithm>
#include <string>

namespace cudatransform {
namespace {

// vbv-buf-capacity=0.
constexpr double kUsualSeconds = 0.6;
constexpr double kMinFrames = 2, kUsualFrames = 4;

Status refuse(const std::string& message) {
  return Status::error(StatusCode::kInvalidSetting, message);
}

}  // namespace

void FrameBudget::take_time(GstBuffer* frame, int fps_n, int fps_d) {
  last_time_ = time_;
  time_ = GST_BUFFER_PTS(frame);
  const bool goes_on = GST_CLOCK_TIME_IS_VALID(time_) && GST_CLOCK_TIME_IS_VALID(last_time_);
  // Times go back by a jitter, or by a seek, after which the buffer is as full as before.
  waited_ =
      goes_on && has_frames_ ? std::max(0.0, GST_CLOCK_DIFF(last_time_, time_) * 1e-9) : interval_;
  const GstClockTime duration = GST_BUFFER_DURATION(frame);
  if (GST_CLOCK_TIME_IS_VALID(duration) && duration > 0)
    interval_ = double(duration) / GST_SECOND;
  else
    interval_ = fps_n > 0 ? double(fps_d) / fps_n : 0;
}

Status FrameBudget::find(guint bitrate, guint vbv_buf_capacity, double* bytes) {
  if (interval_ <= 0) return refuse("bitrate requires a frame rate in caps or buffer durations");
  const double capacity = vbv_buf_capacity ? vbv_buf_capacity / 1000.0
                                           : std::max(kUsualSeconds, kUsualFrames * interval_);
  // Later, a frame that lasts longer gets what there is room for.
  if (!has_frames_ && capacity < kMinFrames * interval_)
    return refuse("vbv-buf-capacity=" + std::to_string(vbv_buf_capacity) +
                  " is less than two frames (" +
                  std::to_string(static_cast<int>(2000 * interval_)) + " ms)");
  bucket_.set(bitrate * 125.0, capacity);
  if (has_frames_) bucket_.wait(waited_);
  has_frames_ = true;
  *bytes = bucket_.budget(interval_);
  return {};
}

}  // namespace cudatransform
