// The speed of JPEG's entropy coding on the GPU alone: coefficients in device memory to scans; with
// the cases of bench_jpeg_scans.cpp and bench_rate.cpp.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// 4:2:0, quality 90, Annex K's tables. Pictures are several in flight, each with memory and a
// stream of its own. Each scan is compared with libjpeg's once. Where they go:
//   device  stays in device memory
//   mapped  the kernels write to pinned memory
//   copied  a tenth more than the last scan's size is copied to pinned memory behind them
// Counters:
//   frames/s, GB/s (of scans), us alone (on the device), bytes (of a scan)
// --seconds=S: of a case (0.5); --part=N: of the pictures' sides.
//
// Exit status: 0; 1 where any case failed; 2 for arguments that are not understood; 77 without a
// GPU.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/engine.h"
#include "jpeg/encode_file.h"
#include "jpeg/reader.h"
#include "tests/bench/common.h"
#include "tests/bench/jpeg/pictures.h"
#include "tests/bench/turns.h"

namespace cudatransform::bench {
namespace {

using QcoefPicture = cudatransform::JpegPicture;

double seconds_of_case = 0.5;
uint32_t scale_down = 1;
enum class Output { kDevice, kMapped, kCopied };
constexpr const char* kOutputNames[] = {"device", "mapped", "copied"};

// Quantized coefficients of a picture as a JPEG file has them, and libjpeg's scan.
struct Source {
  uint32_t width, height;
  std::vector<int16_t> qcoefs[3];
  QuantTable tables[3];
  QcoefPicture picture;
  std::vector<uint8_t> scan;
};

// The file repeated `across` x `across` times.
std::unique_ptr<Source> make_source(const std::vector<uint8_t>& file, uint32_t across) {
  JpegReader reader;
  JpegHeader header;
  require(reader.read_header(file, &header));
  auto source = std::make_unique<Source>();
  std::vector<int16_t> qcoefs[3];
  JpegQcoefs to[3];
  for (int c = 0; c < 3; ++c) {
    qcoefs[c].resize(size_t{header.blocks_w[c]} * header.blocks_h[c] * 64 + 8);
    to[c] = {qcoefs[c].data(), ptrdiff_t(header.blocks_w[c]) * 128, header.blocks_w[c],
             header.blocks_h[c]};
  }
  JpegTables tables;
  JpegFindings found;
  require(reader.read_coefficients(to, &tables, &found));
  QcoefPicture& picture = source->picture;
  picture.width = header.width * across;
  picture.height = header.height / 16 / scale_down * 16 * across;  // whole MCUs
  picture.sampling = JpegSampling::of_luma(JpegColor::kYcbcr, 2, 2);
  for (int c = 0; c < 3; ++c) {
    source->tables[c] = tables.tables[tables.table_of[c]];
    picture.tables[c] = source->tables[c].q;
    const uint32_t w = header.blocks_w[c] * across;
    const uint32_t h = picture.height / (c == 0 ? 8 : 16);
    source->qcoefs[c].resize(size_t{w} * h * 64);
    for (uint32_t y = 0; y < h; ++y)
      for (uint32_t x = 0; x < across; ++x)
        std::memcpy(&source->qcoefs[c][(size_t{y} * w + size_t{x} * header.blocks_w[c]) * 64],
                    to[c].row(y % (h / across)), size_t{header.blocks_w[c]} * 128);
    picture.qcoefs[c] = {source->qcoefs[c].data(), ptrdiff_t(w) * 128, w, h};
  }
  JpegWriter writer;
  JpegBytes whole, head;
  require(writer.write(picture, {}, &whole));
  require(writer.write_header(picture, {}, nullptr, &head));
  source->scan.assign(whole.data() + head.size(), whole.data() + whole.size());
  return source;
}

// One of the pictures in flight.
class Flight {
 public:
  Flight(const Source& source, Output output) : source_(source), output_(output) {
    require(make_primary_cuda_device(0, &device_));
    for (int c = 0; c < 3; ++c) {
      const size_t bytes = source.qcoefs[c].size() * sizeof(int16_t);
      qcoefs_[c] = memory_on(*device_, MemoryKind::kDevice, bytes);
      require(device_->upload(device_->queue(QueueKind::kCompute),
                              copy_of(qcoefs_[c]->data(), source.qcoefs[c].data(), bytes)));
      job_.qcoefs[c] = {static_cast<const int16_t*>(qcoefs_[c]->data()),
                        source.picture.qcoefs[c].stride};
    }
    require(make_jpeg_scan_layout(source.picture, {}, &job_.layout));
    JpegHeaders headers;
    JpegHuffmanTables tables;
    require(headers.standard_tables(&tables));
    require(make_jpeg_codes(tables, &codes_));
    job_.codes = &codes_;
    result_ = memory_on(*device_, MemoryKind::kPinned, sizeof(JpegEncodeResult));
    job_.result = static_cast<JpegEncodeResult*>(result_->data());
    job_.capacity = source.scan.size() + source.scan.size() / 4;
    guess_ = source.scan.size() + source.scan.size() / 10;
    host_ = memory_on(*device_, MemoryKind::kPinned, job_.capacity);
    if (output != Output::kMapped) own_ = memory_on(*device_, MemoryKind::kDevice, job_.capacity);
    job_.output = static_cast<uint8_t*>((own_ ? own_ : host_)->data());
  }

