// Random pictures: their kinds and their contents.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "dirac/sequence.h"
#include "tests/dirac/encoder/dice.h"
#include "tests/dirac/encoder/picture.h"
#include "tests/engine/dwt/definition.h"

namespace cudatransform::test {

// The parse code, and what it says in the header. Pictures of 16 bits are not predicted.
void draw_kind(Dice& dice, const DiracSequence& sequence, CodedPicture* picture);

// All else, but for number and references. True: coefficients are those of a picture, and numbers
// do not wrap; false: they are any.
bool draw_content(Dice& dice, const DiracSequence& sequence, CodedPicture* picture);

}  // namespace cudatransform::test
