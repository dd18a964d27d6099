// The rate control of cudaapvenc: the quantization parameter of a frame, by the size of its unit.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/apv/rate_control.h"

#include <algorithm>

namespace cudatransform {

void ApvRateControl::start() {
  budget_.start();
  guess_ = -1;
  result_.qp = -1;
  result_.oversized_frames = 0;
}

Status ApvRateControl::begin(GstBuffer* frame, int fps_n, int fps_d, guint bitrate,
                             guint vbv_buf_capacity) {
  budget_.take_time(frame, fps_n, fps_d);
  return budget_.find(bitrate, vbv_buf_capacity, &target_);
}

Status ApvRateControl::choose(int at_a_time, const Measure& measure, int* qp) {
  const double room = budget_.room();
  uint64_t bytes = 0;
  CT_RETURN_IF_ERROR(search(static_cast<uint64_t>(target_), at_a_time, measure, qp, &bytes));
  budget_.add(static_cast<double>(bytes));
  guess_ = *qp;
  result_.qp = *qp;
  if (static_cast<double>(bytes) > room) result_.oversized_frames++;
  return {};
}

// A larger parameter makes a unit smaller, or slightly larger. Between `low`, the largest that is
// known not to fit, and `high`, the smallest that is known to, a round measures up to `at_a_time`:
// around that of the frame before, and in growing steps away from it, until both are known.
Status ApvRateControl::search(uint64_t target, int at_a_time, const Measure& measure, int* qp,
                              uint64_t* bytes) {
  constexpr int kEnd = kMaxApvEncodeQp + 1, kBegin = 24;
  int low = -1, high = kEnd, step = at_a_time;
  uint64_t bytes_of_low = 0, bytes_of_high = 0;
  for (int around = guess_ >= 0 ? guess_ : kBegin; high - low > 1; step *= 2) {
    const int between = high - low - 1, count = std::min(at_a_time, between);
    const bool is_bracketed = low >= 0 && high < kEnd;
    const int first_near = std::clamp(around - (count - 1) / 2, low + 1, high - count);
    int qps[kMaxApvMeasuredQps];
    for (int i = 0; i < count; i++)
      qps[i] = is_bracketed ? low + (i + 1) * (between + 1) / (count + 1) : first_near + i;
    uint64_t measured[kMaxApvMeasuredQps] = {};
    CT_RETURN_IF_ERROR(measure({qps, static_cast<size_t>(count)}, measured));
    int first = 0;  // that fits
    while (first < count && measured[first] > target) first++;
    if (first < count) {
      high = qps[first];
      bytes_of_high = measured[first];
    }
    if (first > 0) {
      low = qps[first - 1];
      bytes_of_low = measured[first - 1];
    }
    around = first < count ? high - step : low + step;
    if (low < kMaxApvEncodeQp) continue;
    // None fits.
    high = low;
    bytes_of_high = bytes_of_low;
  }
  // Steps are large: the closer size leaves the least to the next frame.
  const bool is_closer = low >= 0 && low < high && bytes_of_low - target < target - bytes_of_high;
  const bool takes_low = is_closer && static_cast<double>(bytes_of_low) <= budget_.room();
  *qp = takes_low ? low : high;
  *bytes = takes_low ? bytes_of_low : bytes_of_high;
  return {};
}

}  // namespace cudatransform
