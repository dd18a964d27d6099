// Cases of wavelet jobs, every shape in both directions and types and the rest drawn, and the
// judgement of one case.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/engine/dwt/job_runner.h"

namespace cudatransform::test::dwt {

enum class Content {
  kNatural,     // a picture, or the coefficients of one
  kWholeRange,  // noise over all that the type of input holds
  kExtreme,     // its lowest and highest value alone
  kFlat,        // the highest value
  kSparse,      // mostly 0, here and there a value that is near the lowest or the highest
};
inline constexpr int kContentCount = 5;

enum class Quant { kNone, kEight, kMixed, kUpToTheLast };
inline constexpr int kQuantCount = 4;

struct Case {
  Direction direction;
  Spec spec;
  Sampling sampling;
  Content content;
  Quant quant;
  int width, height;
  uint32_t seed;  // of the content

  std::string text() const;  // "inverse dd97 levels 4 S16, 8 bit ..."
};

// Every filter with all numbers of levels, every other pair of filters with some, in both
// directions and coefficient types; the same list every time.
const std::vector<Case>& all_cases();

QuantIndices make_quant_indices(Quant quant, uint32_t seed);
Picture make_picture(const Case& test);
// Coefficients that need not be those of any picture.
Pyramids make_coefficients(const Case& test, const Picture& picture);

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
