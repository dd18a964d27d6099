// nvJPEG's encoder: planes or RGB in device memory to files, on several threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/contestants.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>

#include "tests/bench/jpeg/nvjpeg_library.h"

namespace cudatransform::bench {
namespace {

constexpr int kCss420 = 2;          // NVJPEG_CSS_420
constexpr int kRgbPacked = 5;       // NVJPEG_INPUT_RGBI
constexpr int kDefaultBackend = 0;  // NVJPEG_BACKEND_DEFAULT

struct Encoder {
  struct Thread {
    void *stream = nullptr, *encoder = nullptr, *params = nullptr;
    std::vector<unsigned char> file;
    size_t length = 0;
    std::exception_ptr error;
  };

  Encoder(NvjpegPixels pixels, int width, int height, int threads)
      : nvjpeg(kDefaultBackend),
        is_rgb(pixels == NvjpegPixels::kRgb),
        width(width),
        height(height),
        threads(static_cast<size_t>(threads)) {}
  ~Encoder();
  void open();
  void place(const std::vector<uint8_t>& picture);
  void run(Thread& thread);
  double time(int count);

  Nvjpeg nvjpeg;
  bool is_rgb;
  int (*stream_destroy)(void*) = nullptr;
  int (*stream_wait)(void*) = nullptr;
  int (*state_destroy)(void*) = nullptr;
  int (*params_destroy)(void*) = nullptr;
  int (*encode)(void*, void*, void*, const NvjpegImage*, int, int, int, void*) = nullptr;
  int (*retrieve)(void*, void*, unsigned char*, size_t*, void*) = nullptr;
  NvjpegImage image = {};
  int width, height;
  std::vector<Thread> threads;
};

// The context is current, as in place().
void Encoder::open() {
  int (*stream_create)(void**, unsigned) = nullptr;
  int (*state_create)(void*, void**, void*) = nullptr;
  int (*params_create)(void*, void**, void*) = nullptr;
  int (*set_quality)(void*, int, void*) = nullptr;
  int (*set_optimized)(void*, int, void*) = nullptr;
  int (*set_sampling)(void*, int, void*) = nullptr;
  nvjpeg.driver.find("cuStreamCreate", &stream_create);
  nvjpeg.driver.find("cuStreamDestroy_v2", &stream_destroy);
  nvjpeg.driver.find("cuStreamSynchronize", &stream_wait);
  nvjpeg.library.find("nvjpegEncoderStateCreate", &state_create);
  nvjpeg.library.find("nvjpegEncoderStateDestroy", &state_destroy);
  nvjpeg.library.find("nvjpegEncoderParamsCreate", &params_create);
  nvjpeg.library.find("nvjpegEncoderParamsDestroy", &params_destroy);
  nvjpeg.library.find("nvjpegEncoderParamsSetQuality", &set_quality);
  nvjpeg.library.find("nvjpegEncoderParamsSetOptimizedHuffman", &set_optimized);
  nvjpeg.library.find("nvjpegEncoderParamsSetSamplingFactors", &set_sampling);
  nvjpeg.library.find(is_rgb ? "nvjpegEncodeImage" : "nvjpegEncodeYUV", &encode);
  nvjpeg.library.find("nvjpegEncodeRetrieveBitstream", &retrieve);
  for (Thread& one : threads) {
    check_nvjpeg(stream_create(&one.stream, 1 /* CU_STREAM_NON_BLOCKING */), "cuStreamCreate");
    check_nvjpeg(state_create(nvjpeg.handle(), &one.encoder, one.stream),
                 "nvjpegEncoderStateCreate");
    check_nvjpeg(params_create(nvjpeg.handle(), &one.params, one.stream),
                 "nvjpegEncoderParamsCreate");
    check_nvjpeg(set_quality(one.params, JpegPicture::kQuality, one.stream),
                 "nvjpegEncoderParamsSetQuality");
    check_nvjpeg(set_optimized(one.params, 0, one.stream),
                 "nvjpegEncoderParamsSetOptimizedHuffman");
    check_nvjpeg(set_sampling(one.params, kCss420, one.stream),
                 "nvjpegEncoderParamsSetSamplingFactors");
  }
}

void Encoder::place(const std::vector<uint8_t>& picture) {
  int (*upload)(unsigned long long, const void*, size_t) = nullptr;
  nvjpeg.driver.find("cuMemcpyHtoD_v2", &upload);
  unsigned char* const planes = nvjpeg.allocate(picture.size());
  check_nvjpeg(upload(reinterpret_cast<uintptr_t>(planes), picture.data(), picture.size()),
               "cuMemcpyHtoD");
  if (is_rgb) {
    image.channel[0] = planes;
    image.pitch[0] = 3 * static_cast<size_t>(width);
    return;
  }
  const auto luma = static_cast<size_t>(width) * static_cast<size_t>(height);
  for (int c = 0; c < 3; ++c) {
    image.channel[c] = planes + (c == 0 ? 0 : luma + (c == 2 ? luma / 4 : 0));
    image.pitch[c] = static_cast<size_t>(width) >> (c == 0 ? 0 : 1);
  }
}

// One picture, to memory that is reused.
void Encoder::run(Thread& one) {
  check_nvjpeg(encode(nvjpeg.handle(), one.encoder, one.params, &image,
                      is_rgb ? kRgbPacked : kCss420, width, height, one.stream),
               "nvjpegEncode");
  check_nvjpeg(retrieve(nvjpeg.handle(), one.encoder, nullptr, &one.length, one.stream),
               "nvjpegEncodeRetrieveBitstream");
  check_nvjpeg(stream_wait(one.stream), "cuStreamSynchronize");
  if (one.file.size() < one.length) one.file.resize(one.length);
  check_nvjpeg(retrieve(nvjpeg.handle(), one.encoder, one.file.data(), &one.length, one.stream),
               "nvjpegEncodeRetrieveBitstream");
  check_nvjpeg(stream_wait(one.stream), "cuStreamSynchronize");
}

Encoder::~Encoder() {
  const Nvjpeg::Current current(nvjpeg);
  for (Thread& one : threads) {
    if (one.params != nullptr) params_destroy(one.params);
    if (one.encoder != nullptr) state_destroy(one.encoder);
    if (one.stream != nullptr) stream_destroy(one.stream);
  }
}

double Encoder::time(int count) {
  std::atomic<int> left = count;
  const auto work = [&](Thread& one, bool warm) {
    try {
      const Nvjpeg::Current current(nvjpeg);
      for (bool again = true; again; again = !warm && left-- > 0) run(one);
    } catch (...) {
      one.error = std::current_exception();
    }
  };
  const auto all = [&](bool warm) {
    std::vector<std::thread> running;
    for (Thread& one : threads) running.emplace_back([&, warm] { work(one, warm); });
    for (std::thread& thread : running) thread.join();
    for (const Thread& one : threads)
      if (one.error) std::rethrow_exception(one.error);
  };
  all(true);
  const auto begin = std::chrono::steady_clock::now();
  all(false);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return seconds.count() / (count + static_cast<int>(threads.size()));
}

}  // namespace

NvjpegLoop nvjpeg_encoder(const std::vector<uint8_t>& picture, NvjpegPixels pixels, int width,
                          int height, int threads, int count, std::string* why) {
  try {
    auto encoder = std::make_shared<Encoder>(pixels, width, height, threads);
    const Nvjpeg::Current current(encoder->nvjpeg);
    encoder->open();
    encoder->place(picture);
    return [encoder, count] { return encoder->time(count); };
  } catch (const std::exception& error) {
    *why = error.what();
    return nullptr;
  }
}

}  // namespace cudatransform::bench
