// The promises of docs/architecture.md, case by case.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/case_check.h"

#include <cmath>

namespace cudatransform::test {
namespace {

Coefficients stored_form(const Spec& spec, const Coefficients& exact) {
  if (spec.quantized) return quantise(exact, spec.tables);
  Coefficients stored = exact;
  for (Blocks& blocks : stored)
    for (double& value : blocks.values)
      value = spec.type == CoefType::kF32 ? static_cast<float>(value) : std::round(value);
  return stored;
}

// Unquantised coefficients, as an engine makes them.
ForwardResult run_unquantized(const Engine& engine, Spec spec, const Picture& picture) {
  spec.quantizer = Quantizer::kRound;
  spec.quantized = false;
  spec.type = CoefType::kF32;
  spec.measure = 0;
  return run_forward(engine, spec, picture);
}

// float's differ from engine to engine.
std::string check_decisions(const Engine& engine, const Spec& spec, const Expectation& e,
                            const Coefficients& levels) {
  if (!e.real.empty()) return judge_decisions(spec, e.real, levels);
  const ForwardResult real = run_unquantized(engine, spec, e.picture);
  return real.fault.empty() ? judge_decisions(spec, real.coefs, levels) : real.fault;
}

std::string check_forward(const Engine& engine, const Case& test, const Expectation& e) {
  const Spec& spec = test.spec;
  const ForwardResult result = run_forward(engine, spec, e.picture);
  if (!result.fault.empty()) return result.fault;
  if (spec.quantizer != Quantizer::kRound) {
    if (std::string f = check_decisions(engine, spec, e, result.coefs); !f.empty()) return f;
  } else if (spec.method != Method::kIfast) {  // its promise is libjpeg-turbo: see libjpeg_test
    if (std::string f = judge_coefficients(spec, e.exact, result.coefs); !f.empty()) return f;
  }
  if (is_integer(spec.method))
    if (std::string f = judge_equal(e.portable_forward.coefs, result.coefs); !f.empty())
      return "against portable: " + f;
  if (spec.measure & kMeasureZeros)
    if (std::string f = judge_zeros(result.sums, result.coefs); !f.empty()) return f;
  if (spec.measure & kMeasureSse) {
    Spec back = spec;
    back.measure = 0;
    const InverseResult decoded = run_inverse(engine, back, result.coefs, e.picture);
    if (!decoded.fault.empty()) return "decoding again: " + decoded.fault;
    return judge_sse(result.sums, e.picture, decoded.picture, is_integer(spec.method));
  }
  return "";
}

std::string check_inverse(const Engine& engine, const Case& test, const Expectation& e) {
  const Spec& spec = test.spec;
  const InverseResult result = run_inverse(engine, spec, e.input, e.like, e.compared_with());
  if (!result.fault.empty()) return result.fault;
  if (spec.method != Method::kIfast)
    if (std::string f = judge_samples(spec, e.samples, e.values, result.picture); !f.empty())
      return f;
  if (is_integer(spec.method))
    if (std::string f = judge_equal(e.portable_inverse.picture, result.picture); !f.empty())
      return "against portable: " + f;
  if (spec.measure & kMeasureZeros)
    if (std::string f = judge_zeros(result.sums, e.input); !f.empty()) return f;
  if (spec.measure & kMeasureSse) return judge_sse(result.sums, e.reference, result.picture, true);
  return "";
}

}  // namespace

Expectation expect(const Case& test) {
  Expectation e;
  const Spec& spec = test.spec;
  e.picture =
      make_picture(test.sampling, test.width, test.height, spec.depth, test.content, test.seed);
  e.exact = definition_forward(e.picture, spec.depth);
  if (test.direction == Direction::kInverse) {
    e.input = stored_form(spec, e.exact);
    e.values = spec.quantized ? dequantise(e.input, spec.tables) : e.input;
    e.like = spec.scale == 1 ? e.picture : empty_scaled_picture(e.picture, spec.scale);
    // Scaled islow is libjpeg's, which takes means.
    e.samples = spec.scale == 1 ? definition_inverse(e.values, e.like)
                                : definition_scaled_inverse(e.values, e.like, spec.scale,
                                                            spec.method == Method::kIslow
                                                                ? ScaledBy::kMeans
                                                                : ScaledBy::kLowFrequencies);
    if (spec.measure & kMeasureSse)
      e.reference = make_picture(test.sampling, test.width, test.height, spec.depth,
                                 Content::kPhoto, test.seed + 1000);
  }
  if (is_integer(spec.method)) {
    if (test.direction == Direction::kForward) {
      e.portable_forward = run_forward(portable_engine(), spec, e.picture);
      if (spec.quantizer != Quantizer::kRound)
        e.real = run_unquantized(portable_engine(), spec, e.picture).coefs;
    } else {
      e.portable_inverse = run_inverse(portable_engine(), spec, e.input, e.like, e.compared_with());
    }
  }
  return e;
}

std::string check_case(const Engine& engine, const Case& test, const Expectation& expectation) {
  return test.direction == Direction::kForward ? check_forward(engine, test, expectation)
                                               : check_inverse(engine, test, expectation);
}

}  // namespace cudatransform::test
