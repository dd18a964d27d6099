// Quantized coefficients of all kinds for the tests of parallel Huffman coding.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <random>
#include <vector>

#include "jpeg/tables.h"
#include "jpeg/writer.h"

namespace cudatransform::test {

// The kind of quantized coefficients.
enum class JpegFill { kPicture, kDense, kSparse, kZero, kExtreme, kOnes };

struct JpegCase {
  uint32_t width, height;
  JpegColor color;
  int h, v;
  JpegFill fill = JpegFill::kPicture;
  uint32_t restart = 0;
  bool optimize = false;
  std::optional<JpegSampling> factors;  // instead of `h` and `v` of luma

  JpegSampling sampling() const {
    return factors ? *factors : JpegSampling::of_luma(color, uint32_t(h), uint32_t(v));
  }

  friend std::ostream& operator<<(std::ostream& to, const JpegCase& c) {
    return to << c.width << "x" << c.height << " color " << int(c.color) << " "
              << c.sampling().text(components_of(c.color)) << " fill " << int(c.fill) << " restart "
              << c.restart << (c.optimize ? " optimized" : "");
  }
};

struct JpegBlocks {
  uint32_t blocks_w, blocks_h;
  size_t stride;  // quantized coefficients from one row of blocks to the next
  std::vector<int16_t> qcoefs;
};

// Random ones, the same for the same case.
class JpegTestQcoefs {
 public:
  explicit JpegTestQcoefs(const JpegCase& c);

  std::vector<JpegBlocks> components;

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(-most, most)(random_); }
  bool one_in(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }

  void fill(JpegFill kind, int16_t* block);

  std::mt19937 random_;
  int dc_ = 1023;
};

// A picture of quantized coefficients in host memory. Its first component has the first table,
// others the second.
JpegPicture describe(const JpegCase& c, JpegTestQcoefs& qcoefs, const uint16_t (&tables)[2][64]);

}  // namespace cudatransform::test
