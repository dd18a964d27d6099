// The samples of a picture by the specifications: the judge of dirac/ and its renderer.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clauses 13 and 15; SMPTE ST 2042-1, clauses 13 and 15. The wavelet and
// motion compensation are those of tests/engine.
#pragma once

#include <cstdint>

#include "tests/dirac/encoder/picture.h"
#include "tests/engine/dwt/definition.h"
#include "tests/engine/picture.h"

namespace cudatransform::test {

struct DefinedPicture {
  uint32_t number = 0;
  bool is_damaged = false;  // a reference was missing, of this picture or of one of its references
  Plane planes[kMaxComponents];
};

// Mid-grey, for a missing reference.
DefinedPicture define_grey(const DiracSequence& sequence);

// A value from a level.
int64_t define_dequantised(int64_t level, int quantiser, bool is_intra, dwt::Rule rule);

// `references`: the picture's own. `rule`: where numbers wrap.
DefinedPicture define_picture(const DiracSequence& sequence, const CodedPicture& picture,
                              const DefinedPicture* const* references, dwt::Rule rule);

// Levels of a component whose values are `values`, padded, with the picture's quantisers: the
// inverse of the definition, except for the quantisers' losses.
void quantise_component(CodedPicture* picture, int component, const dwt::Values& values);
dwt::Shape shape_of(const DiracTransform& transform);

}  // namespace cudatransform::test
