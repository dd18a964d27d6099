// Judges one wavelet case on one engine by the definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/engine/dwt/cases.h"

namespace cudatransform::test::dwt {

// The data that depend on the case alone, made once for all engines.
struct Expectation {
  Picture picture;  // forward: the input; inverse: the sizes, and the reference of errors
  Pyramids input;   // inverse
  Pyramids coefs;   // forward: as stored
  Picture decoded;  // inverse: the output; forward with kMeasureSse: the decoded levels
};

Expectation expect(const Case& test);

// "", or the fault: in the run, the coefficients or samples, the borders, the sums.
std::string check_case(const Engine& engine, const Case& test, const Expectation& expectation);

// The definition over whole pictures.
Pyramids forward_by_definition(const Spec& spec, const Picture& picture, Rule rule);
Picture inverse_by_definition(const Spec& spec, const Pyramids& levels, const Picture& like,
                              Rule rule);

std::string judge_equal(const Pyramids& expected, const Pyramids& got);

}  // namespace cudatransform::test::dwt
