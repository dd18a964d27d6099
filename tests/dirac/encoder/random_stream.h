// Random streams: headers, coefficients, vectors and references of every kind, and the samples that
// they mean.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/dirac/encoder/picture.h"
#include "tests/dirac/encoder/picture_definition.h"

namespace cudatransform::test {

struct RandomStream {
  DiracSequence sequence;
  std::vector<CodedPicture> pictures;   // in the order of coding
  std::vector<DefinedPicture> defined;  // of each
  std::vector<uint8_t> bytes;
};

// The same for the same seed.
RandomStream make_random_stream(uint32_t seed, int pictures);

// A sequence header of any kind, and small pictures.
DiracSequence make_random_sequence(uint32_t seed);

}  // namespace cudatransform::test
