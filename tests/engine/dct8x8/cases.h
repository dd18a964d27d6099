// The DCT's cases: the product of all properties of a job, sampled so that every pair of values
// occurs, and the judgement of one case on one engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/engine/dct8x8/job_runner.h"
#include "tests/engine/dct8x8/judge.h"

namespace cudatransform::test {

enum class TableKind { kAnnexK50, kAnnexK95, kOnes, kWhitepaper, kMixed255, kMixed65535 };

struct Case {
  Direction direction;
  Spec spec;
  Sampling sampling;
  Content content;
  TableKind table_kind;
  int width, height;
  uint32_t seed;  // of the picture

  std::string text() const;  // "forward islow S16 quantized coefficients, block zigzag, 8 bit ..."
};

QuantTable make_table(TableKind kind, QuantComponent component, uint32_t seed);

// Every valid combination of method, direction, coefficient form, placement and depth; the other
// properties are drawn for as many new pairs of values as possible. The same list every time.
struct CaseList {
  std::vector<Case> cases;
  size_t pairs_met = 0;
  size_t pairs_possible = 0;
};
const CaseList& all_cases();

// Inverses at 1/2, 1/4 and 1/8: every valid combination of scale, method, coefficient form,
// placement and depth, the rest drawn likewise.
const CaseList& scaled_cases();

// Forward jobs of 8 bits whose quantized coefficients are decided: every combination of quantizer,
// method, placement and table, the rest drawn likewise.
const CaseList& decided_cases();

// The data that depend on the case alone, made once for all engines.
struct Expectation {
  Picture picture;
  Picture like;         // inverse: the sizes of the result
  Coefficients exact;   // forward: of the definition
  Coefficients input;   // inverse: as stored
  Coefficients values;  // inverse: dequantized
  RealPicture samples;  // inverse: of the definition
  Picture reference;    // inverse that measures its error: from this picture, not the one it makes
  Coefficients real;  // decided quantized coefficients of an integer method: portable's unquantized
                      // coefficients
  ForwardResult portable_forward;
  InverseResult portable_inverse;

  const Picture* compared_with() const { return reference.empty() ? nullptr : &reference; }
};

Expectation expect(const Case& test);

// "", or the fault: in the run, the coefficients or samples, the borders, the sums.
std::string check_case(const Engine& engine, const Case& test, const Expectation& expectation);

}  // namespace cudatransform::test
