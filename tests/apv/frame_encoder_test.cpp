// Encoding frames on the CPU: bytes equal those of the definition of the transform and of the
// slow writer, what is decoded are the coefficients that were coded, and headers have what was
// requested.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/frame_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "apv/access_unit.h"
#include "apv/chain_writer.h"
#include "apv/frame.h"
#include "tests/apv/encoder.h"
#include "tests/apv/frames.h"
#include "tests/engine/apv/definition.h"

namespace cudatransform::test {
namespace {

// Quantized coefficients by the definition, row by row in blocks.
std::vector<int16_t> define_coefs(const ApvFrameToEncode& frame, int c) {
  const ApvForwardJob job = apv_forward_job(frame.format, frame.source);
  const ApvForwardPlane& plane = job.plane[c];
  std::vector<int16_t> coefs;
  for (int by = 0; by < plane.blocks_down; ++by) {
    for (int bx = 0; bx < plane.blocks_across; ++bx) {
      int samples[64];
      for (int i = 0; i < 64; ++i) {
        const int x = std::min(8 * bx + i % 8, plane.width - 1);
        const int y = std::min(8 * by + i / 8, plane.height - 1);
        samples[i] = frame.planes[c][static_cast<size_t>(y * plane.width + x)];
      }
      ApvQuantization quantization = plane.quantization;
      quantization.rounding = c == 0 ? 212 : 128;
      const auto block = define_apv_forward(samples, job.depth, &quantization);
      std::array<int16_t, 64> rows;
      for (size_t i = 0; i < 64; ++i) rows[static_cast<size_t>(kApvScanOrder[i])] = block[i];
      coefs.insert(coefs.end(), rows.begin(), rows.end());
    }
  }
  return coefs;
}

ApvPictureToWrite define(const ApvFrameToEncode& frame) {
  const ApvFrameHeader& header = frame.format.header;
  ApvPictureToWrite picture;
  picture.width = header.info.width;
  picture.height = header.info.height;
  picture.chroma = header.info.chroma;
  picture.depth = header.info.depth;
  picture.qp = frame.format.qp[0];
  picture.tile_mbs_across = header.tile_mbs_across;
  picture.tile_mbs_down = header.tile_mbs_down;
  picture.color = header.color;
  if (header.matrix[0][0] != 16)
    picture.matrix.assign(std::begin(header.matrix[0]), std::end(header.matrix[0]));
  for (int c = 0; c < header.info.components(); ++c) picture.coefs[c] = define_coefs(frame, c);
  return picture;
}

TEST(ApvFrameEncoder, EqualsTheDefinition) {
  std::mt19937 random(3);
  constexpr ApvChroma kChromas[] = {ApvChroma::k400, ApvChroma::k422, ApvChroma::k444,
                                    ApvChroma::k4444};
  for (int qp = 0; qp <= 63; qp += 3) {
    for (const ApvChroma chroma : kChromas) {
      const int depth = qp % 2 == 0 ? 10 : 12;
      ApvFrameToEncode frame;
      describe_apv(chroma, depth, 2 * (1 + random() % 200), 1 + random() % 200, &frame);
      std::fill(std::begin(frame.format.qp), std::end(frame.format.qp), static_cast<uint8_t>(qp));
      if (qp % 5 == 0) frame.format.header.color = {9, 16, 9, qp % 10 == 0};
      if (qp % 4 == 0) {
        for (auto& matrix : frame.format.header.matrix)
          for (int i = 0; i < 64; ++i) matrix[i] = static_cast<uint8_t>(17 + 3 * i);
      }
      draw_apv(random, &frame);
      const ApvPictureToWrite picture = define(frame);
      ASSERT_EQ(encode_apv(frame), apv_access_unit({apv_unit(1, encode_apv_frame(picture))}))
          << "qp " << qp << ", chroma " << static_cast<int>(chroma);
    }
  }
}

// What the decoder reads are the coefficients, also where codes are long: quantization parameter 0
// at 12 bits has differences of DC of more than 15 bits.
TEST(ApvFrameEncoder, DecodesToItsCoefficients) {
  std::mt19937 random(4);
  for (int i = 0; i < 8; ++i) {
    ApvFrameToEncode frame;
    describe_apv(ApvChroma::k422, i < 4 ? 12 : 16, 320, 160, &frame);
    frame.format.qp[1] = static_cast<uint8_t>(i);
    draw_apv(random, &frame);
    const ApvBytes bytes = encode_apv(frame);
    ApvAccessUnit unit;
    ASSERT_TRUE(read_apv_access_unit(bytes, &unit).ok());
    ApvFrame read;
    ASSERT_TRUE(read.begin(unit.frame, nullptr, {}).ok());
    std::vector<int16_t> coefs(read.coef_count());
    for (size_t i = 0; i < read.chain_count(); ++i) read.decode_chain(i, coefs.data());
    EXPECT_EQ(read.damage(), nullptr);
    std::vector<int16_t> expected;
    for (int c = 0; c < 3; ++c) {
      const std::vector<int16_t> of_component = define_coefs(frame, c);
      expected.insert(expected.end(), of_component.begin(), of_component.end());
    }
    EXPECT_EQ(coefs, expected);
  }
}

TEST(ApvFrameEncoder, Metadata) {
  ApvFrameToEncode frame;
  describe_apv(ApvChroma::k422, 10, 64, 16, &frame);
  std::mt19937 random(5);
  draw_apv(random, &frame);
  ApvMetadata metadata;
  metadata.mastering = {{{1, 2}, {3, 4}, {5, 65535}}, {6, 7}, 0x12345678, 9};
  metadata.light = {1000, 400};
  ApvAccessUnit unit;
  ASSERT_TRUE(read_apv_access_unit(encode_apv(frame, metadata), &unit).ok());
  EXPECT_EQ(unit.metadata.mastering, metadata.mastering);
  EXPECT_EQ(unit.metadata.light, metadata.light);
  EXPECT_FALSE(unit.metadata.is_damaged);
}

TEST(ApvFrameEncoder, RefusedFrames) {
  ApvFrameToEncode frame;
  describe_apv(ApvChroma::k422, 10, 64, 16, &frame);
  std::mt19937 random(6);
  draw_apv(random, &frame);
  ApvFrameEncoder encoder;
  frame.format.qp[2] = 64;
  EXPECT_EQ(encoder.begin(frame.format, frame.source).code, StatusCode::kInvalidArgument);
  frame.format.qp[2] = 0;
  frame.source.data[1] = nullptr;
  EXPECT_EQ(encoder.begin(frame.format, frame.source).code, StatusCode::kInvalidArgument);
}

TEST(ApvFrameEncoder, Profiles) {
  uint8_t profile = 0;
  const auto name = [&](ApvChroma chroma, int depth) {
    return choose_apv_profile(chroma, depth, &profile).ok() ? std::string(apv_profile_name(profile))
                                                            : std::string();
  };
  EXPECT_EQ(name(ApvChroma::k422, 10), "422-10");
  EXPECT_EQ(name(ApvChroma::k422, 12), "422-12");
  EXPECT_EQ(name(ApvChroma::k444, 11), "444-12");
  EXPECT_EQ(name(ApvChroma::k4444, 10), "4444-10");
  EXPECT_EQ(name(ApvChroma::k400, 10), "400-10");
  EXPECT_EQ(name(ApvChroma::k400, 12), "");
  EXPECT_EQ(name(ApvChroma::k444, 14), "");
}

TEST(ApvFrameEncoder, Levels) {
  EXPECT_EQ(choose_apv_level(352 * 288 * 25, 0, 2), 30);
  EXPECT_EQ(choose_apv_level(704 * 304 * 25, 0, 2), 33);
  EXPECT_EQ(choose_apv_level(1920 * 1088 * 60., 0, 2), 93);
  EXPECT_EQ(choose_apv_level(1920 * 1088 * 60., 893e6, 2), 123);
  EXPECT_EQ(choose_apv_level(1920 * 1088 * 60., 893e6, 3), 120);
  EXPECT_EQ(choose_apv_level(1e12, 0, 0), 213);
}

TEST(ApvFrameEncoder, Tiles) {
  EXPECT_EQ(apv_tile_mbs(256, 120), 16u);
  EXPECT_EQ(apv_tile_mbs(257, 120), 17u);
  EXPECT_EQ(apv_tile_mbs(256, 480), 24u);
  EXPECT_EQ(apv_tile_mbs(256, 481), 25u);
  EXPECT_EQ(apv_tile_mbs(UINT32_MAX, 1), (1u << 20) - 1);
}

TEST(ApvChainWriter, Nonzero) {
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    int16_t coefs[64];
    uint64_t expected = 0;
    for (int k = 0; k < 64; ++k) {
      constexpr int16_t kValues[] = {0, 0, 1, -1, INT16_MIN, INT16_MAX, 256, -256};
      coefs[k] = kValues[random() % 8];
      expected |= uint64_t{coefs[k] != 0} << k;
    }
    EXPECT_EQ(apv_nonzero(coefs), expected);
  }
}

}  // namespace
}  // namespace cudatransform::test
