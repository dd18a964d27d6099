// Every wavelet on the CPU, beside a memory copy of its coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// 8-bit 4:2:0, four levels, S16 coefficients. "serial" is the portable engine, "simd" vectors on
// one thread, "tbb" vectors on all. The copy has as many threads, takes turns with the job, and
// reads and writes all coefficients. Counters, besides the samples of a job and the bytes a sample
// that must move:
//   ns/sample     time of one sample, of any component
//   GB/s          the bytes that must move over the time of the job
//   x copy        time of the job over that of the copy
#include "tests/bench/cpu/dwt.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/bench/common.h"
#include "tests/bench/cpu/jobs.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::bench {

namespace {

constexpr DwtLevels kLevels = {4, 0};

struct DwtFrame {
  Buffer<uint8_t> source, decoded;  // the planes one after the other
  Buffer<int16_t> levels;           // input of inverse jobs
  Buffer<int16_t> coefs;            // output of forward jobs and copies
};

struct Plane {
  int32_t width, height;
  size_t sample, coef;  // where it begins

  int32_t padded_width() const { return dwt_padded_width(width, kLevels); }
  size_t coefs() const {
    return size_t(padded_width()) * size_t(dwt_padded_height(height, kLevels));
  }
};

struct Transform {
  const DwtOps* ops;
  Threads threads;
  Wavelet wavelet;
  int index;  // of all quantisers
  Direction direction;
};

class DwtFrames {
 public:
  explicit DwtFrames(const FrameSize& size) : size_(size) {
    for (int c = 0; c < 3; ++c) {
      const int divisor = c == 0 ? 1 : 2;
      planes_[c] = {size.width / divisor, size.height / divisor, samples_, coefs_};
      samples_ += size_t(planes_[c].width) * size_t(planes_[c].height);
      coefs_ += planes_[c].coefs();
    }
    const size_t count = size.resident ? 1 : frames_beyond_caches(samples_ + 2 * coefs_);
    for (size_t i = 0; i < count; ++i) {
      DwtFrame frame = {allocate<uint8_t>(samples_), allocate<uint8_t>(samples_),
                        allocate<int16_t>(coefs_), allocate<int16_t>(coefs_)};
      for (const Plane& plane : planes_) {
        const std::vector<uint8_t> picture = tiled_picture(plane.width, plane.height);
        std::copy(picture.begin(), picture.end(), frame.source.get() + plane.sample);
      }
      frames_.push_back(std::move(frame));
    }
  }

  const FrameSize& size() const { return size_; }
  size_t samples() const { return samples_; }
  DwtFrame& next() { return frames_[position_++ % frames_.size()]; }

  // Makes every frame's levels, unless they are these already.
  void fill(Wavelet wavelet, int index) {
    if (wavelet == wavelet_ && index == index_) return;
    for (DwtFrame& frame : frames_) {
      std::swap(frame.levels, frame.coefs);
      run({&host_dwt_ops(), Threads::kAll, wavelet, index, Direction::kForward}, frame);
      std::swap(frame.levels, frame.coefs);
    }
    wavelet_ = wavelet;
    index_ = index;
  }

  void run(const Transform& transform, DwtFrame& frame) const {
    const bool forward = transform.direction == Direction::kForward;
    DwtJob job;
    job.direction = transform.direction;
    job.wavelet = job.wavelet_ho = transform.wavelet;
    job.levels = kLevels;
    job.components = 3;
    for (int c = 0; c < 3; ++c) {
      const Plane& plane = planes_[c];
      job.samples[c].data = (forward ? frame.source : frame.decoded).get() + plane.sample;
      job.samples[c].pitch = job.samples[c].width = plane.width;
      job.samples[c].height = plane.height;
      job.coefs[c] = {(forward ? frame.coefs : frame.levels).get() + plane.coef,
                      ptrdiff_t{2} * plane.padded_width()};
      std::fill(std::begin(job.quant_index[c]), std::end(job.quant_index[c]),
                uint8_t(transform.index));
    }
    Device& host = device(transform.threads);
    const Status status =
        transform.ops->submit(host, host.queue(QueueKind::kCompute), job, nullptr);
    if (!status.ok()) throw std::runtime_error(status.message);
  }

  void copy(Threads threads, DwtFrame& frame) const {
    constexpr size_t kPiece = size_t{1} << 16;
    const int pieces = int((coefs_ + kPiece - 1) / kPiece);
    for_block_rows(threads, pieces, [&](int i) {
      const size_t first = kPiece * size_t(i), count = std::min(kPiece, coefs_ - first);
      std::memcpy(frame.coefs.get() + first, frame.levels.get() + first, count * sizeof(int16_t));
    });
  }

 private:
  FrameSize size_;
  Plane planes_[3];
  size_t samples_ = 0, coefs_ = 0;
  std::vector<DwtFrame> frames_;
  size_t position_ = 0;
  Wavelet wavelet_ = Wavelet::kLegall53;
  int index_ = -1;
};

// The last size's frames: neighbours in the list share them.
DwtFrames& frames_of(const FrameSize& size) {
  static std::unique_ptr<DwtFrames> frames;
  if (frames == nullptr || std::strcmp(frames->size().name, size.name) != 0) {
    frames.reset();
    frames = std::make_unique<DwtFrames>(size);
  }
  return *frames;
}

void run_case(benchmark::State& state, const FrameSize& size, const Transform& transform,
              double seconds_of_case) {
  DwtFrames& frames = frames_of(size);
  frames.fill(transform.wavelet, transform.index);
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds = medians_of_turns(seconds_of_case, size.resident ? 20 : 1,
                               {[&] { frames.run(transform, frames.next()); },
                                [&] { frames.copy(transform.threads, frames.next()); }},
                               size.resident);
    state.SetIterationTime(seconds[0]);
  }
  const auto samples = double(frames.samples());
  state.counters["samples"] = samples;
  state.counters["bytes/sample"] = 3;
  state.counters["ns/sample"] = 1e9 * seconds[0] / samples;
  state.counters["GB/s"] = 3e-9 * samples / seconds[0];
  state.counters["x copy"] = seconds[0] / seconds[1];
}

}  // namespace

void add_dwt_cases(const FrameSize& size, const double* seconds, bool* failed) {
  const auto add = [&](const char* of, const Transform& transform) {
    const std::string name = std::string("engine:cpu/case:dwt/of:") + of + "/size:" + size.name +
                             "/wavelet:" + wavelet_name(transform.wavelet) +
                             "/index:" + std::to_string(transform.index) + "/direction:" +
                             (transform.direction == Direction::kForward ? "forward" : "inverse") +
                             "/threads:" + std::to_string(thread_count(transform.threads));
    add_benchmark(
        name, [=](benchmark::State& state) { run_case(state, size, transform, *seconds); }, failed);
  };
  for (int w = 0; w < kWaveletCount; ++w) {
    for (const int index : {0, 8}) {
      for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
        const auto wavelet = static_cast<Wavelet>(w);
        // The cost of the portable engine is shown once.
        if (index == 0 && std::strcmp(size.name, "4K") != 0) {
          add("serial", {&portable_dwt_ops(), Threads::kOne, wavelet, index, direction});
        }
        add("simd", {&host_dwt_ops(), Threads::kOne, wavelet, index, direction});
        if (!size.resident) add("tbb", {&host_dwt_ops(), Threads::kAll, wavelet, index, direction});
      }
    }
  }
}

}  // namespace cudatransform::bench
