// Block matching: the vectors and modes of a predicted picture, coarse and simple.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/dirac/encoder/picture.h"
#include "tests/engine/picture.h"
#include "transform/obmc/obmc.h"

namespace cudatransform::test {

// Fills the prediction, splits and blocks of `picture`, whose reference count is set: a unit is a
// quarter of a superblock, vectors are quarters of a sample. `references` are upsampled, of 8 bits,
// and in this process's memory.
void search_motion(const std::vector<BasicPlane<uint8_t>>& source,
                   const ObmcReference* const* references, CodedPicture* picture);

}  // namespace cudatransform::test
