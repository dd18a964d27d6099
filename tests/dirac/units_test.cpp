// Finding units: in step, without distances, after rubbish, in pieces.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/units.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/dirac/split.h"

namespace cudatransform::test {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 30;

using Bytes = std::vector<uint8_t>;

void put(Bytes& bytes, uint64_t value, int count) {
  for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<uint8_t>(value >> shift));
  }
}

struct Unit {
  uint8_t code;
  Bytes data;
  bool says_next = true;
};

Bytes stream_of(const std::vector<Unit>& units) {
  Bytes bytes;
  uint64_t previous = 0;
  for (const Unit& unit : units) {
    for (const char c : {'B', 'B', 'C', 'D'}) bytes.push_back(static_cast<uint8_t>(c));
    const uint64_t size = kDiracParseInfoBytes + unit.data.size();
    put(bytes, unit.code, 1);
    put(bytes, unit.says_next && unit.code != 0x10 ? size : 0, 4);
    put(bytes, previous, 4);
    bytes.insert(bytes.end(), unit.data.begin(), unit.data.end());
    previous = size;
  }
  return bytes;
}

Bytes text(const std::string& words) { return {words.begin(), words.end()}; }

// The codes of all units, and "?" for each run of bytes that belongs to none.
std::string walk(const Bytes& bytes, bool in_step, uint64_t max_bytes = kNoLimit) {
  std::string found;
  for (size_t at = 0; at < bytes.size();) {
    const DiracUnitSpan span =
        find_dirac_unit({bytes.data() + at, bytes.size() - at}, true, in_step, max_bytes);
    if (span.skipped > 0) found += "? ";
    at += span.skipped;
    if (span.size == 0 && span.skipped == 0) return found + "stuck";
    if (span.size > 0) {
      found += std::to_string(bytes[at + 4]) + ":" +
               std::to_string(span.size - kDiracParseInfoBytes) + " ";
    }
    at += span.size;
    in_step = true;
  }
  return found;
}

const std::vector<Unit> kUnits = {{0x00, text("header")},
                                  {0x20, {}},
                                  {0x0c, text("BBCD is no unit")},
                                  {0xe8, text("x")},
                                  {0x10, {}},
                                  {0x00, text("again")},
                                  {0x10, {}}};
const char* const kWalked = "0:6 32:0 12:15 232:1 16:0 0:5 16:0 ";

TEST(DiracUnits, InStep) {
  EXPECT_EQ(walk(stream_of(kUnits), true), kWalked);
  EXPECT_EQ(walk(stream_of(kUnits), false), kWalked);
}

TEST(DiracUnits, WithoutDistances) {
  std::vector<Unit> units = kUnits;
  for (Unit& unit : units) unit.says_next = false;
  EXPECT_EQ(walk(stream_of(units), true), kWalked);
}

TEST(DiracUnits, BehindRubbish) {
  Bytes rubbish = text("rubbish BBCD that says nothing BBC");
  const Bytes stream = stream_of(kUnits);
  rubbish.insert(rubbish.end(), stream.begin(), stream.end());
  EXPECT_EQ(walk(rubbish, false), std::string("? ").append(kWalked));
}

TEST(DiracUnits, DistancesThatLeadNowhere) {
  Bytes stream = stream_of(kUnits);
  stream[8] = 200;  // of the first unit
  EXPECT_EQ(walk(stream, true), kWalked);
  stream[5] = 0xff;
  EXPECT_EQ(walk(stream, true), kWalked);
}

TEST(DiracUnits, AStreamThatIsCutOff) {
  Bytes stream = stream_of({{0x00, text("header")}, {0x08, text("a picture of bytes")}});
  stream.resize(stream.size() - 9);
  EXPECT_EQ(walk(stream, true), "0:6 8:9 ");
}

TEST(DiracUnits, UnitsAreNoLargerThanAllowed) {
  EXPECT_EQ(walk(stream_of({{0x00, Bytes(100)}, {0x10, {}}}), true, 50), "0:37 ? 16:0 ");
}

