// nvJPEG's decoder: batches of files to planes or RGB in device memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/contestants.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/bench/jpeg/nvjpeg_library.h"

namespace cudatransform::bench {
namespace {

constexpr int kYuvPlanes = 1, kRgbPacked = 5;  // NVJPEG_OUTPUT_YUV, NVJPEG_OUTPUT_RGBI

struct Decoder {
  Decoder(NvjpegBackend backend, NvjpegPixels pixels)
      : nvjpeg(static_cast<int>(backend)), pixels(pixels) {}
  ~Decoder() {
    if (decoder == nullptr) return;
    const Nvjpeg::Current current(nvjpeg);
    state_destroy(decoder);
  }
  void open(int batch);
  void allocate(int batch);
  void run(const std::vector<JpegPicture>& pictures, size_t first);
  double time(const std::vector<JpegPicture>& pictures, int count);

  Nvjpeg nvjpeg;
  NvjpegPixels pixels;
  int (*context_synchronize)() = nullptr;
  int (*state_destroy)(void*) = nullptr;
  int (*decode)(void*, void*, const unsigned char* const*, const size_t*, NvjpegImage*,
                void*) = nullptr;
  void* decoder = nullptr;
  std::vector<NvjpegImage> images;
};

void Decoder::open(int batch) {
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
  const int format = pixels == NvjpegPixels::kRgb ? kRgbPacked : kYuvPlanes;
  check_nvjpeg(initialize(nvjpeg.handle(), decoder, batch, threads, format),
               "nvjpegDecodeBatchedInitialize");
  allocate(batch);
}

void Decoder::allocate(int batch) {
  for (int i = 0; i < batch; ++i) {
    NvjpegImage image = {};
    const bool rgb = pixels == NvjpegPixels::kRgb;
    for (int plane = 0; plane < (rgb ? 1 : 3); ++plane) {
      const size_t shift = plane == 0 ? 0 : 1;
      image.pitch[plane] = rgb ? size_t{3 * 2048} : size_t{2048} >> shift;
      image.channel[plane] = nvjpeg.allocate(image.pitch[plane] * (size_t{1088} >> shift));
    }
    images.push_back(image);
  }
}

void Decoder::run(const std::vector<JpegPicture>& pictures, size_t first) {
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

double Decoder::time(const std::vector<JpegPicture>& pictures, int count) {
  using Clock = std::chrono::steady_clock;
  const Nvjpeg::Current current(nvjpeg);
  run(pictures, 0);
  const auto begin = Clock::now();
  size_t done = 0;
  for (; done < static_cast<size_t>(count); done += images.size()) run(pictures, done);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  return seconds.count() / static_cast<double>(done);
}

}  // namespace

NvjpegLoop nvjpeg_decoder(NvjpegBackend backend, NvjpegPixels pixels, int batch,
                          const std::vector<JpegPicture>& pictures, int count, std::string* why) {
  try {
    auto decoder = std::make_shared<Decoder>(backend, pixels);
    decoder->open(batch);
    return [decoder, &pictures, count] { return decoder->time(pictures, count); };
  } catch (const std::exception& error) {
    *why = error.what();
    return nullptr;
  }
}

}  // namespace cudatransform::bench
