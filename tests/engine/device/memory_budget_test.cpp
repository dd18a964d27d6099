// The limit on the memory that a stream makes its decoder hold, counted by several threads, and
// pools of what may be used again.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/device/memory_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/engines.h"

#include "transform/device/host_device.h"

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

// What is large enough stays; no more than is necessary where there is no memory for more.
TEST(GrowMemory, KeepsAndGrows) {
  const auto device = make_host_device(1);
  std::unique_ptr<Memory> memory;
  ASSERT_TRUE(grow_memory(*device, MemoryKind::kDevice, 100, &memory, 200).ok());
  EXPECT_EQ(memory->size(), 200u);
  const void* data = memory->data();
  ASSERT_TRUE(grow_memory(*device, MemoryKind::kDevice, 200, &memory, 400).ok());
  EXPECT_EQ(memory->size(), 200u);
  EXPECT_EQ(memory->data(), data);
  ASSERT_TRUE(grow_memory(*device, MemoryKind::kDevice, 201, &memory).ok());
  EXPECT_EQ(memory->size(), 201u);
  ASSERT_TRUE(grow_memory(*device, MemoryKind::kDevice, 300, &memory, SIZE_MAX / 2).ok());
  EXPECT_EQ(memory->size(), 300u);
  EXPECT_EQ(grow_memory(*device, MemoryKind::kDevice, SIZE_MAX / 2, &memory).code,
            StatusCode::kOutOfMemory);
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

TEST(BudgetedPool, KeepsSoManyBytes) {
  constexpr size_t kBlock = 1000, kBlocks = 12;
  for (const auto& [max_bytes, kept] :
       {std::pair{SIZE_MAX, kBlocks}, {6 * kBlock, size_t{6}}, {kBlock, size_t{3}}}) {
    const auto budget = std::make_shared<MemoryBudget>();
    BudgetedPool pool(MemoryKind::kPinned, 100, budget, max_bytes);
    std::vector<BudgetedPool::Block> blocks(kBlocks);
    for (auto& block : blocks)
      ASSERT_TRUE(pool.take(*portable_engine().device, kBlock, &block).ok());
    for (auto& block : blocks) pool.give(std::move(block));
    EXPECT_EQ(budget->used(), kept * kBlock);
    EXPECT_TRUE(pool.keeps(kBlock));
    EXPECT_TRUE(pool.trim());
    EXPECT_EQ(budget->used(), 0u);
  }
}

TEST(BudgetedPool, TrimsWhatIsOfAnotherSize) {
  const auto budget = std::make_shared<MemoryBudget>();
  BudgetedPool pool(MemoryKind::kPinned, 100, budget, SIZE_MAX);
  std::vector<BudgetedPool::Block> blocks(6);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const size_t bytes = i < 4 ? 1000 : 5000;
    ASSERT_TRUE(pool.take(*portable_engine().device, bytes, &blocks[i]).ok());
  }
  for (auto& block : blocks) pool.give(std::move(block));
  EXPECT_TRUE(pool.trim_others(900));
  EXPECT_EQ(budget->used(), 4000u);
  EXPECT_EQ(pool.kept(900), 4u);
  EXPECT_FALSE(pool.trim_others(900));
  // New blocks are no longer as large as those of before.
  BudgetedPool::Block block;
  ASSERT_TRUE(pool.take(*portable_engine().device, 3000, &block).ok());
  EXPECT_EQ(block.memory->size(), 3000u);
}

}  // namespace
}  // namespace cudatransform::test
