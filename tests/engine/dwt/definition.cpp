// Filters, edges, levels and quantizers, written as slowly and plainly as possible.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dwt/definition.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace cudatransform::test::dwt {
namespace {

struct Tap {
  int at;  // distance from the updated value's own index, in values of the other parity
  int64_t factor;
};

// target[n] += sign * ((sum of factor * source[n + at] + rounding) >> shift)
struct Step {
  char target;  // 'e' or 'o'; the source is the other
  int sign;
  std::vector<Tap> taps;
  int64_t rounding;
  int shift;
};

struct Filter {
  std::vector<Step> synthesis;
  int level_shift;
  bool has_large_factors;
  bool wraps_late = false;  // in S16: not after each step, but at the end of the line
};

const Filter& filter_of(Wavelet wavelet) {
  const Step legall_low = {'e', -1, {{-1, 1}, {0, 1}}, 2, 2};
  const Step dd_high = {'o', 1, {{-1, -1}, {0, 9}, {1, 9}, {2, -1}}, 8, 4};
  const Step haar_low = {'e', -1, {{0, 1}}, 1, 1};
  const Step haar_high = {'o', 1, {{0, 1}}, 0, 0};
  static const Filter dd97 = {{legall_low, dd_high}, 1, false};
  static const Filter legall53 = {{legall_low, {'o', 1, {{0, 1}, {1, 1}}, 1, 1}}, 1, false};
  static const Filter dd137 = {
      {{'e', -1, {{-2, -1}, {-1, 9}, {0, 9}, {1, -1}}, 16, 5}, dd_high}, 1, false};
  static const Filter haar = {{haar_low, haar_high}, 0, false};
  static const Filter haar_shift = {{haar_low, haar_high}, 1, false};
  static const Filter fidelity = {
      {{'o',
        1,
        {{-3, -2}, {-2, 10}, {-1, -25}, {0, 81}, {1, 81}, {2, -25}, {3, 10}, {4, -2}},
        128,
        8},
       {'e',
        -1,
        {{-4, -8}, {-3, 21}, {-2, -46}, {-1, 161}, {0, 161}, {1, -46}, {2, 21}, {3, -8}},
        128,
        8}},
      0,
      true};
  static const Filter daub97 = {{{'e', -1, {{-1, 1817}, {0, 1817}}, 2048, 12},
                                 {'o', -1, {{0, 3616}, {1, 3616}}, 2048, 12},
                                 {'e', 1, {{-1, 217}, {0, 217}}, 2048, 12},
                                 {'o', 1, {{0, 6497}, {1, 6497}}, 2048, 12}},
                                1,
                                true,
                                true};
  static const Filter j2k53 = {{legall_low, {'o', 1, {{0, 1}, {1, 1}}, 0, 1}}, 0, false};
  switch (wavelet) {
    case Wavelet::kDd97:
      return dd97;
    case Wavelet::kLegall53:
      return legall53;
    case Wavelet::kDd137:
      return dd137;
    case Wavelet::kHaar:
      return haar;
    case Wavelet::kHaarShift:
      return haar_shift;
    case Wavelet::kFidelity:
      return fidelity;
    case Wavelet::kDaub97:
      return daub97;
    case Wavelet::kJ2k53:
      break;
  }
  return j2k53;
}

int64_t low_32_bits(int64_t value) { return static_cast<int32_t>(value); }

int64_t stored(int64_t value, Rule rule) {
  if (rule == Rule::kS16) return static_cast<int16_t>(value);
  return rule == Rule::kS32 ? low_32_bits(value) : value;
}

// The numerator of a right shift. Only S32's sums wrap before it, and not those with large factors.
int64_t summed(int64_t sum, Rule rule, bool has_large_factors) {
  return rule == Rule::kS32 && !has_large_factors ? low_32_bits(sum) : sum;
}

using Line = std::vector<int64_t>;  // e[0], o[0], e[1], o[1] ...

class Lifter {
 public:
  Lifter(Rule rule, int64_t* largest) : rule_(rule), largest_(largest) {}

