// Judges one case on one engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/engine/dct8x8/cases.h"
#include "tests/engine/dct8x8/judge.h"

namespace cudatransform::test {

// The data that depend on the case alone, made once for all engines.
struct Expectation {
  Picture picture;
  Picture like;         // inverse: the sizes of the result
  Coefficients exact;   // forward: of the definition
  Coefficients input;   // inverse: as stored
  Coefficients values;  // inverse: dequantised
  RealPicture samples;  // inverse: of the definition
  Picture reference;    // inverse that measures its error: from this picture, not the one it makes
  Coefficients real;    // decided levels of an integer method: portable's unquantised coefficients
  ForwardResult portable_forward;
  InverseResult portable_inverse;

  const Picture* compared_with() const { return reference.empty() ? nullptr : &reference; }
};

Expectation expect(const Case& test);

// "", or the fault: in the run, the coefficients or samples, the borders, the sums.
std::string check_case(const Engine& engine, const Case& test, const Expectation& expectation);

}  // namespace cudatransform::test
