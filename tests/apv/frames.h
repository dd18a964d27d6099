// Synthetic frames for tests of APV's encoder, and their encoding on the CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "apv/frame_encoder.h"

namespace cudatransform::test {

struct ApvFrameToEncode {
  ApvFrameFormat format;
  std::vector<uint16_t> planes[kMaxApvComponents];
  ApvSource source;
};

inline void describe_apv(ApvChroma chroma, int depth, uint32_t width, uint32_t height,
                         ApvFrameToEncode* frame) {
  ApvFrameHeader& header = frame->format.header;
  header.info = {33, 123, 2, width, height, chroma, depth};
  for (auto& matrix : header.matrix) std::fill(std::begin(matrix), std::end(matrix), uint8_t{16});
  ASSERT_TRUE(header.set_tiles(16, 8).ok());
}

// Waves, noise, and areas of one value.
inline void draw_apv(std::mt19937& random, ApvFrameToEncode* frame) {
  const ApvFrameInfo& info = frame->format.header.info;
  const uint32_t peak = (1u << info.depth) - 1;
  for (int c = 0; c < info.components(); ++c) {
    const uint32_t width = info.width_of(c);
    frame->planes[c].resize(size_t{width} * info.height);
    const uint32_t noise = 1u << random() % static_cast<uint32_t>(info.depth);
    for (size_t i = 0; i < frame->planes[c].size(); ++i) {
      const size_t x = i % width, y = i / width;
      const auto wave = static_cast<uint32_t>(x * x / 7 + y * 11) % (peak + 1);
      const bool is_flat = (x / 32 + y / 16) % 3 == 0;
      frame->planes[c][i] =
          static_cast<uint16_t>(is_flat ? (x / 32 % 2 == 0 ? 0 : peak)
                                        : std::min<uint32_t>(wave + random() % noise, peak));
    }
    frame->source.data[c] = frame->planes[c].data();
    frame->source.pitch[c] = ptrdiff_t{2} * width;
  }
}

inline ApvBytes encode_apv(const ApvFrameToEncode& frame, const ApvMetadata& metadata = {}) {
  ApvFrameEncoder encoder;
  EXPECT_TRUE(encoder.begin(frame.format, frame.source).ok());
  for (int i = encoder.tiles() - 1; i >= 0; --i) encoder.encode_tile(i);
  size_t bytes = 0;
  EXPECT_TRUE(encoder.finish(make_apv_metadata(metadata, {}), &bytes).ok());
  ApvBytes unit(bytes, 0xA5);
  encoder.write(unit.data());
  return unit;
}

}  // namespace cudatransform::test
