// What the next frame of a stream may take of a bit rate, by the times of frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/rate/frame_budget.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cudatransform {
namespace {

// vbv-buf-capacity=0.
constexpr double kUsualSeconds = 0.6;
constexpr double kMinFrames = 2, kUsualFrames = 4;

Status refuse(const std::string& message) {
  return Status::error(StatusCode::kInvalidSetting, message);
}

}  // namespace

// Durations are what a source intends; times are what happens. A frame is expected to last as long
// as recent ones have, compared with their durations: that of one interval would follow jitter.
void FrameBudget::take_time(GstBuffer* frame, int fps_n, int fps_d) {
  const double last_interval = interval_;
  const GstClockTime duration = GST_BUFFER_DURATION(frame);
  if (GST_CLOCK_TIME_IS_VALID(duration) && duration > 0)
    interval_ = double(duration) / GST_SECOND;
  else
    interval_ = fps_n > 0 ? double(fps_d) / fps_n : 0;
  waited_ = waited_until(GST_BUFFER_PTS(frame), last_interval);
  if (!has_frames_ || last_interval <= 0) return;
  // A gap, such as a seek, is no change of the rate.
  constexpr double kRecentFrames = 16, kMaxChange = 4;
  const double stretch =
      std::clamp(waited_ / last_interval, stretch_ / kMaxChange, stretch_ * kMaxChange);
  stretch_ += (stretch - stretch_) / kRecentFrames;
}

// Seconds since the frame before, which has lasted `last_interval` if a time is missing.
double FrameBudget::waited_until(GstClockTime time, double last_interval) {
  // Times go back by a jitter, or by a seek, after which the buffer is as full as before.
  constexpr double kMaxJitterFrames = 4;
  const GstClockTime last_time = std::exchange(time_, time);
  if (!GST_CLOCK_TIME_IS_VALID(time) || !GST_CLOCK_TIME_IS_VALID(last_time)) return last_interval;
  const double waited = GST_CLOCK_DIFF(last_time, time) * 1e-9;
  if (waited >= 0) return waited;
  if (waited > -kMaxJitterFrames * last_interval) time_ = last_time;
  return 0;
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
  *bytes = bucket_.budget(interval_ * stretch_);
  return {};
}

}  // namespace cudatransform
