// Measuring without waiting: a queue of frames in flight, the running statistics, the messages.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gst/engine/engine.h"
#include "transform/picture.h"

namespace cudatransform {

// The measure property.
enum MeasureKinds : guint { kMeasurePsnr = 1, kMeasureTime = 2, kMeasureZeroShare = 4 };

// The timed steps, in the order of their properties and structure fields.
enum TimedStep { kKernelStep, kUploadStep, kDownloadStep, kTimedSteps };

// One frame being measured. The streaming thread fills it and returns it; results are read when the
// fence is done, so that no frame ever waits to be measured.
struct MeasuredFrame {
  // The kernel's results: one line of the cache.
  struct alignas(64) Results {
    PictureSums sums;
    PictureTimes times;
  };

  static_assert(sizeof(Results) == 64);

  // Filled by Measure.
  std::unique_ptr<Memory> memory;  // of the results
  std::unique_ptr<Timer> upload, kernel, download;

  // Filled by the element.
  guint kinds = 0;
  bool has_sse = false;  // psnr was requested, and a reference was available
  bool uploaded = false, downloaded = false;
  int components = 0;
  guint64 samples[kMaxComponents] = {};       // visible samples of each component, once each
  guint64 coefficients[kMaxComponents] = {};  // stored coefficients of each component
  guint64 bytes = 0;                          // samples and coefficients that the kernel moved
  int depth = 8;
  std::optional<double> quality;  // of quantization tables; none: the element writes none
  guint64 file_size = 0;          // of the file that was aimed at, in bytes; 0: none was
  bool posts = false;             // a message, with these times:
  GstClockTime timestamp = GST_CLOCK_TIME_NONE, stream_time = GST_CLOCK_TIME_NONE;
  GstClockTime running_time = GST_CLOCK_TIME_NONE, duration = GST_CLOCK_TIME_NONE;
  FencePtr fence;
  gint64 submitted = 0;  // by the monotonic clock, in us

  // The picture is `planes` of samples of this many bits, which the kernel reads or writes.
  void set_samples(std::span<const SamplePlane> planes, int bits);
  Results* results() const { return static_cast<Results*>(memory->data()); }
  const PictureSums& sums() const { return results()->sums; }
  // Uses the clock that the engine took. False if there is no time.
  bool read_kernel_ns(uint64_t* nanoseconds) const;
};

// Makes a job of any transform measure for `frame`. `reference`: the planes for an inverse to
// compare its samples with; null: none.
template <typename Job>
void measure_job(MeasuredFrame* frame, const SamplePlane* reference, Job* job) {
  const bool psnr = frame->kinds & kMeasurePsnr;
  if ((psnr && job->direction == Direction::kForward) || reference) job->measure = kMeasureSse;
  if (reference) std::copy_n(reference, job->components, job->reference);
  if (frame->kinds & kMeasureZeroShare) job->measure |= kMeasureZeros;
  job->sums = &frame->results()->sums;
  if (frame->kinds & kMeasureTime) {
    job->timer = frame->kernel.get();
    job->times = &frame->results()->times;
  }
  frame->has_sse = job->measure & kMeasureSse;
  frame->set_samples({job->samples, size_t(job->components)}, job->depth);
}

// Last, mean and extremes of one kind of time, in ns; the 99th percentile of the latest 1024.
class TimeStatistics {
 public:
  void add(guint64 ns);
  void reset() { *this = TimeStatistics(); }
  // Adds the fields NAME-time, NAME-time-mean, -min, -max and -p99 (GST_CLOCK_TIME_NONE before the
  // first).
  void append_to(GstStructure* s, const char* name) const;
  guint64 total() const { return total_; }

 private:
  guint64 count_ = 0, total_ = 0;
  GstClockTime last_ = GST_CLOCK_TIME_NONE, min_ = last_, max_ = last_;
  std::vector<guint64> recent_;
};

// The measurements of the last frame; -1 or GST_CLOCK_TIME_NONE: not measured, or no such step.
struct MeasuredValues {
  double psnr[4] = {-1, -1, -1, -1};  // of the components, then of all together
  GstClockTime time[kTimedSteps] = {GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE};
};

// The summary of a clip: the figures of all its measured frames, reported at its end. Not locked.
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

// Thread safe; every call except last_psnr(), last_values() and statistics() comes from the
// streaming thread.
class Measure {
 public:
  Measure(GstElement* element, const char* element_name)
      : element_(element), element_name_(element_name) {}

  // READY to PAUSED: a new stream, new statistics.
  void reset();
  // Call it before the engine closes: frees everything allocated on its device.
  void release();

  void count_frame() { frames_++; }
  // A frame to fill, or null if the device has none left (the frame then goes unmeasured). May have
  // to read a finished one.
  std::unique_ptr<MeasuredFrame> begin(Engine& engine, guint kinds);
  // `now`, here and below: g_get_monotonic_time().
  void submit(std::unique_ptr<MeasuredFrame> frame, gint64 now);
  // Reads the frames known to have finished, in order, and posts their messages. Queries the device
  // if their state has been unknown for long (fence_age.h).
  void collect(gint64 now);
  // The same, but waits for all submitted frames. Posts messages only if they may_post.
  void drain(bool may_post);

  // The end of a clip: posts the summary of the frames measured since the last summary, if there
  // are any. Or forgets these frames, because they do not belong to the next clip.
  void finish_clip();
  void drop_clip();

  // The last frame's value; -1: not measured. `component` 0..2, or -1 for all together.
  double last_psnr(int component) const;
  MeasuredValues last_values() const;
  // The stats property; `engine_fields` (transfer full) is completed and returned.
  GstStructure* statistics(GstStructure* engine_fields) const;

 private:
  void read_oldest(bool may_post);
  void finish(const MeasuredFrame& frame, bool may_post);
  void add_errors(const MeasuredFrame& frame);
  void add_times(const MeasuredFrame& frame);
  void post(const MeasuredFrame& frame);

  GstElement* element_;
  const char* element_name_;
  std::deque<std::unique_ptr<MeasuredFrame>> in_flight_;
  std::vector<std::unique_ptr<MeasuredFrame>> free_;

  std::atomic<guint64> frames_ = 0;
  mutable std::mutex lock_;  // guards everything below
  guint64 measured_frames_ = 0, psnr_frames_ = 0, zero_frames_ = 0;
  int components_ = 0;
  double peak_ = 255;
  double mse_[4] = {-1, -1, -1, -1};  // components, then all; last frame, -1: not measured
  double mse_sum_[4] = {};
  double zeros_ = -1, zeros_sum_ = 0;
  double throughput_ = -1;  // of the last timed frame, in bytes/s
  guint64 timed_bytes_ = 0;
  TimeStatistics kernel_, upload_, download_;
  GstClockTime last_times_[kTimedSteps] = {GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE,
                                           GST_CLOCK_TIME_NONE};
  ClipSummary clip_;
};

// 10 log10(peak^2 / mse); +infinity for mse 0, -1 for a negative mse ("not measured").
double psnr_of(double mse, double peak);

}  // namespace cudatransform
