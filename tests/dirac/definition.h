// Entropy decoding of core pictures as the specification writes it, bit by bit: the judge of the
// fast decoders.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dirac/codes.h"

namespace cudatransform::test {

// Dirac specification 2.2.3, annex B.
class SlowArithmetic {
 public:
  SlowArithmetic(const uint8_t* data, size_t size);
  bool decode(uint16_t* context);

 private:
  bool next_bit();
  const uint8_t* data_;
  size_t bits_;
  size_t at_ = 0;
  uint32_t code_ = 0;
  uint32_t range_ = 0xffff;
};

// A band with a quantized coefficient for each coefficient.
struct SlowBand {
  int32_t width = 0, height = 0;
  int32_t columns = 1, rows = 1;
  std::vector<int64_t> qcoefs;
  std::vector<int> quantizers;  // of codeblocks; 0 where a codeblock is skipped
  bool is_sound = true;
  int64_t at(int32_t x, int32_t y) const {
    return x < 0 || y < 0 ? 0
                          : qcoefs[static_cast<size_t>(y) * static_cast<size_t>(width) +
                                   static_cast<size_t>(x)];
  }
};

// `index`: as decode_dirac_band() has it. `band` has its sizes.
void define_band(const DiracBandCode& code, bool is_arithmetic, int index, const SlowBand* parent,
                 SlowBand* band);

}  // namespace cudatransform::test
