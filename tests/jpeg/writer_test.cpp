// JPEG files of 12 bits a sample as JpegWriter writes them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "jpeg/reader.h"
#include "tests/jpeg/encode_pictures.h"
#include "tests/jpeg/slow_codec.h"

namespace cudatransform::test {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr JpegColor kYcbcr = JpegColor::kYcbcr, kRgb = JpegColor::kRgb, kGray = JpegColor::kGray,
                    kCmyk = JpegColor::kCmyk, kYcck = JpegColor::kYcck;

Bytes bytes_of(const JpegBytes& file) { return {file.data(), file.data() + file.size()}; }

// The first component's divisors have 16 bits.
struct WideTables {
  uint16_t tables[2][64];
  WideTables() {
    for (int k = 0; k < 64; ++k) {
      tables[0][k] = static_cast<uint16_t>(65535 - 1000 * k);
      tables[1][k] = static_cast<uint16_t>(2 * k + 1);
    }
  }
};

const JpegCase kTwelveBitCases[] = {
    {1, 1, kGray, 1, 1},
    {75, 50, kGray, 1, 1, JpegFill::kSparse, 3},
    {161, 90, kYcbcr, 2, 2, JpegFill::kPicture},
    {161, 90, kYcbcr, 2, 1, JpegFill::kDense, 7},
    {100, 75, kYcbcr, 1, 2, JpegFill::kExtreme},
    {129, 40, kYcbcr, 4, 1, JpegFill::kOnes},
    {24, 200, kYcbcr, 1, 1, JpegFill::kZero, 1},
    {61, 60, kRgb, 1, 1, JpegFill::kSparse},
    {61, 60, kCmyk, 1, 1, JpegFill::kPicture},
    {61, 60, kYcck, 2, 2, JpegFill::kPicture, 2},
    // One scan for each component.
    {75, 50, kYcbcr, 0, 0, JpegFill::kDense, 0, false, {{{4, 4, 1, 1}, {4, 2, 1, 1}}}},
    {67, 45, kRgb, 0, 0, JpegFill::kSparse, 3, false, {{{3, 1, 2, 1}, {3, 1, 2, 1}}}},
    {40, 90, kYcck, 0, 0, JpegFill::kOnes, 2, false, {{{1, 2, 2, 3}, {3, 2, 1, 1}}}},
    {17, 9, JpegColor::kTwo, 0, 0, JpegFill::kExtreme, 0, false, {{{4, 3, 1, 1}, {3, 4, 1, 1}}}},
};

// libjpeg may not write 12 bits. Where quantized coefficients are those of 8 bits, the file is its
// file of 8 bits with the best tables, except the frame header.
TEST(JpegWriter, TwelveBitsAreCodedAsLibjpegCodes) {
  for (const JpegCase& c : kTwelveBitCases) {
    SCOPED_TRACE(testing::Message() << c);
    JpegTestQcoefs qcoefs(c);
    const WideTables wide;
    JpegPicture picture = describe(c, qcoefs, wide.tables);
    JpegOptions options;
    options.restart_interval = c.restart;
    JpegWriter writer;
    JpegBytes eight, twelve;
    options.optimize = true;
    ASSERT_TRUE(writer.write(picture, options, &eight).ok());
    picture.depth = 12;
    options.optimize = false;
    ASSERT_TRUE(writer.write(picture, options, &twelve).ok());
    // Tables of 16 bits are not baseline's.
    Bytes expected = bytes_of(eight);
    const Bytes frame = {0xff, 0xc1};
    const auto sof = std::search(expected.begin(), expected.end(), frame.begin(), frame.end());
    ASSERT_NE(sof, expected.end());
    ASSERT_EQ(sof[4], 8);
    sof[4] = 12;
    EXPECT_EQ(bytes_of(twelve), expected);
  }
}

// Quantized coefficients of all sizes that 12 bits have.
TEST(JpegWriter, TwelveBitsAreReadBack) {
  for (const JpegCase& c : kTwelveBitCases) {
    if (c.color == kCmyk) continue;  // slow_decode() knows no names
    SCOPED_TRACE(testing::Message() << c);
    JpegTestQcoefs qcoefs(c);
    std::mt19937 random(c.width);
    for (JpegBlocks& component : qcoefs.components)
      for (int16_t& qcoef : component.qcoefs)
        qcoef = static_cast<int16_t>(qcoef << random() % 5 & ~15) | (qcoef & 15);
    const WideTables wide;
    JpegPicture picture = describe(c, qcoefs, wide.tables);
    picture.depth = 12;
    JpegOptions options;
    options.restart_interval = c.restart;
    JpegWriter writer;
    JpegBytes file;
    const Status status = writer.write(picture, options, &file);
    ASSERT_TRUE(status.ok()) << status.message;
    const SlowPicture read = slow_decode(bytes_of(file));
    EXPECT_EQ(read.depth, 12);
    EXPECT_EQ(read.frame_marker, 0xc1);
    for (size_t i = 0; i < read.components.size(); ++i) {
      const SlowComponent& component = read.components[i];
      const JpegBlocks& own = qcoefs.components[i];
      for (uint32_t y = 0; y < own.blocks_h; ++y)
        ASSERT_TRUE(std::equal(component.qcoefs.begin() + ptrdiff_t{64} * y * own.blocks_w,
                               component.qcoefs.begin() + ptrdiff_t{64} * (y + 1) * own.blocks_w,
                               own.qcoefs.begin() + static_cast<ptrdiff_t>(own.stride * y)));
      EXPECT_TRUE(std::equal(component.table.begin(), component.table.end(), picture.tables[i]));
    }
  }
}

// The limits of 12 bits, and other depths.
TEST(JpegWriter, TwelveBitsHaveLimits) {
  const JpegCase c{24, 8, kGray, 1, 1, JpegFill::kZero};
  const WideTables wide;
  const auto write = [&](uint32_t depth, int k, int first, int second, const JpegOptions& options) {
    JpegTestQcoefs qcoefs(c);
    qcoefs.components[0].qcoefs[static_cast<size_t>(k)] = static_cast<int16_t>(first);
    qcoefs.components[0].qcoefs[static_cast<size_t>(64 + k)] = static_cast<int16_t>(second);
    JpegPicture picture = describe(c, qcoefs, wide.tables);
    picture.depth = depth;
    JpegWriter writer;
    JpegBytes file;
    return writer.write(picture, options, &file);
  };
  EXPECT_TRUE(write(12, 5, 16383, -16383, {}).ok());
  EXPECT_TRUE(write(12, 0, 16383, -16384, {}).ok());
  EXPECT_TRUE(write(12, 0, 32767, 0, {}).ok());
  EXPECT_EQ(write(12, 5, 0, 16384, {}).message,
            "coefficient 16384 at (0, 5) of block (0, 1) of component 0 out of range, expected "
            "-16383 to 16383");
  EXPECT_EQ(write(12, 0, 16384, -16384, {}).message,
            "DC coefficients -16384 to 16384 of component 0 out of range, expected at most 32767 "
            "between any two and from 0");
  EXPECT_EQ(write(12, 0, -32768, 0, {}).code, StatusCode::kInvalidArgument);
  EXPECT_EQ(write(10, 0, 0, 0, {}).message, "precision of 10 bits, expected 8 or 12");
  EXPECT_TRUE(write(12, 5, 16383, -16383, {.progressive = true}).ok());
  EXPECT_TRUE(write(12, 0, 16383, -16384, {.progressive = true}).ok());
}

// Every libjpeg reads them, with the quantized coefficients of all sizes.
TEST(JpegWriter, TwelveBitsOfOtherProcesses) {
  for (const JpegOptions& options : {JpegOptions{.arithmetic = true},
                                     {.progressive = true, .arithmetic = true},
                                     {.progressive = true},
                                     {.progressive = true, .restart_interval = 3}}) {
    const JpegCase c{61, 50, kYcbcr, 2, 2, JpegFill::kDense};
    JpegTestQcoefs qcoefs(c);
    for (JpegBlocks& component : qcoefs.components)
      for (int16_t& qcoef : component.qcoefs) qcoef = static_cast<int16_t>(qcoef * 16);
    const WideTables wide;
    JpegPicture picture = describe(c, qcoefs, wide.tables);
    picture.depth = 12;
    JpegWriter writer;
    JpegBytes file;
    ASSERT_TRUE(writer.write(picture, options, &file).ok());
    JpegReader reader;
    JpegHeader header;
    ASSERT_TRUE(reader.read_header({file.data(), file.size()}, &header).ok());
    EXPECT_EQ(header.depth, 12u);
    std::vector<int16_t> memory[3];
    JpegQcoefs read[3];
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t blocks_w = header.blocks_w[i], blocks_h = header.blocks_h[i];
      memory[i].resize(size_t{64} * blocks_w * blocks_h);
      read[i] = {memory[i].data(), ptrdiff_t{128} * blocks_w, blocks_w, blocks_h};
    }
    JpegTables tables;
    JpegFindings found;
    ASSERT_TRUE(reader.read_coefficients(read, &tables, &found).ok());
    EXPECT_EQ(found.damage, "");
    for (size_t i = 0; i < 3; ++i) {
      const JpegBlocks& own = qcoefs.components[i];
      for (uint32_t y = 0; y < own.blocks_h; ++y)
        EXPECT_TRUE(std::equal(read[i].row(y), read[i].row(y) + size_t{64} * own.blocks_w,
                               &own.qcoefs[own.stride * y]))
            << "component " << i << ", row " << y;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
