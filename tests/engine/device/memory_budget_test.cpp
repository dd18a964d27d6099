// The limit on the memory that a stream makes its decoder hold, counted by several threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/memory_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace cudatransform::test {
namespace {

TEST(MemoryBudget, CountsWhatExists) {
  const auto budget = std::make_shared<MemoryBudget>();
  budget->set_max(100);
  std::unique_ptr<Memory> first, second;
  ASSERT_TRUE(budget->allocate_on_host(60, &first).ok());
  EXPECT_EQ(budget->allocate_on_host(41, &second).code, StatusCode::kOutOfMemory);
  EXPECT_EQ(budget->allocate_on_host(UINT64_MAX, &second).code, StatusCode::kOutOfMemory);
  EXPECT_EQ(budget->used(), 60u);
  EXPECT_TRUE(budget->has(40));
  EXPECT_FALSE(budget->has(41));
  first.reset();
  EXPECT_EQ(budget->used(), 0u);
}

// One thread keeps asking for too much; the other finds the memory that exists.
TEST(MemoryBudget, WhatIsRefusedRefusesNothingElse) {
  const auto budget = std::make_shared<MemoryBudget>();
  budget->set_max(1000);
  std::atomic<bool> ends = false;
  std::thread greedy([&] {
    std::unique_ptr<Memory> memory;
    while (!ends) EXPECT_FALSE(budget->allocate_on_host(2000, &memory).ok());
  });
  int refused = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::unique_ptr<Memory> memory;
    if (!budget->allocate_on_host(1, &memory).ok()) ++refused;
  }
  ends = true;
  greedy.join();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace cudatransform::test
