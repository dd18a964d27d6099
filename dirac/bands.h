// Bands of core pictures: codeblocks of levels, coded arithmetically or with exp-Golomb codes.
// SPDX-License-Identifier: LGPL-2.1-or-later
// Dirac specification 2.2.3, clause 13.4. Bands are independent but for one question of the
// arithmetic decoder: which levels of the band below in the same orientation are zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dirac/levels.h"

namespace cudatransform {

struct DiracBandCode {
  const uint8_t* data = nullptr;
  size_t size = 0;
  int quantiser = 0;
  bool is_coded = false;              // otherwise all levels are zero
  bool has_quantiser_deltas = false;  // before each codeblock that is not zero
};

// Decodes into `band`, whose levels are zero. `parent`: the band of the level below that has the
// same orientation, or null. False where the data cannot be right: levels decoded until then
// stay, and the rest is zero. `index`: the band's number, which tells its orientation.
bool decode_dirac_band(const DiracBandCode& code, bool is_arithmetic, bool is_wide, int index,
                       const DiracBand* parent, DiracBand& band);

}  // namespace cudatransform
