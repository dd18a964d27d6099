// Random pictures: their kinds and their contents.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/sequence.h"
#include "tests/dirac/encoder/dice.h"
#include "tests/dirac/encoder/picture.h"
#include "tests/engine/dwt/definition.h"

namespace cudatransform::test {

// The parse code, and its meaning for the header. Pictures of 16 bits are not predicted.
void draw_kind(Dice& dice, const DiracSequence& sequence, CodedPicture* picture);

// Everything else except number and references. True: coefficients are those of a picture, and
// numbers do not wrap; false: any coefficients.
bool draw_content(Dice& dice, const DiracSequence& sequence, CodedPicture* picture);

}  // namespace cudatransform::test
