// Cases of bench_jpeg_engine: the parallel decoder of JPEG scans by itself, files to quantized
// coefficients in device memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pictures in flight are each on a queue of their own. threads:0: files were taken apart before, so
// bus and device alone are measured; else so many threads take files apart, every time, and submit.
// Every picture's result is checked, and its first quantized coefficients are compared with
// libjpeg's. Counters:
//   frames/s
//   us apart   the time of taking a file apart
#include <benchmark/benchmark.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/engine.h"
#include "jpeg/reader.h"
#include "tests/bench/common.h"
#include "tests/bench/jpeg/pictures.h"
#include "tests/bench/turns.h"

namespace cudatransform::bench {
namespace {

using File = std::vector<uint8_t>;
constexpr double kSeconds = 0.06;  // of a turn
constexpr int kTurns = 3;

// One picture in flight.
class DecodeLane {
 public:
  DecodeLane(Device& device, const File& file) : device_(device), file_(file) {
    require(make_cuda_queue(device, &queue_));
    JpegReader reader;
    require(reader.read_header(file, &header_));
    size_t bytes = 0;
    for (int c = 0; c < header_.components; ++c) bytes += plane_bytes(c);
    qcoefs_ = memory_on(device, MemoryKind::kDevice, bytes);
    result_ = memory_on(device, MemoryKind::kPinned, sizeof(JpegDecodeResult));
    const size_t most = scans_reader_.measure(file);
    if (most == 0) throw std::runtime_error("a file is not for the parallel decoder");
    block_ = memory_on(device, MemoryKind::kPinned, most);
    read();
  }

  void read() {
    if (scans_reader_.measure(file_) == 0 ||
        !scans_reader_.read(static_cast<uint8_t*>(block_->data()), &scans_))
      throw std::runtime_error("a file is not for the parallel decoder");
  }
  void submit() {
    JpegDecodeJob job;
    job.scans = &scans_;
    job.block = static_cast<const uint8_t*>(block_->data());
    job.result = static_cast<JpegDecodeResult*>(result_->data());
    auto* at = static_cast<uint8_t*>(qcoefs_->data());
    for (int c = 0; c < header_.components; at += plane_bytes(c++))
      job.qcoefs[c] = {reinterpret_cast<int16_t*>(at),
                       static_cast<ptrdiff_t>(header_.blocks_w[c] * 128), header_.blocks_w[c],
                       header_.blocks_h[c]};
    require(cuda_jpeg_decode_ops().submit(device_, *queue_, job, &done_));
  }
  void finish() {
    if (done_ == nullptr) return;
    require(done_->wait());
    done_.reset();
    const auto& result = *static_cast<const JpegDecodeResult*>(result_->data());
    if (!is_decoded(scans_, result))
      throw std::runtime_error("a picture was left to the CPU: " + std::to_string(result.damage));
  }
  void compare() {
    submit();
    finish();
    std::vector<int16_t> qcoefs(qcoefs_->size() / 2), judged(qcoefs_->size() / 2);
    require(device_.download(*queue_, copy_of(qcoefs.data(), qcoefs_->data(), qcoefs_->size())));
    JpegReader reader;
    JpegHeader header;
    require(reader.read_header(file_, &header));
    JpegQcoefs to[3];
    auto* at = judged.data();
    for (int c = 0; c < header.components; at += plane_bytes(c++) / 2)
      to[c] = {at, static_cast<ptrdiff_t>(header.blocks_w[c] * 128), header.blocks_w[c],
               header.blocks_h[c]};
    JpegTables tables;
    JpegFindings found;
    require(reader.read_coefficients(to, &tables, &found));
    if (qcoefs != judged) throw std::runtime_error("coefficients differ from libjpeg's");
  }

 private:
  size_t plane_bytes(int c) const {
    return size_t{header_.blocks_w[c]} * header_.blocks_h[c] * 128;
  }
  Device& device_;
  const File& file_;
  JpegHeader header_;
  JpegScanReader scans_reader_;
  JpegScans scans_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Memory> qcoefs_, result_, block_;
  FencePtr done_;
};

using Lanes = std::vector<std::unique_ptr<DecodeLane>>;

// Pictures a second of some lanes by one thread.
double run(const Lanes& lanes, size_t begin, size_t end, bool reads, double seconds_of_turn) {
  size_t count = 0;
  const double seconds = seconds_of([&] {
    take_rounds(seconds_of_turn, 1, [&](int) {
      for (size_t i = begin; i < end; ++i, ++count) {
        lanes[i]->finish();
        if (reads) lanes[i]->read();
        lanes[i]->submit();
      }
    });
    for (size_t i = begin; i < end; ++i) lanes[i]->finish();
  });
  return static_cast<double>(count) / seconds;
}

// The same of all lanes, which `threads` share; 0: one that does not take files apart. Throws what
// a thread has thrown.
double run(const Lanes& lanes, size_t threads, double seconds) {
  if (threads == 0) return run(lanes, 0, lanes.size(), false, seconds);
  std::vector<double> rates(threads);
  std::vector<std::exception_ptr> errors(threads);
  std::vector<std::thread> running;
  for (size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      try {
        rates[t] =
            run(lanes, lanes.size() * t / threads, lanes.size() * (t + 1) / threads, true, seconds);
      } catch (...) {
        errors[t] = std::current_exception();
      }
    });
  for (std::thread& thread : running) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  double all = 0;
  for (const double rate : rates) all += rate;
  return all;
}

void run_case(benchmark::State& state, const std::vector<JpegPicture>& pictures, size_t flights,
              size_t threads, double seconds) {
  std::unique_ptr<Device> device;
  require(make_primary_cuda_device(0, &device));
  Lanes lanes;
  for (size_t i = 0; i < flights; ++i)
    lanes.push_back(std::make_unique<DecodeLane>(*device, pictures[i % pictures.size()].file));
  for (size_t i = 0; i < std::min(flights, pictures.size()); ++i) lanes[i]->compare();
  std::vector<double> rates;
  for (auto _ : state) {
    for (int i = 0; i < kTurns; ++i) rates.push_back(run(lanes, threads, seconds));
    state.SetIterationTime(1 / median(rates));
  }
  state.counters["frames/s"] = median(rates);
  constexpr int kFiles = 50;
  if (threads == 1)
    state.counters["us apart"] = 1e6 / kFiles * seconds_of([&] {
                                   for (int i = 0; i < kFiles; ++i) lanes[0]->read();
                                 });
}

}  // namespace

void add_decode_cases(const std::vector<JpegPicture>& pictures, double seconds, bool* failed) {
  for (const size_t flights : {1, 2, 4, 8, 16, 32})
    for (const size_t threads : {0, 1, 2, 4, 8})
      if (threads <= flights)
        add_benchmark(
            "engine:jpeg-decode/size:1080p/flights:" + std::to_string(flights) +
                "/threads:" + std::to_string(threads),
            [=](benchmark::State& state) {
              run_case(state, pictures, flights, threads, std::min(seconds, kSeconds));
            },
            failed);
}

}  // namespace cudatransform::bench
