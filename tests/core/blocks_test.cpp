// Which blocks of memory are kept for later results, and which are freed.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/blocks.h"

#include <gtest/gtest.h>

#include "transform/device/host_device.h"

namespace cudatransform::core {
namespace {

constexpr size_t kSmall = 4096, kMiddle = 8192, kLarge = 16384;

class BlocksTest : public testing::Test {
 protected:
  void make(uint64_t most) {
    blocks_ = std::make_shared<Blocks>(make_host_device(1), MemoryKind::kDevice, most);
  }
  CtBlock* take(size_t bytes) {
    CtBlock* block = nullptr;
    EXPECT_TRUE(blocks_->take(bytes, &block).ok());
    return block;
  }
  // Blocks of these sizes, returned in this order.
  void give(std::initializer_list<size_t> sizes) {
    std::vector<CtBlock*> all;
    for (const size_t bytes : sizes) all.push_back(take(bytes));
    for (CtBlock* const block : all) unref(block);
  }
  // Takes it out.
  bool is_kept(size_t bytes) {
    taken_.push_back(take(bytes));
    return taken_.back()->given != 0;
  }
  void TearDown() override {
    for (CtBlock* const block : taken_) unref(block);
    blocks_->close();
  }

  std::shared_ptr<Blocks> blocks_;
  std::vector<CtBlock*> taken_;
};

TEST_F(BlocksTest, TheLimitFreesWhatWasUnusedForLongest) {
  make(kSmall + kMiddle + kLarge);
  give({kSmall, kMiddle, kLarge});
  EXPECT_FALSE(is_kept(kSmall + kMiddle));  // 12288: a size of its own
  EXPECT_TRUE(is_kept(kLarge));
}

TEST_F(BlocksTest, ATooLargeBlockFreesNone) {
  make(kSmall + kLarge);
  give({kSmall, kLarge});
  CtBlock* block = nullptr;
  EXPECT_EQ(blocks_->take(2 * kLarge, &block).code, StatusCode::kOutOfMemory);
  EXPECT_TRUE(is_kept(kSmall));
  EXPECT_TRUE(is_kept(kLarge));
}

TEST_F(BlocksTest, ALowerLimitFreesWhatWasUnusedForLongest) {
  make(0);
  give({kSmall, kMiddle, kLarge});
  blocks_->limit(kLarge);
  EXPECT_TRUE(is_kept(kLarge));
  CtBlock* block = nullptr;
  const Status status = blocks_->take(kSmall, &block);
  EXPECT_EQ(status.code, StatusCode::kOutOfMemory);
  EXPECT_EQ(
      status.message,
      "a picture needs 4096 bytes of memory, and 16384 of max_device_memory=16384 are in use");
  blocks_->limit(0);
  EXPECT_FALSE(is_kept(kSmall));
}

TEST_F(BlocksTest, BlocksBeyondALowerLimitAreNotKept) {
  make(0);
  CtBlock *const one = take(kLarge), *const other = take(kLarge), *const small = take(kSmall);
  blocks_->limit(kLarge + kSmall);
  unref(one);  // with the other two in use there is no room for it
  unref(other);
  unref(small);
  EXPECT_TRUE(is_kept(kSmall));
  EXPECT_TRUE(is_kept(kLarge));
  blocks_->limit(0);
  EXPECT_FALSE(is_kept(kLarge));
}

TEST_F(BlocksTest, TrimmingFreesWhatWasUnusedForLongest) {
  make(0);
  give({kSmall, kMiddle, kLarge});
  blocks_->trim(kLarge);
  EXPECT_TRUE(is_kept(kLarge));
  EXPECT_FALSE(is_kept(kMiddle));
  EXPECT_FALSE(is_kept(kSmall));
}

TEST_F(BlocksTest, OtherSizesTakeThePlaceOfThoseUnusedForLongest) {
  make(0);
  give({kLarge, kSmall, kSmall});
  give({kMiddle});  // beyond what was in use at a time
  EXPECT_TRUE(is_kept(kMiddle));
  EXPECT_TRUE(is_kept(kSmall));
  EXPECT_TRUE(is_kept(kSmall));
  EXPECT_FALSE(is_kept(kLarge));
}

}  // namespace
}  // namespace cudatransform::core
