// Cases of bench_jpeg_engine: the cost of rate control on the GPU, in rounds of eight candidates,
// the exact size of one, and frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A detailed picture of 1080p in 4:2:0, islow, candidates around quality 55, 80 and 92. Counters:
//   us round   count_rate_candidates() on the device
//   us again   the same for closer candidates of the same frame, as in a second round
//   us size    a transform and the coding of its scan, without writing it
//   us host    of a round and the wait for it
//   us two     of a round, one more, and the wait for each: 40 are wanted
//   us frame   of a stream's frame with a target, as cudadct8x8 looks for its scale: a pan over the
//              picture, whose size at that quality is the target
//   rounds     of such a frame
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/dct8x8/engine.h"
#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/engine.h"
#include "cuda/ratecontrol/engine.h"
#include "jpeg/encode_file.h"
#include "jpeg/file_size.h"
#include "tests/bench/common.h"
#include "tests/bench/jpeg/pictures.h"
#include "tests/bench/turns.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/ratecontrol/size_search.h"

namespace cudatransform::bench {
namespace {

double seconds_of_case;

class Control {
 public:
  Control(const JpegPicture& picture, Quantizer quantizer, int quality)
      : scale_(scale_of_quality(quality).value) {
    require(make_primary_cuda_device(0, &device_));
    frame_ = memory_on(*device_, MemoryKind::kDevice, picture.i420.size() + kPan);
    require(device_->upload(queue(),
                            copy_of(frame_->data(), picture.i420.data(), picture.i420.size())));
    constexpr int w = JpegPicture::kWidth, h = JpegPicture::kHeight;
    require(make_jpeg_scan_layout(w, h, {3, {2, 1, 1, 1}, {2, 1, 1, 1}}, 0, &job_.layout));
    job_.layout.table_pair[1] = job_.layout.table_pair[2] = 1;
    job_.candidates = RateCountJob::kMax;
    describe(quantizer, w, h);
    set_candidates([&](int i) { return scale_ * (0.88 + 0.03 * i); });
    std::copy_n(job_.tables[4], 4, job_.dct.tables);
    results_ = memory_on(*device_, MemoryKind::kPinned,
                         sizeof(JpegSymbolCounts) * RateCountJob::kMax + sizeof(JpegEncodeResult));
    job_.counts = static_cast<JpegSymbolCounts*>(results_->data());
    JpegHuffmanTables tables;
    require(JpegHeaders::standard_tables(&tables));
    require(make_jpeg_codes(tables, &codes_));
    require(file_.open(*device_, cuda_jpeg_encode_ops()));
    require(file_.begin(picture_, {}));
  }

  void round(FencePtr* fence) {
    job_.same_frame = false;
    require(count_rate_candidates(*device_, queue(), job_, fence));
  }
  void again(FencePtr* fence) {
    job_.same_frame = true;
    require(count_rate_candidates(*device_, queue(), job_, fence));
  }
  void two_rounds() {
    FencePtr fence;
    set_candidates([&](int i) { return scale_ * (0.88 + 0.03 * i); });
    round(&fence);
    require(fence->wait());
    set_candidates([&](int i) { return scale_ * (0.985 + 0.004 * i); });
    again(&fence);
    require(fence->wait());
  }
  // Starts a stream, whose frames are to be as large as the picture at the quality.
  void begin_stream() {
    target_ = exact_size(uint32_t(scale_));
    guess_ = 0;
    growth_ = 1.0035;
  }
  // Chooses the next frame's scale, as RateControl::search() does. Returns the number of rounds.
  int next_frame() {
    pan_to(2 * next_frame_++ % kPan);
    SizeSearch::Limits limits;
    limits.finest = scale_of_quality(100).value;
    limits.coarsest = scale_of_quality(1).value;
    limits.guess = guess_;
    limits.target = target_;
    limits.tolerance = 0.01;
    JpegSymbolCounts* const counts = std::exchange(job_.counts, file_.counts());
    job_.same_frame = false;
    SizeSearch search(limits, growth_);
    for (;;) {
      for (SizeCandidates all = search.next_round(); all.count > 0; all = search.next_round()) {
        job_.candidates = all.count;
        set_candidates([&](int i) { return double(all.scales[i]); });
        FencePtr counted;
        require(count_rate_candidates(*device_, queue(), job_, &counted));
        require(counted->wait());
        job_.same_frame = true;
        require(search.narrow(
            all, [&](int i, uint64_t* bytes) { return file_.counted_size(i, bytes); }));
      }
      const uint64_t bytes = exact_size(search.best());
      if (search.accepts(bytes)) {
        if (bytes <= target_) growth_ = search.growth_of(bytes), guess_ = search.best();
        break;
      }
      search.correct(bytes);
    }
    job_.counts = counts;
    job_.candidates = RateCountJob::kMax;
    return search.rounds();
  }
  void size(FencePtr* fence) {
    Dct8x8Job dct = job_.dct;
    dct.quantizer = quantizer_;
    require(cuda_dct8x8_ops().submit(*device_, queue(), dct, nullptr));
    JpegEncodeJob encode;
    encode.layout = job_.layout;
    for (int c = 0; c < 3; ++c)
      encode.qcoefs[c] = {static_cast<const int16_t*>(job_.dct.coefs[c].data),
                          job_.dct.coefs[c].pitch};
    encode.codes = &codes_;
    encode.output = static_cast<uint8_t*>(qcoefs_->data());
    encode.result = reinterpret_cast<JpegEncodeResult*>(job_.counts + RateCountJob::kMax);
    require(cuda_jpeg_encode_ops().encode(*device_, queue(), encode, fence));
  }
  // Median on the device.
  double device_us(void (Control::*work)(FencePtr*)) {
    const auto turn = [&] {
      return seconds_on(*device_, queue(), [&] { (this->*work)(nullptr); });
    };
    repeat(0, 5, turn);  // warm
    return 1e6 * repeat(0, 25, turn).median();
  }

