// Enlarges, transforms, quantises, transforms back, and compares.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace cudatransform::bench {
namespace {

double cubic(double distance) {
  const double d = std::fabs(distance);
  if (d < 1) return (1.5 * d - 2.5) * d * d + 1;
  return d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

// Four neighbours of each new sample of a line, and their weights.
struct Taps {
  int first;
  double weights[4];
};
std::vector<Taps> taps_of(int size, int factor) {
  std::vector<Taps> taps(static_cast<size_t>(size) * factor);
  for (size_t i = 0; i < taps.size(); ++i) {
    const double at = (static_cast<double>(i) + 0.5) / factor - 0.5;
    taps[i].first = static_cast<int>(std::floor(at)) - 1;
    for (int k = 0; k < 4; ++k) taps[i].weights[k] = cubic(at - (taps[i].first + k));
  }
  return taps;
}

double squared_error(const test::BytePlane& a, const test::BytePlane& b) {
  double sum = 0;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const double difference = a.samples[i] - b.samples[i];
    sum += difference * difference;
  }
  return sum;
}

// Neighbours in the list of cases share it.
const test::BytePlane& enlarged(const test::BytePlane& picture, int factor) {
  static std::map<int, test::BytePlane> pictures;
  if (pictures.count(factor) == 0) {
    pictures.clear();
    pictures[factor] = enlarge(picture, factor);
  }
  return pictures[factor];
}

struct Outcome {
  test::Levels levels;
  test::BytePicture decoded;
};

Outcome transform(const test::Engine& engine, Method method, const QuantTable& table,
                  const test::BytePicture& picture) {
  const test::FlatOptions options{method, {&table, 1}};
  Outcome outcome;
  outcome.levels = test::forward_levels(engine, options, picture);
  outcome.decoded = test::inverse_planes(engine, options, outcome.levels, picture);
  return outcome;
}

}  // namespace

test::BytePlane enlarge(const test::BytePlane& plane, int factor) {
  if (factor == 1) return plane;
  const std::vector<Taps> across = taps_of(plane.width, factor);
  const std::vector<Taps> down = taps_of(plane.height, factor);
  const size_t width = across.size();
  std::vector<double> wide(width * plane.height);
  for (int y = 0; y < plane.height; ++y) {
    const uint8_t* row = &plane.samples[static_cast<size_t>(y) * plane.width];
    for (size_t x = 0; x < width; ++x)
      for (int k = 0; k < 4; ++k)
        wide[y * width + x] +=
            across[x].weights[k] * row[std::clamp(across[x].first + k, 0, plane.width - 1)];
  }
  test::BytePlane result{plane.width * factor, plane.height * factor, {}};
  result.samples.resize(width * down.size());
  for (size_t y = 0; y < down.size(); ++y)
    for (size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) {
        const auto row = static_cast<size_t>(std::clamp(down[y].first + k, 0, plane.height - 1));
        sum += down[y].weights[k] * wide[row * width + x];
      }
      result.samples[y * width + x] =
          static_cast<uint8_t>(std::clamp(std::floor(sum + 0.5), 0.0, 255.0));
    }
  return result;
}

WhitepaperResult run_whitepaper(Runner runner, Method method, const test::BytePlane& picture,
                                int factor, double seconds) {
  std::string why;
  const test::Engine* engine = find_engine(runner, &why);
  if (engine == nullptr) throw std::runtime_error(why);
  const test::BytePicture source = {enlarged(picture, factor)};
  const QuantTable table = preset_table(QuantPreset::kWhitepaper, QuantComponent::kLuma, 50);
  const Outcome outcome = transform(*engine, method, table, source);
  const Outcome gold = transform(*find_engine(Runner::kSerial, &why), method, table, source);
  WhitepaperResult result{source[0].width,
                          source[0].height,
                          squared_error(source[0], outcome.decoded[0]),
                          squared_error(gold.decoded[0], outcome.decoded[0]),
                          {},
                          {}};
  const std::vector<PlaneJob::Plane> planes = {{source[0].width, source[0].height, table}};
  PlaneJob forward(*engine, Direction::kForward, method, true, planes);
  forward.write_input(0, source[0].samples.data());
  result.forward = forward.time(3, seconds / 2);
  PlaneJob inverse(*engine, Direction::kInverse, method, true, planes);
  inverse.write_input(0, outcome.levels[0].data());
  result.inverse = inverse.time(3, seconds / 2);
  return result;
}

}  // namespace cudatransform::bench
