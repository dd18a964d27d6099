// The cost of rate control on the GPU: rounds of eight candidates, and the exact size of one.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A detailed picture of 1080p in 4:2:0, islow, candidates around quality 55, 80 and 92. Counters:
//   us round  count_rate_candidates() on the device
//   us size   a transform and the coding of its scan, without writing it
//   us host   of a round and the wait for it
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/dct8x8/engine.h"
#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/encode_engine.h"
#include "cuda/ratecontrol/engine.h"
#include "jpeg/encode_file.h"
#include "tests/bench/common.h"
#include "tests/bench/device.h"
#include "tests/bench/jpeg/pictures.h"
#include "transform/dct8x8/table_scale.h"

namespace cudatransform::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of_case = 0.5;  // --seconds=

class Control {
 public:
  Control(const JpegPicture& picture, Quantizer quantizer, int quality) {
    require(make_primary_cuda_device(0, &device_));
    frame_ = allocate(MemoryKind::kDevice, picture.i420.size());
    require(device_->upload(queue(),
                            copy_of(frame_->data(), picture.i420.data(), picture.i420.size())));
    constexpr int w = JpegPicture::kWidth, h = JpegPicture::kHeight;
    require(make_jpeg_scan_layout(w, h, 3, 2, 2, 0, &job_.layout));
    job_.layout.table_pair[1] = job_.layout.table_pair[2] = 1;
    job_.candidates = RateCountJob::kMost;
    const double scale = scale_of_quality(quality).value;
    for (int i = 0; i < job_.candidates; ++i) {
      const TableScale own = {static_cast<uint32_t>(scale * (0.88 + 0.03 * i)), true};
      job_.tables[i][0] = scaled_table(QuantPreset::kPerceptual, QuantComponent::kLuma, own);
      job_.tables[i][1] = scaled_table(QuantPreset::kPerceptual, QuantComponent::kChroma, own);
      job_.tables[i][2] = job_.tables[i][3] = job_.tables[i][1];
    }
    describe(quantizer, w, h);
    results_ = allocate(MemoryKind::kPinned,
                        sizeof(JpegSymbolCounts) * RateCountJob::kMost + sizeof(JpegEncodeResult));
    job_.counts = static_cast<JpegSymbolCounts*>(results_->data());
    JpegHuffmanTables tables;
    require(JpegHeaders::standard_tables(&tables));
    require(make_jpeg_codes(tables, &codes_));
    timer_ = device_->make_timer();
  }

  void round(FencePtr* fence) { require(count_rate_candidates(*device_, queue(), job_, fence)); }
  void size(FencePtr* fence) {
    Dct8x8Job dct = job_.dct;
    dct.quantizer = quantizer_;
    require(cuda_dct8x8_ops().submit(*device_, queue(), dct, nullptr));
    JpegEncodeJob encode;
    encode.layout = job_.layout;
    for (int c = 0; c < 3; ++c)
      encode.levels[c] = {static_cast<const int16_t*>(job_.dct.coefs[c].data),
                          job_.dct.coefs[c].pitch};
    encode.codes = &codes_;
    encode.output = static_cast<uint8_t*>(levels_->data());
    encode.result = reinterpret_cast<JpegEncodeResult*>(job_.counts + RateCountJob::kMost);
    require(cuda_jpeg_encode_ops().encode(*device_, queue(), encode, fence));
  }
  // Median on the device.
  double device_us(void (Control::*work)(FencePtr*)) {
    std::vector<double> all;
    for (int i = 0; i < 30; ++i) {
      FencePtr fence;
      require(timer_->begin(queue()));
      (this->*work)(nullptr);
      require(timer_->end(queue()));
      require(queue().record(&fence));
      require(fence->wait());
      uint64_t ns = 0;
      while (!timer_->read_ns(&ns)) {
      }
      if (i >= 5) all.push_back(static_cast<double>(ns) / 1e3);
    }
    return median(all);
  }

 private:
  std::unique_ptr<Memory> allocate(MemoryKind kind, size_t bytes) {
    std::unique_ptr<Memory> memory;
    require(device_->allocate(kind, bytes, &memory));
    return memory;
  }
  Queue& queue() { return device_->queue(QueueKind::kCompute); }
  void describe(Quantizer quantizer, int w, int h) {
    Dct8x8Job& dct = job_.dct;
    quantizer_ = quantizer;
    // As rate control does.
    dct.quantizer = quantizer == Quantizer::kRd ? Quantizer::kDeadZone : quantizer;
    dct.components = 3;
    std::copy_n(job_.tables[4], 4, dct.tables);
    levels_ = allocate(MemoryKind::kDevice, size_t{2} * (size_t(w) + 16) * (size_t(h) + 16) * 2);
    auto* samples = static_cast<uint8_t*>(frame_->data());
    auto* levels = static_cast<uint8_t*>(levels_->data());
    for (int c = 0; c < 3; ++c) {
      const int part = c == 0 ? 1 : 2;
      SamplePlane& plane = dct.samples[c];
      plane.data = samples;
      plane.width = w / part;
      plane.height = h / part;
      plane.pitch = plane.width;
      samples += plane.pitch * plane.height;
      CoefPlane& coefs = dct.coefs[c];
      coefs.data = levels;
      coefs.blocks_w = int32_t(job_.layout.blocks_w[c]);
      coefs.blocks_h = int32_t(job_.layout.blocks_h[c]);
      coefs.pitch = coefs.blocks_w * 128;
      coefs.table = c > 0;
      coefs.chroma = c > 0;
      levels += coefs.pitch * coefs.blocks_h;
    }
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Memory> frame_, levels_, results_;
  std::unique_ptr<Timer> timer_;
  RateCountJob job_;
  Quantizer quantizer_ = Quantizer::kRound;
  JpegCodes codes_;
};

void run(benchmark::State& state, const JpegPicture& picture, Quantizer quantizer, int quality) {
  Control control(picture, quantizer, quality);
  int rounds = 0;
  double seconds = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    do {
      FencePtr fence;
      control.round(&fence);
      require(fence->wait());
      ++rounds;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < seconds_of_case);
    state.SetIterationTime(seconds / rounds);
  }
  state.counters["us round"] = control.device_us(&Control::round);
  state.counters["us size"] = control.device_us(&Control::size);
  state.counters["us host"] = seconds / rounds * 1e6;
}

void add_cases() {
  static const std::vector<JpegPicture> pictures = make_jpeg_pictures(1);
  for (const Quantizer quantizer : {Quantizer::kRound, Quantizer::kDeadZone, Quantizer::kRd})
    for (const int quality : {55, 80, 92})
      benchmark::RegisterBenchmark(
          (std::string("engine:rate/quantizer:") + quantizer_name(quantizer) +
           "/quality:" + std::to_string(quality))
              .c_str(),
          [=](benchmark::State& state) { run(state, pictures[0], quantizer, quality); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  const auto take = [](std::string_view argument) {
    return bench::has_value(argument, "--seconds=", &bench::seconds_of_case);
  };
  return bench::run_program("bench_rate", argc, argv, take, [] {
    bench::add_cases();
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  });
}