  // `seconds`: takes those on the device, unless it is null; then this waits.
  void submit(double* seconds = nullptr) {
    Queue& compute = device_->queue(QueueKind::kCompute);
    const auto encode = [&] {
      require(cuda_jpeg_encode_ops().encode(*device_, compute, job_, &fence_));
    };
    if (seconds != nullptr)
      *seconds = seconds_on(*device_, compute, encode);
    else
      encode();
    if (output_ != Output::kCopied) return;
    Queue& download = device_->queue(QueueKind::kDownload);
    require(download.wait_for(fence_));
    require(device_->download(download, copy_of(host_->data(), own_->data(), guess_)));
    require(download.record(&fence_));
  }
  void finish() {
    if (!fence_) return;
    require(fence_->wait());
    fence_.reset();
    if (job_.result->faults != 0 || job_.result->size != source_.scan.size())
      throw std::runtime_error("a scan is missing");
  }
  void compare() {
    if (output_ == Output::kDevice) {
      Queue& download = device_->queue(QueueKind::kDownload);
      require(device_->download(download, copy_of(host_->data(), own_->data(), guess_)));
      FencePtr fence;
      require(download.record(&fence));
      require(fence->wait());
    }
    if (std::memcmp(host_->data(), source_.scan.data(), source_.scan.size()) != 0)
      throw std::runtime_error("a scan differs from libjpeg's");
  }

 private:
  const Source& source_;
  const Output output_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Memory> qcoefs_[3], result_, host_, own_;
  JpegCodes codes_;
  JpegEncodeJob job_;
  size_t guess_ = 0;
  FencePtr fence_;
};

void run(benchmark::State& state, const std::vector<std::unique_ptr<Source>>& sources, int count,
         Output output) {
  std::vector<std::unique_ptr<Flight>> flights;
  for (int i = 0; i < count; ++i)
    flights.push_back(std::make_unique<Flight>(*sources[size_t(i) % sources.size()], output));
  std::vector<double> device_us;
  for (int i = 0; i < 5; ++i)
    for (auto& flight : flights) {
      double seconds = 0;
      flight->submit(&seconds);
      flight->finish();
      flight->compare();
      if (i > 1) device_us.push_back(1e6 * seconds);
    }
  size_t pictures = 0;
  double seconds = 0;
  size_t bytes = 0;
  for (const auto& source : sources) bytes += source->scan.size() / sources.size();
  for (auto _ : state) {
    seconds = seconds_of([&] {
      take_rounds(seconds_of_case, 1, [&](int) {
        for (auto& flight : flights) {
          flight->finish();
          flight->submit();
          ++pictures;
        }
      });
      for (auto& flight : flights) flight->finish();
    });
    state.SetIterationTime(seconds / static_cast<double>(pictures));
  }
  for (auto& flight : flights) flight->compare();
  state.counters["frames/s"] = static_cast<double>(pictures) / seconds;
  state.counters["GB/s"] = static_cast<double>(pictures * bytes) / seconds / 1e9;
  state.counters["us alone"] = median(device_us);
  state.counters["bytes"] = static_cast<double>(bytes);
}

void add_cases(bool* failed) {
  constexpr int kPictures = 8;
  static std::vector<std::unique_ptr<Source>> sources[2];
  std::vector<JpegPicture> pictures = make_jpeg_pictures(kPictures);
  for (int i = 0; i < 2; ++i) {
    sources[0].push_back(make_source(pictures[size_t(i)].file, 1));
    sources[1].push_back(make_source(pictures[size_t(i)].file, 2));
  }
  for (int size = 0; size < 2; ++size)
    for (const int flights : {1, 4, 8, 16})
      for (int output = 0; output < 3; ++output)
        add_benchmark(
            std::string("engine:jpeg-encode/size:") + (size == 0 ? "1080p" : "4K") +
                "/flights:" + std::to_string(flights) + "/output:" + kOutputNames[output],
            [=](benchmark::State& state) {
              run(state, sources[size], flights, static_cast<Output>(output));
            },
            failed);
  const int part = static_cast<int>(scale_down);
  if (part > 1)
    pictures = make_small_jpeg_pictures(pictures, JpegPicture::kWidth / part / 16 * 16,
                                        JpegPicture::kHeight / part / 16 * 16);
  add_decode_cases(pictures, seconds_of_case, failed);
  add_rate_cases(seconds_of_case, failed);
}

bool take_option(std::string_view argument) {
  double part = 0;
  if (!has_value(argument, "--part=", &part))
    return has_value(argument, "--seconds=", &seconds_of_case);
  scale_down = static_cast<uint32_t>(part);
  return true;
}

int run_all() {
  std::unique_ptr<Device> device;
  if (const Status status = make_primary_cuda_device(0, &device); !status.ok()) {
    std::fprintf(stderr, "no CUDA engine: %s\n", status.message.c_str());
    return std::getenv("CUDATRANSFORM_REQUIRE_GPU") != nullptr ? 1 : 77;
  }
  bool failed = false;
  add_cases(&failed);
  return benchmark::RunSpecifiedBenchmarks() > 0 && !failed ? 0 : 1;
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  return bench::run_program("bench_jpeg_engine", argc, argv, bench::take_option, bench::run_all);
}
