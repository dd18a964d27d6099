// Judges inverse transforms of a whole file's levels, component by component, by the definition in
// double precision.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A flat block of coarsely quantised chroma lies exactly between two samples, and the arithmetic's
// last bit decides which of them it becomes. So there are two figures: against the definition,
// which rounds such ties up, and with either neighbour of a tie counted as right.
#pragma once

#include <vector>

#include "tests/jpeg/codec.h"

namespace cudatransform::test {

// The two samples that the definition's value may round to.
struct Gold {
  int low, high;  // equal but for ties
};

// One list for each component. `photograph` has levels and tables; its planes give the sizes.
std::vector<std::vector<Gold>> gold_of(const JpegContents& photograph);

// Sums of squared errors.
struct InverseErrors {
  double all, without_ties;
};
InverseErrors judge_inverse(const std::vector<Gold>& gold, const BytePlane& plane);

}  // namespace cudatransform::test
