// NVIDIA's nvJPEG without GStreamer, opened at run time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/nvjpeg_loop.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/bench/nvjpeg_library.h"

namespace cudatransform::bench {
namespace {

constexpr int kYuvPlanes = 1;  // NVJPEG_OUTPUT_YUV

}  // namespace

struct NvjpegLoop::State {
  LateLibrary driver = open_cuda_driver();
  LateLibrary nvjpeg = open_nvjpeg();
  int (*context_push)(void*) = nullptr;
  int (*context_pop)(void**) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*memory_alloc)(unsigned long long*, size_t) = nullptr;
  int (*memory_free)(unsigned long long) = nullptr;
  int (*primary_release)(int) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*state_destroy)(void*) = nullptr;
  int (*decode)(void*, void*, const unsigned char* const*, const size_t*, NvjpegImage*,
                void*) = nullptr;

  void* context = nullptr;
  void* handle = nullptr;
  void* decoder = nullptr;
  std::vector<NvjpegImage> images;

  void open(Backend backend, int batch);
  void allocate(int batch);
  void run(const std::vector<JpegPicture>& pictures, size_t first);
  ~State();
};

void NvjpegLoop::State::open(Backend backend, int batch) {
  if (!driver.is_open()) throw std::runtime_error("no CUDA driver");
  if (!nvjpeg.is_open()) throw std::runtime_error("no libnvjpeg");
  int (*init)(unsigned) = nullptr;
  int (*primary_retain)(void**, int) = nullptr;
  driver.find("cuInit", &init);
  driver.find("cuDevicePrimaryCtxRetain", &primary_retain);
  driver.find("cuDevicePrimaryCtxRelease_v2", &primary_release);
  driver.find("cuCtxPushCurrent_v2", &context_push);
  driver.find("cuCtxPopCurrent_v2", &context_pop);
  driver.find("cuCtxSynchronize", &context_synchronize);
  driver.find("cuMemAlloc_v2", &memory_alloc);
  driver.find("cuMemFree_v2", &memory_free);
  int (*create)(int, void*, void*, unsigned, void**) = nullptr;
  int (*state_create)(void*, void**) = nullptr;
  int (*initialize)(void*, void*, int, int, int) = nullptr;
  nvjpeg.find("nvjpegCreateEx", &create);
  nvjpeg.find("nvjpegDestroy", &destroy);
  nvjpeg.find("nvjpegJpegStateCreate", &state_create);
  nvjpeg.find("nvjpegJpegStateDestroy", &state_destroy);
  nvjpeg.find("nvjpegDecodeBatchedInitialize", &initialize);
  nvjpeg.find("nvjpegDecodeBatched", &decode);

  check_nvjpeg(init(0), "cuInit");
  check_nvjpeg(primary_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check_nvjpeg(context_push(context), "cuCtxPushCurrent");
  check_nvjpeg(create(static_cast<int>(backend), nullptr, nullptr, 0, &handle), "nvjpegCreateEx");
  check_nvjpeg(state_create(handle, &decoder), "nvjpegJpegStateCreate");
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  check_nvjpeg(initialize(handle, decoder, batch, threads, kYuvPlanes),
               "nvjpegDecodeBatchedInitialize");
  allocate(batch);
  void* popped = nullptr;
  check_nvjpeg(context_pop(&popped), "cuCtxPopCurrent");
}

void NvjpegLoop::State::allocate(int batch) {
  for (int i = 0; i < batch; ++i) {
    NvjpegImage image = {};
    for (int plane = 0; plane < 3; ++plane) {
      const size_t shift = plane == 0 ? 0 : 1;
      unsigned long long address = 0;
      image.pitch[plane] = size_t{2048} >> shift;
      check_nvjpeg(memory_alloc(&address, image.pitch[plane] * (size_t{1088} >> shift)),
                   "cuMemAlloc");
      image.channel[plane] = reinterpret_cast<unsigned char*>(address);
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
  check_nvjpeg(decode(handle, decoder, data.data(), lengths.data(), images.data(), nullptr),
               "nvjpegDecodeBatched");
  check_nvjpeg(context_synchronize(), "cuCtxSynchronize");
}

NvjpegLoop::State::~State() {
  if (context == nullptr) return;
  context_push(context);
  for (const NvjpegImage& image : images)
    for (unsigned char* channel : image.channel)
      if (channel != nullptr) memory_free(reinterpret_cast<unsigned long long>(channel));
  if (decoder != nullptr) state_destroy(decoder);
  if (handle != nullptr) destroy(handle);
  void* popped = nullptr;
  context_pop(&popped);
  primary_release(0);
}

NvjpegLoop::NvjpegLoop(std::unique_ptr<State> state) : state_(std::move(state)) {}

NvjpegLoop::~NvjpegLoop() = default;

std::unique_ptr<NvjpegLoop> NvjpegLoop::make(Backend backend, int batch, std::string* why) {
  auto state = std::make_unique<State>();
  try {
    state->open(backend, batch);
  } catch (const std::exception& error) {
    *why = error.what();
    return nullptr;
  }
  return std::unique_ptr<NvjpegLoop>(new NvjpegLoop(std::move(state)));
}

double NvjpegLoop::time(const std::vector<JpegPicture>& pictures, int count) {
  using Clock = std::chrono::steady_clock;
  check_nvjpeg(state_->context_push(state_->context), "cuCtxPushCurrent");
  state_->run(pictures, 0);
  const auto begin = Clock::now();
  size_t done = 0;
  for (; done < static_cast<size_t>(count); done += state_->images.size())
    state_->run(pictures, done);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  void* popped = nullptr;
  check_nvjpeg(state_->context_pop(&popped), "cuCtxPopCurrent");
  return seconds.count() / static_cast<double>(done);
}

}  // namespace cudatransform::bench
