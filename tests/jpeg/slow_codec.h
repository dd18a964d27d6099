// Sequential Huffman-coded JPEG files of any depth, read and written bit by bit: a judge without
// libjpeg and without any code of the product.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudatransform::test {

// All of it in the file's words: sizes in samples, factors and ids as in the frame header.
struct SlowComponent {
  int id = 0, h = 1, v = 1;
  int blocks_w = 0, blocks_h = 0;    // without those that only fill up MCUs
  std::vector<int16_t> qcoefs;       // block after block, natural order
  std::array<uint16_t, 64> table{};  // natural order
};

struct SlowPicture {
  int width = 0, height = 0, depth = 8;
  int frame_marker = 0xc1;
  int restart_interval = 0;  // MCUs
  std::vector<SlowComponent> components;
};

// A picture without quantized coefficients: factors of the first component and the fourth; others
// have 1.
SlowPicture slow_picture(int width, int height, int depth, int components, int h, int v);

// Of 12 bits: quantized coefficients by chance, a few of them other than zero, whose samples are in
// range for the most part; tables of 8 bits and, of the second component, of 16.
SlowPicture random_deep_picture(int width, int height, int components, int h, int v, unsigned seed);

// Throws std::runtime_error for anything but a sound file of one scan or several.
SlowPicture slow_decode(const std::vector<uint8_t>& file);
// In one scan, with codes of 8 bits for all symbols that the depth may need; sizes end at 15. Of
// four components: YCCK, by Adobe's marker.
std::vector<uint8_t> slow_encode(const SlowPicture& picture);

// The samples of a component by the definition of the inverse DCT, not rounded: rows of whole
// blocks.
std::vector<double> slow_samples(const SlowComponent& component, int depth);

}  // namespace cudatransform::test
