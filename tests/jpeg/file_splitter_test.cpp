// The splitter of JPEG files: what it finds in hostile streams, however they are cut, and at what
// cost.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "jpeg/file_splitter.h"
#include "tests/jpeg/hostile_streams.h"
#include "tests/jpeg/split_files.h"

namespace cudatransform::test {
namespace {

constexpr JpegFileRules kFirst = {.with_rest = true}, kAll = {.with_others = false};

using Files = std::vector<std::pair<size_t, size_t>>;

Files files_of(const Bytes& stream, const JpegFileRules& rules = kFirst) {
  return split_files(stream, {stream.size()}, rules).files;
}

TEST(JpegFileSplitter, CostsAreLinear) {
  constexpr size_t kBytes = 200000;
  for (const HostileStream& hostile : kHostileJpegs)
    for (const JpegFileRules& rules :
         {kFirst, kAll, JpegFileRules{.with_rest = true, .is_framed = true}})
      for (const size_t piece : {size_t{1}, size_t{188}, size_t{4096}, 2 * kBytes}) {
        const Bytes stream = hostile.make(kBytes);
        const SplitFilesCost cost = split_files(stream, {piece}, rules);
        EXPECT_LE(cost.examined, max_examined(stream.size(), cost.calls))
            << hostile.name << " in pieces of " << piece;
        EXPECT_LE(cost.calls, stream.size() / piece + 2 * stream.size() + 2) << hostile.name;
      }
}

// What is found does not depend on the pieces of a stream without times.
TEST(JpegFileSplitter, PiecesDoNotMatter) {
  for (const HostileStream& hostile : kHostileJpegs)
    for (const JpegFileRules& rules : {kFirst, kAll, JpegFileRules{.with_others = false}}) {
      const Bytes stream = hostile.make(20000);
      const Files whole = files_of(stream, rules);
      for (const size_t piece : {size_t{1}, size_t{7}, size_t{188}})
        EXPECT_EQ(split_files(stream, {piece}, rules).files, whole)
            << hostile.name << " in pieces of " << piece;
    }
}

// An index that is not true holds no more than the bytes that show it.
TEST(JpegFileSplitter, UntrueIndicesHoldNothing) {
  for (const char* name : {"an index that claims 200 MB", "indices that claim all that follows",
                           "indices that claim 1 MB"}) {
    const auto hostile =
        std::find_if(std::begin(kHostileJpegs), std::end(kHostileJpegs),
                     [name](const HostileStream& h) { return h.name == std::string(name); });
    const JpegFileRules no_rest = {};
    EXPECT_LE(split_files(hostile->make(100000), {188}, no_rest).max_held, 1000u) << name;
  }
}

// A true index holds its pictures, as many as may be awaited.
TEST(JpegFileSplitter, BoundsWhatIsAwaited) {
  const size_t first = with_claims({Claim()}).size(), tiny = tiny_picture().size();
  // The second picture's place has trailing bytes.
  const Bytes file = joined_bytes(
      {with_claims({{first, 50000}}), tiny_picture(), Bytes(50000 - tiny, 0), tiny_picture()});
  JpegFileRules rules;
  EXPECT_EQ(split_files(file, {100}, rules).files,
            (Files{{0, first + 50000}, {first + 50000, file.size()}}));
  rules.most = 30000;
  const SplitFilesCost cost = split_files(file, {100}, rules);
  EXPECT_EQ(cost.files, (Files{{0, first}, {first, first + tiny}, {first + 50000, file.size()}}));
  EXPECT_LE(cost.max_held, rules.most + 200);
  // So does a picture, and trailing bytes.
  const Bytes open = joined_bytes({{0xff, 0xd8, 0xff, 0xda, 0, 2}, Bytes(90000, 0)});
  EXPECT_EQ(split_files(open, {100}, rules).files, (Files{{0, 30100}}));
  rules.with_rest = true;
  const Bytes trailer = joined_bytes({tiny_picture(), Bytes(90000, 0)});
  const SplitFilesCost cut = split_files(trailer, {100}, rules);
  EXPECT_EQ(cut.files, (Files{{0, tiny}}));
  EXPECT_LE(cut.max_held, rules.most + 200);
  EXPECT_EQ(files_of(trailer, rules), (Files{{0, tiny}}));
}

// Many files with true indices after one that is not are still taken whole.
TEST(JpegFileSplitter, BelievesIndicesAgain) {
  const size_t first = with_claims({Claim()}).size(), tiny = tiny_picture().size();
  const Bytes good = joined_bytes({with_claims({{first, tiny}}), tiny_picture()});
  const Bytes bad = joined_bytes({with_claims({{first, tiny + 9}}), tiny_picture()});
  Bytes stream;
  Files expected;
  for (int i = 0; i < 300; i++) {
    const size_t begin = stream.size();
    const Bytes& next = i % 3 == 0 ? bad : good;
    stream.insert(stream.end(), next.begin(), next.end());
    if (i % 3 == 0) expected.emplace_back(begin, begin + first);
    expected.emplace_back(i % 3 == 0 ? begin + first : begin, stream.size());
  }
  EXPECT_EQ(files_of(stream), expected);
}

TEST(JpegFileSplitter, SoiBeginsAPictureWithASegmentBehindIt) {
  const Bytes picture = tiny_picture(), soi = {0xff, 0xd8}, eoi = {0xff, 0xd9};
  const size_t size = picture.size();
  EXPECT_EQ(files_of(joined_bytes({soi, picture})), (Files{{2, 2 + size}}));
  EXPECT_EQ(files_of(joined_bytes({soi, {1, 2, 3}, soi, picture})), (Files{{7, 7 + size}}));
  EXPECT_EQ(files_of(joined_bytes({soi, eoi, picture}), kAll), (Files{{4, 4 + size}}));
  // There is nothing else.
  EXPECT_EQ(files_of(joined_bytes({soi, eoi})), (Files{{0, 4}}));
  EXPECT_EQ(files_of(soi), (Files{{0, 2}}));
  EXPECT_EQ(files_of(repeated(soi, 100)), (Files{{98, 100}}));
  EXPECT_EQ(files_of(repeated(joined_bytes({soi, eoi}), 100)), (Files{{96, 100}}));
  // A piece of a framed stream.
  JpegFileRules framed;
  framed.is_framed = true;
  EXPECT_EQ(files_of(joined_bytes({soi, eoi}), framed), (Files{{0, 4}}));
}

}  // namespace
}  // namespace cudatransform::test
