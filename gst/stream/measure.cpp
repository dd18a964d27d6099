// Measuring without waiting: a queue of frames in flight, the running statistics, the messages.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "gst/engine/cuda_sync.h"
#include "gst/engine/debug.h"

namespace cudatransform {
namespace {

// Null if the device has no memory or no timers left.
std::unique_ptr<MeasuredFrame> make_frame(Device& device) {
  auto frame = std::make_unique<MeasuredFrame>();
  if (!device.allocate(MemoryKind::kPinned, sizeof(MeasuredFrame::Results), &frame->memory).ok())
    return nullptr;
  frame->upload = device.make_timer();
  frame->kernel = device.make_timer();
  frame->download = device.make_timer();
  if (!frame->upload || !frame->kernel || !frame->download) return nullptr;
  *frame->results() = {};
  return frame;
}

}  // namespace

static double bytes_per_second(guint64 bytes, GstClockTime time) {
  return time ? double(bytes) / double(time) * GST_SECOND : 0;
}

double psnr_of(double mse, double peak) {
  if (mse < 0) return -1;
  if (mse == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(peak * peak / mse);
}

void MeasuredFrame::set_samples(std::span<const SamplePlane> planes, int bits) {
  components = static_cast<int>(planes.size());
  depth = bits;
  bytes = 0;
  for (size_t c = 0; c < planes.size(); c++) {
    samples[c] = guint64(planes[c].width) * planes[c].rows();
    bytes +=
        guint64(planes[c].width) * planes[c].height * (planes[c].type == SampleType::kU8 ? 1 : 2);
  }
}

bool MeasuredFrame::read_kernel_ns(uint64_t* nanoseconds) const {
  const PictureTimes& times = results()->times;
  if (times.end == 0) return kernel->read_ns(nanoseconds);
  *nanoseconds = times.end - times.begin;
  return true;
}

void TimeStatistics::add(guint64 ns) {
  constexpr size_t kRecent = 1024;
  if (recent_.size() < kRecent)
    recent_.push_back(ns);
  else
    recent_[count_ % kRecent] = ns;
  last_ = ns;
  min_ = count_ ? std::min(min_, ns) : ns;
  max_ = count_ ? std::max(max_, ns) : ns;
  total_ += ns;
  count_++;
}

void TimeStatistics::append_to(GstStructure* s, const char* name) const {
  GstClockTime p99 = GST_CLOCK_TIME_NONE;
  if (!recent_.empty()) {
    std::vector<guint64> sorted = recent_;
    const size_t rank = (sorted.size() * 99 + 99) / 100 - 1;  // nearest rank
    std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
    p99 = sorted[rank];
  }
  const std::string field = std::string(name) + "-time";
  const auto set = [&](const char* suffix, GstClockTime value) {
    gst_structure_set(s, (field + suffix).c_str(), G_TYPE_UINT64, value, nullptr);
  };
  set("", last_);
  set("-mean", count_ ? total_ / count_ : GST_CLOCK_TIME_NONE);
  set("-min", min_);
  set("-max", max_);
  set("-p99", p99);
}

void Measure::reset() {
  std::lock_guard guard(lock_);
  frames_ = 0;
  measured_frames_ = psnr_frames_ = zero_frames_ = 0;
  components_ = 0;
  std::fill_n(mse_, 4, -1);
  std::fill_n(mse_sum_, 4, 0);
  zeros_ = -1;
  zeros_sum_ = 0;
  throughput_ = -1;
  timed_bytes_ = 0;
  kernel_.reset();
  upload_.reset();
  download_.reset();
  std::fill_n(last_times_, kTimedSteps, GST_CLOCK_TIME_NONE);
  clip_ = {};
}

void Measure::release() {
  for (auto& frame : in_flight_)
    if (frame->fence) (void)frame->fence->wait();
  in_flight_.clear();
  free_.clear();
}

std::unique_ptr<MeasuredFrame> Measure::begin(Engine& engine, guint kinds) {
  // The device wrote the results that collect() will read and clear: they are in no cache.
  if (!in_flight_.empty()) __builtin_prefetch(in_flight_.front()->results(), 1);
  if (free_.empty() && !in_flight_.empty() && in_flight_.front()->fence->done()) read_oldest(true);
  if (free_.empty()) free_.push_back(make_frame(engine.device()));
  std::unique_ptr<MeasuredFrame> frame = std::move(free_.back());
  free_.pop_back();
  if (!frame) return nullptr;
  frame->kinds = kinds;
  frame->has_sse = frame->uploaded = frame->downloaded = frame->posts = false;
  frame->quality.reset();
  frame->file_size = 0;
  return frame;
}

void Measure::submit(std::unique_ptr<MeasuredFrame> frame, gint64 now) {
  frame->submitted = now;
  in_flight_.push_back(std::move(frame));
}

void Measure::collect(gint64 now) {
  const auto fence_of = [&](size_t i) { return in_flight_[i]->fence.get(); };
  while (!in_flight_.empty() &&
         first_is_done_by(now, in_flight_.front()->submitted, in_flight_.size(), fence_of)) {
    read_oldest(true);
  }
}

void Measure::drain(bool may_post) {
  while (!in_flight_.empty()) read_oldest(may_post);
}

void Measure::read_oldest(bool may_post) {
  MeasuredFrame& frame = *in_flight_.front();
  // Users of the result report the failure; here it only means that there is no measurement to
  // report.
  if (frame.fence->wait().ok()) finish(frame, may_post);
  frame.fence.reset();
  // Here and not in begin(): the device has written them, and now they are in our cache again.
  *frame.results() = {};
  free_.push_back(std::move(in_flight_.front()));
  in_flight_.pop_front();
}

void Measure::finish(const MeasuredFrame& frame, bool may_post) {
  {
    std::lock_guard guard(lock_);
    measured_frames_++;
    components_ = frame.components;
    peak_ = (1u << frame.depth) - 1;
    add_errors(frame);
    add_times(frame);
    clip_.add(frame);
  }
  if (may_post && frame.posts) post(frame);
}

void Measure::add_errors(const MeasuredFrame& frame) {
  std::fill_n(mse_, 4, -1);
  if (frame.has_sse) {
    double sse = 0, samples = 0;
    for (int c = 0; c < frame.components; c++) {
      mse_[c] = double(frame.sums().sse[c]) / double(frame.samples[c]);
      sse += double(frame.sums().sse[c]);
      samples += double(frame.samples[c]);
    }
    mse_[3] = sse / samples;
    for (int i = 0; i < 4; i++) mse_sum_[i] += std::max(mse_[i], 0.0);
    psnr_frames_++;
  }
  zeros_ = -1;
  if (frame.kinds & kMeasureZeroShare) {
    double zeros = 0, coefficients = 0;
    for (int c = 0; c < frame.components; c++) {
      zeros += double(frame.sums().zeros[c]);
      coefficients += double(frame.coefficients[c]);
    }
    zeros_ = zeros / coefficients;
    zeros_sum_ += zeros_;
    zero_frames_++;
  }
}

void Measure::add_times(const MeasuredFrame& frame) {
  std::fill_n(last_times_, kTimedSteps, GST_CLOCK_TIME_NONE);
  if (!(frame.kinds & kMeasureTime)) return;
  const auto add = [&](TimedStep step, TimeStatistics& statistics, uint64_t ns) {
    statistics.add(ns);
    last_times_[step] = ns;
    clip_.add_time(step, ns);
  };
  uint64_t ns = 0;
  if (frame.read_kernel_ns(&ns)) {
    add(kKernelStep, kernel_, ns);
    timed_bytes_ += frame.bytes;
    throughput_ = bytes_per_second(frame.bytes, ns);
  }
  if (frame.uploaded && frame.upload->read_ns(&ns)) add(kUploadStep, upload_, ns);
  if (frame.downloaded && frame.download->read_ns(&ns)) add(kDownloadStep, download_, ns);
}

void Measure::post(const MeasuredFrame& frame) {
  GstStructure* s = gst_structure_new(
      element_name_, "type", G_TYPE_STRING, "frame", "timestamp", G_TYPE_UINT64, frame.timestamp,
      "stream-time", G_TYPE_UINT64, frame.stream_time, "running-time", G_TYPE_UINT64,
      frame.running_time, "duration", G_TYPE_UINT64, frame.duration, nullptr);
  gst_structure_set(s, "psnr-y", G_TYPE_DOUBLE, last_psnr(0), "psnr-u", G_TYPE_DOUBLE, last_psnr(1),
                    "psnr-v", G_TYPE_DOUBLE, last_psnr(2), "psnr", G_TYPE_DOUBLE, last_psnr(-1),
                    nullptr);
  if (frame.quality)
    gst_structure_set(s, "quality", G_TYPE_DOUBLE, *frame.quality, "file-size", G_TYPE_UINT64,
                      frame.file_size, nullptr);
  {
    std::lock_guard guard(lock_);
    gst_structure_set(s, "kernel-time", G_TYPE_UINT64, last_times_[kKernelStep], "zeros",
                      G_TYPE_DOUBLE, zeros_, nullptr);
  }
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), s));
}

