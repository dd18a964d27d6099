// One wavelet case on one engine, judged by the definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/engine/dwt/cases.h"

namespace cudatransform::test::dwt {

// The data that depend on the case alone, made once for all engines.
struct Expectation {
  Picture picture;  // forward: the input; inverse: the sizes, and what errors are measured against
  Pyramids input;   // inverse
  Pyramids coefs;   // forward: as stored
  Picture decoded;  // inverse: the output; forward with kMeasureSse: what the levels decode to
};

Expectation expect(const Case& test);

// "" or what is wrong: with the run, the coefficients or samples, the borders, the sums.
std::string check_case(const Engine& engine, const Case& test, const Expectation& expectation);

// The definition over whole pictures.
Pyramids forward_by_definition(const Spec& spec, const Picture& picture, Rule rule);
Picture inverse_by_definition(const Spec& spec, const Pyramids& levels, const Picture& like,
                              Rule rule);

std::string judge_equal(const Pyramids& expected, const Pyramids& got);

}  // namespace cudatransform::test::dwt
