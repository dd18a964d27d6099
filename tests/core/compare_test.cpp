// libcudatransform's sums of squared differences.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cudatransform.h"
#include "tests/core/support.h"

namespace cudatransform::test {
namespace {

template <typename Sample>
CtType type_of() {
  return sizeof(Sample) == 1 ? CT_UINT8 : sizeof(Sample) == 2 ? CT_UINT16 : CT_FLOAT32;
}

template <typename Sample>
struct Pair {
  size_t width, height, pitch;  // in samples
  std::vector<Sample> a, b;

  Pair(size_t width, size_t height, size_t gap, uint32_t seed)
      : width(width), height(height), pitch(width + gap), a(pitch * height), b(a.size()) {
    std::mt19937 random(seed);
    for (std::vector<Sample>* all : {&a, &b})
      for (Sample& one : *all)
        one = std::is_floating_point_v<Sample> ? static_cast<Sample>(random() % 1000) / Sample{8}
                                               : static_cast<Sample>(random());
  }

  double sum(CtEngine* engine) const {
    const auto bytes = static_cast<int64_t>(pitch * sizeof(Sample));
    const CtArray one = {a.data(), bytes}, other = {b.data(), bytes};
    double made = -1;
    CtError error;
    EXPECT_EQ(
        ct_squared_error(engine, type_of<Sample>(), &one, &other, width, height, &made, &error),
        CT_OK)
        << error.text;
    return made;
  }

  double expected() const {
    double sum = 0;
    for (size_t y = 0; y < height; ++y) {
      for (size_t x = 0; x < width; ++x) {
        const double difference = double(a[y * pitch + x]) - double(b[y * pitch + x]);
        sum += difference * difference;
      }
    }
    return sum;
  }
};

template <typename Sample>
class Compare : public testing::Test {};
using Samples = testing::Types<uint8_t, uint16_t, float>;
TYPED_TEST_SUITE(Compare, Samples);

// All sums are exact: halves of an eighth's square are whole numbers of sixty-fourths.
TYPED_TEST(Compare, SumsSquares) {
  const Engine engine(device, 3);
  for (const auto& [width, height, gap] : {std::tuple<size_t, size_t, size_t>{1, 1, 0},
                                           {7, 1, 0},
                                           {33, 5, 3},
                                           {1000, 701, 0},
                                           {1000, 701, 9},
                                           {700001, 1, 0}}) {
    const Pair<TypeParam> pair(width, height, gap, 5);
    EXPECT_EQ(pair.sum(engine), pair.expected()) << width << "x" << height << " + " << gap;
  }
}

// Every difference is the largest one.
TYPED_TEST(Compare, DoesNotOverflow) {
  const Engine engine(device, 1);
  Pair<TypeParam> pair(300000, 2, 0, 1);
  const double most =
      std::is_floating_point_v<TypeParam> ? 1 : double(std::numeric_limits<TypeParam>::max());
  std::fill(pair.a.begin(), pair.a.end(), static_cast<TypeParam>(most));
  std::fill(pair.b.begin(), pair.b.end(), TypeParam{0});
  EXPECT_EQ(pair.sum(engine), most * most * 600000);
  std::swap(pair.a, pair.b);
  EXPECT_EQ(pair.sum(engine), most * most * 600000);
}

TEST(CompareArguments, AreChecked) {
  const Engine engine(device);
  const std::vector<uint16_t> samples(100);
  const CtArray right = {samples.data(), 20};
  double sum = 0;
  CtError error;
  const auto code_of = [&](CtType type, const CtArray& array) {
    return ct_squared_error(engine, type, &right, &array, 10, 10, &sum, &error);
  };
  EXPECT_EQ(code_of(CT_UINT16, right), CT_OK);
  EXPECT_EQ(code_of(CT_INT16, right), CT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(CT_UINT16, {samples.data(), 18}), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "b has a pitch of 18 for rows of 20 bytes");
  EXPECT_EQ(code_of(CT_UINT16, {samples.data(), 21}), CT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(CT_UINT16, {nullptr, 20}), CT_INVALID_ARGUMENT);
  EXPECT_EQ(ct_squared_error(engine, CT_UINT8, nullptr, nullptr, 0, 0, &sum, &error), CT_OK);
  EXPECT_EQ(sum, 0);
}

}  // namespace
}  // namespace cudatransform::test