void Measure::finish_clip() {
  ClipSummary clip;
  {
    std::lock_guard guard(lock_);
    std::swap(clip, clip_);
  }
  if (clip.frames() == 0) return;
  GstStructure* s = clip.to_structure(element_name_);
  GST_INFO_OBJECT(element_, "%" GST_PTR_FORMAT, s);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), s));
}

void Measure::drop_clip() {
  std::lock_guard guard(lock_);
  clip_ = {};
}

MeasuredValues Measure::last_values() const {
  std::lock_guard guard(lock_);
  MeasuredValues values;
  for (int i = 0; i < 4; i++) values.psnr[i] = psnr_of(mse_[i], peak_);
  std::copy_n(last_times_, int(kTimedSteps), values.time);
  return values;
}

double Measure::last_psnr(int component) const {
  std::lock_guard guard(lock_);
  return psnr_of(mse_[component < 0 ? 3 : component], peak_);
}

GstStructure* Measure::statistics(GstStructure* s) const {
  std::lock_guard guard(lock_);
  gst_structure_set(s, "frames", G_TYPE_UINT64, frames_.load(), "measured-frames", G_TYPE_UINT64,
                    measured_frames_, nullptr);
  static const char* const kPlanes[4] = {"-y", "-u", "-v", ""};
  for (int i = 0; i < 4; i++) {
    const bool exists = psnr_frames_ && (i == 3 || i < components_);
    const double mean = exists ? mse_sum_[i] / double(psnr_frames_) : -1;
    const auto set = [&](const char* name, const char* statistic, double value) {
      const std::string field = std::string(name) + kPlanes[i] + statistic;
      gst_structure_set(s, field.c_str(), G_TYPE_DOUBLE, value, nullptr);
    };
    set("mse", "", mse_[i]);
    set("psnr", "", psnr_of(mse_[i], peak_));
    set("mse", "-mean", mean);
    set("psnr", "-global", psnr_of(mean, peak_));
  }
  gst_structure_set(s, "zeros", G_TYPE_DOUBLE, zeros_, "zeros-mean", G_TYPE_DOUBLE,
                    zero_frames_ ? zeros_sum_ / double(zero_frames_) : -1, nullptr);
  kernel_.append_to(s, "kernel");
  upload_.append_to(s, "upload");
  download_.append_to(s, "download");
  gst_structure_set(s, "throughput", G_TYPE_DOUBLE, throughput_, "throughput-mean", G_TYPE_DOUBLE,
                    kernel_.total() ? bytes_per_second(timed_bytes_, kernel_.total()) : -1,
                    nullptr);
  return s;
}

// ---- The summary of a clip ----

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
