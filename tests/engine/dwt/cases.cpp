// Chooses the wavelets' cases, makes their contents, and compares every bit of every output with
// the definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dwt/cases.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

namespace cudatransform::test::dwt {

namespace {

constexpr int kDepths[] = {8, 10, 12, 16};
constexpr int kSizes[][2] = {{1, 1},   {2, 2},    {7, 9},   {8, 8},    {17, 33}, {64, 48},
                             {131, 7}, {9, 1},    {1, 23},  {259, 19}, {16, 16}, {40, 120},
                             {33, 16}, {300, 71}, {5, 200}, {3, 2},    {66, 65}, {128, 34}};
constexpr int kSizeCount = static_cast<int>(std::size(kSizes));

bool valid(const Case& test) {
  const Spec& spec = test.spec;
  const bool inverse = test.direction == Direction::kInverse;
  const bool residual = spec.arrangement == Arrangement::kResidual;
  if (spec.arrangement == Arrangement::kSemiPlanar && test.sampling != Sampling::k420) return false;
  if (residual && (!inverse || (spec.measure & kMeasureSse) != 0)) return false;
  // Repeated rows, whose reference has each once.
  if (test.sampling == Sampling::k440 && !inverse) return false;
  return true;
}

Case draw(Direction direction, const Shape& shape, DwtCoefType type, uint32_t seed) {
  std::mt19937 random(seed * 2654435761u + 17);
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  for (;;) {
    Case test{};
    test.direction = direction;
    test.spec.shape = shape;
    test.spec.type = type;
    test.sampling = static_cast<Sampling>(below(kSamplingCount));
    test.content = static_cast<Content>(below(kContentCount));
    test.quant = static_cast<Quant>(below(kQuantCount));
    const int size = below(kSizeCount);
    test.width = kSizes[size][0];
    test.height = kSizes[size][1];
    test.seed = seed;
    test.spec.depth = kDepths[below(4)];
    test.spec.arrangement = static_cast<Arrangement>(below(kArrangementCount));
    test.spec.chroma_row_repeat = test.sampling == Sampling::k440 ? 2 : 1;
    test.spec.measure = static_cast<uint32_t>(below(4));
    test.spec.seed = seed * 7 + 3;
    test.spec.quant_index = make_quant_indices(test.quant, seed);
    if (valid(test)) return test;
  }
}

std::vector<Case> make_cases() {
  std::vector<Case> list;
  const auto add = [&](Shape shape, int draws) {
    for (const Direction direction : {Direction::kForward, Direction::kInverse})
      for (const DwtCoefType type : {DwtCoefType::kS16, DwtCoefType::kS32})
        for (int i = 0; i < draws; ++i)
          list.push_back(draw(direction, shape, type, static_cast<uint32_t>(list.size() + 1)));
  };
  std::mt19937 random(20260217);
  for (int w = 0; w < kWaveletCount; ++w)
    for (int ho = 0; ho < kWaveletCount; ++ho) {
      Shape shape{static_cast<Wavelet>(w), static_cast<Wavelet>(ho), 0, 0};
      if (w != ho) {
        if (shape.wavelet == Wavelet::kJ2k53 || shape.wavelet_ho == Wavelet::kJ2k53) continue;
        for (int i = 0; i < 3; ++i) {
          shape.levels = static_cast<int>(random() % (kMaxDwtLevels + 1));
          shape.levels_ho = static_cast<int>(random() % (kMaxDwtLevelsHo + 1));
          if (shape.levels + shape.levels_ho == 0) shape.levels = 1;
          add(shape, 1);
        }
        continue;
      }
      for (shape.levels = 0; shape.levels <= kMaxDwtLevels; ++shape.levels)
        for (shape.levels_ho = 0; shape.levels_ho <= kMaxDwtLevelsHo; ++shape.levels_ho)
          if (shape.levels + shape.levels_ho > 0) add(shape, shape.levels_ho == 0 ? 8 : 1);
    }
  return list;
}

int natural_sample(int x, int y, double phase, int peak, std::mt19937& random) {
  const double smooth = 0.3 * std::sin(x / 9.0 + phase) + 0.2 * std::cos(y / 13.0 - x / 41.0);
  const double edge = (x + 2 * y) % 53 < 20 ? 0.12 : 0.0;
  const double noise = static_cast<double>(random() % 1000) / 50000;
  return std::clamp(static_cast<int>((0.5 + smooth + edge + noise) * peak), 0, peak);
}

// One of eight values is near an end, each of the others in the middle.
int64_t near_an_end(int64_t low, int64_t high, int64_t middle, std::mt19937& random) {
  const uint32_t drawn = random();
  if (drawn % 8 != 0) return middle;
  const int64_t off = drawn / 8 % 200 % (high - low + 1);
  return drawn >> 31 != 0 ? low + off : high - off;
}

}  // namespace

QuantIndices make_quant_indices(Quant quant, uint32_t seed) {
  std::mt19937 random(seed);
  QuantIndices indices{};
  for (auto& component : indices)
    for (uint8_t& index : component) switch (quant) {
        case Quant::kNone:
          break;
        case Quant::kEight:
          index = 8;
          break;
        case Quant::kMixed:
          index = static_cast<uint8_t>(random() % 32);
          break;
        case Quant::kUpToTheLast:
          index = static_cast<uint8_t>(random() % 116);
          break;
      }
  if (quant == Quant::kUpToTheLast) indices[0][1] = 115;
  return indices;
}

Picture make_picture(const Case& test) {
  std::mt19937 random(test.seed);
  const double phase = static_cast<double>(random() % 628) / 100;
  const int peak = (1 << test.spec.depth) - 1;
  Picture picture = empty_picture(test.sampling, test.width, test.height);
  for (Plane& plane : picture)
    for (int y = 0; y < plane.rows; ++y)
      for (int x = 0; x < plane.width; ++x) {
        int& sample = plane.at(x, y);
        switch (test.content) {
          case Content::kNatural:
            sample = natural_sample(x, y, phase, peak, random);
            break;
          case Content::kWholeRange:
            sample = static_cast<int>(random() % (static_cast<unsigned>(peak) + 1));
            break;
          case Content::kExtreme:
            sample = random() % 2 == 0 ? 0 : peak;
            break;
          case Content::kFlat:
            sample = peak;
            break;
          case Content::kSparse:
            sample = static_cast<int>(near_an_end(0, peak, (peak + 1) / 2, random));
            break;
        }
      }
  return picture;
}

Pyramids make_coefficients(const Case& test, const Picture& picture) {
  std::mt19937 random(test.seed + 5);
  const Spec& spec = test.spec;
  const bool is_short = spec.type == DwtCoefType::kS16;
  const int64_t low = is_short ? INT16_MIN : INT32_MIN, high = is_short ? INT16_MAX : INT32_MAX;
  Pyramids pyramids = empty_pyramids(picture, spec.shape);
  for (size_t c = 0; c < pyramids.size(); ++c) {
    Values& plane = pyramids[c];
    if (test.content == Content::kNatural)
      plane = analyze(padded_values(picture[c], spec.shape, spec.depth), spec.shape,
                      rule_of(spec.type));
    for (int y = 0; y < plane.rows; ++y)
      for (int x = 0; x < plane.width; ++x) {
        int64_t& coef = plane.at(x, y);
        switch (test.content) {
          case Content::kNatural:
            coef = quantize(coef, spec.quant_index[c][band_at(spec.shape, plane, x, y)]);
            break;
          case Content::kWholeRange:
            coef = low + static_cast<int64_t>(random()) % (high - low + 1);
            break;
          case Content::kExtreme:
            coef = random() % 2 == 0 ? low : high;
            break;
          case Content::kFlat:
            coef = high;
            break;
          case Content::kSparse:
            coef = near_an_end(low, high, 0, random);
            break;
        }
      }
  }
  return pyramids;
}

std::string Case::text() const {
  static const char* const contents[] = {"natural", "whole range", "extreme", "flat", "sparse"};
  static const char* const quants[] = {"lossless", "index 8", "mixed indices", "indices to 115"};
  const Shape& shape = spec.shape;
  std::string s = direction == Direction::kForward ? "forward " : "inverse ";
  s += wavelet_name(shape.wavelet);
  if (shape.wavelet_ho != shape.wavelet) s += std::string("/") + wavelet_name(shape.wavelet_ho);
  s += " levels " + std::to_string(shape.levels) + "+" + std::to_string(shape.levels_ho);
  s += spec.type == DwtCoefType::kS16 ? " S16, " : " S32, ";
  s += std::string(quants[static_cast<int>(quant)]) + ", " + std::to_string(spec.depth) + " bit " +
       arrangement_name(spec.arrangement) + " " + sampling_name(sampling) + " " +
       std::to_string(width) + "x" + std::to_string(height) + " " +
       contents[static_cast<int>(content)];
  s += ", measure " + std::to_string(spec.measure) + ", seed " + std::to_string(seed);
  return s;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> list = make_cases();
  return list;
}

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
    Values plane = analyze(padded_values(picture[c], spec.shape, spec.depth), spec.shape, rule);
    for (int y = 0; y < plane.rows; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.at(x, y) =
            quantize(plane.at(x, y), spec.quant_index[c][band_at(spec.shape, plane, x, y)]);
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
            dequantize(plane.at(x, y), spec.quant_index[c][band_at(spec.shape, plane, x, y)], rule);
    plane = synthesize(plane, spec.shape, rule);
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
