// Writes streams of APV for tests: any coefficients, any header, and as many faults as a test
// wants.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "apv/frame_header.h"

namespace cudatransform::test {

using ApvBytes = std::vector<uint8_t>;

class ApvBitWriter {
 public:
  void put(uint64_t value, int bits) {
    for (int i = bits - 1; i >= 0; --i) {
      if (used_++ % 8 == 0) bytes_.push_back(0);
      bytes_.back() =
          static_cast<uint8_t>(bytes_.back() | (value >> i & 1) << ((8 - used_ % 8) % 8));
    }
  }
  void align() {
    while (used_ % 8 != 0) put(0, 1);
  }
  // A value of the entropy code.
  void put_value(uint32_t value, int k);
  const ApvBytes& bytes() const { return bytes_; }

 private:
  ApvBytes bytes_;
  uint64_t used_ = 0;
};

// The chain of blocks of 64 coefficients, row by row, in coding order.
ApvBytes encode_apv_chain(const std::vector<std::vector<int16_t>>& blocks);

struct ApvPictureToWrite {
  uint32_t width = 64, height = 48;
  ApvChroma chroma = ApvChroma::k422;
  int depth = 10;
  int qp = 20;
  uint32_t tile_mbs_across = 16, tile_mbs_down = 8;
  ApvColor color;               // written unless it is unspecified
  std::vector<uint8_t> matrix;  // of each component; empty: none is written
  // Of each component, as ApvPlane has them; zero where they are missing.
  std::vector<int16_t> coefs[kMaxApvComponents];

  ApvFrameInfo info() const;
};

// A picture of random coefficients; `density`: how many of 64 are not zero.
ApvPictureToWrite random_apv_picture(std::mt19937& random, ApvChroma chroma, int depth,
                                     uint32_t width, uint32_t height, uint32_t density);

// The payload of a frame, a PBU, and an access unit after its au_size.
ApvBytes encode_apv_frame(const ApvPictureToWrite& picture);
ApvBytes apv_unit(uint8_t type, const ApvBytes& payload, uint16_t group = 1);
ApvBytes apv_access_unit(const std::vector<ApvBytes>& units);

}  // namespace cudatransform::test
