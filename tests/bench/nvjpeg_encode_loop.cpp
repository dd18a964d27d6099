// NVIDIA's encoder of nvJPEG without GStreamer, opened at run time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/nvjpeg_encode_loop.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "tests/bench/nvjpeg_library.h"

namespace cudatransform::bench {
namespace {

constexpr int kCss420 = 2;          // NVJPEG_CSS_420
constexpr int kDefaultBackend = 0;  // NVJPEG_BACKEND_DEFAULT

using Address = unsigned long long;  // CUdeviceptr

}  // namespace

struct NvjpegEncodeLoop::State {
  LateLibrary driver = open_cuda_driver();
  LateLibrary nvjpeg = open_nvjpeg();
  int (*context_set)(void*) = nullptr;
  int (*memory_alloc)(Address*, size_t) = nullptr;
  int (*memory_free)(Address) = nullptr;
  int (*upload)(Address, const void*, size_t) = nullptr;
  int (*stream_create)(void**, unsigned) = nullptr;
  int (*stream_destroy)(void*) = nullptr;
  int (*stream_wait)(void*) = nullptr;
  int (*primary_release)(int) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*state_destroy)(void*) = nullptr;
  int (*params_destroy)(void*) = nullptr;
  int (*encode)(void*, void*, void*, const NvjpegImage*, int, int, int, void*) = nullptr;
  int (*retrieve)(void*, void*, unsigned char*, size_t*, void*) = nullptr;

  struct Thread {
    void *stream = nullptr, *encoder = nullptr, *params = nullptr;
    std::vector<unsigned char> file;
    size_t length = 0;
    std::exception_ptr error;
  };

  void* context = nullptr;
  void* handle = nullptr;
  Address planes = 0;
  NvjpegImage image = {};
  int width = 0, height = 0;
  std::vector<Thread> threads;

  void find_functions();
  void open(int quality);
  void place(const std::vector<uint8_t>& i420);
  void run(Thread& thread);
  ~State();
};

void NvjpegEncodeLoop::State::find_functions() {
  if (!driver.is_open()) throw std::runtime_error("no CUDA driver");
  if (!nvjpeg.is_open()) throw std::runtime_error("no libnvjpeg");
  driver.find("cuCtxSetCurrent", &context_set);
  driver.find("cuMemAlloc_v2", &memory_alloc);
  driver.find("cuMemFree_v2", &memory_free);
  driver.find("cuMemcpyHtoD_v2", &upload);
  driver.find("cuStreamCreate", &stream_create);
  driver.find("cuStreamDestroy_v2", &stream_destroy);
  driver.find("cuStreamSynchronize", &stream_wait);
  driver.find("cuDevicePrimaryCtxRelease_v2", &primary_release);
  nvjpeg.find("nvjpegDestroy", &destroy);
  nvjpeg.find("nvjpegEncoderStateDestroy", &state_destroy);
  nvjpeg.find("nvjpegEncoderParamsDestroy", &params_destroy);
  nvjpeg.find("nvjpegEncodeYUV", &encode);
  nvjpeg.find("nvjpegEncodeRetrieveBitstream", &retrieve);
}

