// What an engine waits for on the caller's stream: input that is written, and blocks that are read.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/cudatransform.h"
#include "tests/core/support.h"
#include "tests/jpeg/streams.h"
#if CT_HAVE_CUDA
#include "cuda/device/driver.h"
#include "tests/check/fakecuda/fakecuda.h"
#endif

namespace cudatransform::test {
namespace {

// The driver's names, which no call of it reads here.
void* const legacy_stream = reinterpret_cast<void*>(1);
void* const stream_per_thread = reinterpret_cast<void*>(2);

TEST(Streams, WrongOnesAreNamed) {
  CtEngine* none = nullptr;
  CtError error;
  const CtEngineOptions cpu = {sizeof cpu, -1, 1, 0, legacy_stream};
  EXPECT_EQ(ct_engine_new(&cpu, &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "a stream for an engine of the CPU, expected NULL or a CUDA device");
  const CtEngineOptions each = {sizeof each, 0, 1, 0, stream_per_thread};
  EXPECT_EQ(ct_engine_new(&each, &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text,
               "the stream is CU_STREAM_PER_THREAD, expected a stream that all threads share");
}

#if CT_HAVE_CUDA

bool is_fake() { return count_launches("") >= 0; }

// The legacy default stream, or one that the driver does not order after others by itself.
class CallersStream {
 public:
  explicit CallersStream(bool is_legacy) {
    EXPECT_TRUE(cuda::load_driver(&driver_).ok());
    EXPECT_EQ(driver_->primary_ctx_retain(&context_, device), CUDA_SUCCESS);
    if (!is_legacy)
      in_context([&] { return driver_->stream_create(&stream_, CU_STREAM_NON_BLOCKING); });
    in_context([&] { return driver_->mem_alloc(&memory_, kBytes); });
  }
  ~CallersStream() {
    finish();
    in_context([&] { return driver_->mem_free(memory_); });
    if (stream_ != nullptr) in_context([&] { return driver_->stream_destroy(stream_); });
    driver_->primary_ctx_release(device);
  }
  void* handle() const { return stream_; }

  // On a GPU for several milliseconds: a call that does not wait is done before.
  void be_busy() {
    const int fills = is_fake() ? 1 : 500;
    for (int i = 0; i < fills; ++i)
      in_context([&] { return driver_->memset_d8_async(memory_, 0, kBytes, stream_); });
  }
  void fill(void* to, uint8_t value, size_t bytes) {
    in_context([&] { return driver_->memset_d8_async(address(to), value, bytes, stream_); });
  }
  void copy(void* to, const void* from, size_t bytes) {
    CUDA_MEMCPY2D what = {};
    what.srcMemoryType = what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    what.srcDevice = address(from);
    what.dstDevice = address(to);
    what.srcPitch = what.dstPitch = what.WidthInBytes = bytes;
    what.Height = 1;
    in_context([&] { return driver_->memcpy_2d_async(&what, stream_); });
  }
  void finish() {
    if (is_fake()) return;  // it does all work immediately
    CUresult result = CUDA_ERROR_NOT_READY;
    while (result == CUDA_ERROR_NOT_READY)
      in_context([&] {
        result = driver_->stream_query(stream_);
        return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
      });
  }
  // Whether the driver counts waits for it.
  bool counts_waits() const { return stream_ != nullptr && is_fake(); }
  int waits() const {
    if (!counts_waits()) return 0;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    FakecudaWaits waits = {};
    reinterpret_cast<decltype(&fakecuda_get_waits)>(dlsym(driver, "fakecuda_get_waits"))(stream_,
                                                                                         &waits);
    return waits.waited_for;
  }

 private:
  static constexpr size_t kBytes = size_t{64} << 20;

  static CUdeviceptr address(const void* of) { return reinterpret_cast<CUdeviceptr>(of); }
  template <typename Call>
  void in_context(const Call& call) {
    EXPECT_EQ(driver_->ctx_push_current(context_), CUDA_SUCCESS);
    EXPECT_EQ(call(), CUDA_SUCCESS);
    EXPECT_EQ(driver_->ctx_pop_current(nullptr), CUDA_SUCCESS);
  }

  const cuda::Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUdeviceptr memory_ = 0;
};

// Calls work(), which has to wait for the stream.
template <typename Work>
auto after(const CallersStream& stream, const Work& work) {
  const int before = stream.waits();
  auto made = work();
  if (stream.counts_waits()) {
    EXPECT_GT(stream.waits(), before);
  }
  return made;
}

constexpr int32_t kSide = 64;
constexpr size_t kInput = size_t{kSide} * kSide * 3;

// What calls make of `input`, a picture of RGB and a plane.

Bytes downloaded(CtEngine* engine, const void* from, size_t bytes) {
  Bytes to(bytes);
  const auto pitch = static_cast<int64_t>(bytes);
  EXPECT_EQ(ct_copy_to_host(engine, to.data(), pitch, from, pitch, bytes, 1, nullptr), CT_OK);
  return to;
}

Bytes coefficients(CtEngine* engine, void* input, const Buffer& output) {
  CtDctOptions options = {};
  options.struct_size = sizeof options;
  const CtSamples samples = {input, kSide, kSide, kSide};
  const CtCoefficients coefs = {output.data(), kSide * 32, kSide / 8, kSide / 8};
  EXPECT_EQ(ct_dct(engine, &options, &samples, &coefs, nullptr), CT_OK);
  return output.bytes();
}

Bytes encoded(CtEngine* engine, void* input) {
  CtEncodeOptions options = {};
  options.struct_size = sizeof options;
  const CtImage image = {input, kSide * 3, kSide, kSide, 3, 1};
  CtFile file = {};
  EXPECT_EQ(ct_encode(engine, &options, &image, 1, &file, nullptr), CT_OK);
  Bytes bytes(file.data, file.data + file.size);
  ct_file_clear(&file);
  return bytes;
}

Bytes resized(CtEngine* engine, void* input) {
  CtResizeOptions options = {};
  options.struct_size = sizeof options;
  options.width = options.height = 16;
  const CtImage image = {input, kSide * 3, kSide, kSide, 3, 1};
  CtBlock* block = nullptr;
  void* data = nullptr;
  EXPECT_EQ(ct_resize(engine, &options, &image, nullptr, 1, &block, &data, nullptr), CT_OK);
  if (block == nullptr) return {};
  // Not by the engine, which would wait once more.
  Bytes bytes = downloaded(Engine(device), data, size_t{16} * 16 * 3);
  ct_block_unref(block);
  return bytes;
}

void expect_input_awaited(bool is_legacy) {
  CallersStream stream(is_legacy);
  const Engine engine(device, 2, 0, stream.handle());
  const Buffer input(Bytes(kInput, 10)), output(Bytes(size_t{kSide} * kSide * 4));
  const std::pair<const char*, std::function<Bytes()>> calls[] = {
      {"ct_copy_to_host", [&] { return downloaded(engine, input.data(), kInput); }},
      {"ct_dct", [&] { return coefficients(engine, input.data(), output); }},
      {"ct_encode", [&] { return encoded(engine, input.data()); }},
      {"ct_resize", [&] { return resized(engine, input.data()); }}};
  uint8_t value = 10;
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    const Bytes before = call();  // loads what it needs
    stream.be_busy();
    stream.fill(input.data(), value += 50, kInput);
    const Bytes made = after(stream, call);
    stream.finish();
    EXPECT_NE(made, before);
    EXPECT_EQ(made, call());
  }
}

TEST(Streams, CallsWaitForTheirInput) {
  if (device < 0) GTEST_SKIP() << "no device";
  expect_input_awaited(false);
}
TEST(Streams, CallsWaitForTheirInputOfTheLegacyStream) {
  if (device < 0) GTEST_SKIP() << "no device";
  expect_input_awaited(true);
}

void expect_readers_awaited(bool is_legacy) {
  constexpr size_t kRead = size_t{256} * 256;
  CallersStream stream(is_legacy);
  const Engine engine(device, 2, 0, stream.handle());
  for (const CtOutput output : {CT_OUTPUT_RGB, CT_OUTPUT_COEFFICIENTS}) {
    const CtDecodeOptions options = decode_options(output);
    const Bytes one = make_stream({.width = 256, .height = 256});
    const Bytes other = make_stream({.width = 256, .height = 256, .sparse = true});
    const Bytes others = contents(engine, decode(engine, {other}, options)[0]);
    Pictures first = decode(engine, {one}, options);
    const Bytes wanted = contents(engine, first[0]);
    ASSERT_NE(wanted, others);
    // RGB of that width has no gaps, and neither have coefficients.
    const void* const from = output == CT_OUTPUT_RGB ? first[0].data : first[0].component[0].data;
    const Buffer read{Bytes(kRead)};
    stream.be_busy();
    stream.copy(read.data(), from, kRead);
    ct_picture_clear(&first[0]);
    const Pictures second = after(stream, [&] { return decode(engine, {other}, options); });
    EXPECT_EQ(output == CT_OUTPUT_RGB ? second[0].data : second[0].component[0].data, from);
    stream.finish();
    const Bytes bytes = read.bytes();
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), wanted.begin()));
  }
}

TEST(Streams, ABlockIsReusedAfterItsReaders) {
  if (device < 0) GTEST_SKIP() << "no device";
  expect_readers_awaited(false);
}
TEST(Streams, ABlockIsReusedAfterItsReadersOnTheLegacyStream) {
  if (device < 0) GTEST_SKIP() << "no device";
  expect_readers_awaited(true);
}

TEST(Streams, TheLegacyStreamsNameIsTaken) {
  if (device < 0) GTEST_SKIP() << "no device";
  const Engine engine(device, 2, 0, legacy_stream);
  const Bytes file = make_stream({.width = 16, .height = 16});
  const Pictures pictures = decode(engine, {file}, decode_options(CT_OUTPUT_RGB));
  EXPECT_EQ(pictures[0].error.code, CT_OK) << pictures[0].error.text;
}

#endif

}  // namespace
}  // namespace cudatransform::test
