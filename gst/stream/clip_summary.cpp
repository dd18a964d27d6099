// The summary of a clip: the figures of all its measured frames, reported at its end.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/clip_summary.h"

#include <algorithm>
#include <limits>
#include <string>

#include "gst/stream/measure.h"

namespace cudatransform {

void ClipSummary::Errors::add(double sse, double frame_samples, double peak) {
  frames++;
  relative += sse / (peak * peak);
  samples += frame_samples;
  if (sse == 0)
    equal++;
  else
    psnr_sum += psnr_of(sse / frame_samples, peak);
}

double ClipSummary::Errors::global_psnr() const {
  return frames ? psnr_of(relative / samples, 1) : -1;
}

double ClipSummary::Errors::mean_psnr() const {
  if (frames == 0) return -1;
  if (frames == equal) return std::numeric_limits<double>::infinity();
  return psnr_sum / double(frames - equal);
}

void ClipSummary::add(const MeasuredFrame& frame) {
  frames_++;
  if (frame.has_sse) {
    const double peak = (1u << frame.depth) - 1;
    double sse = 0, samples = 0;
    for (int c = 0; c < frame.components; c++) {
      errors_[c].add(double(frame.sums().sse[c]), double(frame.samples[c]), peak);
      sse += double(frame.sums().sse[c]);
      samples += double(frame.samples[c]);
    }
    errors_[3].add(sse, samples, peak);
  }
  if (!(frame.kinds & kMeasureZeroShare)) return;
  for (int c = 0; c < frame.components; c++) {
    zeros_ += double(frame.sums().zeros[c]);
    coefficients_ += double(frame.coefficients[c]);
  }
}

void ClipSummary::add_time(TimedStep step, guint64 ns) {
  Times& times = times_[step];
  times.min = times.count ? std::min(times.min, ns) : ns;
  times.max = times.count ? std::max(times.max, ns) : ns;
  times.total += ns;
  times.count++;
}

GstStructure* ClipSummary::to_structure(const char* name) const {
  GstStructure* s =
      gst_structure_new(name, "type", G_TYPE_STRING, "summary", "frames", G_TYPE_UINT64, frames_,
                        "psnr-frames", G_TYPE_UINT64, errors_[3].frames, nullptr);
  static const char* const kPlanes[4] = {"-y", "-u", "-v", ""};
  for (int i = 0; i < 4; i++) {
    const std::string psnr = std::string("psnr") + kPlanes[i];
    const std::string equal = std::string("equal-frames") + kPlanes[i];
    gst_structure_set(s, (psnr + "-global").c_str(), G_TYPE_DOUBLE, errors_[i].global_psnr(),
                      (psnr + "-mean").c_str(), G_TYPE_DOUBLE, errors_[i].mean_psnr(),
                      equal.c_str(), G_TYPE_UINT64, errors_[i].equal, nullptr);
  }
  gst_structure_set(s, "zeros-global", G_TYPE_DOUBLE,
                    coefficients_ > 0 ? zeros_ / coefficients_ : -1, nullptr);
  static const char* const kSteps[kTimedSteps] = {"kernel-time", "upload-time", "download-time"};
  for (int i = 0; i < kTimedSteps; i++) {
    const Times& times = times_[i];
    const auto set = [&](const char* suffix, GstClockTime time) {
      gst_structure_set(s, (std::string(kSteps[i]) + suffix).c_str(), G_TYPE_UINT64, time, nullptr);
    };
    set("-mean", times.count ? times.total / times.count : GST_CLOCK_TIME_NONE);
    set("-min", times.min);
    set("-max", times.max);
  }
  return s;
}

}  // namespace cudatransform
