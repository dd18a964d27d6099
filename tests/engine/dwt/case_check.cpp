// Every bit of every output, against the definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dwt/case_check.h"

#include <algorithm>

namespace cudatransform::test::dwt {
namespace {

std::string judge_sums(const Case& test, const Expectation& e, const Pyramids& coefs,
                       const PictureSums& sums) {
  for (size_t c = 0; c < e.picture.size(); ++c) {
    const std::string where = "component " + std::to_string(c);
    if (test.spec.measure & kMeasureZeros) {
      const auto zeros =
          static_cast<uint64_t>(std::count(coefs[c].samples.begin(), coefs[c].samples.end(), 0));
      if (sums.zeros[c] != zeros)
        return where + ": " + std::to_string(sums.zeros[c]) + " zeros, expected " +
               std::to_string(zeros);
    }
    if (test.spec.measure & kMeasureSse) {
      const uint64_t error = squared_error(e.picture[c], e.decoded[c]);
      if (sums.sse[c] != error)
        return where + ": squared error " + std::to_string(sums.sse[c]) + ", expected " +
               std::to_string(error);
    }
  }
  return "";
}

}  // namespace

Pyramids forward_by_definition(const Spec& spec, const Picture& picture, Rule rule) {
  Pyramids pyramids;
  for (size_t c = 0; c < picture.size(); ++c) {
    Values plane = analyse(padded_values(picture[c], spec.shape, spec.depth), spec.shape, rule);
    for (int y = 0; y < plane.rows; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.at(x, y) =
            quantise(plane.at(x, y), spec.quant_index[c][band_at(spec.shape, plane, x, y)]);
    pyramids.push_back(std::move(plane));
  }
  return pyramids;
}

Picture inverse_by_definition(const Spec& spec, const Pyramids& levels, const Picture& like,
                              Rule rule) {
  Picture picture = like;
  for (size_t c = 0; c < levels.size(); ++c) {
    Values plane = levels[c];
    for (int y = 0; y < plane.rows; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.at(x, y) =
            dequantise(plane.at(x, y), spec.quant_index[c][band_at(spec.shape, plane, x, y)], rule);
    plane = synthesise(plane, spec.shape, rule);
    for (int y = 0; y < picture[c].rows; ++y)
      for (int x = 0; x < picture[c].width; ++x)
        picture[c].at(x, y) =
            sample_of(plane.at(x, y), spec.depth, spec.arrangement == Arrangement::kResidual);
  }
  return picture;
}

std::string judge_equal(const Pyramids& expected, const Pyramids& got) {
  for (size_t c = 0; c < expected.size(); ++c)
    for (size_t i = 0; i < expected[c].samples.size(); ++i)
      if (expected[c].samples[i] != got[c].samples[i]) {
        const auto width = static_cast<size_t>(expected[c].width);
        return "component " + std::to_string(c) + " coefficient (" + std::to_string(i % width) +
               "," + std::to_string(i / width) + ") of " + std::to_string(width) + "x" +
               std::to_string(expected[c].rows) + ": expected " +
               std::to_string(expected[c].samples[i]) + ", got " +
               std::to_string(got[c].samples[i]);
      }
  return "";
}

Expectation expect(const Case& test) {
  Expectation e;
  const Rule rule = rule_of(test.spec.type);
  e.picture = make_picture(test);
  if (test.direction == Direction::kForward) {
    e.coefs = forward_by_definition(test.spec, e.picture, rule);
    if (test.spec.measure & kMeasureSse)
      e.decoded = inverse_by_definition(test.spec, e.coefs, e.picture, rule);
  } else {
    e.input = make_coefficients(test, e.picture);
    e.decoded = inverse_by_definition(test.spec, e.input, e.picture, rule);
  }
  return e;
}

std::string check_case(const Engine& engine, const Case& test, const Expectation& e) {
  if (test.direction == Direction::kForward) {
    const ForwardResult result = run_forward(engine, test.spec, e.picture);
    if (!result.fault.empty()) return result.fault;
    if (std::string f = judge_equal(e.coefs, result.coefs); !f.empty()) return f;
    return judge_sums(test, e, e.coefs, result.sums);
  }
  const bool measures_error = (test.spec.measure & kMeasureSse) != 0;
  const InverseResult result =
      run_inverse(engine, test.spec, e.input, e.picture, measures_error ? &e.picture : nullptr);
  if (!result.fault.empty()) return result.fault;
  if (std::string f = test::judge_equal(e.decoded, result.picture); !f.empty()) return f;
  return judge_sums(test, e, e.input, result.sums);
}

}  // namespace cudatransform::test::dwt