void NvjpegEncodeLoop::State::open(int quality) {
  int (*init)(unsigned) = nullptr;
  int (*primary_retain)(void**, int) = nullptr;
  int (*create)(int, void*, void*, unsigned, void**) = nullptr;
  int (*state_create)(void*, void**, void*) = nullptr;
  int (*params_create)(void*, void**, void*) = nullptr;
  int (*set_quality)(void*, int, void*) = nullptr;
  int (*set_optimized)(void*, int, void*) = nullptr;
  int (*set_sampling)(void*, int, void*) = nullptr;
  driver.find("cuInit", &init);
  driver.find("cuDevicePrimaryCtxRetain", &primary_retain);
  nvjpeg.find("nvjpegCreateEx", &create);
  nvjpeg.find("nvjpegEncoderStateCreate", &state_create);
  nvjpeg.find("nvjpegEncoderParamsCreate", &params_create);
  nvjpeg.find("nvjpegEncoderParamsSetQuality", &set_quality);
  nvjpeg.find("nvjpegEncoderParamsSetOptimizedHuffman", &set_optimized);
  nvjpeg.find("nvjpegEncoderParamsSetSamplingFactors", &set_sampling);
  check_nvjpeg(init(0), "cuInit");
  check_nvjpeg(primary_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check_nvjpeg(context_set(context), "cuCtxSetCurrent");
  check_nvjpeg(create(kDefaultBackend, nullptr, nullptr, 0, &handle), "nvjpegCreateEx");
  for (Thread& one : threads) {
    check_nvjpeg(stream_create(&one.stream, 1 /* CU_STREAM_NON_BLOCKING */), "cuStreamCreate");
    check_nvjpeg(state_create(handle, &one.encoder, one.stream), "nvjpegEncoderStateCreate");
    check_nvjpeg(params_create(handle, &one.params, one.stream), "nvjpegEncoderParamsCreate");
    check_nvjpeg(set_quality(one.params, quality, one.stream), "nvjpegEncoderParamsSetQuality");
    check_nvjpeg(set_optimized(one.params, 0, one.stream),
                 "nvjpegEncoderParamsSetOptimizedHuffman");
    check_nvjpeg(set_sampling(one.params, kCss420, one.stream),
                 "nvjpegEncoderParamsSetSamplingFactors");
  }
}

void NvjpegEncodeLoop::State::place(const std::vector<uint8_t>& i420) {
  check_nvjpeg(memory_alloc(&planes, i420.size()), "cuMemAlloc");
  check_nvjpeg(upload(planes, i420.data(), i420.size()), "cuMemcpyHtoD");
  const auto luma = static_cast<size_t>(width) * static_cast<size_t>(height);
  for (int c = 0; c < 3; ++c) {
    const size_t before = c == 0 ? 0 : luma + (c == 2 ? luma / 4 : 0);
    image.channel[c] = reinterpret_cast<unsigned char*>(planes + before);
    image.pitch[c] = static_cast<size_t>(width) >> (c == 0 ? 0 : 1);
  }
}

// One picture, to memory that is kept.
void NvjpegEncodeLoop::State::run(Thread& one) {
  check_nvjpeg(encode(handle, one.encoder, one.params, &image, kCss420, width, height, one.stream),
               "nvjpegEncodeYUV");
  check_nvjpeg(retrieve(handle, one.encoder, nullptr, &one.length, one.stream),
               "nvjpegEncodeRetrieveBitstream");
  check_nvjpeg(stream_wait(one.stream), "cuStreamSynchronize");
  if (one.file.size() < one.length) one.file.resize(one.length);
  check_nvjpeg(retrieve(handle, one.encoder, one.file.data(), &one.length, one.stream),
               "nvjpegEncodeRetrieveBitstream");
  check_nvjpeg(stream_wait(one.stream), "cuStreamSynchronize");
}

NvjpegEncodeLoop::State::~State() {
  if (context == nullptr) return;
  context_set(context);
  for (Thread& one : threads) {
    if (one.params != nullptr) params_destroy(one.params);
    if (one.encoder != nullptr) state_destroy(one.encoder);
    if (one.stream != nullptr) stream_destroy(one.stream);
  }
  if (planes != 0) memory_free(planes);
  if (handle != nullptr) destroy(handle);
  context_set(nullptr);
  primary_release(0);
}

NvjpegEncodeLoop::NvjpegEncodeLoop(std::unique_ptr<State> state) : state_(std::move(state)) {}

NvjpegEncodeLoop::~NvjpegEncodeLoop() = default;

std::unique_ptr<NvjpegEncodeLoop> NvjpegEncodeLoop::make(const std::vector<uint8_t>& i420,
                                                         int width, int height, int quality,
                                                         int threads, std::string* why) {
  auto state = std::make_unique<State>();
  state->width = width;
  state->height = height;
  state->threads.resize(static_cast<size_t>(threads));
  try {
    state->find_functions();
    state->open(quality);
    state->place(i420);
    state->context_set(nullptr);
  } catch (const std::exception& error) {
    *why = error.what();
    return nullptr;
  }
  return std::unique_ptr<NvjpegEncodeLoop>(new NvjpegEncodeLoop(std::move(state)));
}

double NvjpegEncodeLoop::time(int count) {
  std::atomic<int> left = count;
  const auto work = [&](State::Thread& one, bool warm) {
    try {
      check_nvjpeg(state_->context_set(state_->context), "cuCtxSetCurrent");
      for (bool again = true; again; again = !warm && left-- > 0) state_->run(one);
    } catch (...) {
      one.error = std::current_exception();
    }
  };
  const auto all = [&](bool warm) {
    std::vector<std::thread> running;
    for (State::Thread& one : state_->threads) running.emplace_back([&, warm] { work(one, warm); });
    for (std::thread& thread : running) thread.join();
    for (const State::Thread& one : state_->threads)
      if (one.error) std::rethrow_exception(one.error);
  };
  all(true);
  const auto begin = std::chrono::steady_clock::now();
  all(false);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return seconds.count() / (count + static_cast<int>(state_->threads.size()));
}

size_t NvjpegEncodeLoop::bytes() const { return state_->threads.front().length; }

}  // namespace cudatransform::bench