  void synthesize(Wavelet wavelet, Line& line) const {
    const Filter& filter = filter_of(wavelet);
    for (const Step& step : filter.synthesis) apply(filter, step, step.sign, line);
    finish(line);
  }
  void analyze(Wavelet wavelet, Line& line) const {
    const Filter& filter = filter_of(wavelet);
    for (auto step = filter.synthesis.rbegin(); step != filter.synthesis.rend(); ++step)
      apply(filter, *step, -step->sign, line);
    finish(line);
  }

 private:
  void apply(const Filter& filter, const Step& step, int sign, Line& line) const {
    const int pairs = static_cast<int>(line.size()) / 2;
    const int target = step.target == 'o' ? 1 : 0, source = 1 - target;
    for (int n = 0; n < pairs; ++n) {
      int64_t sum = step.rounding;
      for (const Tap& tap : step.taps)
        sum += tap.factor * line[2 * std::clamp(n + tap.at, 0, pairs - 1) + source];
      int64_t& value = line[2 * n + target];
      value += sign * (summed(sum, rule_, filter.has_large_factors) >> step.shift);
      if (largest_ != nullptr) *largest_ = std::max(*largest_, std::abs(value));
      if (!filter.wraps_late || rule_ != Rule::kS16) value = stored(value, rule_);
    }
  }
  void finish(Line& line) const {
    for (int64_t& value : line) value = stored(value, rule_);
  }

  Rule rule_;
  int64_t* largest_;
};

template <typename Function>
void for_each_row(Values& plane, Function function) {
  for (int y = 0; y < plane.rows; ++y) {
    Line line(static_cast<size_t>(plane.width));
    for (int x = 0; x < plane.width; ++x) line[x] = plane.at(x, y);
    function(line);
    for (int x = 0; x < plane.width; ++x) plane.at(x, y) = line[x];
  }
}

template <typename Function>
void for_each_column(Values& plane, Function function) {
  for (int x = 0; x < plane.width; ++x) {
    Line line(static_cast<size_t>(plane.rows));
    for (int y = 0; y < plane.rows; ++y) line[y] = plane.at(x, y);
    function(line);
    for (int y = 0; y < plane.rows; ++y) plane.at(x, y) = line[y];
  }
}

// Level `fineness` of a pyramid, 0 the finest: its sides, and whether it has columns.
struct Level {
  int width, height;
  bool both;
};
Level level_of(const Shape& shape, const Values& pyramid, int fineness) {
  const bool both = fineness < shape.levels;
  return {pyramid.width >> fineness, pyramid.rows >> std::min(fineness, shape.levels), both};
}

// The place of a level's value (x, y) in the pyramid: odd columns to the right, odd rows below.
int place(int i, int size) { return i % 2 == 0 ? i / 2 : size / 2 + i / 2; }

bool is_jpeg2000(const Shape& shape) { return shape.wavelet_ho == Wavelet::kJ2k53; }

}  // namespace

int padded_width(const Shape& shape, int width) {
  const int unit = 1 << (shape.levels + shape.levels_ho);
  return (width + unit - 1) / unit * unit;
}

int padded_height(const Shape& shape, int height) {
  const int unit = 1 << shape.levels;
  return (height + unit - 1) / unit * unit;
}

Values padded_values(const Plane& samples, const Shape& shape, int depth) {
  Values values(padded_width(shape, samples.width), padded_height(shape, samples.rows));
  for (int y = 0; y < values.rows; ++y)
    for (int x = 0; x < values.width; ++x)
      values.at(x, y) = samples.at(std::min(x, samples.width - 1), std::min(y, samples.rows - 1)) -
                        (1 << (depth - 1));
  return values;
}