 private:
  Queue& queue() { return device_->queue(QueueKind::kCompute); }
  template <typename Scale>
  void set_candidates(const Scale& scale) {
    for (int i = 0; i < job_.candidates; ++i) set_tables(uint32_t(scale(i)), job_.tables[i]);
  }
  static void set_tables(uint32_t scale, QuantTable* tables) {
    tables[0] = scaled_table(QuantPreset::kPerceptual, QuantComponent::kLuma, {scale, true});
    tables[1] = scaled_table(QuantPreset::kPerceptual, QuantComponent::kChroma, {scale, true});
    tables[2] = tables[3] = tables[1];
  }
  uint64_t exact_size(uint32_t scale) {
    Dct8x8Job dct = job_.dct;
    dct.quantizer = quantizer_;
    set_tables(scale, dct.tables);
    require(cuda_dct8x8_ops().submit(*device_, queue(), dct, nullptr));
    uint64_t bytes = 0;
    require(file_.exact_size(picture_, &bytes));
    return bytes;
  }
  // Columns that leave on the left reappear on the right, a row higher.
  void pan_to(ptrdiff_t columns) {
    auto* samples = static_cast<uint8_t*>(frame_->data());
    for (SamplePlane& plane : job_.dct.samples) {
      plane.data = samples + columns * plane.width / JpegPicture::kWidth;
      samples += plane.pitch * plane.height;
    }
  }
  void describe(Quantizer quantizer, int w, int h) {
    Dct8x8Job& dct = job_.dct;
    quantizer_ = quantizer;
    // As rate control does.
    dct.quantizer = quantizer == Quantizer::kRd ? Quantizer::kDeadZone : quantizer;
    dct.components = 3;
    qcoefs_ = memory_on(*device_, MemoryKind::kDevice,
                        size_t{2} * (size_t(w) + 16) * (size_t(h) + 16) * 2);
    auto* qcoefs = static_cast<uint8_t*>(qcoefs_->data());
    picture_.width = uint32_t(w);
    picture_.height = uint32_t(h);
    picture_.sampling = JpegSampling::of_luma(JpegColor::kYcbcr, 2, 2);
    for (int c = 0; c < 3; ++c) {
      const int part = c == 0 ? 1 : 2;
      SamplePlane& plane = dct.samples[c];
      plane.width = w / part;
      plane.height = h / part;
      plane.pitch = plane.width;
      CoefPlane& coefs = dct.coefs[c];
      coefs.data = qcoefs;
      coefs.blocks_w = int32_t(job_.layout.blocks_w[c]);
      coefs.blocks_h = int32_t(job_.layout.blocks_h[c]);
      coefs.pitch = coefs.blocks_w * 128;
      coefs.table = c > 0;
      coefs.chroma = c > 0;
      picture_.qcoefs[c] = {reinterpret_cast<int16_t*>(qcoefs), coefs.pitch,
                            job_.layout.blocks_w[c], job_.layout.blocks_h[c]};
      picture_.tables[c] = dct.tables[c > 0].q;
      qcoefs += coefs.pitch * coefs.blocks_h;
    }
    pan_to(0);
  }

  static constexpr int kPan = 64;  // columns

  const double scale_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Memory> frame_, qcoefs_, results_;
  RateCountJob job_;
  Quantizer quantizer_ = Quantizer::kRound;
  JpegCodes codes_;
  // Of a stream.
  cudatransform::JpegPicture picture_;
  JpegFileSize file_;
  uint64_t target_ = 0;
  uint32_t guess_ = 0;
  double growth_ = 1;
  ptrdiff_t next_frame_ = 0;
};

// Calls `work` for as long as a case takes; seconds of a call.
double time_of(const std::function<void()>& work) {
  return repeat(seconds_of_case, 1, [&] { return seconds_of(work); }).mean();
}

void run(benchmark::State& state, const JpegPicture& picture, Quantizer quantizer, int quality) {
  Control control(picture, quantizer, quality);
  double seconds = 0;
  for (auto _ : state) {
    seconds = time_of([&] {
      FencePtr fence;
      control.round(&fence);
      require(fence->wait());
    });
    state.SetIterationTime(seconds);
  }
  state.counters["us round"] = control.device_us(&Control::round);
  state.counters["us size"] = control.device_us(&Control::size);
  state.counters["us host"] = seconds * 1e6;
  control.two_rounds();
  state.counters["us again"] = control.device_us(&Control::again);
  state.counters["us two"] = time_of([&] { control.two_rounds(); }) * 1e6;
  control.begin_stream();
  control.next_frame();  // without a guess
  int frames = 0, rounds = 0;
  const double frame = time_of([&] {
    rounds += control.next_frame();
    ++frames;
  });
  state.counters["us frame"] = frame * 1e6;
  state.counters["rounds"] = double(rounds) / frames;
}

}  // namespace

void add_rate_cases(double seconds, bool* failed) {
  seconds_of_case = seconds;
  static const std::vector<JpegPicture> pictures = make_jpeg_pictures(1);
  for (const Quantizer quantizer : {Quantizer::kRound, Quantizer::kDeadZone, Quantizer::kRd})
    for (const int quality : {55, 80, 92})
      add_benchmark(
          std::string("engine:rate/quantizer:") + quantizer_name(quantizer) +
              "/quality:" + std::to_string(quality),
          [=](benchmark::State& state) { run(state, pictures[0], quantizer, quality); }, failed);
}

}  // namespace cudatransform::bench
