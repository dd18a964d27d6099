// Makes the frames of the CPU benchmark.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/frames.h"

#include <unistd.h>

#include <algorithm>

#include "tests/bench/cpu/jobs.h"
#include "tests/engine/dct8x8/picture.h"

namespace cudatransform::bench {

std::vector<uint8_t> tiled_picture(int width, int height) {
  constexpr int kTileWidth = 960, kTileHeight = 540;
  const test::Picture tile = test::make_picture(test::Sampling::kGrey, kTileWidth, kTileHeight, 8,
                                                test::Content::kPhoto, 1);
  std::vector<uint8_t> picture(size_t(width) * size_t(height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      picture[size_t(y) * size_t(width) + size_t(x)] =
          uint8_t(tile[0].at(x % kTileWidth, y % kTileHeight));
    }
  }
  return picture;
}

size_t frames_beyond_caches(size_t bytes) {
  const long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const size_t cache = reported > 0 ? size_t(reported) : size_t{32} << 20;
  return 2 + 4 * cache / bytes;
}

const QuantTable& quality85() {
  static const QuantTable table = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 85);
  return table;
}

Frames::Frames(const FrameSize& size, const uint8_t* permutation) : size_(size) {
  const std::vector<uint8_t> picture = tiled_picture(size.width, size.height);
  const size_t count = size.resident ? 1 : frames_beyond_caches(3 * size.samples());
  for (size_t i = 0; i < count; ++i) {
    Frame frame;
    frame.source = allocate<uint8_t>(size.samples());
    frame.coefs = allocate<int16_t>(size.samples());
    frame.decoded = allocate<uint8_t>(size.samples());
    std::copy(picture.begin(), picture.end(), frame.source.get());
    run_portable(size, Method::kIslow, Direction::kForward, frame);
    frame.levels = allocate<int16_t>(size.samples());
    std::copy_n(frame.coefs.get(), size.samples(), frame.levels.get());
    if (permutation != nullptr) {
      frame.permuted = allocate<int16_t>(size.samples());
      for (size_t k = 0; k < size.samples(); ++k) {
        frame.permuted[k / 64 * 64 + permutation[k % 64]] = frame.levels[k];
      }
    }
    frames_.push_back(std::move(frame));
  }
}

}  // namespace cudatransform::bench
