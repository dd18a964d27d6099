// Writes a raw stream of APV, 4:2:2 of 10 bits, of a synthetic scene: for measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: make_apv WIDTH HEIGHT FRAMES QP NOISE [TILE_WIDTH TILE_HEIGHT] >FILE
//
// NOISE: its standard deviation, about. Tiles are 256x256 unless sizes in samples are given, larger
// above 20 of them in a row or column. Levels are rounded down from 212/512 of a step above them
// for luma, and 128/512 for chroma.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/apv/encoder.h"
#include "transform/apv/arithmetic.h"

namespace cudatransform::test {
namespace {

constexpr int kDepth = 10;

class Scene {
 public:
  Scene(uint32_t width, uint32_t height, double noise) : noise_(0, noise) {
    picture_.width = width;
    picture_.height = height;
  }

  ApvPictureToWrite& picture() { return picture_; }

  void draw(int frame) {
    const ApvFrameInfo info = picture_.info();
    for (int c = 0; c < info.components(); ++c) {
      const uint32_t across = info.mbs_across() * info.mb_blocks_across(c);
      picture_.coefs[c].assign(64 * info.blocks(c), 0);
      for (uint64_t b = 0; b < info.blocks(c); ++b)
        transform(frame, c, b % across, b / across, &picture_.coefs[c][64 * b]);
    }
  }

 private:
  // Stripes of many directions and widths, moving, in noise.
  double sample(int frame, int component, double x, double y) {
    const double far = std::hypot(x / picture_.width - .3, y / picture_.height - .6);
    const double value = std::sin(.05 * x + .02 * frame) * std::cos(.031 * y) * 90 +
                         std::sin(800 * far * far + .3 * frame) * 100 + 60 * std::sin(.003 * x * y);
    return (component == 0 ? value : value / 4) + (component == 0 ? 1 : .5) * noise_(random_);
  }

  void transform(int frame, int component, uint64_t bx, uint64_t by, int16_t* to) {
    double s[64], rows[64];
    const double stretch = component == 0 ? 1 : 2;
    for (int i = 0; i < 64; ++i) {
      const double value = sample(
          frame, component, stretch * static_cast<double>(8 * bx + static_cast<uint64_t>(i % 8)),
          static_cast<double>(8 * by + static_cast<uint64_t>(i / 8)));
      s[i] = std::clamp(std::round(value), -512.0, 511.0);
    }
    // The inverse of the decoder's basis, whose functions have the length of 64 sqrt(8).
    for (int y = 0; y < 8; ++y) {
      for (int u = 0; u < 8; ++u) {
        rows[8 * y + u] = 0;
        for (int x = 0; x < 8; ++x) rows[8 * y + u] += s[8 * y + x] * apv_basis(u, x);
      }
    }
    const double dead_zone = component == 0 ? 212. / 512 : 128. / 512;
    // Both passes of the decoder divide by 2^(7 + 20 - depth).
    const double step = 16. * apv_scale(picture_.qp) / (1 << apv_dequantizer_shift(kDepth));
    const double gain = std::ldexp(1, 7 + apv_row_shift(kDepth)) / (32768. * 32768.);
    for (int v = 0; v < 8; ++v) {
      for (int u = 0; u < 8; ++u) {
        double sum = 0;
        for (int y = 0; y < 8; ++y) sum += rows[8 * y + u] * apv_basis(v, y);
        const double level = std::floor(std::fabs(sum * gain) / step + dead_zone);
        to[8 * v + u] = static_cast<int16_t>(sum < 0 ? -level : level);
      }
    }
  }

  ApvPictureToWrite picture_;
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
};

uint32_t tile_mbs(uint32_t samples, uint32_t side) {
  const uint32_t mbs = (side + 15) / 16;
  return std::max(samples / 16, (mbs + kMaxApvTiles - 1) / kMaxApvTiles);
}

int run(char** arguments, int count) {
  const auto number = [&](int i, uint32_t otherwise) {
    return i < count ? static_cast<uint32_t>(std::atoi(arguments[i])) : otherwise;
  };
  Scene scene(number(0, 0), number(1, 0), number(4, 0));
  scene.picture().qp = static_cast<int>(number(3, 0));
  scene.picture().tile_mbs_across = tile_mbs(number(5, 256), number(0, 0));
  scene.picture().tile_mbs_down = tile_mbs(number(6, 256), number(1, 0));
  for (int frame = 0; frame < static_cast<int>(number(2, 1)); ++frame) {
    scene.draw(frame);
    const ApvBytes unit = apv_access_unit({apv_unit(1, encode_apv_frame(scene.picture()))});
    if (std::fwrite(unit.data(), 1, unit.size(), stdout) != unit.size()) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace cudatransform::test

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr,
                 "usage: make_apv WIDTH HEIGHT FRAMES QP NOISE [TILE_WIDTH TILE_HEIGHT] >FILE\n");
    return 2;
  }
  return cudatransform::test::run(argv + 1, argc - 1);
}
