// libjpeg-turbo turning files, as jpegtran does, on some threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/turn.h"

#include <turbojpeg.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace cudatransform::bench {
namespace {

// Its own object and buffer for each thread, as a careful program has them.
class Turner {
 public:
  ~Turner() { tjFree(data_); }
  bool turn(const std::vector<uint8_t>& file) {
    tjtransform by = {};
    by.op = TJXOP_ROT90;
    return tjTransform(handle_.get(), file.data(), file.size(), 1, &data_, &size_, &by, 0) == 0;
  }

 private:
  const std::unique_ptr<void, int (*)(tjhandle)> handle_{tjInitTransform(), tjDestroy};
  unsigned char* data_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

double time_jpegtran(const std::vector<JpegPicture>& pictures, int count, int threads) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    Turner turner;
    for (int i = next++; i < count; i = next++)
      if (!turner.turn(pictures[static_cast<size_t>(i) % pictures.size()].file)) failed = true;
  };
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> all;
  for (int i = 1; i < threads; ++i) all.emplace_back(work);
  work();
  for (std::thread& thread : all) thread.join();
  if (failed) throw std::runtime_error(std::string("tjTransform: ") + tjGetErrorStr());
  return std::chrono::duration<double>(Clock::now() - start).count() / count;
}

}  // namespace cudatransform::bench
