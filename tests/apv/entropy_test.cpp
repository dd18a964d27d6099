// Entropy decoding of APV's chains on the CPU: any coefficients round-trip, and damage loses the
// rest of its chain alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apv/frame.h"
#include "tests/apv/encoder.h"

namespace cudatransform::test {
namespace {

std::vector<int16_t> all_coefs(const ApvPictureToWrite& picture) {
  std::vector<int16_t> all;
  for (const auto& coefs : picture.coefs) all.insert(all.end(), coefs.begin(), coefs.end());
  return all;
}

std::vector<int16_t> decode(ApvFrame& frame) {
  std::vector<int16_t> coefs(frame.coef_count(), 77);
  for (size_t i = 0; i < frame.chain_count(); ++i) frame.decode_chain(i, coefs.data());
  return coefs;
}

TEST(ApvEntropy, AnyCoefficients) {
  std::mt19937 random(1);
  for (const uint32_t density : {0, 1, 5, 30, 64}) {
    for (const ApvChroma chroma :
         {ApvChroma::k400, ApvChroma::k422, ApvChroma::k444, ApvChroma::k4444}) {
      const ApvPictureToWrite picture = random_apv_picture(
          random, chroma, 12, 2 * (1 + random() % 300), 1 + random() % 200, density);
      const ApvBytes payload = encode_apv_frame(picture);
      ApvFrame frame;
      ASSERT_TRUE(frame.begin(payload, nullptr, {}).ok());
      EXPECT_EQ(decode(frame), all_coefs(picture));
      EXPECT_EQ(frame.damage(), nullptr);
    }
  }
}

// The largest coefficients and differences.
TEST(ApvEntropy, Extremes) {
  ApvPictureToWrite picture;
  const ApvFrameInfo info = picture.info();
  for (int c = 0; c < info.components(); ++c) {
    for (uint64_t i = 0; i < 64 * info.blocks(c); ++i)
      picture.coefs[c].push_back(i / 64 % 2 == i % 2 ? INT16_MIN : INT16_MAX);
  }
  const ApvBytes payload = encode_apv_frame(picture);
  ApvFrame frame;
  ASSERT_TRUE(frame.begin(payload, nullptr, {}).ok());
  EXPECT_EQ(decode(frame), all_coefs(picture));
  EXPECT_EQ(frame.damage(), nullptr);
}

// A chain of 4 blocks, of which `good` are sound.
void expect_damage(const ApvBytes& chain, size_t good, ApvChainError expected) {
  const auto data = std::make_unique<uint8_t[]>(chain.size());  // for sanitizers
  std::copy(chain.begin(), chain.end(), data.get());
  std::vector<int16_t> coefs(4 * 64, 77);
  ApvChainPlaces places;
  places.first = coefs.data();
  places.row_pitch = 2 * 64;
  places.mbs_across = places.mbs_down = 1;
  places.mb_blocks_across = 2;
  EXPECT_EQ(decode_apv_chain({data.get(), chain.size()}, places), expected) << describe(expected);
  for (size_t i = 0; i < coefs.size(); ++i)
    EXPECT_EQ(coefs[i], i < 64 * good && i % 64 == 0 ? 9 : 0) << i;
}

void put_flat(ApvBitWriter& writer, bool is_first) {
  writer.put_value(is_first ? 9 : 0, is_first ? 5 : 4);
  if (is_first) writer.put(0, 1);
  writer.put_value(63, 0);
}

TEST(ApvEntropy, Damage) {
  ApvBitWriter cut;
  put_flat(cut, true);
  expect_damage(cut.bytes(), 1, ApvChainError::kEnd);
  expect_damage({}, 0, ApvChainError::kEnd);

  const auto after_one = [](auto put) {
    ApvBitWriter writer;
    put_flat(writer, true);
    put(writer);
    writer.put(~uint64_t{0}, 64);
    writer.put(~uint64_t{0}, 64);
    writer.put(~uint64_t{0}, 64);
    return writer.bytes();
  };
  expect_damage(after_one([](ApvBitWriter& to) {
                  to.put_value(0, 4);
                  to.put_value(64, 0);
                }),
                1, ApvChainError::kRun);
  expect_damage(after_one([](ApvBitWriter& to) {
                  to.put_value(0, 4);
                  to.put(1, 2);
                  to.put(0, 20);
                }),
                1, ApvChainError::kCode);
  expect_damage(after_one([](ApvBitWriter& to) {
                  to.put_value(32768, 4);
                  to.put(0, 1);
                }),
                1, ApvChainError::kRange);
  expect_damage(after_one([](ApvBitWriter& to) {
                  to.put_value(0, 4);
                  to.put_value(0, 0);
                  to.put_value(32767, 0);
                  to.put(0, 1);
                }),
                1, ApvChainError::kRange);
}

// Any bytes: every coefficient is written, and nothing outside of the data is read.
TEST(ApvEntropy, RandomBytes) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const auto size = static_cast<size_t>(random() % 60);
    const auto data = std::make_unique<uint8_t[]>(size);  // for sanitizers
    for (size_t at = 0; at < size; ++at)
      data[at] = static_cast<uint8_t>(random() | (random() % 2 * 0xaa));
    std::vector<int16_t> results[2];
    for (const int16_t before : {77, -5}) {
      std::vector<int16_t> coefs(4 * 64, before);
      ApvChainPlaces places;
      places.first = coefs.data();
      places.row_pitch = 2 * 64;
      places.mbs_across = places.mbs_down = 1;
      places.mb_blocks_across = 2;
      (void)decode_apv_chain({data.get(), size}, places);
      results[before == 77] = std::move(coefs);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

}  // namespace
}  // namespace cudatransform::test
