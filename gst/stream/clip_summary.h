// The summary of a clip: the figures of all its measured frames, reported at its end.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

struct MeasuredFrame;

// The timed steps, in the order of their properties and structure fields.
enum TimedStep { kKernelStep, kUploadStep, kDownloadStep, kTimedSteps };

// Not locked.
class ClipSummary {
 public:
  // The errors and zeros of a frame.
  void add(const MeasuredFrame& frame);
  void add_time(TimedStep step, guint64 ns);
  guint64 frames() const { return frames_; }
  // docs/elements lists the fields. Transfer full.
  GstStructure* to_structure(const char* name) const;

 private:
  struct Errors {
    void add(double sse, double samples, double peak);
    double global_psnr() const;  // of the mean squared error
    double mean_psnr() const;    // mean of the frames' finite PSNRs

    // Squared errors relative to the square of the frame's own peak: a clip may have two depths.
    double relative = 0, samples = 0;
    double psnr_sum = 0;  // of the frames with a finite value
    guint64 frames = 0, equal = 0;
  };
  struct Times {
    guint64 count = 0, total = 0;
    GstClockTime min = GST_CLOCK_TIME_NONE, max = GST_CLOCK_TIME_NONE;
  };

  guint64 frames_ = 0;
  Errors errors_[4];  // of the components, then of all samples
  double zeros_ = 0, coefficients_ = 0;
  Times times_[kTimedSteps];
};

}  // namespace cudatransform
