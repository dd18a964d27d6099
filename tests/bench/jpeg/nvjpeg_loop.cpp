// NVIDIA's nvJPEG without GStreamer, opened at run time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/nvjpeg_loop.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/bench/jpeg/nvjpeg_library.h"

namespace cudatransform::bench {
namespace {

constexpr int kYuvPlanes = 1;  // NVJPEG_OUTPUT_YUV

}  // namespace

struct NvjpegLoop::State {
  explicit State(Backend backend) : nvjpeg(static_cast<int>(backend)) {}
  ~State();
  void open(int batch);
  void allocate(int batch);
  void run(const std::vector<JpegPicture>& pictures, size_t first);

  Nvjpeg nvjpeg;
  int (*context_synchronize)() = nullptr;
  int (*state_destroy)(void*) = nullptr;
  int (*decode)(void*, void*, const unsigned char* const*, const size_t*, NvjpegImage*,
                void*) = nullptr;
  void* decoder = nullptr;
  std::vector<NvjpegImage> images;
};

void NvjpegLoop::State::open(int batch) {
  int (*state_create)(void*, void**) = nullptr;
  int (*initialize)(void*, void*, int, int, int) = nullptr;
  nvjpeg.driver.find("cuCtxSynchronize", &context_synchronize);
  nvjpeg.library.find("nvjpegJpegStateCreate", &state_create);
  nvjpeg.library.find("nvjpegJpegStateDestroy", &state_destroy);
  nvjpeg.library.find("nvjpegDecodeBatchedInitialize", &initialize);
  nvjpeg.library.find("nvjpegDecodeBatched", &decode);
  const Nvjpeg::Current current(nvjpeg);
  check_nvjpeg(state_create(nvjpeg.handle(), &decoder), "nvjpegJpegStateCreate");
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  check_nvjpeg(initialize(nvjpeg.handle(), decoder, batch, threads, kYuvPlanes),
               "nvjpegDecodeBatchedInitialize");
  allocate(batch);
}

void NvjpegLoop::State::allocate(int batch) {
  for (int i = 0; i < batch; ++i) {
    NvjpegImage image = {};
    for (int plane = 0; plane < 3; ++plane) {
      const size_t shift = plane == 0 ? 0 : 1;
      image.pitch[plane] = size_t{2048} >> shift;
      image.channel[plane] = nvjpeg.allocate(image.pitch[plane] * (size_t{1088} >> shift));
    }
    images.push_back(image);
  }
}

void NvjpegLoop::State::run(const std::vector<JpegPicture>& pictures, size_t first) {
  std::vector<const unsigned char*> data;
  std::vector<size_t> lengths;
  for (size_t i = 0; i < images.size(); ++i) {
    const JpegPicture& picture = pictures[(first + i) % pictures.size()];
    data.push_back(picture.file.data());
    lengths.push_back(picture.file.size());
  }
  check_nvjpeg(
      decode(nvjpeg.handle(), decoder, data.data(), lengths.data(), images.data(), nullptr),
      "nvjpegDecodeBatched");
  check_nvjpeg(context_synchronize(), "cuCtxSynchronize");
}

NvjpegLoop::State::~State() {
  if (decoder == nullptr) return;
  const Nvjpeg::Current current(nvjpeg);
  state_destroy(decoder);
}

NvjpegLoop::NvjpegLoop(std::unique_ptr<State> state) : state_(std::move(state)) {}

NvjpegLoop::~NvjpegLoop() = default;

std::unique_ptr<NvjpegLoop> NvjpegLoop::make(Backend backend, int batch, std::string* why) {
  std::unique_ptr<State> state;
  try {
    state = std::make_unique<State>(backend);
    state->open(batch);
  } catch (const std::exception& error) {
    *why = error.what();
    return nullptr;
  }
  return std::unique_ptr<NvjpegLoop>(new NvjpegLoop(std::move(state)));
}

double NvjpegLoop::time(const std::vector<JpegPicture>& pictures, int count) {
  using Clock = std::chrono::steady_clock;
  const Nvjpeg::Current current(state_->nvjpeg);
  state_->run(pictures, 0);
  const auto begin = Clock::now();
  size_t done = 0;
  for (; done < static_cast<size_t>(count); done += state_->images.size())
    state_->run(pictures, done);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  return seconds.count() / static_cast<double>(done);
}

}  // namespace cudatransform::bench
