// NVIDIA's nvJPEG on the first device, opened at run time: batches of files to planes or RGB in
// device memory, and from there to files on several threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Prototypes are those of the CUDA toolkit's nvJPEG documentation; the library itself comes with
// the toolkit and is not always there, and neither is its header.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/jpeg/contestants.h"
#include "tests/bench/turns.h"

namespace cudatransform::bench {
namespace {

struct NvjpegImage {  // nvjpegImage_t
  static constexpr int kComponents = 4;
  unsigned char* channel[kComponents];
  size_t pitch[kComponents];
};

// A library that is opened once and never closed, and its functions by name.
class LateLibrary {
 public:
  // Throws std::runtime_error if none of those exists, or in find() no such function.
  LateLibrary(const char* what, std::initializer_list<const char*> names);
  template <typename Function>
  void find(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (*function == nullptr) throw std::runtime_error(std::string(name) + " is missing");
  }

 private:
  void* handle_ = nullptr;
};

// Both libraries return 0 for success.
void check_nvjpeg(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(result));
}

// The libraries, the device's primary context, and nvJPEG's handle in it. Functions of nvJPEG that
// work in the context need it current: see Current.
class Nvjpeg {
 public:
  // `backend`: nvjpegBackend_t. Throws std::runtime_error without a driver, the library, or that.
  explicit Nvjpeg(int backend);
  ~Nvjpeg();
  Nvjpeg(const Nvjpeg&) = delete;
  Nvjpeg& operator=(const Nvjpeg&) = delete;

  const LateLibrary driver, library;
  void* handle() const { return handle_; }
  // Device memory, freed with this. The context is current.
  unsigned char* allocate(size_t bytes);

  // Makes the context current for a scope, in this thread.
  class Current {
   public:
    explicit Current(const Nvjpeg& nvjpeg);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const Nvjpeg& nvjpeg_;
  };

 private:
  void close();

  int (*context_set_)(void*) = nullptr;
  int (*primary_release_)(int) = nullptr;
  int (*memory_alloc_)(unsigned long long*, size_t) = nullptr;
  int (*memory_free_)(unsigned long long) = nullptr;
  int (*destroy_)(void*) = nullptr;
  void *context_ = nullptr, *handle_ = nullptr;
  std::vector<unsigned long long> memory_;  // CUdeviceptr
};

LateLibrary::LateLibrary(const char* what, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(std::string("no ") + what);
}

Nvjpeg::Nvjpeg(int backend)
    : driver("CUDA driver", {"libcuda.so.1"}),
      library("libnvjpeg", {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so",
                            "/usr/local/cuda/lib64/libnvjpeg.so"}) {
  int (*init)(unsigned) = nullptr;
  int (*primary_retain)(void**, int) = nullptr;
  int (*create)(int, void*, void*, unsigned, void**) = nullptr;
  driver.find("cuInit", &init);
  driver.find("cuDevicePrimaryCtxRetain", &primary_retain);
  driver.find("cuDevicePrimaryCtxRelease_v2", &primary_release_);
  driver.find("cuCtxSetCurrent", &context_set_);
  driver.find("cuMemAlloc_v2", &memory_alloc_);
  driver.find("cuMemFree_v2", &memory_free_);
  library.find("nvjpegCreateEx", &create);
  library.find("nvjpegDestroy", &destroy_);
  check_nvjpeg(init(0), "cuInit");
  check_nvjpeg(primary_retain(&context_, 0), "cuDevicePrimaryCtxRetain");
  try {
    const Current current(*this);
    check_nvjpeg(create(backend, nullptr, nullptr, 0, &handle_), "nvjpegCreateEx");
  } catch (...) {
    close();
    throw;
  }
}

Nvjpeg::~Nvjpeg() { close(); }

void Nvjpeg::close() {
  context_set_(context_);
  for (const unsigned long long address : memory_) memory_free_(address);
  if (handle_ != nullptr) destroy_(handle_);
  context_set_(nullptr);
  primary_release_(0);
}

unsigned char* Nvjpeg::allocate(size_t bytes) {
  unsigned long long address = 0;
  check_nvjpeg(memory_alloc_(&address, bytes), "cuMemAlloc");
  memory_.push_back(address);
  return reinterpret_cast<unsigned char*>(address);
}

Nvjpeg::Current::Current(const Nvjpeg& nvjpeg) : nvjpeg_(nvjpeg) {
  check_nvjpeg(nvjpeg.context_set_(nvjpeg.context_), "cuCtxSetCurrent");
}

Nvjpeg::Current::~Current() { nvjpeg_.context_set_(nullptr); }

// ---- Decoder ----

// NVJPEG_OUTPUT_YUV; NVJPEG_OUTPUT_RGBI and NVJPEG_INPUT_RGBI.
constexpr int kYuvPlanes = 1, kRgbPacked = 5;

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
  const Nvjpeg::Current current(nvjpeg);
  run(pictures, 0);
  size_t done = 0;
  const double seconds = seconds_of([&] {
    for (; done < static_cast<size_t>(count); done += images.size()) run(pictures, done);
  });
  return seconds / static_cast<double>(done);
}

// ---- Encoder ----

constexpr int kCss420 = 2;          // NVJPEG_CSS_420
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
