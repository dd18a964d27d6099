// Writes block data: the splits of superblocks, and the prediction of blocks.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 12.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/dirac/encoder/picture.h"

namespace cudatransform::test {

// The streams in their order: splits, modes, vectors of each existing reference, DC values.
std::vector<std::vector<uint8_t>> write_motion(const CodedPicture& picture);

}  // namespace cudatransform::test
