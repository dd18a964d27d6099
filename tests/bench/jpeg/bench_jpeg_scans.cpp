// The parallel decoder of JPEG scans by itself: files to levels in device memory, without elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: bench_jpeg_scans FILE.jpg...      files of one size; prints a table
//
// Rows: pictures in flight, each on a queue of its own. Columns, in frames/s:
//   bits ready      files were taken apart before, so bus and device alone are measured
//   1 thread ...    so many threads take files apart, every time, and submit
// The benchmark checks every picture's result, and compares each file's first with libjpeg's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/engine.h"
#include "jpeg/reader.h"
#include "tests/bench/common.h"

namespace cudatransform {
namespace {

using Clock = std::chrono::steady_clock;
using File = std::vector<uint8_t>;
constexpr double kSeconds = 0.06;
constexpr int kRepeats = 3;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}
void must(const Status& status) {
  if (!status.ok()) fail(status.message);
}

// One picture in flight.
class Lane {
 public:
  Lane(Device& device, const File& file) : device_(device), file_(file) {
    must(make_cuda_queue(device, &queue_));
    JpegReader reader;
    must(reader.read_header(file, &header_));
    size_t bytes = 0;
    for (int c = 0; c < header_.components; ++c) bytes += plane_bytes(c);
    must(device.allocate(MemoryKind::kDevice, bytes, &levels_));
    must(device.allocate(MemoryKind::kPinned, sizeof(JpegDecodeResult), &result_));
    const size_t most = scans_reader_.measure(file);
    if (most == 0) fail("a file is not for the parallel decoder");
    must(device.allocate(MemoryKind::kPinned, most, &block_));
    read();
  }

  void read() {
    if (scans_reader_.measure(file_) == 0 ||
        !scans_reader_.read(static_cast<uint8_t*>(block_->data()), &scans_))
      fail("a file is not for the parallel decoder");
  }
  void submit() {
    JpegDecodeJob job;
    job.scans = &scans_;
    job.block = static_cast<const uint8_t*>(block_->data());
    job.result = static_cast<JpegDecodeResult*>(result_->data());
    auto* at = static_cast<uint8_t*>(levels_->data());
    for (int c = 0; c < header_.components; at += plane_bytes(c++))
      job.levels[c] = {reinterpret_cast<int16_t*>(at),
                       static_cast<ptrdiff_t>(header_.blocks_w[c] * 128), header_.blocks_w[c],
                       header_.blocks_h[c]};
    must(cuda_jpeg_decode_ops().submit(device_, *queue_, job, &done_));
  }
  void finish() {
    if (done_ == nullptr) return;
    must(done_->wait());
    done_.reset();
    const auto& result = *static_cast<const JpegDecodeResult*>(result_->data());
    if (!is_decoded(scans_, result))
      fail("a picture was left to the CPU: " + std::to_string(result.damage));
  }
  void compare() {
    submit();
    finish();
    std::vector<int16_t> levels(levels_->size() / 2), judged(levels_->size() / 2);
    must(
        device_.download(*queue_, bench::copy_of(levels.data(), levels_->data(), levels_->size())));
    JpegReader reader;
    JpegHeader header;
    must(reader.read_header(file_, &header));
    JpegLevels to[3];
    auto* at = judged.data();
    for (int c = 0; c < header.components; at += plane_bytes(c++) / 2)
      to[c] = {at, static_cast<ptrdiff_t>(header.blocks_w[c] * 128), header.blocks_w[c],
               header.blocks_h[c]};
    JpegTables tables;
    JpegFindings found;
    must(reader.read_coefficients(to, &tables, &found));
    if (levels != judged) fail("levels differ from libjpeg's");
  }
  const JpegScans& scans() const { return scans_; }

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
  std::unique_ptr<Memory> levels_, result_, block_;
  FencePtr done_;
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

// Pictures a second of some lanes by one thread.
double run(Lanes& lanes, size_t begin, size_t end, bool reads) {
  size_t count = 0;
  const auto started = Clock::now();
  double seconds = 0;
  while (seconds < kSeconds) {
    for (size_t i = begin; i < end; ++i, ++count) {
      lanes[i]->finish();
      if (reads) lanes[i]->read();
      lanes[i]->submit();
    }
    seconds = std::chrono::duration<double>(Clock::now() - started).count();
  }
  for (size_t i = begin; i < end; ++i) lanes[i]->finish();
  seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return static_cast<double>(count) / seconds;
}

double run_threads(Lanes& lanes, size_t in_flight, size_t threads, bool reads) {
  std::vector<double> turns;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::vector<double> rates(threads);
    std::vector<std::thread> running;
    for (size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        rates[t] = run(lanes, in_flight * t / threads, in_flight * (t + 1) / threads, reads);
      });
    for (std::thread& thread : running) thread.join();
    double all = 0;
    for (const double rate : rates) all += rate;
    turns.push_back(all);
  }
  std::sort(turns.begin(), turns.end());
  return turns[turns.size() / 2];
}

int run(int count, char** paths) {
  std::vector<File> files;
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    std::ifstream stream(paths[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    bytes += files.back().size();
  }
  std::unique_ptr<Device> device;
  must(make_primary_cuda_device(0, &device));
  constexpr size_t kMost = 32;
  Lanes lanes;
  for (size_t i = 0; i < kMost; ++i)
    lanes.push_back(std::make_unique<Lane>(*device, files[i % files.size()]));
  for (size_t i = 0; i < files.size(); ++i) lanes[i]->compare();
  std::printf("%s, %d files of %zu KB, %u tiles; levels are libjpeg's\n", device->name(), count,
              bytes / static_cast<size_t>(count) / 1000, lanes[0]->scans().tiles);
  const auto before = Clock::now();
  for (int i = 0; i < 50; ++i) lanes[0]->read();
  std::printf("taking a file apart: %.0f us\n",
              std::chrono::duration<double>(Clock::now() - before).count() / 50 * 1e6);
  std::printf("in flight  bits ready  1 thread  2 threads  4 threads  8 threads\n");
  for (const size_t in_flight : {1, 2, 4, 8, 16, 32}) {
    std::printf("%9zu %11.0f", in_flight, run_threads(lanes, in_flight, 1, false));
    for (const size_t threads : {1, 2, 4, 8})
      if (threads <= in_flight) std::printf(" %9.0f", run_threads(lanes, in_flight, threads, true));
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace cudatransform

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_jpeg_scans FILE.jpg...\n");
    return 1;
  }
  return cudatransform::run(argc - 1, argv + 1);
}