TEST(DiracUnits, InPieces) {
  const Bytes stream = stream_of(kUnits);
  for (const bool in_step : {true, false}) {
    size_t needed = 0;
    for (size_t size = 0; size <= stream.size(); ++size) {
      const DiracUnitSpan span = find_dirac_unit({stream.data(), size}, false, in_step, kNoLimit);
      EXPECT_EQ(span.skipped, 0u) << size;
      if (span.size == 0) {
        needed = size + 1;
      } else {
        EXPECT_EQ(span.size, kDiracParseInfoBytes + 6) << size;
      }
    }
    EXPECT_EQ(needed, kDiracParseInfoBytes * (in_step ? 1 : 2) + 6);
  }
}

// A unit that claims this size, and then `behind`, over and over.
Bytes claiming(uint8_t code, uint32_t claim, const Bytes& behind) {
  Bytes stream = stream_of({{0x00, text("header")}, {0x08, text("picture")}, {code, {}}});
  for (int i = 0; i < 4; ++i)
    stream[stream.size() - 8 + static_cast<size_t>(i)] =
        static_cast<uint8_t>(claim >> (24 - 8 * i));
  while (stream.size() < 100000) stream.insert(stream.end(), behind.begin(), behind.end());
  return stream;
}

// For any sizes that units claim and any cuts of the stream.
TEST(DiracUnits, EachByteIsSearchedOnce) {
  Bytes padding = text("BBCD0"), nothing = text("BBCD\b");
  put(padding, 13, 4);
  put(padding, 13, 4);
  put(nothing, 1, 4);
  put(nothing, 1, 4);
  const DiracUnitLimits limits{20000, 10000};
  struct Case {
    Bytes stream;
    bool is_plausible;  // units' claims: believed until data has come after them
  };
  for (const Case& c :
       {Case{claiming(0x30, 0x0fffffff, padding), false},
        Case{claiming(0x08, 0x0fffffff, padding), false}, Case{claiming(0x08, 0, nothing), false},
        Case{claiming(0x08, 19000, nothing), true}, Case{claiming(0x30, 9000, padding), true},
        Case{claiming(0x30, 0x0fffffff, nothing), false},
        Case{claiming(0x08, 0, text("BBCD")), false}}) {
    const DiracSplitCost whole = split_dirac(c.stream, {c.stream.size()}, true, limits);
    for (const size_t piece : {size_t{1}, size_t{13}, size_t{4096}}) {
      const DiracSplitCost pieces = split_dirac(c.stream, {piece}, true, limits);
      EXPECT_EQ(pieces.end, c.stream.size());
      if (!c.is_plausible) {
        EXPECT_EQ(pieces.units, whole.units);
      }
      EXPECT_LE(pieces.max_held, limits.picture + piece + 2 * kDiracParseInfoBytes);
      EXPECT_LE(pieces.examined, DiracSplitter::max_examined(c.stream.size(), pieces.calls));
    }
  }
}

TEST(DiracUnits, WhatCodesMean) {
  const auto info = [](uint8_t code) {
    DiracParseInfo i;
    i.code = code;
    return i;
  };
  EXPECT_EQ(info(0x0e).reference_count(), 2);
  EXPECT_TRUE(info(0x0e).is_reference() && info(0x0e).is_arithmetic());
  EXPECT_TRUE(info(0x48).is_core_picture() && !info(0x48).is_arithmetic());
  EXPECT_FALSE(info(0x0b).is_picture()) << "three references";
  EXPECT_TRUE(info(0xc8).is_low_delay() && info(0x88).is_low_delay());
  EXPECT_TRUE(info(0xe8).is_high_quality() && !info(0xe8).may_be_fragment());
  EXPECT_TRUE(info(0xec).may_be_fragment() && info(0xcc).may_be_fragment());
  for (const int code : {0x00, 0x10, 0x20, 0x30, 0x40, 0x90}) {
    EXPECT_FALSE(info(static_cast<uint8_t>(code)).is_picture()) << code;
  }
}

}  // namespace
}  // namespace cudatransform::test