Values analyze(const Values& values, const Shape& shape, Rule rule, int64_t* largest) {
  const Lifter lifter(rule, largest);
  const int shift = filter_of(shape.wavelet_ho).level_shift;
  Values pyramid = values;
  for (int fineness = 0; fineness < shape.levels + shape.levels_ho; ++fineness) {
    const Level level = level_of(shape, pyramid, fineness);
    Values work(level.width, level.height);
    for (int y = 0; y < level.height; ++y)
      for (int x = 0; x < level.width; ++x)
        work.at(x, y) = stored(pyramid.at(x, y) * (1 << shift), rule);
    const auto rows = [&](Line& line) { lifter.analyze(shape.wavelet_ho, line); };
    const auto columns = [&](Line& line) { lifter.analyze(shape.wavelet, line); };
    if (!is_jpeg2000(shape)) for_each_row(work, rows);
    if (level.both) for_each_column(work, columns);
    if (is_jpeg2000(shape)) for_each_row(work, rows);
    for (int y = 0; y < level.height; ++y)
      for (int x = 0; x < level.width; ++x)
        pyramid.at(place(x, level.width), level.both ? place(y, level.height) : y) = work.at(x, y);
  }
  return pyramid;
}

Values synthesize(const Values& coefs, const Shape& shape, Rule rule, int64_t* largest) {
  const Lifter lifter(rule, largest);
  const int shift = filter_of(shape.wavelet_ho).level_shift;
  Values pyramid = coefs;
  for (int fineness = shape.levels + shape.levels_ho - 1; fineness >= 0; --fineness) {
    const Level level = level_of(shape, pyramid, fineness);
    Values work(level.width, level.height);
    for (int y = 0; y < level.height; ++y)
      for (int x = 0; x < level.width; ++x)
        work.at(x, y) = pyramid.at(place(x, level.width), level.both ? place(y, level.height) : y);
    const auto rows = [&](Line& line) { lifter.synthesize(shape.wavelet_ho, line); };
    const auto columns = [&](Line& line) { lifter.synthesize(shape.wavelet, line); };
    if (is_jpeg2000(shape)) for_each_row(work, rows);
    if (level.both) for_each_column(work, columns);
    if (!is_jpeg2000(shape)) for_each_row(work, rows);
    for (int y = 0; y < level.height; ++y)
      for (int x = 0; x < level.width; ++x) {
        const int64_t value = work.at(x, y);
        pyramid.at(x, y) =
            shift == 0 ? value : stored(summed(value + 1, rule, false) >> shift, rule);
      }
  }
  return pyramid;
}

int band_count(const Shape& shape) { return 1 + shape.levels_ho + 3 * shape.levels; }

int band_at(const Shape& shape, const Values& pyramid, int x, int y) {
  // From the finest level, whose bands come last, down.
  for (int fineness = 0; fineness < shape.levels + shape.levels_ho; ++fineness) {
    const Level level = level_of(shape, pyramid, fineness);
    const bool right = x >= level.width / 2;
    if (!level.both) {
      if (right) return shape.levels + shape.levels_ho - fineness;
      continue;
    }
    const bool below = y >= level.height / 2;
    const int first = band_count(shape) - 3 * (fineness + 1);
    if (right || below) return first + (right && below ? 2 : below ? 1 : 0);
  }
  return 0;
}

int64_t quant_factor(int index) {
  const int64_t octave = int64_t{1} << (index / 4);
  const int64_t factors[] = {4 * octave, (503829 * octave + 52958) / 105917,
                             (665857 * octave + 58854) / 117708, (440253 * octave + 32722) / 65444};
  return factors[index % 4];
}

int64_t quantize(int64_t value, int index) {
  const int64_t level = 4 * std::abs(value) / quant_factor(index);
  return value < 0 ? -level : level;
}

int64_t dequantize(int64_t level, int index, Rule rule) {
  if (level == 0) return 0;
  const int64_t offset = index == 0 ? 1 : index == 1 ? 2 : (quant_factor(index) + 1) / 2;
  const int64_t value = (std::abs(level) * quant_factor(index) + offset + 2) / 4;
  return stored(level < 0 ? -value : value, rule);
}

int sample_of(int64_t value, int depth, bool residual) {
  if (residual) return static_cast<int>(std::clamp<int64_t>(value, -32768, 32767));
  const int64_t half = int64_t{1} << (depth - 1);
  return static_cast<int>(std::clamp(value, -half, half - 1) + half);
}

}  // namespace cudatransform::test::dwt
