// The order in which pictures are shown, and the pictures that are references.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/order.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace cudatransform::test {
namespace {

using Picture = std::shared_ptr<int>;
using Numbers = std::vector<uint32_t>;

Picture picture(uint32_t number) { return std::make_shared<int>(static_cast<int>(number)); }

// For `coded`: how many were shown after each, and all shown ones in order.
struct Shown {
  Numbers counts, order;
};
Shown show(const Numbers& coded, int window) {
  DiracOrder<Picture> order(window);
  Shown shown;
  uint32_t number;
  Picture handle;
  const auto pop = [&](bool at_end) {
    while (order.pop(at_end, &number, &handle)) {
      EXPECT_EQ(*handle, static_cast<int>(number));
      shown.order.push_back(number);
    }
  };
  for (const uint32_t n : coded) {
    order.push(n, picture(n));
    pop(false);
    shown.counts.push_back(static_cast<uint32_t>(shown.order.size()));
  }
  pop(true);
  return shown;
}

TEST(DiracOrder, ShowsTheNextAtOnce) {
  const Shown shown = show({5, 6, 9, 7, 8, 12, 10, 11}, 2);
  EXPECT_EQ(shown.order, (Numbers{5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(shown.counts, (Numbers{1, 2, 2, 3, 5, 5, 6, 8}));
}

TEST(DiracOrder, NumbersGoRound) {
  EXPECT_EQ(show({0xfffffffe, 1, 0xffffffff, 0}, 2).order, (Numbers{0xfffffffe, 0xffffffff, 0, 1}));
}

TEST(DiracOrder, DoesNotWaitForWhatIsMissing) {
  const Shown shown = show({0, 10, 11, 12, 13}, 2);
  EXPECT_EQ(shown.order, (Numbers{0, 10, 11, 12, 13}));
  EXPECT_EQ(shown.counts, (Numbers{1, 1, 1, 4, 5}));
}

TEST(DiracReferences, OldestFirst) {
  DiracReferences<Picture> references;
  EXPECT_EQ(references.find(3), nullptr);
  for (uint32_t n = 0; n < DiracReferences<Picture>::kMax; ++n) references.add(n, picture(n));
  references.add(100, picture(100));
  EXPECT_EQ(references.find(0), nullptr) << "the oldest gives way";
  EXPECT_EQ(*references.find(1), 1);
  references.retire(1);
  EXPECT_EQ(references.find(1), nullptr);
  references.add(101, picture(101));
  EXPECT_NE(references.find(2), nullptr) << "there was room";
  references.add(2, picture(7));
  EXPECT_EQ(*references.find(2), 7) << "the newer of two with one number";
  const Picture kept = references.find(5);
  EXPECT_EQ(kept.use_count(), 2);
  references.clear();
  EXPECT_EQ(kept.use_count(), 1) << "nothing is held that is not a reference";
}

}  // namespace
}  // namespace cudatransform::test
