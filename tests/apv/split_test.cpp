// The chains of a frame that a device decodes while threads decode the others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/split.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "apv/access_unit.h"
#include "tests/apv/encoder.h"

namespace cudatransform::test {
namespace {

class ApvSplit : public testing::Test {
 protected:
  // `density`: coefficients of a block that are not zero.
  void make(uint32_t width, uint32_t height, uint32_t density) {
    std::mt19937 random(1);
    payload_ =
        encode_apv_frame(random_apv_picture(random, ApvChroma::k422, 10, width, height, density));
    ASSERT_TRUE(frame_.begin(payload_, nullptr, {}).ok());
  }
  uint64_t bytes_up_to(uint32_t split) const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < frame_.chain_count(); ++i)
      if (frame_.bytes_of(i) <= split) bytes += frame_.bytes_of(i);
    return bytes;
  }

  ApvBytes payload_;
  ApvFrame frame_;
};

// A launch takes longer than they do.
TEST_F(ApvSplit, ThreadsDecodeSmallFrames) {
  make(64, 48, 4);
  for (const int threads : {1, 16}) EXPECT_EQ(split_apv_chains(frame_, threads), kNoApvChains);
}

TEST_F(ApvSplit, MoreThreadsDecodeMore) {
  make(1024, 512, 24);
  const uint64_t all = bytes_up_to(kAllApvChains);
  EXPECT_GT(bytes_up_to(split_apv_chains(frame_, 1)), all / 2) << "a device is faster by far";
  uint64_t last = all;
  int shared = 0;
  for (int threads = 1; threads <= 256; threads *= 2) {
    SCOPED_TRACE(threads);
    const uint64_t bytes = bytes_up_to(split_apv_chains(frame_, threads));
    EXPECT_LE(bytes, last);
    last = bytes;
    shared += bytes > 0 && bytes < all;
  }
  EXPECT_GT(shared, 0);
}

}  // namespace
}  // namespace cudatransform::test
