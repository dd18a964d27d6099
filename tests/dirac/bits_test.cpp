// Reading bits: codes of every length at every position, and the ends of bounded blocks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/bits.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/dirac/bit_writer.h"

namespace cudatransform::test {
namespace {

DiracBits reader_of(const std::vector<uint8_t>& bytes) { return DiracBits(bytes); }

// Bits as text, ones past their end: the slow definition of codes.
struct TextBits {
  std::string bits;
  size_t at = 0;
  bool bit() { return at < bits.size() ? bits[at++] == '1' : (++at, true); }
  uint64_t unsigned_code() {
    uint64_t value = 1;
    while (!bit()) value = 2 * value + static_cast<uint64_t>(bit());
    return value - 1;
  }
  int64_t signed_code() {
    const auto value = static_cast<int64_t>(unsigned_code());
    return value != 0 && bit() ? -value : value;
  }
};
TextBits text_of(const std::vector<uint8_t>& bytes, size_t from, size_t to) {
  TextBits text;
  for (size_t i = from; i < to; ++i) text.bits += bytes[i / 8] >> (7 - i % 8) & 1 ? '1' : '0';
  return text;
}

TEST(DiracBits, ReadsWhatWasWritten) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    BitWriter writer;
    std::vector<int64_t> values;
    writer.number(round, round % 9);  // codes begin anywhere in a byte
    for (int i = 0; i < 50; ++i) {
      const auto value = static_cast<int64_t>(random() >> random() % 32) * (i % 2 != 0 ? -1 : 1);
      values.push_back(value / 2);
      writer.signed_code(values.back());
      writer.unsigned_code(static_cast<uint64_t>(std::abs(value)));
    }
    DiracBits bits = reader_of(writer.bytes());
    bits.number(round % 9);
    for (const int64_t value : values) {
      EXPECT_EQ(bits.signed_code(), value);
      EXPECT_EQ(bits.unsigned_code() / 2, std::abs(value));
    }
    EXPECT_EQ(bits.position(), writer.count());
    EXPECT_FALSE(bits.overran() || bits.too_large());
  }
}

TEST(DiracBits, RandomBlocksReadAsTheDefinition) {
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes(1 + random() % 24);
    for (uint8_t& byte : bytes) {
      byte = static_cast<uint8_t>(random());
      if (round % 3 == 0) byte &= static_cast<uint8_t>(random() & random());  // long codes
    }
    const size_t from = random() % (8 * bytes.size()), size = random() % (8 * bytes.size() + 20);
    DiracBits all = reader_of(bytes);
    all.number(static_cast<int>(from % 32));
    for (size_t i = from % 32; i < from; ++i) all.bit();
    DiracBits block = all.block(size);
    EXPECT_EQ(all.position(), from + size) << "reading goes on at the block's stated end";
    TextBits text = text_of(bytes, from, std::min(from + size, 8 * bytes.size()));
    for (int i = 0; i < 40; ++i) {
      if (random() % 2 != 0) {
        ASSERT_EQ(block.signed_code(), static_cast<int32_t>(text.signed_code()));
      } else {
        ASSERT_EQ(block.unsigned_code(), static_cast<uint32_t>(text.unsigned_code()));
      }
      ASSERT_EQ(block.position(), from + text.at);
      ASSERT_EQ(block.at_end(), text.at >= text.bits.size());
    }
  }
}

TEST(DiracBits, RowsOfCodesReadAsOneAfterTheOther) {
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes(1 + random() % 60);
    for (uint8_t& byte : bytes) {
      byte = static_cast<uint8_t>(random());
      if (round % 3 == 0) byte |= static_cast<uint8_t>(random() | random());  // zeros
      if (round % 3 == 1) byte &= static_cast<uint8_t>(random());             // long codes
    }
    DiracBits row = reader_of(bytes);
    row.number(static_cast<int>(random() % 20));
    row = row.block(random() % (8 * bytes.size()));
    DiracBits single = row;
    const auto count = static_cast<int32_t>(random() % 150);
    std::vector<int32_t> values(static_cast<size_t>(count)), expected = values;
    row.signed_codes(count, [&](int32_t i, int32_t value) {
      EXPECT_NE(value, 0);
      values[static_cast<size_t>(i)] = value;
    });
    for (int32_t& value : expected) value = single.signed_code();
    ASSERT_EQ(values, expected);
    ASSERT_EQ(row.position(), single.position());
  }
}

TEST(DiracBits, CodesThatTheEndCutsOff) {
  // After the end: 0. A data bit is there: it counts. The sign is missing: negative.
  const std::vector<uint8_t> bytes = {0x20, 0xff};
  DiracBits all = reader_of(bytes);
  EXPECT_EQ(all.block(0).unsigned_code(), 0u);
  DiracBits cut_stop = reader_of(bytes).block(1);  // 0
  EXPECT_EQ(cut_stop.unsigned_code(), 2u);
  DiracBits cut_data = reader_of(bytes).block(2);  // 0 0
  EXPECT_EQ(cut_data.unsigned_code(), 1u);
  DiracBits cut_sign = reader_of(bytes).block(3);  // 0 0 1
  EXPECT_EQ(cut_sign.signed_code(), -1);
  EXPECT_TRUE(cut_sign.overran());
}

TEST(DiracBits, NumbersOfMoreThan32Bits) {
  BitWriter writer;
  writer.unsigned_code(0xffffffff - 1);
  writer.unsigned_code(uint64_t{1} << 40);
  writer.unsigned_code(5);
  DiracBits bits = reader_of(writer.bytes());
  EXPECT_EQ(bits.unsigned_code(), 0xffffffffu - 1);
  EXPECT_FALSE(bits.too_large());
  EXPECT_EQ(bits.unsigned_code(), 0u) << "modulo 2^32";
  EXPECT_TRUE(bits.too_large());
  EXPECT_EQ(bits.unsigned_code(), 5u);
}

TEST(DiracBits, NothingIsReadBehindTheBytes) {
  DiracBits none;
  EXPECT_EQ(none.unsigned_code(), 0u);
  EXPECT_EQ(none.number(32), 0xffffffffu);
  EXPECT_EQ(none.bytes_left(), 0u);
  const std::vector<uint8_t> bytes = {1, 2, 3};
  DiracBits bits = reader_of(bytes);
  bits.skip_bytes(uint64_t{1} << 62);
  EXPECT_TRUE(bits.at_end());
  EXPECT_EQ(bits.bytes_left(), 0u);
  EXPECT_TRUE(bits.bit());
}

}  // namespace
}  // namespace cudatransform::test
