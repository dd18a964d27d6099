// The whitepaper of NVIDIA's DCT8x8: enlarges, transforms, quantizes, transforms back, compares.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/test_data.h"

namespace cudatransform::bench {
namespace {

double cubic(double distance) {
  const double d = std::fabs(distance);
  if (d < 1) return (1.5 * d - 2.5) * d * d + 1;
  return d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

// Four neighbors of each new sample of a line, and their weights.
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

// Keys' bicubic interpolation (a = -1/2) to `factor` times the size, sample centers on centers of
// area, edges replicated, rounded once after both directions.
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

double squared_error(const test::BytePlane& a, const test::BytePlane& b) {
  double sum = 0;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const double difference = a.samples[i] - b.samples[i];
    sum += difference * difference;
  }
  return sum;
}

// Neighbors in the list of cases share it.
const test::BytePlane& enlarged(const test::BytePlane& picture, int factor) {
  static std::map<int, test::BytePlane> pictures;
  if (pictures.count(factor) == 0) {
    pictures.clear();
    pictures[factor] = enlarge(picture, factor);
  }
  return pictures[factor];
}

const test::BytePlane& picture_of(const PaperOptions& options) {
  static test::BytePlane picture;
  if (!picture.samples.empty()) return picture;
  std::string error;
  if (options.picture.empty()) throw std::runtime_error("no picture: give --picture=FILE.pgm");
  if (!test::read_pgm(options.picture, &picture, &error)) throw std::runtime_error(error);
  return picture;
}

struct Outcome {
  test::Qcoefs qcoefs;
  test::BytePicture decoded;
};

Outcome transform(const test::Engine& engine, Method method, const QuantTable& table,
                  const test::BytePicture& picture) {
  const test::FlatOptions options{method, {&table, 1}};
  Outcome outcome;
  outcome.qcoefs = test::forward_qcoefs(engine, options, picture);
  outcome.decoded = test::inverse_planes(engine, options, outcome.qcoefs, picture);
  return outcome;
}

// The picture enlarged `factor` times, quantized by the whitepaper's table.
void run(benchmark::State& state, Runner runner, Method method, int factor,
         const PaperOptions& options) {
  const test::Engine& engine = engine_of(runner);
  const test::BytePicture source = {enlarged(picture_of(options), factor)};
  const int width = source[0].width, height = source[0].height;
  const QuantTable table = preset_table(QuantPreset::kWhitepaper, QuantComponent::kLuma, 50);
  const Outcome outcome = transform(engine, method, table, source);
  const Outcome gold = transform(engine_of(Runner::kSerial), method, table, source);
  const auto milliseconds = [&](Direction direction, const void* input) {
    PlaneJob job(engine, direction, method, true, {width, height, table}, input);
    return 1e3 * job.time(3, options.seconds / 2).median();
  };
  state.counters["width"] = width;
  state.counters["height"] = height;
  state.counters["samples"] = static_cast<double>(width) * height;
  state.counters["sse"] = squared_error(source[0], outcome.decoded[0]);
  state.counters["sse gold"] = squared_error(gold.decoded[0], outcome.decoded[0]);
  state.counters["forward"] = milliseconds(Direction::kForward, source[0].samples.data());
  state.counters["inverse"] = milliseconds(Direction::kInverse, outcome.qcoefs[0].data());
}

}  // namespace

void add_whitepaper_cases(const PaperOptions& options) {
  for (const int factor : {1, 2, 4, 8})
    for (const Runner runner : {Runner::kSerial, Runner::kCuda})
      for (const Method method :
           {Method::kMatrix, Method::kDecomposed, Method::kFloat, Method::kIfast})
        add_case(std::string("engine:") + engine_key(runner) + "/case:whitepaper/size:" +
                     std::to_string(512 * factor) + "/method:" + method_name(method),
                 [=](benchmark::State& state) { run(state, runner, method, factor, options); });
}

}  // namespace cudatransform::bench
