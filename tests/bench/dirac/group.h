// Codes groups of pictures at a bit rate: an intra picture, and pictures predicted from it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dirac/picture_header.h"
#include "dirac/sequence.h"
#include "tests/bench/dirac/scene.h"

namespace cudatransform::test {

struct GroupSettings {
  DiracSequence sequence;
  DiracCoding coding = DiracCoding::kArithmetic;
  bool is_intra = false;         // all pictures are
  double bits_of_a_picture = 0;  // on average
};

constexpr int kPicturesOfAGroup = 25;

// A parse code, and the data after the parse info.
using DiracUnit = std::pair<uint8_t, std::vector<uint8_t>>;

// Pictures `first` to `last` - 1 of `scene`, in the order of coding. Groups depend on these alone.
// Throws std::runtime_error.
std::vector<DiracUnit> code_group(const Scene& scene, const GroupSettings& settings, int first,
                                  int last);

}  // namespace cudatransform::test
