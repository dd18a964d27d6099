// libcudatransform's 8x8 DCT of planes: that of the engines, in memory with gaps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/cudatransform.h"
#include "tests/core/support.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_device.h"

namespace cudatransform::test {
namespace {

constexpr uint8_t kGap = 0xa5;

// A plane, its coefficients, and gaps after the rows of both.
struct Case {
  int32_t width = 333, height = 211;
  int depth = 8;
  bool quantized = true;
  Method method = Method::kIslow;

  int32_t blocks_w() const { return (width + 7) / 8; }
  int32_t blocks_h() const { return (height + 7) / 8; }
  int sample_bytes() const { return depth == 8 ? 1 : 2; }
  int number_bytes() const { return quantized && depth < 16 ? 2 : 4; }
  int64_t sample_pitch() const { return int64_t{width} * sample_bytes() + 6; }
  int64_t number_pitch() const { return int64_t{blocks_w()} * 64 * number_bytes() + 32; }
  Bytes no_samples() const { return Bytes(static_cast<size_t>(sample_pitch() * height), kGap); }
  Bytes no_numbers() const { return Bytes(static_cast<size_t>(number_pitch() * blocks_h()), kGap); }
  std::string name() const {
    return std::string(method_name(method)) + ", depth " + std::to_string(depth) +
           (quantized ? ", coefficients" : ", values");
  }
};

QuantTable table() {
  QuantTable made;
  for (int i = 0; i < 64; ++i) made.q[i] = static_cast<uint16_t>(3 + i);
  return made;
}

Bytes samples_of(const Case& one) {
  std::mt19937 random(7);
  Bytes bytes = one.no_samples();
  for (int32_t y = 0; y < one.height; ++y) {
    for (int32_t x = 0; x < one.width; ++x) {
      const double wave = std::sin(x * 0.11) * std::cos(y * 0.07) * 0.4 + 0.5;
      const int most = (1 << one.depth) - 1;
      const auto noise = static_cast<int>(random() % 9) - 4;
      const auto value =
          static_cast<uint16_t>(std::clamp(static_cast<int>(wave * most) + noise, 0, most));
      std::memcpy(&bytes[static_cast<size_t>(y * one.sample_pitch() + x * one.sample_bytes())],
                  &value, static_cast<size_t>(one.sample_bytes()));
    }
  }
  return bytes;
}

// What the portable code makes of one whole job.
Bytes expected(const Case& one, Direction direction, Bytes from) {
  Bytes to = direction == Direction::kForward ? one.no_numbers() : one.no_samples();
  Bytes &samples = direction == Direction::kForward ? from : to,
        &numbers = direction == Direction::kForward ? to : from;
  Dct8x8Job job;
  job.direction = direction;
  job.method = effective_method(one.method, one.depth);
  job.depth = one.depth;
  job.quantized = one.quantized;
  job.type = !one.quantized ? CoefType::kF32 : one.depth == 16 ? CoefType::kS32 : CoefType::kS16;
  job.components = 1;
  job.tables[0] = table();
  job.samples[0] = {.data = samples.data(),
                    .pitch = one.sample_pitch(),
                    .width = one.width,
                    .height = one.height,
                    .stride = one.sample_bytes(),
                    .type = one.depth == 8 ? SampleType::kU8 : SampleType::kU16};
  job.coefs[0] = {.data = numbers.data(),
                  .pitch = one.number_pitch(),
                  .blocks_w = one.blocks_w(),
                  .blocks_h = one.blocks_h()};
  const std::unique_ptr<Device> host = make_host_device(1);
  const Status status =
      host_dct8x8_ops().submit(*host, host->queue(QueueKind::kCompute), job, nullptr);
  EXPECT_TRUE(status.ok()) << status.message;
  return to;
}

CtCode transform(CtEngine* engine, const Case& one, Direction direction, void* samples,
                 void* numbers, CtError* error) {
  const QuantTable divisors = table();
  const CtDctOptions options = {sizeof options, static_cast<CtMethod>(one.method), one.depth,
                                one.quantized ? divisors.q : nullptr};
  const CtSamples plane = {samples, one.sample_pitch(), one.width, one.height};
  const CtCoefficients coefs = {numbers, one.number_pitch(), one.blocks_w(), one.blocks_h()};
  return direction == Direction::kForward ? ct_dct(engine, &options, &plane, &coefs, error)
                                          : ct_idct(engine, &options, &coefs, &plane, error);
}

Bytes transformed(CtEngine* engine, const Case& one, Direction direction, const Bytes& from) {
  const Buffer input(from);
  const Buffer output(direction == Direction::kForward ? one.no_numbers() : one.no_samples());
  CtError error;
  const bool forward = direction == Direction::kForward;
  EXPECT_EQ(transform(engine, one, direction, forward ? input.data() : output.data(),
                      forward ? output.data() : input.data(), &error),
            CT_OK)
      << error.text;
  return output.bytes();
}

// Devices may round the arithmetic of floating point in another way than the CPU.
template <typename Number>
void expect_near(const Bytes& made, const Bytes& wanted, double most) {
  const auto a = numbers_of<Number>(made), b = numbers_of<Number>(wanted);
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  EXPECT_LE(worst, most);
}

void expect_same(const Case& one, bool are_samples, const Bytes& made, const Bytes& wanted) {
  if (device < 0 || (one.quantized && effective_method(one.method, one.depth) < Method::kFloat)) {
    EXPECT_TRUE(made == wanted);
  } else if (are_samples) {
    one.depth == 8 ? expect_near<uint8_t>(made, wanted, 1) : expect_near<uint16_t>(made, wanted, 1);
  } else if (one.quantized) {
    one.depth == 16 ? expect_near<int32_t>(made, wanted, 1) : expect_near<int16_t>(made, wanted, 1);
  } else {
    expect_near<float>(made, wanted, 1e-3 * (1 << (one.depth - 8)));
  }
}

TEST(Dct, IsTheEngines) {
  const Engine engine(device, 3);
  for (const int depth : {8, 10, 12, 16}) {
    for (const bool quantized : {true, false}) {
      for (int method = 0; method < kMethodCount; ++method) {
        const Case one = {.depth = depth, .quantized = quantized, .method = Method(method)};
        SCOPED_TRACE(one.name());
        const Bytes samples = samples_of(one);
        const Bytes numbers = expected(one, Direction::kForward, samples);
        expect_same(one, false, transformed(engine, one, Direction::kForward, samples), numbers);
        expect_same(one, true, transformed(engine, one, Direction::kInverse, numbers),
                    expected(one, Direction::kInverse, numbers));
      }
    }
  }
}

// More rows of blocks than a thread takes at a time, and planes of a single block.
TEST(Dct, TakesAllSizes) {
  const Engine engine(device, 4);
  for (const auto& [width, height] : {std::pair{1, 1}, {8, 8}, {9, 1}, {640, 999}, {5000, 17}}) {
    const Case one = {.width = width, .height = height};
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    const Bytes samples = samples_of(one);
    const Bytes numbers = expected(one, Direction::kForward, samples);
    EXPECT_TRUE(transformed(engine, one, Direction::kForward, samples) == numbers);
    EXPECT_TRUE(transformed(engine, one, Direction::kInverse, numbers) ==
                expected(one, Direction::kInverse, numbers));
  }
}

TEST(Dct, FillsBlocksOfTheEngine) {
  const Engine engine(device);
  CtBlock* block = nullptr;
  void* data = nullptr;
  ASSERT_EQ(ct_block_new(engine, 128, &block, &data, nullptr), CT_OK);
  const Buffer samples(Bytes(64, 130));
  const uint16_t ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                             1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                             1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CtDctOptions options = {};
  options.struct_size = sizeof options;
  options.table = ones;
  const CtSamples plane = {samples.data(), 8, 8, 8};
  const CtCoefficients coefficients = {data, 128, 1, 1};
  EXPECT_EQ(ct_dct(engine, &options, &plane, &coefficients, nullptr), CT_OK);
  int16_t qcoefs[64] = {};
  EXPECT_EQ(ct_copy_to_host(engine, qcoefs, 128, data, 128, 128, 1, nullptr), CT_OK);
  EXPECT_EQ(qcoefs[0], 16);  // eight times the mean less 128
  EXPECT_EQ(qcoefs[1], 0);
  ct_block_unref(block);
  EXPECT_EQ(ct_block_new(engine, 128, nullptr, &data, nullptr), CT_INVALID_ARGUMENT);
  const Engine small(device, 2, 4096);
  EXPECT_EQ(ct_block_new(small, 1 << 20, &block, &data, nullptr), CT_OUT_OF_MEMORY);
}

TEST(Dct, RefusesWrongArguments) {
  const Engine engine(device);
  const Case one = {.width = 16, .height = 16};
  const Buffer samples(one.no_samples()), numbers(one.no_numbers());
  CtError error;
  const auto code_of = [&](const Case& wrong) {
    return transform(engine, wrong, Direction::kForward, samples.data(), numbers.data(), &error);
  };
  EXPECT_EQ(code_of(one), CT_OK) << error.text;
  Case wrong = one;
  wrong.depth = 9;
  EXPECT_EQ(code_of(wrong), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "depth 9, expected 8, 10, 12 or 16");
  wrong = one;
  wrong.method = Method(9);
  EXPECT_EQ(code_of(wrong), CT_INVALID_ARGUMENT);
  const CtSamples plane = {samples.data(), one.sample_pitch(), 16, 17};
  const CtCoefficients coefs = {numbers.data(), one.number_pitch(), 2, 2};
  EXPECT_EQ(ct_dct(engine, nullptr, &plane, &coefs, &error), CT_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.text, "2 x 2 blocks"), nullptr) << error.text;
  EXPECT_EQ(ct_dct(engine, nullptr, nullptr, &coefs, &error), CT_INVALID_ARGUMENT);
  EXPECT_EQ(ct_dct(nullptr, nullptr, &plane, &coefs, &error), CT_INVALID_ARGUMENT);
  const CtSamples nowhere = {nullptr, 16, 16, 16};
  EXPECT_EQ(ct_idct(engine, nullptr, &coefs, &nowhere, &error), CT_INVALID_ARGUMENT);
  const uint16_t zeros[64] = {};
  const CtDctOptions options = {sizeof options, CT_METHOD_ISLOW, 8, zeros};
  const CtSamples right = {samples.data(), one.sample_pitch(), 16, 16};
  EXPECT_EQ(ct_dct(engine, &options, &right, &coefs, &error), CT_INVALID_ARGUMENT);
  const int exit_code = in_child(
      [&] { return ct_dct(engine, nullptr, &right, &coefs, nullptr) == CT_FORKED ? 0 : 1; });
  EXPECT_EQ(exit_code, 0);
}

}  // namespace
}  // namespace cudatransform::test
